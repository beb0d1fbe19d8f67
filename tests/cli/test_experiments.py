"""pcwinter reproduce and pcwinter judge, as a user calls them."""

from pathlib import Path

import numpy as np
import pytest

from command import Call, call, refused, write_graph


def test_the_commands(tmp_path: Path) -> None:
    done = call("reproduce", "counts", "--dataset", "demo", "--out", tmp_path / "all", "--seeds", 1)
    assert done.returncode == 0, done.stderr
    assert "| players | 1,761 |" in done.stdout
    assert (tmp_path / "all" / "demo" / "demo-counts.md").is_file()
    refused(call("reproduce", "counts", "--dataset", "demo", "--out", tmp_path / "x", "--seeds", 0), "seeds is 0")
    refused(call("reproduce", "everything", "--dataset", "demo"), "'everything' is not one of")
    refused(call("reproduce", "counts", "--dataset", "demo", "--which", "mixed"), "--which mixed")
    refused(
        call("reproduce", "counts", "--dataset", "demo", "--orders", 9),
        "--orders 9",
    )
    (tmp_path / "mine" / "demo").mkdir(parents=True)
    (tmp_path / "mine" / "demo" / "demo-counts.md").write_text("precious")
    refused(
        call("reproduce", "counts", "--dataset", "demo", "--out", tmp_path / "mine"),
        "demo-counts.md",
    )
    assert (tmp_path / "mine" / "demo" / "demo-counts.md").read_text() == "precious"
    (tmp_path / "mine" / "demo" / "demo-counts.md").rename(tmp_path / "mine" / "demo" / ".study.json.tmp")
    assert call("reproduce", "counts", "--dataset", "demo", "--out", tmp_path / "mine", "--seeds", 1).returncode == 0
    refused(call("reproduce", "counts"), "Missing option '--dataset' or '--graph'")
    refused(call("judge", tmp_path / "none.csv", "--dataset", "demo"), "none.csv")
    (tmp_path / "file").touch()
    refused(call("reproduce", "counts", "--dataset", "demo", "--out", tmp_path / "file"), "expected a directory")
    refused(call("reproduce", "counts", "--dataset", "demo", "--max-seconds", "nan"), "--max-seconds is nan")
    for option in (("--head", "softmax"), ("--max-seconds", 3), ("--on", "validation"), ("--on", "choice")):
        refused(call("reproduce", "counts", "--dataset", "demo", *option), "leave it out")
    refused(call("reproduce", "counts", "--dataset", "demo", "--filter", "mean"), "--filter mean has no effect on")


def split_off(folder: Path, n: int) -> None:
    """Make the last `n` nodes outside the split, of ten, test nodes."""
    lines = (folder / "nodes.csv").read_text().split("\n")
    outside = [k for k, line in enumerate(lines) if ",," in line]
    for k in outside[len(outside) - n :]:
        lines[k] = lines[k].replace(",,", ",test,")
    (folder / "nodes.csv").write_text("\n".join(lines))


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    """A graph of the user's own, with test nodes."""
    folder = tmp_path / "papers"
    folder.mkdir()
    write_graph(folder)
    split_off(folder, 4)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_experiments_on_ones_own_graph(
    papers: Path, tmp_path: Path, here: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = ("--quick", "--seeds", 2, "--out", tmp_path / "out")
    done = call("reproduce", "drop-nodes", "--graph", f"{papers}/", *quick)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("papers drop-nodes unlabelled\n\n| ")
    assert "- papers: " in done.stdout  # whether a claim of the paper holds on this graph
    monkeypatch.chdir(papers)
    done = here("reproduce", "counts", "--graph", ".", *quick)
    assert "| players | 264 |" in done.stdout
    assert "| visits of an order | 264.0 |" in done.stdout  # no truncation
    assert "paper |" not in done.stdout
    out = tmp_path / "out" / "papers-quick"
    assert (out / "papers-counts.table.csv").read_text().startswith("what,here,mean of 40 orders,")
    assert {path.name for path in out.iterdir()} >= {"papers-drop-nodes-unlabelled.svg", "papers-counts.md"}
    before = contents(out)
    done = here("reproduce", "drop-nodes", "--graph", papers, "--features", "standard", *quick)
    refused(done, "another graph, which differs in features: choose another directory")
    split_off(papers, 1)
    for name in ("drop-nodes", "counts"):
        refused(here("reproduce", name, "--graph", papers, *quick), "another graph, which differs in split: choose")
    assert contents(out) == before


def test_a_graph_that_lacks_what_is_scored(papers: Path, tmp_path: Path, here: Call) -> None:
    write_graph(papers)
    quick = ("--graph", papers, "--quick", "--seeds", 1, "--out", tmp_path / "out")
    for name in ("drop-nodes", "fresh-splits", "all"):
        sentence = "papers has no test nodes to score on: add some to its split, or use --on validation or --on choice"
        refused(here("reproduce", name, *quick), sentence)
    (tmp_path / "mine.csv").write_text("node,value\nnode-02,1\n")
    done = here("judge", tmp_path / "mine.csv", "--graph", papers, "--out", tmp_path / "judged")
    refused(done, "no test nodes to score on: add some to its split, or use --on validation")
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "judged").exists()
    done = here("reproduce", "add-edges", "--on", "choice", *quick)
    assert done.stdout.startswith("papers add-edges on choice\n\n| "), done.stderr
    split_off(papers, 10)
    refused(here("reproduce", "truncation", *quick), "or use drop-nodes with --which labelled")
    (papers / "edges.csv").write_text("source,target\nnode-00,node-01\n")
    refused(here("reproduce", "add-edges", *quick), "no edges, so none can be added: make val and test smaller")
    refused(here("reproduce", "add-edges", "--on", "choice", *quick), "needs 30 labelled nodes, 5 or more of every")


def test_a_ranking_of_ones_own_graph(papers: Path, tmp_path: Path, here: Call) -> None:
    (tmp_path / "mine.csv").write_text("node,value\nnode-02,1\nnode-05,2\n")
    done = here("judge", tmp_path / "mine.csv", "--graph", papers, "--out", tmp_path / "judged")
    assert done.stdout.startswith("papers judge mine\n\n| "), done.stderr
    assert (tmp_path / "judged" / "papers-judge-mine.csv").is_file()
    other = here("judge", tmp_path / "mine.csv", "--graph", papers, "--features", "none")
    assert other.returncode == 0
    assert other.stdout.split("\n\n")[1] != done.stdout.split("\n\n")[1]
    with (papers / "edges.csv").open("a") as file:
        file.write("node-00,node-00\n")
    assert here("judge", tmp_path / "mine.csv", "--graph", papers).stdout.startswith("warning: dropped 1 self-loop")


@pytest.mark.parametrize("command", [("reproduce", "counts"), ("judge", "mine.csv")])
def test_one_graph_is_named(
    command: tuple[str, str], papers: Path, here: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(papers.parent)
    (papers.parent / "mine.csv").write_text("node,value\nnode-02,1\n")
    refused(here(*command), "Missing option '--dataset' or '--graph'")
    refused(
        here(*command, "--dataset", "demo", "--graph", "papers"), "--dataset and --graph both name a graph: leave one"
    )
    refused(
        here(*command, "--dataset", "demo", "--features", "none"), "--features applies to --graph only: leave it out"
    )
    refused(here(*command, "--graph", "papers", "--data", "x"), "--data is the folder of the public graphs")
    refused(here(*command, "--graph", "paper"), "there is no graph at paper: name a folder or a file")
    refused(here(*command, "--graph", "cora"), "there is no graph at cora: use --dataset cora")
    refused(here(*command, "--graph", "mine.csv"), "mine.csv is one table")
    papers.rename(papers.parent / "cora")
    if command[0] == "reproduce":  # its tables would show the paper's numbers
        refused(
            here(*command, "--graph", "cora"),
            "--graph is called 'cora', which is the name of a public graph: rename it",
        )


def test_experiments_with_numeric_targets_and_with_other_metrics(tmp_path: Path, here: Call) -> None:
    rng = np.random.default_rng(0)
    prices, names = tmp_path / "prices", [f"h{k}" for k in range(60)]
    prices.mkdir()
    lines, classes = ["id,split,target,x,y"], ["id,split,label,x,y"]
    for k, name in enumerate(names):
        split, (x, y) = ("train", "val", "test", "", "", "")[k % 6], rng.random(2).round(3)
        lines.append(f"{name},{split},{2 * x - y:.3f},{x},{y}")
        classes.append(f"{name},{split},{'rare' if 2 * x > y + 0.5 else 'usual'},{x},{y}")
    (prices / "nodes.csv").write_text("\n".join(lines) + "\n")
    ends = [f"{names[u]},{names[v]}" for u in range(60) for v in range(u) if rng.random() < 0.08]
    (prices / "edges.csv").write_text("\n".join(["source,target", *ends]) + "\n")
    options = ("--graph", prices, "--features", "none", "--quick", "--seeds", 1, "--out", tmp_path / "out")
    done = here("reproduce", "drop-nodes", *options)
    assert done.returncode == 0, done.stderr
    assert "| leave-one-out |" in done.stdout
    assert "influence" not in done.stdout
    curves = (tmp_path / "out" / "prices-quick" / "prices-drop-nodes-unlabelled.csv").read_text()
    assert curves.startswith("method,seed,unlabelled nodes dropped,test r2\n")
    assert here("reproduce", "add-edges", *options).returncode == 0
    refused(here("reproduce", "drop-nodes", *options, "--head", "softmax"), "the softmax head needs classes")
    refused(here("reproduce", "drop-nodes", *options, "--metric", "accuracy"), "--metric is 'accuracy', but the graph")
    (prices / "nodes.csv").write_text("\n".join(classes) + "\n")
    options = (*options[:-1], tmp_path / "classes")
    done = here("reproduce", "drop-nodes", *options, "--metric", "roc-auc", "--class-weight", "balanced")
    assert done.returncode == 0, done.stderr
    assert "\nprices drop-nodes unlabelled roc-auc balanced\n" in done.stdout
    assert "| influence |" in done.stdout
    (tmp_path / "mine.csv").write_text("node,value\nh3,1\nh4,2\n")
    weighted = ("--metric", "f1:rare", "--class-weight", "balanced", "--seeds", 1)
    done = here("judge", tmp_path / "mine.csv", "--graph", prices, "--features", "none", *weighted)
    assert "\nprices judge mine f1:rare balanced\n" in done.stdout, done.stderr

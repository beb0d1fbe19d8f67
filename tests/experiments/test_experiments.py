"""Experiments: curves with known answers, studies that are resumed, and every command in its quick form."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest

import pcwinter as pw
from command import call, refused
from pcwinter.baselines.ranking import Ranking
from pcwinter.experiments import EXPERIMENTS, reproduce
from pcwinter.experiments.curves import Curve, addable, droppable, judged, steps
from pcwinter.experiments.figures import _panels, draw
from pcwinter.experiments.judge import Judge
from pcwinter.experiments.judge_file import judge_file, read_ranking
from pcwinter.experiments.output import Outcome, markdown
from pcwinter.experiments.study import Study, open_study
from pcwinter.heads.softmax import PAPER


@pytest.fixture(autouse=True)
def recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    """Train the toy graph quickly."""
    monkeypatch.setitem(PAPER, "toy", pw.Softmax(learning_rate=0.1, epochs=50))


quiet = pytest.mark.filterwarnings("ignore:the edges harm the model", "ignore:the model of all players")


@pytest.fixture(scope="module")
def graph() -> pw.Graph:
    """Two labelled nodes whose own features are swapped between the classes: only their neighbours know better.

    Nodes 2, 3 and 4 are neighbours of node 0, with features of its class, nodes 5, 6 and 7 of node 1; node 8 is apart.
    The test nodes have clean features and no edges.
    """
    features = np.array(
        [[0.45, 0.55], [0.55, 0.45]] + [[1.0, 0.0]] * 3 + [[0.0, 1.0]] * 3 + [[0.5, 0.5]] + [[1, 0], [0, 1]] * 4
    )
    labels = [0, 1, *[-1] * 7, *[0, 1] * 4]
    edges = [(0, 2), (0, 3), (0, 4), (1, 5), (1, 6), (1, 7)]
    return pw.Graph(edges, features, labels, [0, 1], [9, 10], np.arange(11, 17), name="toy")


def ranking(items: list[int] | list[tuple[int, int]]) -> Ranking:
    """Best first, as listed."""
    value = np.arange(len(items), 0.0, -1)
    return Ranking("mine", np.array(items), value, np.full(len(items), np.nan))


def drop_nodes(judge: Judge, some: Ranking, which: str = "unlabelled") -> Curve:
    return judged(judge, droppable(judge.graph, some, which, 0))


def test_dropping_what_helps_harms(graph: pw.Graph) -> None:
    judge = Judge(graph)
    curve = drop_nodes(judge, ranking([2, 3, 4, 5, 6, 7, 0, 1]))
    assert curve.count.tolist() == [0, 1, 2, 3, 4, 5, 6]  # labelled nodes stay
    assert curve.accuracy[0] == 1.0
    assert curve.accuracy[-1] == 0.0  # the labelled nodes alone mislead
    assert (np.diff(curve.accuracy) <= 0).all()


def test_dropping_labelled_nodes_leaves_no_model(graph: pw.Graph) -> None:
    curve = drop_nodes(Judge(graph), ranking([2, 0, 1]), which="labelled")
    assert curve.count.tolist() == [0, 1, 2]
    assert curve.accuracy.tolist() == [1.0, 0.5, 0.5]  # one class is named everywhere
    mixed = drop_nodes(Judge(graph), ranking([2, 0, 1]), which="mixed")
    assert mixed.count.tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="which is 'all', expected unlabelled, labelled, mixed"):
        drop_nodes(Judge(graph), ranking([2]), which="all")


def test_adding_what_helps_helps(graph: pw.Graph) -> None:
    curve = judged(Judge(graph), addable(graph, ranking([(0, 2), (1, 5)]), 0))
    assert curve.count.tolist() == [0, 1, 2, 3, 4, 5, 6]  # the others have the value 0
    assert curve.accuracy[0] == 0.0
    assert curve.accuracy[2] == curve.accuracy[-1] == 1.0


def test_a_curve_is_the_same_from_two_workers(graph: pw.Graph) -> None:
    heard: list[tuple[int, int]] = []

    def hear(done: int, of: int) -> None:
        heard.append((done, of))

    for order in (np.arange(2, 8), np.array([(0, 2), (1, 5), (0, 3)])):
        here, there = judged(Judge(graph), order), judged(Judge(graph), order, workers=2, progress=hear)
        np.testing.assert_array_equal(here.accuracy, there.accuracy)
    assert heard == [(4, 7), (7, 7), (4, 4)]


def test_edges_that_are_not_ranked_stand_between_good_and_bad(graph: pw.Graph) -> None:
    mixed = Ranking("mine", np.array([(0, 2), (1, 5)]), np.array([-1.0, 1.0]), np.full(2, np.nan))
    order = [tuple(edge) for edge in addable(graph, mixed, 0).tolist()]
    assert (order[0], order[-1]) == ((1, 5), (0, 2))
    assert sorted(order) == [(0, 2), (0, 3), (0, 4), (1, 5), (1, 6), (1, 7)]
    assert any(order != [tuple(edge) for edge in addable(graph, mixed, seed).tolist()] for seed in range(1, 5))
    with pytest.raises(ValueError, match="mine ranks edges that are not in the training graph"):
        addable(graph, ranking([(0, 2), (0, 5)]), 0)
    apart = pw.Graph([(0, 9)], graph.features, graph.labels, [0, 1], [9, 10], [11])
    with pytest.raises(ValueError, match="the training graph has no edges that could be added"):
        addable(apart, ranking([]), 0)


def test_a_curve_sums_itself_up() -> None:
    curve = Curve(np.arange(11), np.array([0.9, 0.8, 0.7, *[0.5] * 7, 0.6]))
    assert curve.mean == pytest.approx((0.9 + 0.8 + 0.7 + 3.5 + 0.6) / 11)
    assert curve.early == pytest.approx(0.8)
    assert curve.rebound == pytest.approx(0.1)
    assert [curve.at(share) for share in (0, 0.05, 0.1, 1)] == pytest.approx([0.9, 0.85, 0.8, 0.6])
    assert curve.reach == 0.0
    assert Curve(np.array([0, 2, 8, 10]), np.array([0.1, 0.4, 0.7, 0.6])).reach == pytest.approx(0.8)
    assert steps(444).tolist()[:3] == [0, 4, 9]
    assert len(steps(444)) == 101
    assert steps(3).tolist() == [0, 1, 2, 3]


def test_tables_in_markdown() -> None:
    rows = [{"method": "a", "none": None, "mean": 0.5, "n": 1234}]
    rows += [{"method": "b", "mean": float("nan"), "n": None, "more": 12.3}]
    assert markdown(rows).splitlines() == [
        "| method | mean | n | more |",
        "| --- | --: | --: | --: |",
        "| a | 0.5000 | 1,234 |  |",
        "| b |  |  | 12.3 |",
    ]
    outcome = Outcome("one")
    outcome.add("a", 0, Curve(np.arange(3), np.array([0.3, 0.1, 0.2])))
    assert outcome.summary()[0]["mean"] == pytest.approx(0.2)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return open_study("demo", tmp_path_factory.mktemp("study"), quick=True, quiet=True)


@quiet
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_in_its_quick_form(name: str, study: Study) -> None:
    experiment, _, which = name.partition(" ")
    (text,) = reproduce(study, experiment, which or "unlabelled", 2)
    stem = f"demo {name}".replace(" ", "-")
    assert f"demo {name}\n\n| " in text
    assert (study.out / f"{stem}.md").read_text() in text + "\n"
    with (study.out / f"{stem}.table.csv").open(newline="") as file:
        assert list(csv.DictReader(file))
    if name == "efficiency":
        assert re.search(r"^\| Data Shapley, softmax \| softmax \|  \| 20\.0", text, re.MULTILINE)
    if name in ("counts", "efficiency"):
        return
    with (study.out / f"{stem}.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert list(lines[0])[:2] == ["method", "seed"]
    assert {line["seed"] for line in lines} == {"0", "1"}
    assert all(0 <= float(line["test accuracy"]) <= 1 for line in lines)
    assert (study.out / f"{stem}.svg").read_text().startswith("<?xml")
    assert (study.out / f"{stem}.png").read_bytes().startswith(b"\x89PNG")


@quiet
def test_what_is_known_is_not_computed_again(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    first = study.pc_winter("own", 0)
    again = open_study("demo", study.out, quick=True, quiet=True)
    monkeypatch.setattr(Study, "values", lambda *_, **__: pytest.fail("computed again"))
    second = again.pc_winter("own", 0)
    np.testing.assert_array_equal(first.value, second.value)
    np.testing.assert_array_equal(first.items, second.items)
    assert (first.orders, first.evaluations, first.status) == (second.orders, second.evaluations, second.status)


@quiet
def test_every_experiment_with_the_softmax_head(
    tmp_path: Path, graph: pw.Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Study, "fresh", lambda study, seed: study)  # another split would cut all its edges
    study = Study("toy", graph, tmp_path, head="softmax", quick=True, quiet=True, workers=2)
    told = dict(zip(EXPERIMENTS, reproduce(study, "all", seeds=1), strict=True))
    for name, text in told.items():
        assert text.startswith(f"toy {name}" + (" softmax\n" if name != "counts" else "\n")), name
    assert (tmp_path / "study-softmax.json").is_file()
    assert "| leave-one-out | 1 | 0." in told["drop-nodes unlabelled"]
    assert "- toy, softmax head: PC-Winter (own, " in told["ablation"]
    # node 2 is worth to the judge's model what it is worth to the head: both are softmax, here on other nodes
    found = study.baseline("leave-one-out", 0)
    whole, judge = np.ones(graph.n_nodes, dtype=bool), Judge(graph, on="validation")
    for node, value in zip(found.items.tolist(), found.value.tolist(), strict=True):
        keep = whole.copy()
        keep[node] = False
        assert value == pytest.approx(judge.accuracy(keep=whole) - judge.accuracy(keep=keep), abs=1e-12)


def test_a_ranking_of_ones_own(tmp_path: Path, graph: pw.Graph) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("node,value,more\n2,3.0,x\n3,2.5,y\n5,-1e-3,z\n")
    found = read_ranking(file, graph)
    assert found.items.tolist() == [2, 3, 5]
    assert found.value.tolist() == [3.0, 2.5, -0.001]
    text = judge_file(file, graph, "toy", "unlabelled", tmp_path / "out")
    assert "toy judge mine" in text
    assert (tmp_path / "out" / "toy-judge-mine.svg").is_file()
    assert "| rebound |" in text
    with pytest.raises(FileExistsError, match=r"already contains toy-judge-mine.csv: choose another"):
        judge_file(file, graph, "toy", "unlabelled", tmp_path / "out")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "toy-judge-mine.notes.md").write_text("precious")
    with pytest.raises(FileExistsError, match=r"already contains toy-judge-mine.notes.md"):
        judge_file(file, graph, "toy", "unlabelled", tmp_path / "full")
    assert (tmp_path / "full" / "toy-judge-mine.notes.md").read_text() == "precious"
    assert "| rebound |" not in judge_file(file, graph, "toy", "mixed")
    file.write_text("source, target, value\n2, 0, 3.0\n1,5,1\n")
    assert read_ranking(file, graph).items.tolist() == [[0, 2], [1, 5]]
    file.write_text("node,value,value_path\n2,3.0,7\n3,2.5,8\n5,-1e-3,9\n")
    assert read_ranking(file, graph, "value_path").value.tolist() == [7, 8, 9]
    assert "toy judge mine value_path" in judge_file(file, graph, "toy", column="value_path")
    with pytest.raises(ValueError, match="the column 'node' holds no values"):
        read_ranking(file, graph, "node")
    file.write_text("source,target,value\n2,0,3.0\n1,5,1\n")
    text = judge_file(file, graph, "toy")
    assert "toy judge mine\n" in text
    assert "4 edges are missing from the file" in text
    assert "| first 20 % | at 10 % | share that reaches all | whole graph |\n" in text
    assert "toy judge mine on validation\n" in judge_file(file, graph, "toy", on="validation")
    with pytest.raises(ValueError, match=r"which='mixed' selects nodes, but .* has edges"):
        judge_file(file, graph, "toy", "mixed")
    text = judge_file(file.rename(tmp_path / "random.csv"), graph, "toy")
    assert "| your random | " in text
    assert "| random | " in text


@pytest.mark.parametrize("kind", ["node", "edge"])
def test_the_order_of_lines_and_zeros_left_out_change_nothing(kind: str, tmp_path: Path, graph: pw.Graph) -> None:
    lines = {"node": ["5,1", "2,0", "3,0", "6,0"], "edge": ["0,3,1", "2,0,0", "1,6,0", "4,0,0"]}[kind]
    tables = []
    for some in (lines, lines[::-1], lines[:1]):
        (tmp_path / "mine.csv").write_text(
            "\n".join(["node,value" if kind == "node" else "source,target,value", *some])
        )
        tables.append(judge_file(tmp_path / "mine.csv", graph, "toy", seeds=4).split("\n\n")[1])
    assert tables[0] == tables[1] == tables[2]
    assert "| mine | 4 | 0." in tables[0]
    assert "±" in tables[0]


def test_ones_own_curve_by_workers_and_seeds(tmp_path: Path, graph: pw.Graph) -> None:
    (tmp_path / "mine.csv").write_text("node,value\n" + "\n".join(f"{k},{k}" for k in range(8)))  # no ties
    here, there = (judge_file(tmp_path / "mine.csv", graph, "toy", workers=n, seeds=2) for n in (1, 2))
    assert here == there
    assert "± 0.0000" in here.splitlines()[4]
    with pytest.raises(ValueError, match="seeds is 0, expected"):
        judge_file(tmp_path / "mine.csv", graph, "toy", seeds=0)


def test_ones_own_nodes_are_dropped_as_all_others_are(tmp_path: Path, graph: pw.Graph) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("node,value\n\n2,3.0\n8,2.0\n")
    text = judge_file(file, graph, "toy")
    assert "5 nodes are missing from the file" in text
    assert "1 nodes of the file are ignored" in text
    assert [line.split()[1] for line in text.splitlines() if line.startswith("| ")][2:] == ["mine", "degree", "random"]
    with pytest.raises(ValueError, match="contains none of the 2 nodes that which='labelled' drops"):
        judge_file(file, graph, "toy", "labelled")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "has the columns nothing: expected node and value, or source, target and value"),
        ("node,value\n", "has no line below its header"),
        ("node,value\n1,2\n\n2,x\n", "line 4 of .* has 'x' in the column 'value', where a finite number is expected"),
        ("node,value\n1,0,17\n", "line 2 of .* has 3 fields, but the header names 2 columns"),
        ("node,value\n1\n", "line 2 of .* has 1 fields, but the header names 2 columns"),
        ("node,value\n1,1_0\n", "line 2 of .* has '1_0' in the column 'value'"),
        ("node;value\n1;2\n", "has the columns node;value: expected node and value"),
        ("node,score\n1,2\n", "has the columns node, score: expected node and value"),
        ("node,value,value\n1,2,3\n", "has two columns 'value': keep one of them"),
        ("node,,,value\n1,,,x\n", "line 2 of .* has 'x' in the column 'value'"),
        ("node,value\n99,2\n", "line 2 of .* names '99', which is no node of the graph"),
        ("node,value\n1,2\n1,3\n", "line 3 of .* names the node of an earlier line: keep one line of each"),
        ("node,value\n1,2\n2,nan\n", "line 3 of .* has 'nan' in the column 'value', where a finite number"),
        ("node,value\n1,\n", "line 2 of .* has nothing in the column 'value', where a finite number"),
        ("node,value\n9,1\n", "line 2 of .* names 9, a validation or test node"),
        ("source,target,value\n0,5,1\n", "line 2 of .* names 0 and 5, which share no edge of the training graph"),
        (
            "source,target,value\n0,2,1\n2,0,1\n",
            "line 3 of .* names the edge of an earlier line: keep one line of each",
        ),
    ],
)
def test_a_ranking_that_is_refused(content: str, sentence: str, graph: pw.Graph, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(content)
    with pytest.raises(ValueError, match=sentence):
        read_ranking(tmp_path / "mine.csv", graph)


def test_the_commands(tmp_path: Path) -> None:
    done = call("reproduce", "counts", "--dataset", "demo", "--out", tmp_path / "all", "--seeds", 1)
    assert done.returncode == 0, done.stderr
    assert "| players | 1,761 |" in done.stdout
    assert (tmp_path / "all" / "demo" / "demo-counts.md").is_file()
    refused(
        call("reproduce", "counts", "--dataset", "demo", "--out", tmp_path / "x", "--seeds", 0), "seeds is 0, expected"
    )
    refused(call("reproduce", "everything", "--dataset", "demo"), "'everything' is not one of")
    refused(
        call("reproduce", "counts", "--dataset", "demo", "--which", "mixed"), "--which mixed applies to drop-nodes only"
    )
    refused(
        call("reproduce", "counts", "--dataset", "demo", "--orders", 9),
        "--orders 9 applies to the full ablation only, not to counts",
    )
    (tmp_path / "mine" / "demo").mkdir(parents=True)
    (tmp_path / "mine" / "demo" / "demo-counts.md").write_text("precious")
    refused(
        call("reproduce", "counts", "--dataset", "demo", "--out", tmp_path / "mine"),
        "demo contains demo-counts.md but no study",
    )
    assert (tmp_path / "mine" / "demo" / "demo-counts.md").read_text() == "precious"
    (tmp_path / "mine" / "demo" / "demo-counts.md").rename(tmp_path / "mine" / "demo" / ".study.json.tmp")
    assert call("reproduce", "counts", "--dataset", "demo", "--out", tmp_path / "mine", "--seeds", 1).returncode == 0
    refused(call("reproduce", "counts"), "Missing option '--dataset'")
    refused(call("judge", tmp_path / "none.csv", "--dataset", "demo"), "none.csv cannot be used (no such file or dir")
    (tmp_path / "file").touch()
    refused(call("reproduce", "counts", "--dataset", "demo", "--out", tmp_path / "file"), "cannot be used (not a dir")
    refused(call("reproduce", "counts", "--dataset", "demo", "--max-seconds", "nan"), "--max-seconds is nan, expected")
    for option in (("--head", "softmax"), ("--max-seconds", 3), ("--on", "validation")):
        refused(call("reproduce", "counts", "--dataset", "demo", *option), "leave it out")


def test_panels_of_own_and_path() -> None:
    curve = Curve(np.array([0, 1]), np.array([0.5, 0.6]))
    outcome = Outcome("toy", x="dropped")
    for name in ("a, own", "a, path", "b, b, own", "b, b, path"):
        outcome.add(name, 0, curve)
    assert {level: list(methods) for level, methods in _panels(outcome.drawing.bands).items()} == {
        "own": ["a", "b, b"],
        "path": ["a", "b, b"],
    }
    for name in ("$dear$", "$dear$, somehow"):
        outcome.add(name, 0, curve)
    assert {level: list(methods) for level, methods in _panels(outcome.drawing.bands).items()} == {
        "own": ["a", "b, b", "$dear$"],
        "path": ["a", "b, b", "$dear$"],
    }
    assert list(_panels(dict.fromkeys(("a", "a, x", "b"), outcome.drawing.bands["a, own"]))[""]) == ["a", "b"]
    svg = draw([outcome.drawing, Outcome("other", x="dropped", curves={"only here": {0: curve}}).drawing])[
        "svg"
    ].decode()
    assert all(f"<!-- {name} -->" in svg for name in ("toy, own", "toy, path", "other", "only here", "$dear$"))


@quiet
def test_what_is_damaged_is_made_again(study: Study) -> None:
    first = study.baseline("degree", 0)
    curve = study.dropping(first, 0)
    for damage in (lambda text: "{}", lambda text: text[:50], lambda text: re.sub(r"(\d\.\d+)", "0.5", text)):
        for path in [*(study.out / "rankings").glob("*degree*"), *(study.out / "curves").iterdir()]:
            path.write_text(damage(path.read_text()))
        again = open_study("demo", study.out, quick=True, quiet=True)
        np.testing.assert_array_equal(again.baseline("degree", 0).value, first.value)
        np.testing.assert_array_equal(again.dropping(first, 0).accuracy, curve.accuracy)


@quiet
def test_notes_go_with_the_run_that_made_them(tmp_path: Path) -> None:
    for limit in (60.0, None):
        study = open_study("demo", tmp_path, quick=True, quiet=True, max_seconds=limit)
        list(reproduce(study, "efficiency", seeds=1))
        notes = (tmp_path / "demo-efficiency.notes.md").read_text()
        assert ("Time limit" in notes) == (limit is not None)


def test_figures_are_refused_before_the_work(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pcwinter.experiments.figures.find_spec", lambda name: None)
    monkeypatch.setattr(Study, "baseline", lambda *_: pytest.fail("began to work"))
    with pytest.raises(ValueError, match="figures need Matplotlib: pip install"):
        next(reproduce(study, "add-edges"))
    assert "players" in next(reproduce(study, "counts", seeds=1))

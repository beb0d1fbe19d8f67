"""Options that say how a graph is read, from the command line to run.json and back."""

import json
from pathlib import Path

import pytest

from command import FAST, Call, refused, write_graph
from pcwinter.cli.graphs import given_settings, public_graph


def payments(folder: Path) -> Path:
    """A directed graph with weights: every edge has an amount, and half of them go back, too."""
    folder.mkdir()
    write_graph(folder)
    lines = (folder / "edges.csv").read_text().splitlines()[1:]
    rows = [f"{line},{k % 7 + 1}" for k, line in enumerate(lines)]
    rows += [f"{line.split(',')[1]},{line.split(',')[0]},2.5" for line in lines[::2]]
    (folder / "edges.csv").write_text("\n".join(["source,target,weight", *rows]) + "\n")
    return folder


def test_a_directed_weighted_graph_from_the_command_line(tmp_path: Path, here: Call) -> None:
    folder, out = payments(tmp_path / "payments"), tmp_path / "run"
    value = ("value", folder, "--out", out, "--permutations", 20, *FAST)
    refused(here(*value), "not symmetric: edge (0, 2), one of ")
    assert "pass --directed, or" in here(*value).stderr
    options = ("--directed", "--self-loop", 2, "--setting", "transductive")
    done = here(*value, *options)
    assert done.returncode == 0, done.stderr
    assert "135 directed weighted edges" in done.stdout
    story = json.loads((out / "run.json").read_text())
    settings = {"directed": True, "normalisation": "row", "self_loop": 2.0, "setting": "transductive"}
    assert {name: story["asked"].get(name) for name in settings} == settings
    assert story["asked"]["coalition"] == "messages"
    assert (story["edges"], story["training_edges"], story["cut_edges"]) == (135, 135, 0)
    refused(here(*value, "--directed", "--self-loop", 2, "--resume"), "setting is transductive there and not given")
    before = (out / "nodes.csv").read_bytes()
    assert here(*value, *options, "--resume").returncode == 0
    assert (out / "nodes.csv").read_bytes() == before
    refused(here(*value, *options, "--coalition", "induced", "--resume"), "coalition is messages there and induced")
    for command in (("show", out), ("show", out, "--by", "class"), ("report", out), ("compare", out, out)):
        done = here(*command)
        assert done.returncode == 0, done.stderr
    assert " \N{RIGHTWARDS ARROW} " in (out / "report.html").read_text()
    plain = tmp_path / "plain"
    assert here("value", folder, "--out", plain, "--permutations", 20, *FAST, "--directed").returncode == 0
    done = here("compare", out, plain)
    assert "setting: transductive in A, inductive in B" in done.stdout
    assert "self_loop: 2.0 in A, 1.0 in B" in done.stdout
    wrong = here("value", folder, "--out", tmp_path / "x", "--directed", "--coalition", "induced", *FAST)
    refused(wrong, "but this graph is directed: use --coalition messages")
    assert not (tmp_path / "x").exists()


def test_experiments_with_direction_and_setting(tmp_path: Path, here: Call) -> None:
    folder = payments(tmp_path / "payments")
    lines = (folder / "nodes.csv").read_text().splitlines()
    outside = [k for k, line in enumerate(lines) if ",," in line]
    for k in outside[:3]:
        lines[k] = lines[k].replace(",,", ",test,")
    (folder / "nodes.csv").write_text("\n".join(lines) + "\n")
    graph = ("--graph", folder, "--directed", "--setting", "transductive")
    quick = ("--quick", "--seeds", 1, "--out", tmp_path / "out", *graph)
    for name in ("drop-nodes", "add-edges"):
        done = here("reproduce", name, *quick)
        assert done.returncode == 0, done.stderr
        assert "influence" in done.stdout
    done = here("reproduce", "drop-nodes", *quick, "--remaining")
    assert done.stdout.startswith("payments drop-nodes unlabelled remaining"), done.stderr
    refused(here("reproduce", "counts", *quick, "--remaining"), "--remaining applies to experiments with curves only")
    refused(here("reproduce", "drop-nodes", *quick[:-2]), "differs in setting: choose another directory")
    (tmp_path / "mine.csv").write_text("source,target,value\nnode-00,node-02,1\nnode-02,node-00,3\n")
    done = here("judge", tmp_path / "mine.csv", *graph, "--remaining")
    assert done.stdout.startswith("payments judge mine remaining"), done.stderr
    refused(here("judge", tmp_path / "mine.csv", "--graph", folder, "--directed", "--remaining"), "--remaining needs")
    (tmp_path / "mine.csv").write_text("source,target,value\nnode-03,node-01,1\n")
    refused(here("judge", tmp_path / "mine.csv", *graph), "share no edge of the training graph, in this direction")
    (tmp_path / "nodes.csv").write_text(f"node,value\n{lines[outside[0]].split(',')[0]},1\n")
    assert here("judge", tmp_path / "nodes.csv", *graph).returncode == 0  # a test node is a player like others


def test_public_graphs_take_settings_but_no_direction(tmp_path: Path, here: Call) -> None:
    done = here("value", "demo", "--out", tmp_path / "run", "--setting", "transductive", "--permutations", 1, *FAST)
    assert done.returncode == 0, done.stderr
    assert "the setting is transductive: all three have all edges" in done.stdout
    assert "warning" not in done.stdout
    refused(here("value", "demo", "--out", tmp_path / "x", "--directed"), "--directed applies to your own graph only")
    done = here("judge", tmp_path / "run" / "nodes.csv", "--dataset", "demo", "--setting", "transductive", "--seeds", 1)
    assert done.stdout.startswith("demo-transductive judge nodes"), done.stderr


def test_settings_are_taken_out_of_the_options() -> None:
    options = {"seed": 1, "directed": None, "normalisation": "row", "self_loop": 0.0, "setting": None}
    assert given_settings(options) == {"normalisation": "row", "self_loop": 0.0}
    assert options == {"seed": 1}


def test_a_public_graph_with_settings() -> None:
    assert public_graph("demo", None, {"setting": "transductive"}).n_cut_edges == 0
    with pytest.raises(ValueError, match="--undirected applies to your own graph only"):
        public_graph("demo", None, {"directed": False})

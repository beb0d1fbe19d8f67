"""Datasets: the embedded graph, the public graphs in numbers, and random splits."""

import hashlib
import shutil
from dataclasses import FrozenInstanceError
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from pcwinter.graph.io.datasets import DATASETS, load, location

# nodes, undirected edges, features, classes, train, val, test, walks of at most two steps from train
PUBLIC = {
    "cora": (2708, 5278, 1433, 7, 140, 500, 1000, 2241),
    "citeseer": (3327, 4552, 3703, 6, 120, 500, 1000, 1388),
    "amazon-photo": (7650, 119081, 745, 8, 160, 1530, 1530, 147664),
    "amazon-computers": (13752, 245861, 767, 10, 200, 2750, 2750, 317959),
    "coauthor-physics": (34493, 247962, 8415, 5, 100, 6898, 6898, 11178),
}


# ---- demo


def test_the_demo_is_cora() -> None:
    graph = load("demo", features="none")
    assert (graph.n_nodes, graph.n_edges, graph.n_classes) == (2708, 5278, 7)
    assert graph.features.shape == (2708, 1433)
    assert graph.features.nnz == graph.features.sum() == 49216
    assert np.bincount(graph.labels).tolist() == [818, 180, 217, 426, 351, 418, 298]
    assert np.bincount(graph.labels[graph.train]).tolist() == [20] * 7
    assert (graph.val.size, graph.test.size) == (500, 1000)


def test_the_demo_is_split_as_its_readme_says() -> None:
    graph, again = load("demo"), load("demo", seed=0)
    for name in ("train", "val", "test"):
        np.testing.assert_array_equal(getattr(graph, name), getattr(again, name))
    assert not np.array_equal(graph.train, load("demo", seed=1).train)


def test_the_readme_of_the_demo_names_its_hash() -> None:
    folder = resources.files("pcwinter") / "data"
    digest = hashlib.sha256((folder / "demo.npz").read_bytes()).hexdigest()
    assert digest in (folder / "README.md").read_text(encoding="utf-8")


def test_the_demo_needs_no_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PCWINTER_DATA", str(tmp_path / "missing"))
    folder = location("demo")
    assert folder is not None
    assert (folder / "demo.npz").is_file()
    assert load("demo").n_nodes == 2708


def test_features_are_normalized_as_asked() -> None:
    rows = load("demo").features.toarray().sum(axis=1)
    np.testing.assert_allclose(rows, 1)
    columns = load("demo", features="standard").features.toarray()
    np.testing.assert_allclose(columns.mean(axis=0), 0, atol=1e-12)
    with pytest.raises(ValueError, match=r"features is 'max'.* row, standard or none"):
        load("demo", features="max")


# ---- the table


def test_an_unknown_name_lists_the_known_ones() -> None:
    known = "demo, cora, citeseer, pubmed, amazon-photo, amazon-computers, coauthor-physics"
    for ask in (load, location):
        with pytest.raises(ValueError, match=f"'karate'.* {known}"):
            ask("karate")
        with pytest.raises(ValueError, match=r"'coar'.* cora\?"):
            ask("coar")


def test_the_settings_are_those_of_the_paper() -> None:
    table = {d.name: d.truncation for d in DATASETS.values()}
    citation, benchmark = (0.5, 0.7), (0.7, 0.9)
    assert table == {
        "demo": citation,
        "cora": citation,
        "citeseer": citation,
        "pubmed": citation,
        "amazon-photo": benchmark,
        "amazon-computers": benchmark,
        "coauthor-physics": benchmark,
    }
    with pytest.raises(FrozenInstanceError):
        DATASETS["cora"].name = "other"  # type: ignore[misc]


# ---- the public graphs


@pytest.mark.real_data
@pytest.mark.parametrize("name", PUBLIC)
def test_the_public_graphs_in_numbers(name: str, data_dir: Path) -> None:
    graph = load(name, data=data_dir)
    sizes = (graph.train.size, graph.val.size, graph.test.size)
    numbers = (graph.n_nodes, graph.n_edges, graph.features.shape[1], graph.n_classes, *sizes)
    degree = np.diff(graph.training.indptr)
    walks = (1 + degree + graph.training @ degree)[graph.train].sum()  # the paper's retraining counts
    assert (*numbers, walks) == PUBLIC[name]
    assert graph.name == name
    assert np.bincount(graph.labels[graph.train]).tolist() == [20] * graph.n_classes
    sums = np.add.reduceat(graph.features.data, graph.features.indptr[:-1][np.diff(graph.features.indptr) > 0])
    np.testing.assert_allclose(sums, 1)


@pytest.mark.real_data
def test_planetoid_rows_go_to_their_nodes(data_dir: Path) -> None:
    graph = load("cora", data=data_dir, features="none")
    assert graph.train.tolist() == list(range(140))
    assert graph.val.tolist() == list(range(140, 640))
    listed = [int(line) for line in (data_dir / "planetoid" / "ind.cora.test.index").read_text().split()]
    assert graph.test.tolist() == sorted(listed)
    # Papers cite papers of their own subject: a shuffled test row would not show that (0.18 by chance).
    row, column = graph.testing.nonzero()
    assert (graph.labels[row] == graph.labels[column]).mean() > 0.75
    x = graph.features.toarray()
    shared, chance = ((x[row] * x[other]).sum(axis=1).mean() for other in (column, np.roll(column, 500)))
    assert shared > 2 * chance


@pytest.mark.real_data
def test_citeseer_has_15_nodes_without_a_row(data_dir: Path) -> None:
    graph = load("citeseer", data=data_dir)
    unknown = np.flatnonzero(graph.labels < 0)
    assert unknown.size == 15
    assert graph.features[unknown].nnz == 0
    assert graph.adjacency[unknown].nnz == 16  # they are cited, so they stay, as unlabelled training nodes
    assert not np.isin(unknown, graph.test).any()


@pytest.mark.real_data
def test_the_paper_split_is_used_unless_a_seed_is_given(data_dir: Path) -> None:
    with np.load(data_dir / "splits" / "amazon-photo.npz") as split:
        assert load("amazon-photo", data=data_dir).val.tolist() == split["val"].tolist()
        drawn = load("amazon-photo", data=data_dir, seed=0)
        assert drawn.val.tolist() != split["val"].tolist()
        assert (drawn.train.size, drawn.val.size, drawn.test.size) == (160, 1530, 1530)


@pytest.mark.real_data
def test_without_a_split_file_seed_0_is_drawn(data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PCWINTER_CACHE", str(tmp_path / "cache"))
    file = "gnn-benchmark/amazon_electronics_photo.npz"
    (tmp_path / "gnn-benchmark").mkdir()
    shutil.copyfile(data_dir / file, tmp_path / file)
    alone, seeded = load("amazon-photo", data=tmp_path), load("amazon-photo", data=data_dir, seed=0)
    assert alone.test.tolist() == seeded.test.tolist()


@pytest.mark.real_data
def test_a_seed_draws_a_planetoid_split_of_the_usual_shape(data_dir: Path) -> None:
    graph = load("citeseer", data=data_dir, seed=3)
    assert (graph.train.size, graph.val.size, graph.test.size) == (120, 500, 1000)
    assert graph.train.tolist() != list(range(120))


@pytest.mark.real_data
def test_the_data_folder_comes_from_the_environment(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PCWINTER_DATA", str(data_dir))
    assert location("cora") == data_dir / "planetoid"
    assert load("cora").n_edges == 5278


@pytest.mark.real_data
def test_other_arrays_in_a_public_npz_are_refused(data_dir: Path, tmp_path: Path) -> None:
    file = "gnn-benchmark/amazon_electronics_photo.npz"
    with np.load(data_dir / file) as archive:
        arrays = dict(archive)
    arrays["labels"][17] += 1
    (tmp_path / "gnn-benchmark").mkdir()
    np.savez(tmp_path / file, **arrays)
    with pytest.raises(ValueError, match=r"amazon_electronics_photo\.npz"):
        load("amazon-photo", data=tmp_path)
    arrays["labels"][17] -= 1
    np.savez(tmp_path / file, **arrays)  # not compressed: other bytes, the same arrays
    assert load("amazon-photo", data=tmp_path).n_edges == 119081

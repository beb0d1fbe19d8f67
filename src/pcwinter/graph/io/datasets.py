"""Name -> Graph: the public graphs, from the package, from files on disk, or downloaded once."""

import hashlib
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from pcwinter._util.arrays import IntArray, Sparse
from pcwinter._util.checks import did_you_mean, one_of
from pcwinter.graph.features import NORMALIZATIONS, normalize_features
from pcwinter.graph.graph import Graph
from pcwinter.graph.io import download
from pcwinter.graph.io.download import SOURCES, PathLike
from pcwinter.graph.splits import PER_CLASS, random_split


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A public graph: its files, its source, and the truncation that the paper uses for it."""

    name: str
    title: str
    family: str  # "planetoid" or "gnn-benchmark", for the folder and layout of the files; "package" for the demo
    source: str  # where the files come from
    citation: str
    files: dict[str, str | None]  # path in the data folder -> sha256, or None if it is not known
    fingerprint: str | None = None  # sha256 of the arrays in an npz file, independent of compression
    truncation: tuple[float, float] = (0.5, 0.7)


def load(name: str, *, data: PathLike | None = None, features: str = "row", seed: int | None = None) -> Graph:
    """Load a public graph. Nodes keep their numbers from the public files.

    `name` is one of the names in DATASETS. `data` is the folder to look in first (default: the environment variable
    PCWINTER_DATA); a file that is not there is taken from the cache, or downloaded into it. `features` is "row",
    "standard" or "none", see `normalize_features`. `seed` draws a random split of the usual sizes. Without it, you get
    the public split. The Amazon and Coauthor graphs have none: they get the paper's split if the data folder has
    `splits/`, and otherwise a random split with seed 0.

    >>> load("demo").n_edges
    5278
    """
    dataset = _dataset(name)
    one_of("features", features, NORMALIZATIONS)
    if dataset.family == "package":
        with resources.as_file(_demo()) as path:
            raw = _read_npz(path, split_path=path)
    else:
        paths = [download.find(file, sha256, data) for file, sha256 in dataset.files.items()]
        if dataset.family == "planetoid":
            raw = _read_planetoid({path.name.removeprefix(f"ind.{name}."): path for path in paths})
        else:
            split_path = download.on_disk(f"splits/{name}.npz", data)
            raw = _read_npz(paths[0], split_path, dataset.fingerprint)
    if raw.split is None or seed is not None:
        val, test = (raw.labels.size // 5,) * 2 if dataset.family == "gnn-benchmark" else (500, 1000)
        split = random_split(raw.labels, per_class=PER_CLASS, val=val, test=test, seed=seed or 0)
    else:
        split = raw.split
    return Graph(raw.edges, normalize_features(raw.features, features), raw.labels, *split, name=name)


def location(name: str, *, data: PathLike | None = None) -> Path | None:
    """The folder that holds the files of `name`, or None if `load` would have to download any of them."""
    dataset = _dataset(name)
    if dataset.family == "package":
        return Path(str(_demo())).parent
    paths = [download.on_disk(file, data) for file in dataset.files]
    return paths[0].parent if paths[0] is not None and None not in paths else None


class _Raw(NamedTuple):
    """A graph as it is in its files."""

    edges: IntArray  # (m, 2) each undirected edge once, no loops
    features: Sparse  # (n, d)
    labels: IntArray  # (n,) -1 if unknown
    split: tuple[IntArray, IntArray, IntArray] | None  # train, val, test, if the files name them


_ARRAYS = {
    "adj_indptr": "<i8",
    "adj_indices": "<i8",
    "attr_indptr": "<i8",
    "attr_indices": "<i8",
    "attr_data": "<f8",
    "labels": "<i8",
}


def _read_npz(path: Path, split_path: Path | None, fingerprint: str | None = None) -> _Raw:
    """The gnn-benchmark layout: CSR arrays adj_* and attr_*, and labels; the adjacency may be directed."""
    found = download.read_npz(path, *_ARRAYS, "attr_shape")
    a = {name: found[name].astype(dtype) for name, dtype in _ARRAYS.items()}
    digest = hashlib.sha256(b"".join(array.tobytes() for array in a.values())).hexdigest()
    if fingerprint is not None and digest != fingerprint:
        raise ValueError(f"{path} does not hold the public arrays: replace it, or delete it to download it again")
    n, d = (int(size) for size in found["attr_shape"])
    features = sp.csr_array((a["attr_data"], a["attr_indices"], a["attr_indptr"]), shape=(n, d))
    edges = _undirected(np.repeat(np.arange(n), a["adj_indptr"][1:] - a["adj_indptr"][:-1]), a["adj_indices"])
    split = None
    if split_path is not None:
        s = download.read_npz(split_path, "train", "val", "test")
        split = (s["train"], s["val"], s["test"])
    return _Raw(edges, features, a["labels"], split)


def _read_planetoid(paths: dict[str, Path]) -> _Raw:
    """The public Planetoid files. Test rows are in the order of test.index, which may have gaps."""
    with download.naming(paths["test.index"]):
        test = np.loadtxt(paths["test.index"], dtype=np.int64)
    y, allx, ally, tx, ty, graph = (
        download.read_pickle(paths[part]) for part in ("y", "allx", "ally", "tx", "ty", "graph")
    )
    with download.naming(paths["graph"]):
        ends = np.array([(u, v) for u, neighbours in graph.items() for v in neighbours], dtype=np.int64)
        edges = _undirected(ends[:, 0], ends[:, 1])
    with download.naming(paths["allx"]):
        rows = sp.vstack([allx.csr(), tx.csr()], format="coo")
        one_hot = np.concatenate([ally, ty])
        node = np.concatenate([np.arange(len(ally)), test])  # the node of each row
        n = int(node.max()) + 1
        features = sp.csr_array((rows.data, (node[rows.row], rows.col)), shape=(n, rows.shape[1]))
        labels = np.full(n, -1)
        labels[node] = np.where(one_hot.any(axis=1), one_hot.argmax(axis=1), -1)
    train = len(y)
    return _Raw(edges, features, labels, (np.arange(train), np.arange(train, train + 500), np.sort(test)))


def _undirected(u: IntArray, v: IntArray) -> IntArray:
    """(m, 2) every edge once, without loops; the public files have loops and repeat some edges."""
    pairs = np.stack([np.minimum(u, v), np.maximum(u, v)], axis=1)
    return np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)


def _dataset(name: str) -> Dataset:
    if name not in DATASETS:
        hint = did_you_mean(name, DATASETS) or f": choose one of {', '.join(DATASETS)}"
        raise ValueError(f"there is no dataset {name!r}{hint}")
    return DATASETS[name]


def _demo() -> Traversable:
    return resources.files("pcwinter") / "data" / "demo.npz"


_CITATION = "Sen et al., Collective classification in network data, AI Magazine 29, 2008"
_PLANETOID = f"{_CITATION}; split: Yang et al., Revisiting semi-supervised learning with graph embeddings, ICML 2016"
_BENCHMARK = "Shchur et al., Pitfalls of graph neural network evaluation, 2018"


_CORA_SHA256 = """
    94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1
    9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543
    2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71
    b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a
    41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad
    58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d
    297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875
    """
_CITESEER_SHA256 = """
    8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924
    2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668
    f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95
    539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21
    55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce
    d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7
    2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4
    """


def _planetoid(name: str, title: str, sha256: str | None) -> Dataset:
    parts = ("y", "allx", "ally", "tx", "ty", "graph", "test.index")
    hashes = sha256.split() if sha256 else [None] * len(parts)
    return Dataset(
        name=name,
        title=title,
        family="planetoid",
        source=SOURCES["planetoid"],
        citation=_PLANETOID,
        files={f"planetoid/ind.{name}.{part}": known for part, known in zip(parts, hashes, strict=True)},
    )


def _benchmark(name: str, title: str, file: str, fingerprint: str) -> Dataset:
    return Dataset(
        name=name,
        title=title,
        family="gnn-benchmark",
        source=SOURCES["gnn-benchmark"],
        citation=_BENCHMARK,
        files={f"gnn-benchmark/{file}.npz": None},
        fingerprint=fingerprint,
        truncation=(0.7, 0.9),
    )


DATASETS = {
    dataset.name: dataset
    for dataset in (
        Dataset(
            name="demo",
            title="Cora, included in this package, with its own split",
            family="package",
            source="the wheel graphdatascience 2.2 (Apache-2.0), see data/README.md in the package",
            citation=_CITATION,
            files={},
        ),
        _planetoid("cora", "Cora citation network", _CORA_SHA256),
        _planetoid("citeseer", "Citeseer citation network", _CITESEER_SHA256),
        _planetoid("pubmed", "Pubmed citation network", None),  # its files were not available to compute hashes
        _benchmark(
            "amazon-photo",
            "Amazon-Photo co-purchase network",
            "amazon_electronics_photo",
            "ea2fde46315cadc22267ccd166ab2fe81484cbf45479103d94bbac1b42e2757d",
        ),
        _benchmark(
            "amazon-computers",
            "Amazon-Computers co-purchase network",
            "amazon_electronics_computers",
            "a0ffd49e6f8fbb260b246af83b334c33ceb46bc25f21b0770fba2cc37dd214b7",
        ),
        _benchmark(
            "coauthor-physics",
            "Coauthor-Physics co-authorship network",
            "ms_academic_phy",
            "4f09e6e02d7f6104a251ab90055ae578b252e2950e31c2dad4852e131413250d",
        ),
    )
}

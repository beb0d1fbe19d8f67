"""A folder or file -> Graph: CSV, npz, GraphML, GML, chosen by its name; docs/own-graphs.md describes the formats."""

from pathlib import Path

from pcwinter.graph.features import normalize_features
from pcwinter.graph.graph import Graph
from pcwinter.graph.io.csv_folder import EDGES, NODES, read_tables
from pcwinter.graph.io.datasets import DATASETS
from pcwinter.graph.io.download import PathLike
from pcwinter.graph.io.networkx import read_networkx
from pcwinter.graph.io.npz import read_archive

FORMATS = f"a folder with {NODES} and {EDGES}, or a file that ends in .npz, .graphml or .gml"


def read_graph(path: PathLike, *, features: str = "row") -> Graph:
    """The graph in a folder with nodes.csv and edges.csv, or in a .npz, .graphml or .gml file.

    `features` is "row", "standard" or "none", as in `normalize_features`. Ids are kept as the file has them. Classes
    are those that occur in train, val and test, and have their names in `Graph.classes`; other labels become -1.
    """
    normalize_features([[1.0]], features)  # refuses another word before anything is read
    place = Path(path).expanduser()
    if place.is_dir():
        return read_tables(place, features)
    if not place.exists():
        advice = f'; the built-in graph is load("{path}")' if str(path) in DATASETS else ""
        raise FileNotFoundError(f"there is no {place}: name {FORMATS}{advice}")
    suffix = place.suffix.lower()
    if suffix == ".npz":
        return read_archive(place, features)
    if suffix in (".graphml", ".gml"):
        return read_networkx(place, suffix == ".gml", features)
    if suffix == ".csv":
        raise ValueError(f"{place} is one table, but a graph has two: name the folder that holds {NODES} and {EDGES}")
    raise ValueError(f"{place} is of no known format: name {FORMATS}")

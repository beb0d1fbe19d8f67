"""Folder or file -> Graph: CSV, npz, GraphML or GML, chosen by name. docs/own-graphs.md describes the formats."""

from pathlib import Path

from pcwinter._util.checks import one_of
from pcwinter.graph.features import NORMALIZATIONS
from pcwinter.graph.graph import Graph
from pcwinter.graph.io.assemble import settings
from pcwinter.graph.io.csv_folder import EDGES, NODES, read_tables
from pcwinter.graph.io.datasets import DATASETS
from pcwinter.graph.io.download import PathLike
from pcwinter.graph.io.networkx import read_networkx
from pcwinter.graph.io.npz import read_archive

FORMATS = f"a folder with {NODES} and {EDGES}, or a file that ends in .npz, .graphml or .gml"


def read_graph(
    path: PathLike,
    *,
    features: str = "row",
    directed: bool | None = None,
    normalisation: str | None = None,
    self_loop: float = 1.0,
    setting: str | None = None,
) -> Graph:
    """Read your own graph from a folder or a file.

    `path` is a folder with nodes.csv and edges.csv, or a .npz, .graphml or .gml file. `features` is "row", "standard"
    or "none", see `normalize_features`. `directed`, `normalisation`, `self_loop` and `setting` are those of `Graph`. By
    default, `directed` is as the file says: GraphML, GML and npz files can be directed, and a CSV folder is undirected.
    The default setting is inductive, with a warning if this cuts more than half of the edges.

    Ids are kept exactly as they are in the file. The classes are the labels that occur in train, val and test;
    `Graph.classes` holds their names. Other labels become -1.
    """
    one_of("features", features, NORMALIZATIONS)
    place, given = Path(path).expanduser(), settings(directed, normalisation, self_loop, setting)
    if place.is_dir():
        return read_tables(place, features, given)
    if not place.exists():
        advice = f'; for the public graph, use load("{path}")' if str(path) in DATASETS else ""
        raise FileNotFoundError(f"there is no {place}: pass {FORMATS}{advice}")
    suffix = place.suffix.lower()
    if suffix == ".npz":
        return read_archive(place, features, given)
    if suffix in (".graphml", ".gml"):
        return read_networkx(place, suffix == ".gml", features, given)
    if suffix == ".csv":
        raise ValueError(f"{place} is one table, but a graph needs two: pass the folder that holds {NODES} and {EDGES}")
    raise ValueError(f"{place} has an unknown format: pass {FORMATS}")

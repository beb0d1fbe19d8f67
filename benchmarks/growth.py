"""Graph -> evaluations per second of the ridge head as one size grows and the others stay fixed; and a figure."""

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import scipy.sparse as sp

import pcwinter as pw
from benchmarks.machine import Result
from pcwinter._util.arrays import IntArray, Sparse

SECONDS = 0.5  # least time spent on walks for every point
AXES = {
    "validation nodes": (100, 200, 500, 1_000, 1_500, 3_000),
    "players": (0.02, 0.05, 0.1, 0.2, 0.5, 1.0),  # share of the training edges that are kept
    "labelled nodes": (20, 50, 100, 200, 400, 1_000),
    "hops": (1, 2, 3),
}
MOST_PLAYERS = 400_000


def growth(dataset: str) -> list[Result]:
    """One result per point; the head is calibrated on the whole graph."""
    graph = pw.load(dataset)
    _, _, chosen = pw.graph_game(graph, pw.contribution_tree(graph))
    assert chosen is not None
    head = chosen.head
    assert isinstance(head, pw.Ridge)
    changed: dict[str, Callable[[float], pw.Graph | None]] = {
        "validation nodes": lambda n: with_validation(graph, int(n)),
        "players": lambda share: with_edges(graph, share),
        "labelled nodes": lambda n: with_labelled(graph, int(n)),
        "hops": lambda _: graph,
    }
    points = []
    for axis, sizes in AXES.items():
        for size in sizes:
            variant, hops = changed[axis](size), int(size) if axis == "hops" else 2
            if variant is None:
                continue
            try:
                tree = pw.contribution_tree(variant, hops, max_players=MOST_PLAYERS)
            except ValueError:  # too many players for a quick run
                continue
            points.append({"dataset": dataset, "axis": axis, **rate(variant, tree, head)})
    return points


def rate(graph: pw.Graph, tree: pw.ContributionTree, head: pw.Ridge) -> Result:
    """Median evaluations per second of DFS walks, after a first walk that compiles and fills the caches."""
    game, _, _ = pw.graph_game(graph, tree, head)
    draw = pw.sampler(tree)
    game.walk(draw(np.random.default_rng(0)))
    rates: list[float] = []
    spent = 0.0
    while spent < SECONDS:
        order = draw(np.random.default_rng(1 + len(rates)))
        began = time.perf_counter()
        walk = game.walk(order)
        seconds = time.perf_counter() - began
        spent += seconds
        rates.append(walk.evaluations / seconds)
    return {
        "validation nodes": len(graph.val),
        "players": tree.n_players,
        "labelled nodes": len(graph.train),
        "hops": tree.hops,
        "evaluations": walk.evaluations,
        "per_second": median(rates),
    }


def with_validation(graph: pw.Graph, n: int) -> pw.Graph | None:
    """The graph with `n` validation nodes, drawn from val and test; the training graph does not change."""
    pool = np.random.default_rng(0).permutation(np.concatenate([graph.val, graph.test]))
    return None if n > len(pool) else _rebuilt(graph, graph.adjacency, val=pool[:n], test=pool[n:])


def with_labelled(graph: pw.Graph, n: int) -> pw.Graph | None:
    """The graph with `n` labelled nodes, balanced by class: first from train, then from the training graph."""
    rng = np.random.default_rng(0)
    outside = np.isin(np.arange(graph.n_nodes), np.concatenate([graph.train, graph.val, graph.test]), invert=True)
    pool = np.concatenate(
        [rng.permutation(graph.train), rng.permutation(np.flatnonzero(outside & (graph.labels >= 0)))]
    )
    turn = np.empty(len(pool), dtype=np.int64)  # number of earlier nodes of the same class
    for label in range(graph.n_classes):
        mine = graph.labels[pool] == label
        turn[mine] = np.arange(int(mine.sum()))
    return None if n > len(pool) else _rebuilt(graph, graph.adjacency, train=pool[np.argsort(turn, kind="stable")[:n]])


def with_edges(graph: pw.Graph, share: float) -> pw.Graph:
    """The graph with a random share of the edges of the training graph; the other two graphs do not change."""
    upper = sp.coo_array(sp.triu(graph.training))
    kept = np.random.default_rng(0).permutation(upper.nnz)[: round(share * upper.nnz)]
    half = sp.csr_array((upper.data[kept], (upper.row[kept], upper.col[kept])), shape=upper.shape)
    return _rebuilt(graph, sp.csr_array(half + half.T + graph.validation + graph.testing))


def _rebuilt(graph: pw.Graph, adjacency: Sparse, **nodes: IntArray) -> pw.Graph:
    sets = [
        nodes.get(name, known) for name, known in (("train", graph.train), ("val", graph.val), ("test", graph.test))
    ]
    return pw.Graph(adjacency, graph.features, graph.labels, *sets, n_classes=graph.n_classes, name=graph.name)


def draw_figure(points: list[Result], path: Path) -> None:
    """Draw four small panels, one per size, with logarithmic axes."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

    figure, panels = plt.subplots(1, 4, figsize=(11, 3), sharey=True, layout="constrained")
    names = list(dict.fromkeys(point["dataset"] for point in points))
    for panel, axis in zip(panels, AXES, strict=True):
        for name, colour, marker in zip(names, ("#0b6e99", "#d1603d", "#5b8c5a"), "os^", strict=False):
            mine = [point for point in points if point["dataset"] == name and point["axis"] == axis]
            x, y = [point[axis] for point in mine], [point["per_second"] for point in mine]
            panel.plot(x, y, marker=marker, markersize=4, linewidth=1.4, color=colour, label=name)
        panel.set(xscale="log", yscale="log", xlabel=axis)
        panel.grid(True, which="major", linewidth=0.4, alpha=0.5)
        panel.spines[["top", "right"]].set_visible(False)
        if axis == "hops":
            panel.xaxis.set_major_locator(FixedLocator([1, 2, 3]))
            panel.xaxis.set_minor_locator(NullLocator())
            panel.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:.0f}"))
        else:
            panel.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
            panel.xaxis.set_minor_formatter(NullFormatter())
    panels[0].yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.0f}"))
    panels[0].yaxis.set_minor_formatter(FuncFormatter(lambda y, _: f"{y:,.0f}" if str(int(y))[0] in "25" else ""))
    panels[0].set_ylabel("evaluations per second")
    panels[0].legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=130)
    plt.close(figure)

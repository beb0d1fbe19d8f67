"""Estimate -> Values: what every player, node and edge is worth, with standard errors and how the run ended."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pcwinter._util.arrays import BoolArray, FloatArray, IntArray
from pcwinter._util.checks import count, one_of, whole_number
from pcwinter.estimation.estimator import Estimate
from pcwinter.game.metrics import find_metric, usual_metric
from pcwinter.game.orders import REMAINDERS, Truncation, check_truncation
from pcwinter.game.problem import COALITIONS, EMPTY, check_theta
from pcwinter.game.tree import ContributionTree
from pcwinter.graph.filters import filter_name, filter_weights
from pcwinter.graph.graph import Graph
from pcwinter.heads.calibration import Calibration
from pcwinter.heads.graph_game import check_head
from pcwinter.heads.ridge.head import Ridge
from pcwinter.heads.softmax import Softmax, softmax_for

if TYPE_CHECKING:
    import pandas as pd

DEFAULTS = {"head": "ridge", "metric": "accuracy", "coalition": "messages", "remainder": "silent"}
PRESETS = {
    "paper": {
        "head": "softmax",
        "coalition": "induced",
        "remainder": "nobody",
        "orders": "dfs",
        "metric": "accuracy",
        "empty": "nothing",
    }
}
BY_NODE = ("own", "path")
BY_EDGE = ("own", "path", "class")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The game and its orders, checked. The fields are the arguments of `value`; what is None gets its default."""

    hops: int = 2
    preset: str | None = None
    head: str | Ridge | Softmax | None = None
    metric: str | None = None
    coalition: str | None = None
    filter: str = "sgc"
    theta: Sequence[float] = ()
    orders: str = "dfs"
    truncation: Truncation = ()
    remainder: str | None = None
    empty: str = "nothing"
    seed: int = 0
    bootstrap: int = 0
    exact: bool = False  # all orders are enumerated, so no seed is needed

    def __post_init__(self) -> None:
        hops = whole_number("hops", self.hops, 1)
        usual = DEFAULTS if self.preset is None else PRESETS[one_of("preset", self.preset, PRESETS)]
        for name, default in usual.items():
            given = getattr(self, name)
            if given is None:
                object.__setattr__(self, name, default)
            elif self.preset is not None and given != default:
                other = repr(given) if isinstance(given, str) else f"{type(given).__name__}(...)"
                raise ValueError(
                    f"preset={self.preset!r} means {name}={default!r}, but {name} is {other}: leave one of them out"
                )
        check_head(self.head)
        coalition = one_of("coalition", self.coalition, COALITIONS)
        one_of("remainder", self.remainder, REMAINDERS)
        one_of("empty", self.empty, EMPTY)
        object.__setattr__(self, "theta", check_theta(hops, coalition, self.theta))
        self._check_filter(hops)
        metric = find_metric(self.metric)
        object.__setattr__(self, "seed", whole_number("seed", self.seed, 0))
        bootstrap = whole_number("bootstrap", self.bootstrap, 0)
        if bootstrap == 1:
            raise ValueError("bootstrap is 1, expected 0 or at least 2 resamplings")
        if bootstrap and not metric.additive:
            raise ValueError(
                f"the bootstrap needs a metric that is a mean over validation nodes, and {self.metric} is not one: "
                "choose another metric, or leave the bootstrap out"
            )
        object.__setattr__(self, "hops", hops)
        object.__setattr__(self, "bootstrap", bootstrap)
        object.__setattr__(self, "truncation", check_truncation(hops, self.orders, self.truncation))

    def _check_filter(self, hops: int) -> None:
        if not isinstance(self.filter, str):
            raise ValueError(f"filter is {self.filter!r}, expected its name, such as 'mean': use theta for weights")
        if self.filter != "hops":
            filter_weights(self.filter, hops)
        object.__setattr__(self, "filter", filter_name(self.filter))
        if self.filter != "sgc" and self.coalition != "messages":
            raise ValueError(
                f"filter={self.filter!r} needs coalition='messages', but coalition is {self.coalition!r}, which is "
                "defined for the filter sgc: leave out filter"
            )
        if self.filter != "sgc" and self.theta:
            raise ValueError(f"filter={self.filter!r} and theta both weight the powers: leave one of them out")

    @property
    def powers(self) -> tuple[float, ...]:
        """The weights of the powers of the propagation, or nothing for the last power alone and for "hops"."""
        return () if self.filter == "hops" else filter_weights(self.filter, self.hops) or tuple(self.theta)

    def of(self, graph: Graph) -> "Request":
        """The request for a graph: a preset means the paper's training settings for this graph."""
        return self if self.preset is None else replace(self, preset=None, head=softmax_for(graph))

    def record(self) -> dict[str, Any]:
        """The request as plain strings and numbers, for run.json."""
        parameters = asdict(self.head) if isinstance(self.head, Ridge | Softmax) else {}
        return {
            "head": type(self.head).__name__.lower() if parameters else self.head,
            **{name: given for name, given in parameters.items() if given is not None},
            "hops": self.hops,
            "metric": self.metric,
            "coalition": self.coalition,
            **({"filter": self.filter} if self.filter != "sgc" else {}),
            **({"theta": list(self.theta)} if self.theta else {}),
            "orders": self.orders,
            "truncation": list(self.truncation),
            **({"remainder": self.remainder} if self.truncation else {}),
            **({"empty": self.empty} if self.empty != "nothing" else {}),
            **({} if self.exact else {"seed": self.seed, "bootstrap": self.bootstrap}),
        }


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """Values of players, nodes and edges, with standard errors and how the run ended.

    `stderr` covers the sampling of orders only. A bootstrap adds two columns: `stderr_validation` covers the sampling
    of validation nodes only, and `stderr_total` = sqrt(stderr^2 + stderr_validation^2) covers both.
    """

    graph: Graph
    tree: ContributionTree
    null: BoolArray  # (p,) players that can never change a utility
    estimate: Estimate
    validation_stderr: dict[str, FloatArray]  # by level; empty without a bootstrap
    utility_full: float
    utility_roots: float  # labelled nodes alone, without any edge
    utility_empty: float
    request: Request
    stop: dict[str, float]  # settings of the stopping rule
    head: str  # name and parameters of the head
    calibration: Calibration | None
    warnings: tuple[str, ...]
    setup_seconds: float

    @property
    def status(self) -> str:
        """A sentence that says how the run ended."""
        return self.estimate.status

    @property
    def permutations(self) -> int:
        """Number of orders."""
        return self.estimate.tally.orders

    def nodes(self, by: str = "own") -> "pd.DataFrame":
        """One row per node that has players, in the order of the graph; nodes are named by their ids.

        `by` chooses what `value` and `stderr` are. "own" sums the players whose node it is; these values add up to
        U(all) - U(empty). "path" sums the players whose path contains the node; use it to choose nodes to drop.
        """
        level = one_of("by", by, BY_NODE)
        table = _table(
            {
                "node": self.graph.ids[self.tree.nodes],
                "value": self.estimate.mean(level),
                "stderr": self.estimate.stderr(level),
                "value_path": self.estimate.mean("path"),
                "stderr_path": self.estimate.stderr("path"),
                "labelled": np.isin(self.tree.nodes, self.graph.train),
                "players": np.bincount(np.searchsorted(self.tree.nodes, self.tree.node)),
            }
        )
        if self.validation_stderr:
            self._add_validation(table, level)
        return table

    def edges(self, by: str = "own") -> "pd.DataFrame":
        """One row per edge that has players; messages go from source to target if the graph is directed.

        `by` chooses what `value` and `stderr` are. "own" sums the players whose last step is the edge; added to the
        labelled nodes' own players, they give U(all) - U(empty). "path" sums the players whose path contains the
        edge, so it includes what is reached through the edge. "class" is "own" minus the average of the same class and
        depth, see `within_class`; use it to rank edges of dense graphs. It has no standard error.
        """
        level = {"own": "edge", "path": "edge path", "class": "edge"}[one_of("by", by, BY_EDGE)]
        table = _table(
            {
                "source": self.graph.ids[self.tree.edges[:, 0]],
                "target": self.graph.ids[self.tree.edges[:, 1]],
                "value": self.edges_within_class() if by == "class" else self.estimate.mean(level),
                "stderr": np.nan if by == "class" else self.estimate.stderr(level),
                "value_path": self.estimate.mean("edge path"),
                "stderr_path": self.estimate.stderr("edge path"),
            }
        )
        if self.validation_stderr and by == "own":
            self._add_validation(table, level)
        return table

    def _add_validation(self, table: "pd.DataFrame", level: str) -> None:
        table["stderr_validation"] = self.validation_stderr[level]
        table["stderr_total"] = np.hypot(table["stderr"], table["stderr_validation"])

    def edges_within_class(self) -> FloatArray:
        """(m,) value of every edge compared with the average of its class; see `within_class`."""
        tree, value = self.tree, self.estimate.mean()
        labels = self.graph.labels[tree.node[tree.roots]][tree.tree]
        return within_class(value, labels, tree.depth, self.null, tree.edge, len(tree.edges))

    def players(self) -> "pd.DataFrame":
        """One row per player, in pre-order. `step_0` is the labelled node; steps past the end are -1 or ""."""
        ids = self.graph.ids
        paths, ended = self.tree.paths(), -1 if ids.dtype.kind == "i" else ""
        steps = np.where(paths < 0, ended, ids[paths])
        table = _table({f"step_{k}": steps[:, k] for k in range(steps.shape[1])})
        return table.assign(
            node=ids[self.tree.node],
            depth=self.tree.depth,
            null=self.null,
            value=self.estimate.mean(),
            stderr=self.estimate.stderr(),
        )

    def __repr__(self) -> str:
        done = self.estimate.tally
        game = game_name(str(self.request.coalition), self.request.theta, self.request.filter)
        lines = [
            f"Values of {count(len(self.tree.nodes), 'node')} and {count(len(self.tree.edges), 'edge')} "
            f"({count(self.tree.n_players, 'player')}, {game}, {self.head})",
            self.status,
            f"{count(done.orders, 'order')}, {done.evaluations:,} utilities in {self.estimate.seconds:.2f} s, "
            f"after {self.setup_seconds:.2f} s of preparation",
            utilities(str(self.request.metric), self.utility_full, self.utility_roots, self.utility_empty),
            *(f"warning: {warning}" for warning in self.warnings),
        ]
        return "\n".join(lines)


def metric_of(graph: object, metric: str | None, preset: str | None) -> str | None:
    """The metric of a request: the usual one of the graph if it is None; an error if the preset needs classes."""
    usual = usual_metric(graph)
    if usual == "r2" and preset is not None:
        raise ValueError(f"preset={preset!r} needs classes, but the graph has numeric targets: leave preset out")
    return usual if metric is None and preset is None else metric


def game_name(coalition: str, theta: Sequence[float], filter: str = "sgc") -> str:
    """The game in a few words."""
    name = {"induced": "induced game", "messages": "message game"}[coalition]
    name += f" with filter {filter}" if filter != "sgc" else ""
    return f"{name} with theta {', '.join(f'{weight:g}' for weight in theta)}" if theta else name


def utilities(metric: str, full: float, roots: float, empty: float) -> str:
    """One line with the utility of everything, of the labelled nodes, and of nothing."""
    return (
        f"validation {metric}: {full:.4f} with everything, {roots:.4f} with labelled nodes only, "
        f"{empty:.4f} with nothing"
    )


def within_class(
    value: FloatArray, labels: IntArray, depth: IntArray, null: BoolArray, edge: IntArray, n_edges: int
) -> FloatArray:
    """(m,) value of every edge compared with the average of its class.

        sum over the players p of an edge of psi_p - m(class of p's labelled node, depth of p)

    where m is the mean over all players of that class and depth that are not null. If edges help the labelled nodes of
    one class and harm those of another, a ranking by plain value takes one class after the other; this one does not.
    The values add up to 0, up to rounding. `value`, `labels`, `depth`, `null` and `edge` (-1 for a labelled node) are
    (p,), one entry per player.
    """
    kind = np.where(null, 0, 1 + labels * (depth.max() + 1) + depth)  # 0 for null players
    mean = np.bincount(kind, value) / np.maximum(np.bincount(kind), 1)
    live = np.flatnonzero(~null & (edge >= 0))
    result = np.zeros(n_edges)
    np.add.at(result, edge[live], (value - mean[kind])[live])
    return np.round(result, 12)  # so that equal edges stay equal, in whatever sequence players are added


def _table(columns: dict[str, Any]) -> "pd.DataFrame":
    import pandas as pd  # here, because workers need no tables, and importing it takes as long as everything else

    return pd.DataFrame(columns)

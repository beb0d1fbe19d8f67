"""Tables of studies -> what agrees with the paper and what does not, in words, with the numbers that say so."""

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

from pcwinter.experiments.paper import EDGES

Table: TypeAlias = dict[str, dict[str, str]]  # rows by method


SHOWN = ("PC-Winter (own)", "PC-Winter (path)", "Data Shapley", "random")


class Study(NamedTuple):
    """Where the tables of one dataset and head are."""

    folder: Path
    head: str

    def table(self, experiment: str, *, fair: bool = False) -> Table:
        """A table by method, or by budget and method; empty where the experiment was not run."""
        head = "" if self.head == "ridge" else f" {self.head}"
        path = self.folder / f"{self.folder.name} {experiment}{head}{' fair' if fair else ''}.table.csv"
        if not path.is_file():
            return {}
        with path.open(newline="", encoding="utf-8") as file:
            return {f"{row['budget']} {row['method']}" if fair else row["method"]: row for row in csv.DictReader(file)}

    @property
    def title(self) -> str:
        """What a sentence about it begins with."""
        return self.folder.name if self.head == "ridge" else f"{self.folder.name}, {self.head} head"


def verdicts(folders: list[Path]) -> str:
    """A part for every claim of the paper, with a line for every dataset that was studied."""
    parts = []
    studies = [Study(folder, head) for head in ("ridge", "softmax") for folder in folders]
    for claim, judge in CLAIMS.items():
        lines = [f"- {study.title}: {said}." for study in studies for said in judge(study)]
        parts += ["\n".join([f"**{claim}**\n", *lines])] if lines else []
    return "\n\n".join(parts)


def compare(mine: dict[str, str], other: dict[str, str], *, lower: bool = True, column: str = "mean", n: int) -> str:
    """Whether the first is better, and whether the seeds can tell: two standard errors of the difference."""
    gap = float(mine[column]) - float(other[column])
    noise = (sum(float(row[f"{column} sd"] or "nan") ** 2 for row in (mine, other)) / n) ** 0.5
    word = "unclear" if not abs(gap) > 2 * noise else "yes" if (gap < 0) == lower else "no"
    return f"{word} ({gap:+.4f})"


def _dropping(study: Study) -> Iterator[str]:
    table = study.table("drop-nodes unlabelled")
    if not table:
        return
    others = [method for method in table if not method.startswith("PC-Winter") and method != "Data Shapley"]
    best = min(others, key=lambda method: float(table[method]["mean"]))
    for level in ("own", "path"):
        mine = table[f"PC-Winter ({level})"]
        verdict = compare(mine, table[best], n=int(mine["seeds"]))
        listed = ", ".join(f"{method} {float(table[method]['mean']):.4f}" for method in others)
        yield f"{verdict} for {level}, {float(mine['mean']):.4f} +- {float(mine['mean sd'] or 'nan'):.4f}; {listed}"


def _shapley(study: Study) -> Iterator[str]:
    fair = study.table("drop-nodes unlabelled", fair=True)
    plain = study.table("drop-nodes unlabelled")
    for budget in ("same rule", "equal evaluations", "equal time"):
        theirs = fair.get(f"{budget} Data Shapley")
        if theirs is None:
            continue
        said = []
        for level in ("own", "path"):
            mine = fair[f"{budget} PC-Winter ({level})"]
            n = int(plain["Data Shapley"]["seeds"])
            said.append(f"{level} {compare(mine, theirs, n=n)}")
        orders = f"{float(mine['orders']):.0f} orders against {float(theirs['orders']):.0f}"
        yield f"{budget}: {', '.join(said)}; {orders}, Data Shapley {float(theirs['mean']):.4f}"


def _rebound(study: Study) -> Iterator[str]:
    table = study.table("drop-nodes unlabelled")
    methods = [
        method for method in ("PC-Winter (own)", "PC-Winter (path)", "Data Shapley", "random") if method in table
    ]
    if methods:
        yield "it rises by " + ", ".join(f"{float(table[method]['rebound']):.4f} ({method})" for method in SHOWN)


def _mixed(study: Study) -> Iterator[str]:
    table = study.table("drop-nodes mixed")
    column = "labelled among the first"
    methods = [
        method for method in ("PC-Winter (own)", "PC-Winter (path)", "Data Shapley", "random") if method in table
    ]
    if methods:
        yield "labelled are " + ", ".join(f"{float(table[method][column]):.0%} ({method})" for method in SHOWN)


def _edges(study: Study) -> Iterator[str]:
    table = study.table("add-edges")
    if not table:
        return
    mine = table["PC-Winter"]
    paper = f" (paper {EDGES[study.folder.name]})" if study.folder.name in EDGES else ""
    others = {
        method: compare(mine, row, lower=False, column="first 20 %", n=int(mine["seeds"]))
        for method, row in table.items()
        if method != "PC-Winter"
    }
    ahead = ", ".join(f"{method} {verdict}" for method, verdict in others.items())
    yield (
        f"the accuracy of the whole graph, {float(mine['whole graph']):.4f}, comes with "
        f"{float(mine['share that reaches all']):.1%} of the edges, and {float(mine['at 10 %']):.4f} with 10 %{paper}; "
        f"over the first 20 % ahead of: {ahead}"
    )


def _variants(experiment: str) -> Callable[[Study], Iterator[str]]:
    def judge(study: Study) -> Iterator[str]:
        table = study.table(experiment)
        names = list(dict.fromkeys(method.rpartition(", ")[0] for method in table))
        base = "converged" if "converged" in names else names[0] if names else ""
        for level in ("own", "path"):
            if not table:
                return
            mine = table[f"{base}, {level}"]
            n = int(mine["seeds"])
            said = [f"{name} {compare(mine, table[f'{name}, {level}'], n=n)}" for name in names if name != base]
            yield f"{base} ({level}, {float(mine['mean']):.4f}) is better than: {', '.join(said)}"

    return judge


def _time(study: Study) -> Iterator[str]:
    table = study.table("efficiency")
    if not table:
        return
    said = []
    for method, row in table.items():
        hours = row.get("paper hours in total")
        paper = f"; paper {float(row['paper orders']):.0f} orders, {float(hours):.1f} GPU hours" if hours else ""
        said.append(f"{method} {float(row['orders']):.0f} orders, {float(row['seconds in total']):.1f} s{paper}")
    ratio = float(table["Data Shapley"]["seconds an order"]) / float(table["PC-Winter"]["seconds an order"])
    yield f"an order of Data Shapley takes {ratio:.2f} times as long ({', '.join(said)})"


CLAIMS: dict[str, Callable[[Study], Iterator[str]]] = {
    "Dropping the best unlabelled nodes by PC-Winter hurts more than by random, degree or leave-one-out.": _dropping,
    "... and, on most graphs, more than by Data Shapley.": _shapley,
    "The curve rises again at the end, where the harmful nodes go.": _rebound,
    "Labelled nodes go first when all nodes are dropped.": _mixed,
    "A tenth of the edges, the best by PC-Winter, is as good as the whole graph.": _edges,
    "Both constraints are needed.": _variants("ablation"),
    "More orders are better, but 50 or 100 are already good.": _variants("permutations"),
    "Heavy truncation does little harm.": _variants("truncation"),
    "An order of PC-Winter is quicker than one of Data Shapley.": _time,
}

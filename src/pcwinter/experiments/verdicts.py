"""Tables of studies -> what agrees with the paper and what does not, in words, with the numbers that say so."""

from collections.abc import Callable, Iterator
from math import inf
from pathlib import Path
from typing import NamedTuple, TypeAlias

from scipy.stats import t

from pcwinter.experiments.output import Row, read_table
from pcwinter.experiments.paper import EDGES, LIMITED

Table: TypeAlias = dict[str, Row]  # by method

FEW = 3  # splits
SHOWN = ("PC-Winter (own)", "PC-Winter (path)", "Data Shapley")


class Tables(NamedTuple):
    """Where the tables of one dataset and head are."""

    folder: Path
    dataset: str
    head: str

    def table(self, experiment: str, *, fair: bool = False) -> Table:
        """A table by method, or by budget and method; empty where the experiment was not run."""
        head = "" if self.head == "ridge" else f" {self.head}"
        path = self.folder / f"{self.dataset} {experiment}{head}{' fair' if fair else ''}.table.csv"
        return {f"{row['budget']} {row['method']}" if fair else row["method"]: row for row in read_table(path)}

    @property
    def title(self) -> str:
        """What a sentence about it begins with."""
        return self.dataset if self.head == "ridge" else f"{self.dataset}, {self.head} head"


def verdicts(studies: list[Tables], experiment: str | None = None) -> str:
    """A part for every claim of the paper, with lines for every study; of all experiments, or of one."""
    parts = []
    for claim, (about, judge) in CLAIMS.items():
        lines = []
        for study in studies if experiment in (None, about) else []:
            try:
                lines += [f"- {study.title}: {said}." for said in judge(study)]
            except KeyError as error:
                raise ValueError(
                    f"the table {about} of {study.title} has no {error}: it is of another version, make it anew"
                ) from error
        parts += ["\n".join([f"**{claim}**\n", *lines])] if lines else []
    return "\n\n".join(parts)


def compare(mine: Row, other: Row, *, lower: bool = True, column: str = "mean", as_good: bool = False) -> str:
    """Whether the first is better, and whether their seeds can tell: Welch's t at 5 %, both sides.

    `as_good` asks for less: yes unless it is worse, and no only if that is hardly chance.
    """
    gap = float(mine[column] - other[column])
    noise = inf  # one seed has no spread
    if None not in (mine[f"{column} sd"], other[f"{column} sd"]):
        squares = [row[f"{column} sd"] ** 2 / row["seeds"] for row in (mine, other)]
        freedom = sum(square**2 / (row["seeds"] - 1) for square, row in zip(squares, (mine, other), strict=True))
        noise = float(t.ppf(0.975, sum(squares) ** 2 / freedom)) * sum(squares) ** 0.5 if freedom else 0.0
    better = gap == 0 or (gap < 0) == lower
    word = "yes" if better and (as_good or abs(gap) > noise) else "no" if not better and abs(gap) > noise else "unclear"
    return f"{word} ({gap:+.4f})"


def _dropping(study: Tables) -> Iterator[str]:
    table = study.table("drop-nodes unlabelled")
    if not table:
        return
    others = [method for method in table if not method.startswith("PC-Winter") and method != "Data Shapley"]
    best = min(others, key=lambda method: table[method]["mean"])
    for level in ("own", "path"):
        mine = table[f"PC-Winter ({level})"]
        verdict = compare(mine, table[best])
        listed = ", ".join(f"{method} {table[method]['mean']:.4f}" for method in others)
        yield f"{verdict} for {level}, {mine['mean']:.4f}; {listed}"


def _shapley(study: Tables) -> Iterator[str]:
    fair = study.table("drop-nodes unlabelled", fair=True)
    for budget in ("same rule", "equal evaluations", "equal time"):
        theirs = fair.get(f"{budget} Data Shapley")
        if theirs is None:
            continue
        said = []
        for level in ("own", "path"):
            mine = fair[f"{budget} PC-Winter ({level})"]
            said.append(f"{level} {compare(mine, theirs)}")
        orders = f"{mine['orders']:.0f} orders against {theirs['orders']:.0f}"
        yield f"{budget}: {', '.join(said)}; {orders}, Data Shapley {theirs['mean']:.4f}"


def _rebound(study: Tables) -> Iterator[str]:
    table = study.table("drop-nodes unlabelled")
    for method in SHOWN if table else ():
        verdict = compare(table[method], table["random"], lower=False, column="rebound")
        yield f"{method} rises by {table[method]['rebound']:.4f}, more than random: {verdict}"


def _labelled(study: Tables) -> Iterator[str]:
    yield from _as_shapley(study.table("drop-nodes labelled"))


def _mixed(study: Tables) -> Iterator[str]:
    table = study.table("drop-nodes mixed")
    if table:
        column, share = "labelled among the first", table["random"]["labelled in all"]
        for method in SHOWN:
            row = table[method]
            most, more = _above(row, column, 0.5), _above(row, column, share)
            yield f"{method}: {row[column]:.0%} of the first, most {most}, more than the {share:.0%} in the data {more}"
    yield from _as_shapley(table)


def _as_shapley(table: Table) -> Iterator[str]:
    if table:
        theirs = table["Data Shapley"]
        said = ", ".join(
            f"{level} {compare(table[f'PC-Winter ({level})'], theirs, as_good=True)}" for level in ("own", "path")
        )
        yield f"by the mean along the curve as good as Data Shapley, {theirs['mean']:.4f}: {said}"


def _edges(study: Tables) -> Iterator[str]:
    table = study.table("add-edges")
    if not table:
        return
    for level in ("own", "path", "by class", "chosen on validation"):
        tenth, share = EDGES.get(study.dataset, (None, None)) if level == "own" else (None, None)
        mine = table[f"PC-Winter ({level})"]
        others = {
            method: compare(mine, row, lower=False, column="first 20 %")
            for method, row in table.items()
            if not method.startswith("PC-Winter")
        }
        ahead = ", ".join(f"{method} {verdict}" for method, verdict in others.items())
        whole, reached = mine["whole graph"], mine["share that reaches all"]
        first = f"first reached with {reached:.1%}" if reached < 1 else "not reached before"
        yield (
            f"{_above(mine, 'at 10 %', whole, as_good=True)} for {level}: {mine['at 10 %']:.4f} with 10 %"
            f"{f' (paper {tenth})' if tenth else ''} against {whole:.4f} with all, {first}"
            f"{f' (paper {share:.0%})' if share else ''}; over the first 20 % ahead of: {ahead}"
        )


def _fresh(study: Tables) -> Iterator[str]:
    table = study.table("fresh-splits")
    if not table:
        return
    mine = table["PC-Winter (chosen on validation)"]
    if mine["seeds"] < FEW:
        yield f"fewer than {FEW} splits tell nothing"
        return
    others = {method: row for method, row in table.items() if row["choice ahead by"] is not None and "," not in method}
    ahead = ", ".join(f"{method} {_above(row, 'choice ahead by', 0.0)}" for method, row in others.items())
    yield (
        f"{_above(mine, '10 % over all', 0.0, as_good=True)} for chosen on validation, {mine['seeds']} splits: "
        f"{mine['at 10 %']:.4f} with 10 % against {mine['whole graph']:.4f} with all; "
        f"over the first 20 % ahead of: {ahead}"
    )


def _above(row: Row, column: str, level: float, *, as_good: bool = False) -> str:
    """Whether a mean over seeds is above a number that does not vary."""
    fixed = {column: level, f"{column} sd": 0.0, "seeds": row["seeds"]}
    return compare(row, fixed, lower=False, column=column, as_good=as_good)


def _variants(table: Table, level: str) -> Table:
    """The variants of PC-Winter by own or path values, by their names."""
    return {name.removesuffix(f", {level}"): row for name, row in table.items() if name.endswith(f", {level}")}


def _better(experiment: str, place: int) -> Callable[[Tables], Iterator[str]]:
    """Whether the variant at this place of the table is better than the others."""

    def judge(study: Tables) -> Iterator[str]:
        table = study.table(experiment)
        for level in ("own", "path") if table else ():
            others = _variants(table, level)
            base = list(others)[place]
            mine = others.pop(base)
            said = ", ".join(f"{name} {compare(mine, row)}" for name, row in others.items())
            yield f"{base} ({level}, {mine['mean']:.4f}) is better than: {said}"

    return judge


def _heavy(study: Tables) -> Iterator[str]:
    table = study.table("truncation")
    for level in ("own", "path") if table else ():
        others = _variants(table, level)
        base = "none" if "none" in others else "0.5-0.7"  # the mildest
        mild = others.pop(base)
        said = ", ".join(f"{name} {compare(row, mild, as_good=True)}" for name, row in others.items())
        yield f"as good as {base} ({level}, {mild['mean']:.4f}): {said}"


def _few(study: Tables) -> Iterator[str]:
    table = study.table("permutations")
    for level in ("own", "path") if table else ():
        theirs = table["Data Shapley"]
        said = [f"{name} {compare(row, theirs, as_good=True)}" for name, row in _variants(table, level).items()]
        yield f"as good as Data Shapley, {theirs['mean']:.4f}, by {level}: {', '.join(said)}"


def _time(study: Tables) -> Iterator[str]:
    table = study.table("efficiency")
    if not table:
        return
    said = []
    for method in ("PC-Winter", "Data Shapley"):
        row = table[method]
        hours = row.get("paper hours in total")
        paper = f", paper {row['paper orders']:.0f} orders, {hours:.1f} GPU hours" if hours else ""
        limit = ", its limit" if paper and (study.dataset, method) in LIMITED else ""
        said.append(f"{method} {row['orders']:.0f} orders, {row['seconds in total']:.1f} s{paper}{limit}")
    yield f"{_quicker(table, '')} ({'; '.join(said)})"
    if "PC-Winter, softmax" in table and not study._replace(head="softmax").table("efficiency"):
        yield f"{_quicker(table, ', softmax')} with softmax models"


def _quicker(table: dict[str, Row], head: str) -> str:
    ratio = table[f"Data Shapley{head}"]["seconds an order"] / table[f"PC-Winter{head}"]["seconds an order"]
    return f"{'yes' if ratio > 1 else 'no'}, an order of Data Shapley takes {ratio:.2f} times as long"


CLAIMS: dict[str, tuple[str, Callable[[Tables], Iterator[str]]]] = {
    "Dropping the best unlabelled nodes by PC-Winter hurts more than by random, degree or leave-one-out.": (
        "drop-nodes unlabelled",
        _dropping,
    ),
    "It hurts, on most graphs, more than by Data Shapley.": ("drop-nodes unlabelled", _shapley),
    "The curve rises again at the end, where the harmful nodes go.": ("drop-nodes unlabelled", _rebound),
    "Dropping the best labelled nodes hurts as much as by Data Shapley, or more.": ("drop-nodes labelled", _labelled),
    "When all nodes are dropped, most labelled ones go first.": ("drop-nodes mixed", _mixed),
    "A tenth of the edges, the best by PC-Winter, is as good as the whole graph.": ("add-edges", _edges),
    "A tenth of the edges is as good as the whole graph on splits drawn anew, too (not in the paper).": (
        "fresh-splits",
        _fresh,
    ),
    "Both constraints are needed.": ("ablation", _better("ablation", 0)),
    "More orders are better.": ("permutations", _better("permutations", -1)),
    "50 or 100 orders are already as good as Data Shapley.": ("permutations", _few),
    "Heavy truncation does no harm.": ("truncation", _heavy),
    "An order of PC-Winter is quicker than one of Data Shapley.": ("efficiency", _time),
}

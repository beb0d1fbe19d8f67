"""Tables of studies -> verdicts: which claims of the paper hold here, with the numbers that decide."""

import re
from collections.abc import Callable, Iterator
from math import inf
from pathlib import Path
from typing import NamedTuple, TypeAlias

from scipy.stats import t

from pcwinter.experiments.output import Row, file_name, read_table
from pcwinter.experiments.paper import EDGES, LIMITED

Table: TypeAlias = dict[str, Row]  # by method

FEW = 3  # fewer splits decide nothing
WORDS = ("yes", "partly", "no", "unclear")
PLAIN = ("leave-one-out", "degree", "random")  # of the paper
SHOWN = ("PC-Winter (own)", "PC-Winter (path)", "Data Shapley")


KINDS = {"softmax": "softmax head", "paper": "paper's preset"}


class Tables(NamedTuple):
    """The tables of one dataset, of the usual game and head or of another `kind`, "softmax" or "paper"."""

    folder: Path
    dataset: str
    kind: str = ""

    def table(self, experiment: str, *, fair: bool = False) -> Table:
        """A table by method, or by budget and method; empty if the experiment was not run."""
        name = file_name(self.dataset, experiment, self.kind, "fair" if fair else "")
        path = self.folder / f"{name}.table.csv"
        return {f"{row['budget']} {row['method']}" if fair else row["method"]: row for row in read_table(path)}

    @property
    def title(self) -> str:
        """The beginning of a sentence about these tables."""
        return f"{self.dataset}, {KINDS[self.kind]}" if self.kind else self.dataset


class Finding(NamedTuple):
    """One sentence about a claim, and the verdicts in it that decide the claim."""

    sentence: str
    deciding: tuple[str, ...] = ()  # each begins with yes, no or unclear

    @property
    def words(self) -> list[str]:
        """The deciding verdicts without their numbers."""
        return [re.split(r"\W", verdict)[0] for verdict in self.deciding]


def summary(studies: list[Tables]) -> list[Row]:
    """One row per claim: whether it holds on all studies, or on which of them it does."""
    rows: list[Row] = []
    for claim, (_, judge) in CLAIMS.items():
        found: dict[str, list[str]] = {}
        for study in studies:
            words = [word for finding in judge(study) for word in finding.words]
            if words:
                found.setdefault(overall(words), []).append(study.title)
        if found:
            said = [(word, found[word]) for word in WORDS if word in found]
            holds = said[0][0] if len(said) == 1 else "; ".join(f"{word}: {', '.join(on)}" for word, on in said)
            on = [study.title for study in studies if any(study.title in names for names in found.values())]
            graphs = f"all {len(on)}" if len(on) == len(studies) else ", ".join(on)
            rows.append({"claim of the paper": claim, "holds here?": holds, "graphs": graphs})
    return rows


def overall(words: list[str]) -> str:
    """One word for several verdicts.

    >>> [overall(words) for words in (["yes", "yes"], ["yes", "no"], ["no", "unclear"], ["unclear"])]
    ['yes', 'partly', 'no', 'unclear']
    """
    if "yes" in words:
        return "yes" if set(words) == {"yes"} else "partly"
    return "no" if "no" in words else "unclear"


def verdicts(studies: list[Tables], experiment: str | None = None) -> str:
    """A section for every claim of the paper, with lines for every study; for all experiments, or for one."""
    parts = []
    for claim, (about, judge) in CLAIMS.items():
        lines = []
        for study in studies if experiment in (None, about) else []:
            try:
                lines += [f"- {study.title}: {finding.sentence}." for finding in judge(study)]
            except KeyError as error:
                raise ValueError(
                    f"the table {about} of {study.title} has no {error}: repeat the experiment with this version"
                ) from error
        parts += ["\n".join([f"**{claim}**\n", *lines])] if lines else []
    return "\n\n".join(parts)


def compare(mine: Row, other: Row, *, lower: bool = True, column: str = "mean", as_good: bool = False) -> str:
    """Whether `mine` is better, by a two-sided Welch t-test at 5 % over the seeds: yes, no or unclear.

    `as_good` asks whether `mine` is at least as good: yes unless its mean is worse, no if it is significantly worse.
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


def _dropping(study: Tables) -> Iterator[Finding]:
    table = study.table("drop-nodes unlabelled")
    if not table:
        return
    others = [method for method in PLAIN if method in table]
    best = min(others, key=lambda method: table[method]["mean"])
    for level in ("own", "path"):
        mine = table[f"PC-Winter ({level})"]
        verdict = compare(mine, table[best])
        listed = ", ".join(f"{method} {table[method]['mean']:.4f}" for method in others)
        yield Finding(f"{verdict} for {level}, {mine['mean']:.4f}; {listed}", (verdict,))
    if theirs := table.get("influence"):
        found = {level: compare(table[f"PC-Winter ({level})"], theirs) for level in ("own", "path")}
        said = ", ".join(f"{level} {verdict}" for level, verdict in found.items())
        yield Finding(f"more than by influence, which the paper leaves out, {theirs['mean']:.4f}: {said}")


def _shapley(study: Tables) -> Iterator[Finding]:
    fair = study.table("drop-nodes unlabelled", fair=True)
    for budget in ("same rule", "equal evaluations", "equal time"):
        theirs = fair.get(f"{budget} Data Shapley")
        if theirs is None:
            continue
        found = {}
        for level in ("own", "path"):
            mine = fair[f"{budget} PC-Winter ({level})"]
            found[level] = compare(mine, theirs)
        said = [f"{level} {verdict}" for level, verdict in found.items()]
        deciding = tuple(found.values()) if budget == "same rule" else ()  # the comparison of the paper
        orders = f"{mine['orders']:.0f} orders against {theirs['orders']:.0f}"
        yield Finding(f"{budget}: {', '.join(said)}; {orders}, Data Shapley {theirs['mean']:.4f}", deciding)


def _rebound(study: Tables) -> Iterator[Finding]:
    table = study.table("drop-nodes unlabelled")
    for method in SHOWN if table else ():
        verdict = compare(table[method], table["random"], lower=False, column="rebound")
        yield Finding(
            f"{method} rises by {table[method]['rebound']:.4f}, more than random: {verdict}", _if_mine(method, verdict)
        )


def _labelled(study: Tables) -> Iterator[Finding]:
    yield from _as_shapley(study.table("drop-nodes labelled"))


def _mixed(study: Tables) -> Iterator[Finding]:
    table = study.table("drop-nodes mixed")
    if table:
        column, share = "labelled among the first", table["random"]["labelled in all"]
        for method in SHOWN:
            row = table[method]
            most, more = _above(row, column, 0.5), _above(row, column, share)
            yield Finding(
                f"{method}: {row[column]:.0%} of the first, most {most}, more than the {share:.0%} in the data {more}",
                _if_mine(method, most),
            )
    yield from (finding._replace(deciding=()) for finding in _as_shapley(table))


def _as_shapley(table: Table) -> Iterator[Finding]:
    if table:
        theirs = table["Data Shapley"]
        found = {level: compare(table[f"PC-Winter ({level})"], theirs, as_good=True) for level in ("own", "path")}
        said = ", ".join(f"{level} {verdict}" for level, verdict in found.items())
        yield Finding(
            f"by the mean along the curve as good as Data Shapley, {theirs['mean']:.4f}: {said}", tuple(found.values())
        )


def _if_mine(method: str, verdict: str) -> tuple[str, ...]:
    """The verdict, if it is about PC-Winter."""
    return (verdict,) if method.startswith("PC-Winter") else ()


def _edges(study: Tables) -> Iterator[Finding]:
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
        verdict = _above(mine, "at 10 %", whole, as_good=True)
        yield Finding(
            f"{verdict} for {level}: {mine['at 10 %']:.4f} with 10 %"
            f"{f' (paper {tenth})' if tenth else ''} against {whole:.4f} with all, {first}"
            f"{f' (paper {share:.0%})' if share else ''}; over the first 20 % ahead of: {ahead}",
            (verdict,) if level == "own" else (),  # the ranking of the paper
        )


def _fresh(study: Tables) -> Iterator[Finding]:
    table = study.table("fresh-splits")
    if not table:
        return
    mine = table["PC-Winter (chosen on validation)"]
    if mine["seeds"] < FEW:
        yield Finding(f"unclear, fewer than {FEW} splits", ("unclear",))
        return
    others = {method: row for method, row in table.items() if row["choice ahead by"] is not None and "," not in method}
    ahead = ", ".join(f"{method} {_above(row, 'choice ahead by', 0.0)}" for method, row in others.items())
    verdict = _above(mine, "10 % over all", 0.0, as_good=True)
    yield Finding(
        f"{verdict} for chosen on validation, {mine['seeds']} splits: "
        f"{mine['at 10 %']:.4f} with 10 % against {mine['whole graph']:.4f} with all; "
        f"over the first 20 % ahead of: {ahead}",
        (verdict,),
    )


def _above(row: Row, column: str, level: float, *, as_good: bool = False) -> str:
    """Whether a mean over seeds is above a number that does not vary."""
    fixed = {column: level, f"{column} sd": 0.0, "seeds": row["seeds"]}
    return compare(row, fixed, lower=False, column=column, as_good=as_good)


def _variants(table: Table, level: str) -> Table:
    """The variants of PC-Winter by own or path values, by their names."""
    return {name.removesuffix(f", {level}"): row for name, row in table.items() if name.endswith(f", {level}")}


def _better(experiment: str, place: int) -> Callable[[Tables], Iterator[Finding]]:
    """Whether the variant at this place of the table is better than the others."""

    def judge(study: Tables) -> Iterator[Finding]:
        table = study.table(experiment)
        for level in ("own", "path") if table else ():
            others = _variants(table, level)
            base = list(others)[place]
            mine = others.pop(base)
            found = {name: compare(mine, row) for name, row in others.items()}
            said = ", ".join(f"{name} {verdict}" for name, verdict in found.items())
            yield Finding(f"{base} ({level}, {mine['mean']:.4f}) is better than: {said}", tuple(found.values()))

    return judge


def _heavy(study: Tables) -> Iterator[Finding]:
    table = study.table("truncation")
    for level in ("own", "path") if table else ():
        others = _variants(table, level)
        base = "none" if "none" in others else "0.5-0.7"  # the mildest
        mild = others.pop(base)
        found = {name: compare(row, mild, as_good=True) for name, row in others.items()}
        said = ", ".join(f"{name} {verdict}" for name, verdict in found.items())
        yield Finding(f"as good as {base} ({level}, {mild['mean']:.4f}): {said}", tuple(found.values()))


def _few(study: Tables) -> Iterator[Finding]:
    table = study.table("permutations")
    for level in ("own", "path") if table else ():
        theirs = table["Data Shapley"]
        found = {name: compare(row, theirs, as_good=True) for name, row in _variants(table, level).items()}
        said = ", ".join(f"{name} {verdict}" for name, verdict in found.items())
        deciding = tuple(verdict for name, verdict in found.items() if name in ("50 orders", "100 orders"))
        yield Finding(f"as good as Data Shapley, {theirs['mean']:.4f}, by {level}: {said}", deciding)


def _time(study: Tables) -> Iterator[Finding]:
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
    verdict = _quicker(table, "")
    yield Finding(f"{verdict} ({'; '.join(said)})", (verdict,))
    if "PC-Winter, softmax" in table and not study._replace(kind="softmax").table("efficiency"):
        yield Finding(f"{_quicker(table, ', softmax')} with softmax models")


def _quicker(table: dict[str, Row], head: str) -> str:
    ratio = table[f"Data Shapley{head}"]["seconds an order"] / table[f"PC-Winter{head}"]["seconds an order"]
    return f"{'yes' if ratio > 1 else 'no'}, an order of Data Shapley takes {ratio:.2f} times as long"


CLAIMS: dict[str, tuple[str, Callable[[Tables], Iterator[Finding]]]] = {
    "Dropping unlabelled nodes by PC-Winter value hurts more than by degree, leave-one-out or at random.": (
        "drop-nodes unlabelled",
        _dropping,
    ),
    "Dropping unlabelled nodes by PC-Winter value hurts more than by Data Shapley.": (
        "drop-nodes unlabelled",
        _shapley,
    ),
    "Accuracy rises again when the lowest-valued nodes are dropped.": ("drop-nodes unlabelled", _rebound),
    "Dropping labelled nodes by PC-Winter value hurts at least as much as by Data Shapley.": (
        "drop-nodes labelled",
        _labelled,
    ),
    "Among all nodes, most of the highest-valued ones are labelled.": ("drop-nodes mixed", _mixed),
    "The best 10 % of the edges are as good as the whole graph.": ("add-edges", _edges),
    "The best 10 % of the edges are as good as the whole graph on new random splits (not in the paper).": (
        "fresh-splits",
        _fresh,
    ),
    "Both constraints on the orders are needed.": ("ablation", _better("ablation", 0)),
    "More orders give better values.": ("permutations", _better("permutations", -1)),
    "50 or 100 orders are already as good as Data Shapley.": ("permutations", _few),
    "Heavy truncation does no harm.": ("truncation", _heavy),
    "An order of PC-Winter takes less time than an order of Data Shapley.": ("efficiency", _time),
}

"""Small runs for the tests of the report: hand-made graphs, valued, written and read back."""

import json
import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pcwinter as pw
from oracles import random_graph
from pcwinter.runs.directory import write
from pcwinter.runs.read import Run, read

HEAD = pw.Ridge(penalty=0.3, bias=1.0)

# Ids and names that would run, or break the page, if any of them entered it as HTML.
HOSTILE = (
    "<img src=x onerror=\"document.title='broken'\">",
    "</script><script>document.title='broken'</script>",
    "<!--<script>",
    "a & b \"c\" 'd'",
    "line\u2028and\u2029paragraph",
    "]]>&lt;",
    "NA",
    "007",
    "$data ${script}",
    "an id that goes on and on without a space or with " + "x" * 80,
    "ä😀",
    "{}",
)
HOSTILE_CLASSES = ("<b onclick=alert(1)>bold</b>", "</td></table></script>")


def named_graph(seed: int = 3, ids: Sequence[str] = (), classes: Sequence[str] = ("red", "blue")) -> pw.Graph:
    """Twelve training nodes, four of them labelled, with ids a0, a1, ... or those given."""
    made = random_graph(seed, n_val=40)
    names = [*ids, *(f"a{k}" for k in range(len(ids), made.n_nodes))]
    return pw.Graph(
        made.adjacency,
        made.features,
        made.labels,
        train=made.train,
        val=made.val,
        test=made.test,
        ids=names,
        classes=classes,
    )


def small_run(directory: Path, graph: pw.Graph | None = None, *, exactly: bool = False, **options: Any) -> Run:
    """A run of 20 orders of that graph, as it is read back."""
    graph = graph or named_graph()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a small random graph need not help the model
        if exactly:
            values = pw.exact_value(graph, **{"head": HEAD, "coalition": "induced", "hops": 1, **options})
        else:
            values = pw.value(graph, **{"head": HEAD, "coalition": "induced", "permutations": 20, **options})
    write(values, directory, name="small")
    return read(directory)


def with_story(run: Run, **entries: object) -> Run:
    """The run with other entries in its story."""
    return replace(run, story={**run.story, **entries})


def nonnull(run: Run) -> set[tuple[int, ...]]:
    """The paths of the players that count, in node numbers."""
    return {tuple(step for step in path if step >= 0) for path in run.paths[~run.null].tolist()}


def node_sums(run: Run) -> dict[int, float]:
    """Node number -> sum of the values of its players, one by one."""
    sums = dict.fromkeys(run.number.tolist(), 0.0)
    for path, value in zip(run.paths.tolist(), run.value.tolist(), strict=True):
        sums[[step for step in path if step >= 0][-1]] += value
    return sums


class Elements(HTMLParser):
    """All start tags of a page with their attributes, and its text by element."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[tuple[str, str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.tags:
            self.text.append((self.tags[-1][0], data))

    def words(self) -> str:
        return " ".join(text for tag, text in self.text if tag not in ("script", "style"))


def embedded(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    loaded: dict[str, Any] = json.loads(found[1])
    return loaded

"""Run -> one self-contained HTML page: figures, charts, tables and a graph to click through, without any network."""

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from string import Template

from pcwinter.report import charts, experiments, words
from pcwinter.report.data import as_json, page_data
from pcwinter.report.facts import by_rows
from pcwinter.report.text import escape
from pcwinter.runs.read import Run

SCRIPTS = ("base.js", "panel.js", "graph.js", "tables.js", "start.js")


def page(run: Run) -> str:
    """The text of the page. Besides the run itself, the files experiments/*.csv in its directory are read."""
    known = by_rows(run)
    style = _asset("page.css")
    script = '(() => {\n"use strict";\n' + "\n".join(map(_asset, SCRIPTS)) + "})();\n"
    found = experiments.figures(run.directory / "experiments")
    return Template(_asset("page.html")).substitute(
        policy=f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        style=style,
        script=script,
        data=as_json(page_data(run, known)),
        title=escape(words.title(run)),
        status=escape(run.story["status"]),
        warnings=words.warnings(run),
        numbers=words.numbers(run, known),
        meaning="".join(f"<li>{escape(sentence)}</li>" for sentence in words.meaning(run, known)),
        distributions="".join(charts.distributions(run, known)),
        against=charts.against_degree(known) + charts.against_distance(known) + charts.against_class(known),
        convergence=charts.convergence(run),
        experiments=found or "<p>There are no experiments in the directory of this run.</p>",
        settings=words.settings(run),
        version=escape(run.story["versions"]["pcwinter"]),
    )


def _asset(name: str) -> str:
    return (files(__name__) / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """How a content security policy names the one text that it lets through."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"

"""Run -> one self-contained HTML page with figures, charts, tables and an interactive graph; it needs no network."""

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from string import Template

from pcwinter.report import charts, experiments, summary
from pcwinter.report.data import as_json, page_data
from pcwinter.report.escape import escape
from pcwinter.report.facts import by_rows
from pcwinter.runs.read import Run

SCRIPTS = ("base.js", "panel.js", "graph.js", "tables.js", "start.js")


def page(run: Run) -> str:
    """The HTML of the page. It also shows the files experiments/*.csv in the directory of the run."""
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
        title=escape(summary.title(run)),
        status=escape(run.story["status"]),
        warnings=summary.warnings(run),
        numbers=summary.numbers(run, known),
        meaning="".join(f"<li>{escape(sentence)}</li>" for sentence in summary.meaning(run, known)),
        distributions="".join(charts.distributions(known)),
        against=charts.against_degree(known) + charts.against_distance(known) + charts.against_class(known),
        convergence=charts.convergence(run),
        experiments_link='<a href="#experiments">Experiments</a>' if found else "",
        experiments=_experiments(found) if found else "",
        settings=summary.settings(run),
        version=escape(run.story["versions"]["pcwinter"]),
    )


def _experiments(found: str) -> str:
    heading = '<h2 id="experiments-title">Experiments</h2>'
    return f'<section id="experiments" aria-labelledby="experiments-title">\n{heading}\n{found}\n</section>\n'


def _asset(name: str) -> str:
    return (files(__name__) / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """The hash by which a content security policy allows exactly this script or style."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"

"""Measurements -> bench.json, bench.md, growth.png: python -m benchmarks [--only ridge,growth] [--datasets cora].

A whole run writes to benchmarks/results, a selection to runs/bench.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.machine import ROOT, Result, facts, in_fresh_process
from benchmarks.table import markdown

NAMES = (
    *("ridge", "messages", "softmax", "growth", "memory", "startup", "converged", "workers", "families", "metrics"),
    "peer",
)
RATIOS = ("cora", "citeseer", "amazon-photo")
GROWTH = ("cora", "amazon-photo")
METRICS = ("cora", "tolokers")
MEMORY = ("demo", "cora", "citeseer", "amazon-photo", "amazon-computers", "coauthor-physics")


def main() -> int:
    """Measure, write the results and print the page; return 1 if a measurement failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", default="", help=f"measurements to run, from {','.join(NAMES)}; default: all")
    parser.add_argument("--datasets", default="", help="datasets to use; default: those of each measurement")
    parser.add_argument("--out", type=Path, help="folder for the results")
    options = parser.parse_args()
    only = options.only.split(",") if options.only else list(NAMES)
    datasets = options.datasets.split(",") if options.datasets else []
    if unknown := set(only) - set(NAMES):
        parser.error(f"there is no measurement {', '.join(sorted(unknown))}: choose some of {', '.join(NAMES)}")
    whole = not options.only and not datasets
    out = options.out or (ROOT / "benchmarks" / "results" if whole else ROOT / "runs" / "bench")
    if not os.environ.get("PCWINTER_DATA"):
        say("PCWINTER_DATA is not set: graphs come from the cache or the network (see docs/public-graphs.md)")

    command = "make bench"
    if not whole:
        command = " ".join(["python -m benchmarks", *sys.argv[1:]])
    results: Result = {"machine": facts(command), **measure(only, datasets)}
    out.mkdir(parents=True, exist_ok=True)
    (out / "bench.json").write_text(json.dumps(results, indent=1) + "\n")
    page = markdown(results)
    (out / "bench.md").write_text(page)
    if results.get("growth"):
        from benchmarks.growth import draw_figure

        draw_figure(results["growth"], out / "growth.png")
    print(page)
    say(f"written: {out}/bench.md, bench.json" + (", growth.png" if results.get("growth") else ""))
    return 1 if results["failed"] else 0


def measure(only: list[str], datasets: list[str]) -> Result:
    """Run the selected measurements, one process after another."""
    began = time.perf_counter()
    found: Result = {}
    failed: dict[str, str] = {}

    def chosen(defaults: tuple[str, ...]) -> list[str]:
        return datasets or list(defaults)

    def run(name: str, title: str, work: Callable[[], Any], many: bool = False) -> None:
        say(f"[{time.perf_counter() - began:4.0f} s] {title}")
        try:
            result = work()
        except Exception as error:
            failed[title] = str(error)
            say(f"         failed: {error}")
            return
        if many:
            found.setdefault(name, []).extend(result)
        else:
            found[name] = result

    heads = [head for head in ("ridge", "messages", "softmax") if head in only]
    if heads:
        for name in chosen(RATIOS):
            for truncated in (False, True):
                title = f"{' and '.join(heads)} against the plain loop, {name}" + (", truncated" if truncated else "")
                run("ratios", title, _job("ratios", dataset=name, truncated=truncated, heads=heads), many=True)
    if "growth" in only:
        for name in chosen(GROWTH):
            run("growth", f"growth, {name}", _job("growth", dataset=name), many=True)
    if "memory" in only:
        for name in chosen(MEMORY):
            run("memory", f"memory, {name}", _job("memory", dataset=name), many=True)
    first = chosen(("cora",))[0]
    if "startup" in only:
        run("startup", f"start-up, {first}", _job("startup", dataset=first))
    if "converged" in only:
        run("converged", f"until converged, {first}", _job("converged", dataset=first))
    if "workers" in only:
        run("workers", f"two workers and one, {first}", _job("workers", pinned=False, dataset=first))
    if "families" in only:
        for name in chosen(("cora",)):
            run("families", f"families of orders, {name}", _job("families", dataset=name), many=True)
    if "metrics" in only:
        for name in chosen(METRICS):
            run("metrics", f"metrics, {name}", _job("metrics", dataset=name), many=True)
    if "peer" in only:
        run("peer", f"pyDVL, {first}", _job("peer", dataset=first, permutations=60, ours=1_000))
    return {**found, "failed": failed}


def _job(measurement: str, *, pinned: bool = True, **arguments: object) -> Callable[[], Any]:
    return lambda: in_fresh_process(measurement, pinned=pinned, **arguments)


def say(line: str) -> None:
    """Progress goes to stderr; the table goes to stdout."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

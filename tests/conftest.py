"""Which tests run: those marked `real_data` or `browser` only where the public graphs or a browser are at hand."""

import os
import shutil
from pathlib import Path
from typing import Protocol

import pytest
from hypothesis import settings

from command import FAST, call, write_graph

settings.register_profile("pcwinter", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("pcwinter")

# What is said, after the number of tests, when what the mark needs is missing.
MISSING = {
    "real_data": "tests on the public graphs were left out: PCWINTER_DATA names no directory; "
    "docs/public-graphs.md says how to get the data",
    "browser": "browser tests were left out: no Chromium was found; "
    "install Debian's package chromium, or name one in CHROME",
}
LEFT_OUT = pytest.StashKey[dict[str, int]]()


class Worker(Protocol):
    """What is used here of a worker process of pytest-xdist."""

    config: pytest.Config


def _data() -> Path | None:
    name = os.environ.get("PCWINTER_DATA")
    return Path(name) if name and Path(name).is_dir() else None


def _browser() -> str | None:
    names = (os.environ.get("CHROME"), "chromium", "chromium-browser", "google-chrome")
    return next(filter(None, (shutil.which(name) for name in names if name)), None)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The directory of the public graphs; a test that asks for it is marked `real_data`."""
    data = _data()
    if data is None:
        raise RuntimeError("a test that uses data_dir needs the mark real_data")
    return data


@pytest.fixture(scope="session")
def chromium() -> str:
    """The executable of a browser; a test that asks for it is marked `browser`."""
    browser = _browser()
    if browser is None:
        raise RuntimeError("a test that uses chromium needs the mark browser")
    return browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph of somebody's own."""
    place = tmp_path_factory.mktemp("mine")
    write_graph(place)
    return place


@pytest.fixture(scope="module")
def run(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of it through the command line."""
    out = tmp_path_factory.mktemp("runs") / "run"
    assert call("value", folder, "--out", out, "--permutations", 30, *FAST).returncode == 0
    return out


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    missing = [mark for mark, found in (("real_data", _data()), ("browser", _browser())) if found is None]
    counts = {}
    for mark in missing:
        left_out = [item for item in items if item.get_closest_marker(mark)]
        items[:] = [item for item in items if not item.get_closest_marker(mark)]
        config.hook.pytest_deselected(items=left_out)
        counts[mark] = len(left_out)
    config.stash[LEFT_OUT] = counts
    # In a worker of pytest-xdist this dictionary travels to the process that prints.
    getattr(config, "workeroutput", {})["left_out"] = counts


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Worker) -> None:
    # every worker collects all tests: their counts are the same
    counts = getattr(node, "workeroutput", {}).get("left_out") or node.config.stash.get(LEFT_OUT, {})
    node.config.stash[LEFT_OUT] = counts


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for mark, count in config.stash.get(LEFT_OUT, {}).items():
        if count:
            terminalreporter.write_line(f"{count} {MISSING[mark]}")

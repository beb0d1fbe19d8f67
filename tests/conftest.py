"""Which tests run: those marked `real_data` only where the public graphs are at hand."""

import os
from pathlib import Path
from typing import Protocol

import pytest
from hypothesis import settings

settings.register_profile("pcwinter", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("pcwinter")

LEFT_OUT = pytest.StashKey[int]()


class Worker(Protocol):
    """What is used here of a worker process of pytest-xdist."""

    config: pytest.Config


def _data() -> Path | None:
    name = os.environ.get("PCWINTER_DATA")
    return Path(name) if name and Path(name).is_dir() else None


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The directory of the public graphs; a test that asks for it is marked `real_data`."""
    data = _data()
    if data is None:
        raise RuntimeError("a test that uses data_dir needs the mark real_data")
    return data


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if _data() is not None:
        return
    left_out = [item for item in items if item.get_closest_marker("real_data")]
    items[:] = [item for item in items if not item.get_closest_marker("real_data")]
    config.hook.pytest_deselected(items=left_out)
    config.stash[LEFT_OUT] = len(left_out)
    # In a worker of pytest-xdist this dictionary travels to the process that prints.
    getattr(config, "workeroutput", {})["left_out"] = len(left_out)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Worker) -> None:
    count = getattr(node, "workeroutput", {}).get("left_out", 0)
    stash = node.config.stash
    stash[LEFT_OUT] = max(count, stash.get(LEFT_OUT, 0))  # every worker collects all tests


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if count := config.stash.get(LEFT_OUT, 0):
        terminalreporter.write_line(
            f"{count} tests on the public graphs were left out: PCWINTER_DATA names no directory; "
            "the README says how to get the data"
        )

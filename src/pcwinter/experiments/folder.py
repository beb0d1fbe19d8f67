"""Settings of a study -> study.json: the directory of a study, used by one process at a time, and by one graph."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pcwinter._util.files import AGAIN, lock, replace_file, temporary_name
from pcwinter.graph.graph import Graph
from pcwinter.runs.fingerprint import fingerprint

STUDY = {kind: f"study{'-' * bool(kind)}{kind}.json" for kind in ("", "softmax", "paper")}  # settings of a study
OURS = {
    *("runs", "rankings", "curves", "curves-on-validation", "curves-on-choice"),
    *(temporary_name(Path(name)).name for name in STUDY.values()),
}


def is_study(folder: Path) -> bool:
    """Whether the folder contains a study."""
    return any((folder / name).is_file() for name in STUDY.values())


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Lock the directory, so that no other process writes the same files."""
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        lock(handle, folder)
        yield
    finally:
        os.close(handle)


def claim(folder: Path, name: str, settings: dict[str, Any]) -> None:
    """Write the settings of a study to the file `name`; refuse a directory of other files, or of another graph.

    `settings["graph"]` has the hashes of the parts of the graph. Studies of 0.2.0 or earlier have none.
    """
    strange = {path.name for path in folder.iterdir()} - OURS
    if strange and not is_study(folder):
        raise FileExistsError(f"{folder} contains {min(strange)} but no study: choose another directory")
    for path in filter(Path.is_file, (folder / file for file in STUDY.values())):
        before, now = _graph_of(path), settings["graph"]
        differ = [part for part in {**before, **now} if before and before.get(part) != now.get(part)]
        if differ:
            raise ValueError(
                f"{folder} holds the study of another graph, which differs in {', '.join(differ)}: choose another "
                "directory, or move that one away"
            )
    replace_file(folder / name, json.dumps(settings, indent=2).encode(), AGAIN)


def parts_of(graph: Graph) -> dict[str, str]:
    """Hashes of the parts of a graph, and its settings where it is not a plain one."""
    return fingerprint(graph) | {name: str(setting) for name, setting in graph.settings.items()}


def _graph_of(path: Path) -> dict[str, str]:
    try:
        found: dict[str, str] = json.loads(path.read_text(encoding="utf-8")).get("graph", {})
    except (ValueError, AttributeError):
        raise ValueError(f"{path} is damaged: remove it, and the same command writes it again") from None
    return found

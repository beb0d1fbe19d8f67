"""Results and rankings <-> files with a checksum: a damaged file counts as missing."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from pcwinter._util.files import AGAIN, replace_file
from pcwinter.baselines.ranking import Ranking


def keep(path: Path, found: Any) -> None:
    """Store a result made of numbers, strings, lists and dictionaries."""
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, json.dumps({"found": found, "sha256": _digest(found)}).encode(), AGAIN)


def kept(path: Path) -> Any:
    """The result that `keep` stored, or None if the file is missing or damaged."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return content["found"] if content["sha256"] == _digest(content["found"]) else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def as_plain(ranking: Ranking) -> dict[str, Any]:
    """A ranking as numbers, strings and lists, which `keep` can store."""
    values = {name: getattr(ranking, name) for name in Ranking.__slots__}
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}


def as_ranking(found: dict[str, Any]) -> Ranking:
    """The ranking that `as_plain` took apart."""
    arrays = {name: np.array(found[name], dtype=np.float64) for name in ("value", "stderr")}
    return Ranking(**(found | arrays | {"items": np.array(found["items"], dtype=np.int64)}))


def _digest(found: Any) -> str:
    return sha256(json.dumps(found).encode()).hexdigest()

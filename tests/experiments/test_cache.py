"""Results with a checksum: what was kept comes back, and damage counts as missing."""

from pathlib import Path

import pytest

from pcwinter.experiments.cache import keep, kept

RESULT = {"a": [1, 2.5, -1e-300], "b": {"c": None, "d": "é\n"}, "e": [], "nan": [float("inf")]}


@pytest.mark.parametrize("found", [RESULT, [], "", 0, None])
def test_what_was_kept_comes_back(found: object, tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "file.json"
    keep(path, "something else")
    keep(path, found)
    assert kept(path) == found


def test_no_damage_is_believed(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    assert kept(path) is None
    keep(path, RESULT)
    whole = path.read_bytes()
    for k in range(len(whole)):
        path.write_bytes(whole[:k])
        assert kept(path) is None
        path.write_bytes(whole[:k] + bytes([whole[k] ^ 1]) + whole[k + 1 :])
        assert kept(path) in (None, RESULT)
    for content in (b"", b"[]", b"3", b"{}", b"\xff", b"[" * 100_000):
        path.write_bytes(content)
        assert kept(path) is None

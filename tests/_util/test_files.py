"""Files: atomic writes, locks and digests."""

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pcwinter._util.files import digest, lock, replace_file, temporary_name


def test_a_failed_write_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    replace_file(path, b"old")

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"file \(No space left on device\)"):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_directory_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "page").mkdir()
    with pytest.raises(OSError, match=r"page \(Is a directory\)") as caught:
        replace_file(tmp_path / "page", b"new")
    assert "space" not in str(caught.value)
    with pytest.raises(OSError, match="look elsewhere"):
        replace_file(tmp_path / "page", b"new", "look elsewhere")
    assert [path.name for path in tmp_path.iterdir()] == ["page"]


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "file"
    temporary_name(path).write_bytes(b"left over")
    for content in (b"a longer text", b"", b"new"):
        replace_file(path, content)
        assert path.read_bytes() == content
        assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(OSError, match=str(tmp_path)):
        replace_file(tmp_path / "none" / "file", b"new")


def test_a_directory_has_one_holder_at_a_time(tmp_path: Path) -> None:
    first, second = os.open(tmp_path, os.O_RDONLY), os.open(tmp_path, os.O_RDONLY)
    try:
        assert lock(first, tmp_path)
        with pytest.raises(BlockingIOError, match=str(tmp_path)):
            lock(second, tmp_path)
    finally:
        os.close(first)
    assert lock(second, tmp_path)  # closing the handle sets it free
    os.close(second)


def test_the_digest_sees_names_types_shapes_and_contents() -> None:
    x = np.arange(6)
    variants: list[dict[str, Any]] = [
        {"x": x},
        {"y": x},
        {"x": x.astype(np.int32)},
        {"x": x.reshape(2, 3)},
        {"x": x[::-1]},
        {"x": x, "y": x[:0]},
        {},
    ]
    assert len({digest(arrays) for arrays in variants}) == len(variants)
    wide = np.arange(12).reshape(3, 4)
    assert digest({"x": wide, "y": x}) == digest({"y": x.copy(), "x": np.asfortranarray(wide)})

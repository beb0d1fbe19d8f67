"""Bytes -> files that survive crashes: atomic writes, locks on directories, digests of arrays."""

import errno
import fcntl
import os
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

AGAIN = "free some space or choose another directory, then repeat the call to continue"  # advice after a failed write


def replace_file(path: Path, content: bytes, advice: str = "") -> None:
    """Write a temporary file, flush it to disk and rename it, so that the file survives a power failure.

    If that fails, the error ends with `advice`.
    """
    temporary = temporary_name(path)
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        _flush_directory(path.parent)
    except OSError as error:
        kept = "; the old file is unchanged" if path.is_file() else ""
        end = f": {advice}" if advice else ""
        raise OSError(f"could not write {path} ({error.strerror or error}){kept}{end}") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def temporary_name(path: Path) -> Path:
    """The name that `replace_file` gives a file until it is complete."""
    return path.with_name(f".{path.name}.tmp")


def lock(handle: int, directory: Path) -> bool:
    """Lock a directory that is open as `handle`; False if its file system has no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BlockingIOError(
            f"another process is using {directory}: wait until it ends, or choose another directory"
        ) from None
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP):
            raise
        return False
    return True


def digest(arrays: Mapping[str, NDArray[Any]]) -> str:
    """Hash of arrays: their names, types, shapes and contents."""
    found = sha256()
    for name, array in sorted(arrays.items()):
        found.update(repr((name, array.dtype.str, array.shape)).encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def _flush_directory(directory: Path) -> None:
    """Flush the new name to disk, too."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

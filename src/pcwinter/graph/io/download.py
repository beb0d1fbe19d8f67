"""File name -> contents: public files, found on disk or downloaded once, checked, and read safely.

A file such as `planetoid/ind.cora.y` is searched for in the data folder (`data=` or PCWINTER_DATA), then in the cache
(PCWINTER_CACHE, or the user's cache folder). If it is in neither, it is downloaded from its public address, or from
PCWINTER_MIRROR, which must have the layout of the data folder: `planetoid/` and `gnn-benchmark/`.
"""

import os
import pickle
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pooch
import scipy.sparse as sp
from numpy.typing import NDArray

from pcwinter._util.arrays import Sparse

PathLike: TypeAlias = str | os.PathLike[str]

SOURCES = {
    "planetoid": "https://github.com/kimiyoung/planetoid/raw/master/data",
    "gnn-benchmark": "https://github.com/shchur/gnn-benchmark/raw/master/data/npz",
}


def on_disk(file: str, data: PathLike | None = None) -> Path | None:
    """The path of `file` in the data folder or in the cache, or None. Its contents are not checked."""
    given = os.environ.get("PCWINTER_DATA") if data is None else data
    folders = [_cache()]
    if given:
        folders.insert(0, Path(given).expanduser())
        if not folders[0].is_dir():
            fault = "is not a folder" if folders[0].exists() else "does not exist"
            raise NotADirectoryError(
                f"the data folder {folders[0]} {fault}: correct data, or the environment variable PCWINTER_DATA"
            )
    return next((folder / file for folder in folders if (folder / file).is_file()), None)


def find(file: str, sha256: str | None, data: PathLike | None = None) -> Path:
    """The path of `file`, which is downloaded if necessary. Its hash is checked if it is known."""
    path = on_disk(file, data)
    if path is None or path == _cache() / file:
        return _download(file, sha256)
    if sha256 is not None and pooch.file_hash(str(path)) != sha256:
        raise ValueError(f"{path} is damaged or not the public file (its sha256 differs): replace or delete it")
    return path


def read_npz(path: Path, *names: str) -> dict[str, NDArray[Any]]:
    """The named arrays of an npz file; pickled objects raise an error."""
    # given a path, np.load would leave a damaged file open
    with naming(path), path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        return {name: archive[name] for name in names}


def read_pickle(path: Path) -> Any:  # an array, a PickledCsr or a dict of lists
    """The objects in an old pickle. Only NumPy and SciPy arrays are allowed; no other code is ever run."""
    with naming(path), path.open("rb") as file:
        return _Unpickler(file, encoding="latin1").load()


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Turn any error while reading a file into one sentence that names the file."""
    try:
        yield
    except Exception as error:  # a damaged pickle may raise anything
        raise ValueError(
            f"{path} is damaged or not the public file ({error}): replace it, or delete it to download it again"
        ) from error


def _cache() -> Path:
    return Path(os.environ.get("PCWINTER_CACHE") or pooch.os_cache("pcwinter")).expanduser()


def _download(file: str, sha256: str | None) -> Path:
    """The path of the file in the cache; it is downloaded if it is missing or its hash is wrong."""
    family, name = file.split("/", 1)
    mirror = os.environ.get("PCWINTER_MIRROR")
    url = f"{mirror.rstrip('/')}/{file}" if mirror else f"{SOURCES[family]}/{name}"
    store = pooch.create(path=_cache(), base_url="", registry={file: sha256}, urls={file: url}, retry_if_failed=1)
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("ERROR")  # the library is silent
    try:
        return Path(store.fetch(file, downloader=pooch.HTTPDownloader(timeout=30)))
    except (OSError, ValueError) as error:
        reason = "wrong contents" if "hash" in str(error) else type(error).__name__
        raise ConnectionError(
            f"could not download {url} to {_cache()} ({reason}): try again later, "
            f"or save the file yourself as {file} in a folder and set PCWINTER_DATA to that folder"
        ) from error
    finally:
        logger.setLevel(level)


class PickledCsr:
    """Replaces the csr_matrix class of any SciPy version: takes its state and returns a checked array."""

    def csr(self) -> Sparse:
        """The array, after checking every index in it."""
        parts = (self.__dict__[key] for key in ("data", "indices", "indptr"))
        array = sp.csr_array(tuple(parts), shape=self.__dict__["_shape"], dtype=np.float64)
        array.check_format(full_check=True)
        return array


def _empty(*_: object) -> NDArray[Any]:
    """Replaces NumPy's _reconstruct; the pickle then sets the state of the array."""
    return np.empty(0, dtype=np.int8)


def _dtype(spec: str, align: int = 0, copy: int = 0) -> np.dtype[Any]:
    """Old pickles pass integers where NumPy now wants booleans."""
    return np.dtype(spec, align=bool(align), copy=bool(copy))


_ADMITTED = {
    "numpy.ndarray": np.ndarray,
    "numpy.dtype": _dtype,
    "numpy.core.multiarray._reconstruct": _empty,
    "numpy._core.multiarray._reconstruct": _empty,
    "scipy.sparse.csr.csr_matrix": PickledCsr,
    "scipy.sparse._csr.csr_matrix": PickledCsr,
    "collections.defaultdict": defaultdict,
    "__builtin__.list": list,
    "builtins.list": list,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:  # as in pickle
        if f"{module}.{name}" not in _ADMITTED:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which no Planetoid file needs")
        return _ADMITTED[f"{module}.{name}"]

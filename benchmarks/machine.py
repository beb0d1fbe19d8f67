"""Measurement -> a fresh process on one core with one thread; and facts about the machine."""

import contextlib
import datetime
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

Result = dict[str, Any]  # what JSON can hold
ROOT = Path(__file__).resolve().parent.parent
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


@contextlib.contextmanager
def one_core() -> Iterator[None]:
    """Keep processes that are started inside on one core, if the system supports it."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def environment() -> dict[str, str]:
    """Environment of a measurement: one thread, and no warnings, because values are not looked at."""
    paths = os.pathsep.join(path for path in (str(ROOT), os.environ.get("PYTHONPATH")) if path)
    return {**os.environ, **ONE_THREAD, "PYTHONPATH": paths, "PYTHONWARNINGS": "ignore"}


def in_fresh_process(measurement: str, *, pinned: bool = True, **arguments: object) -> Any:  # as JSON is
    """Run a measurement of `child.py` and return its result; a failure is raised as RuntimeError."""
    argv = [sys.executable, "-m", "benchmarks.child", measurement, json.dumps(arguments)]
    with one_core() if pinned else contextlib.nullcontext():
        done = subprocess.run(argv, env=environment(), cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode == 1 and done.stdout:
        raise RuntimeError(json.loads(done.stdout))
    if done.returncode:
        raise RuntimeError(f"the process ended with exit status {done.returncode}")
    return json.loads(done.stdout)


def seconds_of(code: str, **more: str) -> float:
    """Wall-clock seconds of a fresh interpreter that runs `code` on one core, from start to end."""
    with one_core():
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], env={**environment(), **more}, check=True)
        return time.perf_counter() - began


def peak_megabytes() -> float:
    """Peak resident memory of this process so far, in units of 10^6 bytes.

    On Linux, ru_maxrss is inherited from the parent process, so /proc is read first.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def facts(command: str) -> Result:
    """The machine, the versions, the commit and the command of a run."""
    return {
        "command": command,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "commit": _git("rev-parse", "--short", "HEAD") + ("-changed" if _git("status", "--porcelain") else ""),
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{package: _version(package) for package in ("numpy", "scipy", "numba", "torch")},
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _cpu() -> str:
    """The model of the processor."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()

"""`make torture`: kill runs at random with SIGKILL, resume them, and compare the results with an undisturbed run.

Each case is started, killed and resumed a number of times; then it may finish. Half of the kills wait for a moment when
a file is being written.
"""

import argparse
import filecmp
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

CASES = {
    "one process": ["--permutations", "1505"],
    "two workers": ["--permutations", "1505", "--workers", "2"],
    "until converged, floating point": [
        "--metric",
        "log-likelihood",
        "--tolerance",
        "0.02",
        "--max-permutations",
        "600",
    ],
    "bootstrap": ["--permutations", "300", "--bootstrap", "20"],
    "interleaved orders": ["--permutations", "60", "--orders", "precedence", "--hops", "1"],
}
STORY = ("status", "permutations", "visited", "evaluations", "baselines", "utility_full", "head", "files")


def main() -> int:
    """Run all cases; return 0 if every killed run equals the undisturbed one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=8, help="number of kills per case")
    parser.add_argument("--seconds", type=float, default=900, help="time limit for all cases")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    deadline = time.monotonic() + options.seconds
    total = 0
    with tempfile.TemporaryDirectory(prefix="torture-") as folder:
        for case, arguments in CASES.items():
            peace, war = Path(folder) / f"{case} peace", Path(folder) / f"{case} war"
            subprocess.run(command(peace, arguments), check=True)
            done = torture(war, arguments, options.kills, rng, deadline)
            total += done
            different = differences(peace, war)
            print(
                f"{case}: {done} kills, {'the same files' if not different else f'DIFFERENT: {different}'}", flush=True
            )
            if different or done < options.kills:
                return 1
    print(f"{total} kills in total; every resumed run equals the undisturbed one.")
    return 0


def command(out: Path, arguments: list[str]) -> list[str]:
    """The command line of a run that resumes if possible."""
    return [sys.executable, "-m", "pcwinter", "value", "demo", "--out", str(out), "--resume", "--quiet", *arguments]


def torture(out: Path, arguments: list[str], kills: int, rng: random.Random, deadline: float) -> int:
    """Kill the run `kills` times, then let it finish; returns the number of kills."""
    done = 0
    while done < kills and time.monotonic() < deadline:
        process = subprocess.Popen(command(out, arguments))
        wait(process, rng.uniform(0.5, 5.0), lambda: False)
        if rng.random() < 0.5:
            wait(process, 5.0, lambda: any(out.glob(".*.tmp")))
        if process.poll() is not None:  # it finished before it was killed: start again
            assert process.returncode == 0, f"exit code {process.returncode}"
            for path in out.iterdir():
                path.unlink()
            continue
        process.send_signal(signal.SIGKILL)
        process.wait()
        done += 1
    subprocess.run(command(out, arguments), check=True)
    return done


def wait(process: "subprocess.Popen[bytes]", seconds: float, until: Callable[[], bool]) -> None:
    """Wait for `seconds`, until `until()` is true, or for the end of the process."""
    end = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < end and not until():
        time.sleep(0.0005)


def differences(peace: Path, war: Path) -> list[str]:
    """Names of files, and of entries of run.json, that differ."""
    names = ["nodes.csv", "edges.csv", "players.npz"]
    found = [name for name in names if not filecmp.cmp(peace / name, war / name, shallow=False)]
    stories = [json.loads((place / "run.json").read_text(encoding="utf-8")) for place in (peace, war)]
    found += [key for key in STORY if stories[0][key] != stories[1][key]]
    return found + [name for name in os.listdir(war) if name.endswith(".tmp")]


if __name__ == "__main__":
    sys.exit(main())

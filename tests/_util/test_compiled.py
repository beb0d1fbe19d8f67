"""Compiled code on disk must not outlive a change of the code that it calls."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pcwinter

SCRIPT = """
from pcwinter.game.metrics import TIE
from pcwinter.probe import caller
print(caller(1.0))
"""


def test_a_callee_in_another_file_may_change(tmp_path: Path) -> None:
    package = tmp_path / "pcwinter"
    shutil.copytree(Path(pcwinter.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "probe.py").write_text(
        "from pcwinter._util.compiled import compiled\nfrom pcwinter.helper import callee\n"
        "@compiled\ndef caller(x: float) -> float:\n    return callee(x)\n"
    )
    printed = []
    for constant in (1, 1, 2):
        (package / "helper.py").write_text(
            "from pcwinter._util.compiled import compiled\n"
            f"@compiled\ndef callee(x: float) -> float:\n    return x + {constant}\n"
        )
        environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-c", SCRIPT]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
        printed.append(float(done.stdout))
    assert printed == [2, 2, 3]
    assert list(package.glob("__pycache__/pcwinter-*"))

"""Calls of the command that the tests of the command line share."""

import subprocess

import pytest

from command import Call
from pcwinter.cli.main import main


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str]) -> Call:
    """Calls the command in this process, which takes less time."""

    def call_here(*arguments: object) -> "subprocess.CompletedProcess[str]":
        code = main([str(argument) for argument in arguments])
        return subprocess.CompletedProcess("pcwinter", code, *capsys.readouterr())

    return call_here

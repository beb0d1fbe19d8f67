"""A small run that the tests of the report share."""

import pytest

from pcwinter.runs.read import Run
from small_runs import small_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return small_run(tmp_path_factory.mktemp("run"))

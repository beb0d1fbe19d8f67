"""Blocks of orders: they cover every number once, in sequence, and never depend on the workers."""

from itertools import islice

import pytest

from jobs import Diary
from pcwinter.estimation.jobs import Pool, blocks
from pcwinter.estimation.pools import open_pool


@pytest.mark.parametrize("size", [1, 4, 10, 100])
@pytest.mark.parametrize("limit", [0, 1, 10, 23])
@pytest.mark.parametrize("begin", [0, 5, 30])
def test_blocks_cover_all_numbers_once(begin: int, limit: int, size: int) -> None:
    found = list(blocks(limit, size, begin))
    assert [k for first, end in found for k in range(first, end)] == list(range(begin, limit))
    assert all(end % size == 0 for _, end in found[:-1])
    assert all(end - first == size for first, end in found[1:-1])


def test_blocks_without_a_limit_go_on() -> None:
    assert list(islice(blocks(None, 7, 3), 1000))[-1] == (999 * 7, 1000 * 7)


def test_a_pool_is_what_can_run() -> None:
    with open_pool(1) as pool:
        assert isinstance(pool, Pool)
    assert not isinstance(Diary, Pool)

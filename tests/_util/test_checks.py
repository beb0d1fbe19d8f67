"""Checks of options: what passes keeps its value, and a refusal names the option and what came."""

from fractions import Fraction

import numpy as np
import pytest

from pcwinter._util.checks import did_you_mean, function, instance, number, one_of, whole_number


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3), True + 2])
def test_whole_numbers_become_ints(value: object) -> None:
    found = whole_number("hops", value, 3)
    assert (found, type(found)) == (3, int)


@pytest.mark.parametrize("value", [2, -1, 3.0, np.float64(3), "3", None, True, np.True_, float("nan")])
def test_what_is_no_whole_number_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"hops is .* 3") as caught:
        whole_number("hops", value, 3)
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize("value", [True, np.True_])
def test_true_is_not_one(value: object) -> None:
    with pytest.raises(ValueError, match=r"hops is .*True"):
        whole_number("hops", value, 0)
    with pytest.raises(ValueError, match=r"bias is .*True"):
        number("bias", value)


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int64(2), Fraction(2)])
def test_numbers_become_floats(value: object) -> None:
    found = number("tolerance", value)
    assert (found, type(found)) == (2.0, float)


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), "1", None, True, 1j])
def test_what_is_no_positive_number_is_refused(value: object) -> None:
    for zero in (False, True):
        with pytest.raises(ValueError, match="tolerance is") as caught:
            number("tolerance", value, zero=zero)
        assert repr(value) in str(caught.value)


def test_zero_passes_only_where_it_may() -> None:
    assert number("bias", 0, zero=True) == 0
    with pytest.raises(ValueError, match="bias is 0"):
        number("bias", 0)


def test_a_word_is_one_of_a_list() -> None:
    assert one_of("by", "path", ("own", "path")) == "path"
    for value, hint in (("paht", "did you mean path?"), ("zzz", ""), (None, ""), (3, "")):
        with pytest.raises(ValueError, match=r"by is .*own or path") as caught:
            one_of("by", value, iter(("own", "path")))
        assert repr(value) in str(caught.value)
        assert ("did you mean" in str(caught.value)) == bool(hint)
        assert hint in str(caught.value)


def test_a_hint_needs_a_word_that_is_close() -> None:
    known = ("cora", "citeseer", "pubmed")
    assert "cora" in did_you_mean("corra", known)
    assert "citeseer" in did_you_mean("CiteSeer", known)
    assert did_you_mean("photo", known) == ""


def test_a_choice_of_several_words() -> None:
    with pytest.raises(ValueError, match=r"'rows', expected row, standard or none: did you mean row"):
        one_of("features", "rows", ("row", "standard", "none"))


def test_kinds_and_functions() -> None:
    instance("tree", 3, int, "a number")
    with pytest.raises(ValueError, match="tree is 'x', expected a number"):
        instance("tree", "x", int, "a number")
    for value in (None, print):
        function("progress", value, "progress(now)")
    with pytest.raises(TypeError, match="progress is True"):
        function("progress", True, "progress(now)")

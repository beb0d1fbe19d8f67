"""Every public function, class and method documents all its arguments."""

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import pcwinter as pw

# Their docstrings say that the other arguments are those of `value`.
AS_VALUE = (pw.run, pw.exact_value)


def _public() -> Iterator[tuple[str, Callable[..., Any], str]]:
    """Name, function and docstring of everything that a user may call."""
    for module in (pw, pw.baselines, pw.experiments, pw.stopping):
        for name in module.__all__:
            thing = getattr(module, name)
            if isinstance(thing, ModuleType) or not callable(thing):
                continue
            title = f"{module.__name__}.{name}"
            if inspect.isclass(thing):
                if Path(inspect.getfile(thing)) == Path(thing.__init__.__code__.co_filename):  # not of a dataclass
                    yield title, thing.__init__, inspect.getdoc(thing) or ""
                for part, method in vars(thing).items():
                    if inspect.isfunction(method) and not part.startswith("_"):
                        seam = inspect.getdoc(getattr(pw.Game, part, None)) or ""  # what every game does
                        yield f"{title}.{part}", method, (inspect.getdoc(method) or "") + seam
            else:
                more = inspect.getdoc(pw.value) or "" if thing in AS_VALUE else ""
                yield title, thing, (inspect.getdoc(thing) or "") + more


PUBLIC = {name: (function, text) for name, function, text in _public()}


@pytest.mark.parametrize("name", PUBLIC)
def test_every_argument_is_documented(name: str) -> None:
    function, text = PUBLIC[name]
    parameters = set(inspect.signature(function).parameters) - {"self"}
    assert {parameter for parameter in parameters if not re.search(rf"\b{parameter}\b", text)} == set()


def test_the_rules_are_the_public_names_of_stopping() -> None:
    found = {name: getattr(pw.stopping, name) for name in pw.stopping.__all__}
    assert {inspect.signature(rule).return_annotation for rule in found.values()} == {pw.Rule}

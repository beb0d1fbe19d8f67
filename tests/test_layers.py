"""The frame of the project: who may import whom, how long a file may be, what may not be in it."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "pcwinter"

# Ten layers; each imports only from itself and from those before it.
LAYERS = [
    {"_util"},
    {"graph"},
    {"game"},
    {"heads"},
    {"estimation"},
    {"values", "valuation"},
    {"runs", "baselines"},
    {"apply"},  # to come
    {"experiments", "report"},
    {"cli"},
]
# Inside a layer, one part may know another.
ALSO = {("valuation", "values")}
MODULES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))
OURS = [
    module for module in MODULES if module.name != "__main__.py" and len(module.parts) + (module.stem != "__init__") > 1
]


def _name(module: Path) -> str:
    """The dotted name of a file below `pcwinter`."""
    parts = module.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {_name(module) for module in MODULES}
# Modules without a test file of their own name: they hold types alone, or a call of something tested elsewhere.
UNTESTED = {"__main__.py", "_util/arrays.py", "heads/ridge/course.py"}


def _imported(source: str, package: tuple[str, ...] = ()) -> Iterator[str]:
    """The modules of pcwinter, without that word, that a module of `package` imports, at its top or in functions."""
    for node in ast.walk(ast.parse(source)):
        names: list[tuple[str, ...]] = []
        if isinstance(node, ast.Import):
            names = [tuple(alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ("pcwinter", *package)[: len(package) + 2 - node.level] if node.level else ()
            base += tuple(node.module.split(".")) if node.module else ()
            names = [(*base, alias.name) for alias in node.names]
        for name in names:
            if name[0] == "pcwinter":
                rest = name[1:]
                while rest and ".".join(rest) not in NAMES:
                    rest = rest[:-1]
                yield ".".join(rest)


def _layer(name: str) -> int:
    return next(k for k, parts in enumerate(LAYERS) if name.split(".")[0] in parts)


def _imports_of(module: Path) -> set[str]:
    package = module.parent.parts
    return set(_imported((PACKAGE / module).read_text(encoding="utf-8"), package)) - {_name(module)}


@pytest.fixture(scope="module")
def files() -> list[Path]:
    """What the repository holds or would hold after `git add --all`."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    return [ROOT / name for name in names.split("\0") if name and (ROOT / name).is_file()]


@pytest.mark.parametrize(
    ("source", "modules"),
    [
        ("import numpy, os.path", []),
        ("import pcwinter as pw", [""]),
        ("import pcwinter.graph", ["graph"]),
        ("from pcwinter import Graph, values", ["", "values"]),
        ("from pcwinter.heads.ridge.head import Ridge", ["heads.ridge.head"]),
        ("from ..graph.graph import Graph", ["graph.graph"]),
        ("from . import ridge", ["heads.ridge"]),
        ("def f():\n    from .ridge.head import Ridge", ["heads.ridge.head"]),
    ],
)
def test_imports_are_resolved(source: str, modules: list[str]) -> None:
    assert list(_imported(source, ("heads",))) == modules


def test_every_part_has_a_layer() -> None:
    parts = {module.parts[0].removesuffix(".py") for module in OURS}
    assert parts - {"data"} == set().union(*LAYERS) - {"apply"}


@pytest.mark.parametrize("module", OURS, ids=str)
def test_a_module_imports_only_from_layers_before_it(module: Path) -> None:
    mine = module.parts[0].removesuffix(".py")
    for name in _imports_of(module):
        other = name.split(".")[0]
        allowed = other == mine or (mine, other) in ALSO or (other and _layer(other) < _layer(mine))
        assert allowed, f"{module} imports {name or 'pcwinter itself'}, which comes after it"


@pytest.mark.parametrize("part", sorted({module.parts[0] for module in OURS if len(module.parts) > 1}))
def test_no_package_has_a_cycle(part: str) -> None:
    known = {_name(module): _imports_of(module) for module in OURS if module.parts[0] == part}
    order = TopologicalSorter({name: imports & known.keys() for name, imports in known.items()})
    order.prepare()  # raises if there is a cycle


def test_every_module_has_a_test_file_of_its_name() -> None:
    modules = {str(module): ROOT / "tests" / module.with_name(f"test_{module.name}") for module in MODULES}
    missing = {name for name, test in modules.items() if not name.endswith("__init__.py") and not test.is_file()}
    assert missing == UNTESTED


def test_the_protocol_knows_no_graph() -> None:
    seen, waiting = set(), ["game.protocol"]
    while waiting:
        name = waiting.pop()
        seen.add(name)
        waiting += _imports_of(Path(*name.split(".")).with_suffix(".py")) - seen
    assert not [name for name in seen if name.startswith("graph") or "tree" in name]


def test_importing_the_package_is_light() -> None:
    code = "import sys, pcwinter; print(*({'torch', 'matplotlib', 'pandas', 'scipy.stats'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


def test_every_public_name_is_there_when_it_is_the_first_one_used() -> None:
    script = """
import pcwinter, sys
loaded = set(sys.modules)
for name in pcwinter.__all__:
    getattr(pcwinter, name)
    for module in set(sys.modules) - loaded:
        if module.startswith("pcwinter."):
            del sys.modules[module]
    for attribute in set(vars(pcwinter)) - {"__all__"}:
        if not attribute.startswith("__"):
            delattr(pcwinter, attribute)
"""
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_the_library_writes_no_pickle(module: Path) -> None:
    source = (PACKAGE / module).read_text(encoding="utf-8")
    assert not re.search(r"\bpickle\.(dumps?|Pickler)\b|allow_pickle=True", source)


def test_files_are_short(files: list[Path]) -> None:
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in files if path.suffix == ".py"}
    assert {path.name: n for path, n in lines.items() if n > (450 if PACKAGE in path.parents else 600)} == {}


def test_no_file_names_a_directory_of_this_machine(files: list[Path]) -> None:
    private = {ROOT.parent, Path.home().resolve()} - {Path(ROOT.anchor)}
    names = "|".join(re.escape(str(path)) for path in private)
    pattern = re.compile(rf"(?<![\w.-])({names})/".encode())  # not the tail of another path
    texts = {path for path in files if path.name != ".gitignore"}  # its rules start with a slash, too
    assert not [path.name for path in texts if private and pattern.search(path.read_bytes())]


def test_the_symbols_of_the_theory_are_in_the_code() -> None:
    table = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8").split("## Symbols")[1]
    rows = [row.split(" | ") for row in table.splitlines() if row.endswith(".py` |")]
    missing = []
    for _, identifiers, file in rows:
        source = (PACKAGE / file.strip("`| ")).read_text(encoding="utf-8")
        missing += [word for word in re.findall(r"`(\w+)`", identifiers) if not re.search(rf"\b{word}\b", source)]
    assert rows
    assert missing == []

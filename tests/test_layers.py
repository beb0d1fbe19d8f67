"""The frame of the project: who may import whom, how long a file may be, what may not be in it."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "pcwinter"

# A module imports only from its left. `__init__` gathers the public names of everything before it.
FLOW = [
    "_types",
    "_jit",
    "_options",
    "_memory",
    "features",
    "graph",
    "tree",
    "orders",
    "propagation",
    "moves",
    "metrics",
    "heads",
    "game",
    "stopping",
    "workers",
    "values",
    "valuation",
    "by_class",
    "judging",
    "induced",
    "left_out",
    "baselines",
    "checkpoints",
    "results",
    "runs",
    "report",
    "_files",
    "datasets",
    "_names",
    "tables",
    "archives",
    "interop",
    "terminal",
    "progress",
    "experiments",
    "_choices",
    "cli_experiments",
    "cli",
    "__init__",
]
MODULES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))


def _layer(module: tuple[str, ...]) -> str:
    """The entry of FLOW that a dotted name below `pcwinter` belongs to."""
    return module[0] if module and (module[0] in FLOW or _exists(module[0])) else "__init__"


def _exists(name: str) -> bool:
    return (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").is_file()


def _imported(source: str, package: tuple[str, ...]) -> Iterator[str]:
    """The layers that a module of `package` imports, at its top or inside functions."""
    for node in ast.walk(ast.parse(source)):
        names: list[tuple[str, ...]] = []
        if isinstance(node, ast.Import):
            names = [tuple(alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else ()
            base += tuple(node.module.split(".")) if node.module else ()
            names = [(*base, alias.name) for alias in node.names]
        yield from (_layer(name[1:]) for name in names if name[0] == "pcwinter")


@pytest.fixture(scope="module")
def files() -> list[Path]:
    """What the repository holds or would hold after `git add --all`."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    return [ROOT / name for name in names.split("\0") if name and (ROOT / name).is_file()]


@pytest.mark.parametrize(
    ("source", "layers"),
    [
        ("import numpy, os.path", []),
        ("import pcwinter as pw", ["__init__"]),
        ("import pcwinter.graph", ["graph"]),
        ("from pcwinter import Graph, tree", ["__init__", "tree"]),
        ("from pcwinter.heads.ridge import Ridge", ["heads"]),
        ("from ..graph import Graph", ["graph"]),
        ("from .. import orders", ["orders"]),
        ("from . import ridge", ["heads"]),
        ("def f():\n    from .ridge import Ridge", ["heads"]),
    ],
)
def test_imports_are_resolved(source: str, layers: list[str]) -> None:
    assert list(_imported(source, ("pcwinter", "heads"))) == layers


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_a_module_imports_only_from_its_left(module: Path) -> None:
    if module.name == "__main__.py":
        return
    layer = module.with_suffix("").parts[0]
    assert layer in FLOW, f"say where {module} stands in FLOW"
    allowed = FLOW[: FLOW.index(layer) + 1]  # the layer itself: files of one package know each other
    source = (PACKAGE / module).read_text(encoding="utf-8")
    imported = set(_imported(source, ("pcwinter", *module.parent.parts)))
    assert imported <= set(allowed), f"{module} imports from its right"


def test_importing_the_package_is_light() -> None:
    code = "import sys, pcwinter; print(*({'torch', 'matplotlib', 'pandas', 'scipy.stats'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_the_library_writes_no_pickle(module: Path) -> None:
    source = (PACKAGE / module).read_text(encoding="utf-8")
    assert not re.search(r"\bpickle\.(dumps?|Pickler)\b|allow_pickle=True", source)


def test_files_are_short(files: list[Path]) -> None:
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in files if path.suffix == ".py"}
    assert {path.name: n for path, n in lines.items() if n >= 400} == {}


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

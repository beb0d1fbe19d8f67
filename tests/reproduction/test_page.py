"""docs/reproduction.md: it equals what the generator writes, and it shows what the studies found."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from reproduction.bands import read_bands
from reproduction.page import ROOT, page_of, publish

from pcwinter.experiments import reproduce
from pcwinter.experiments.opening import open_study
from pcwinter.experiments.output import read_table
from pcwinter.experiments.study import Study
from pcwinter.experiments.verdicts import CLAIMS

quiet = pytest.mark.filterwarnings("ignore:the edges harm the model", "ignore:the model trained on everything")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return open_study("demo", tmp_path_factory.mktemp("studies") / "demo", quick=True, quiet=True)


@quiet
@pytest.mark.timeout(900)
def test_the_page_tells_what_was_found(study: Study, tmp_path: Path) -> None:
    for experiment in ("drop-nodes", "add-edges", "permutations", "efficiency"):
        (told,) = reproduce(study, experiment, seeds=2)
        assert "\n- demo: " in told
    for which in ("labelled", "mixed"):
        list(reproduce(study, "drop-nodes", which, 2))
    page = publish(study.out.parent, tmp_path).read_text()
    for claim in list(CLAIMS)[:6]:
        assert f"**{claim}**\n\n- demo: " in page
    for table in ("add-edges", "efficiency", "drop-nodes unlabelled fair"):
        assert (study.out / f"demo-{table.replace(' ', '-')}.md").read_text().strip() in page
    (names,) = [line for line in page.split("\n") if line.startswith("| dataset | nodes |")]
    assert " | head | game | " in names
    assert names.endswith(" | python | pcwinter |")  # without the hashes of the graph
    assert "![Adding edges, best first (higher is better)](figures/add-edges.png)" in page
    assert (tmp_path / "docs" / "figures" / "add-edges.png").read_bytes().startswith(b"\x89PNG")
    (tmp_path / "cora").mkdir()  # no study
    with pytest.raises(ValueError, match="`pcwinter reproduce all"):
        publish(tmp_path, tmp_path)


@quiet
@pytest.mark.timeout(900)
def test_one_more_experiment_joins_the_page(study: Study, tmp_path: Path) -> None:
    results = tmp_path / "reproduction" / "results" / "cora"
    results.mkdir(parents=True)
    row = "{},2,0.5,0.01,0.6,0.01,0.02,0.01,20,0,1.5,0.1\n"
    kept = "method,seeds,mean,mean sd,first 20 %,first 20 % sd,rebound,rebound sd,orders,orders sd,seconds,seconds sd\n"
    kept += "".join(
        row.format(f'"{name}, {level}"') for name in ("10 orders", "converged") for level in ("own", "path")
    ) + row.format("Data Shapley")
    (results / "cora-permutations.table.csv").write_text(kept)
    list(reproduce(study, "counts", seeds=2))
    list(reproduce(study, "permutations", seeds=2))
    (results / "cora-permutations.bands.csv").write_text(
        "method,unlabelled nodes dropped,test accuracy,low,high\n"
        + "".join(f'"converged, {level}",{k},0.5,0.4,0.6\n' for level in ("own", "path") for k in (0, 9))
    )
    notes = tmp_path / "reproduction" / "results" / "demo" / "demo-permutations.notes.md"
    notes.parent.mkdir()
    notes.write_text("Of an earlier run.")
    page = publish(study.out.parent, tmp_path).read_text()
    assert "| 10 orders, own | 2 | 0.5000 ± 0.0100 |" in page
    assert (study.out / "demo-permutations.md").read_text().strip() in page
    assert (study.out / "demo-counts.md").read_text().strip() in page
    assert "Of an earlier run." not in page
    assert "(figures/permutations.png)" in page
    assert {path.suffix for path in (tmp_path / "docs" / "figures").iterdir()} == {".png"}


def test_the_page_in_the_repository_is_what_its_tables_say() -> None:
    page = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
    assert page_of() == page
    figures = {path.name for path in (ROOT / "docs" / "figures").glob("*.png")}
    assert figures == set(re.findall(r"\(figures/(.*?)\)", page))
    curves = sorted((ROOT / "reproduction" / "results").glob("*/*.bands.csv"))
    assert curves
    for path in curves:
        rows = read_table(path.with_name(path.name.replace(".bands.", ".table.")))
        means = {method: found.mean.mean() for method, found in read_bands(path).bands.items()}
        assert means == pytest.approx({row["method"]: row["mean"] for row in rows}, abs=6e-5)


def test_the_command_explains_itself() -> None:
    run = subprocess.run([sys.executable, "-m", "reproduction", "--help"], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0
    assert "STUDIES" in run.stdout

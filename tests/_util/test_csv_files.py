"""CSV text: odd files, the lines of their records, and what is wrong with them."""

import csv
from io import StringIO
from pathlib import Path

import pytest

from pcwinter._util.csv_files import csv_text, find_fault, line_of, records

ODD = [["id", "x"], ['say "x"', "1"], ["two\nlines", "2"], ["a,b", ""], [" ", "3"], ["é\u2028", "-4e5"]]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff", "\n \n"])
def test_odd_fields_come_back_with_their_lines(start: str, end: str, tmp_path: Path) -> None:
    text = start + csv_text(ODD[:3]) + "\n" + csv_text(ODD[3:])  # an empty line in the middle
    (tmp_path / "odd.csv").write_bytes(text.replace("\n", end).encode())
    found = list(records(tmp_path / "odd.csv"))
    assert [fields for _, fields in found] == [[field.replace("\n", end) for field in row] for row in ODD]
    skipped = start.count("\n")
    assert [line - skipped for line, _ in found] == [1, 2, 3, 6, 7, 8]
    assert [line_of(tmp_path / "odd.csv", row) - skipped for row in range(5)] == [2, 3, 6, 7, 8]


def test_what_is_written_is_what_python_reads() -> None:
    assert list(csv.reader(StringIO(csv_text(ODD), newline=""))) == ODD
    assert csv_text([["n", None], [1, 0.1]]) == "n,\n1,0.1\n"


@pytest.mark.parametrize(
    ("content", "facts"),
    [
        (b"a,b\n1,\xff\n", ["line 2", "UTF-8"]),
        (b"a,b\n1,2\n\n\xe9,3\n", ["line 4", "UTF-8"]),
        (b"a,b\n1,2\n3," + b"x" * (csv.field_size_limit() + 1), ["line 3", "CSV"]),
    ],
)
def test_files_that_cannot_be_parsed(content: bytes, facts: list[str], tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"bad\.csv") as caught:
        list(records(path))
    assert all(fact in str(caught.value) for fact in facts)


@pytest.mark.parametrize(
    ("row", "facts"),
    [
        ("a,1,2", ["line 3", "3 fields", "2 columns"]),
        ("a", ["line 3", "1 field,", "2 columns"]),
        ("a,one", ["line 3", "'one'", "'x'"]),
        ("a, ", ["line 3", "nothing", "'x'"]),
        ("a,inf", ["'inf'"]),
        ("a,nan", ["'nan'"]),
        ("a,1_0", ["'1_0'"]),
        ("a,\u0661", ["'\u0661'"]),
    ],
)
def test_the_first_fault_is_found(row: str, facts: list[str], tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(f"id,x\ngood, 1e-3 \n{row}\nb,two\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"bad\.csv") as caught:
        find_fault(path, ["id", "x"], {"x"})
    assert all(fact in str(caught.value) for fact in facts)


def test_a_file_without_faults_passes(tmp_path: Path) -> None:
    (tmp_path / "good.csv").write_text('id,x\none,1\n\n"two",-2.5e3\n')
    find_fault(tmp_path / "good.csv", ["id", "x"], {"x"})

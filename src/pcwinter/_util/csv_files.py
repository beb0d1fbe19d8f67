"""CSV files -> records with line numbers, and rows -> CSV: the only place that parses or writes CSV text."""

import csv
import math
import reprlib
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from itertools import islice
from pathlib import Path


def records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Line number and fields of every record, including the header; empty lines are skipped."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file)
        line = 1
        try:
            for fields in reader:
                if len(fields) > 1 or (fields and fields[0].strip()):
                    yield line, fields
                line = reader.line_num + 1
        except UnicodeDecodeError as error:
            raise ValueError(f"line {_first_undecoded(path)} of {path} is not UTF-8: save the file as UTF-8") from error
        except csv.Error as error:
            raise ValueError(f"line {line} of {path} is not CSV ({error}): check its commas and quotes") from error


def line_of(path: Path, row: int) -> int:
    """The line on which row `row` below the header begins; a quoted field may hold line ends."""
    return next(islice(records(path), row + 1, None))[0]


def find_fault(path: Path, columns: Sequence[str], numbers: set[str]) -> None:
    """Raise an error about the first row that is too short or too long, or has text in one of the columns `numbers`."""
    for line, fields in islice(records(path), 1, None):
        if len(fields) != len(columns):
            raise ValueError(
                f"line {line} of {path} has {count(len(fields), 'field')}, but the header names {count(len(columns), 'column')}: "
                "check its commas and quotes"
            )
        for name, field in zip(columns, fields, strict=True):
            if name in numbers and not _is_number(field):
                came = reprlib.repr(field) if field.strip() else "nothing"
                raise ValueError(
                    f"line {line} of {path} has {came} in the column {name!r}, where a finite number is expected: "
                    "correct it, or remove the column"
                )


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Rows as CSV text."""
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _is_number(field: str) -> bool:
    try:
        return math.isfinite(float(field)) and field.isascii() and "_" not in field
    except ValueError:
        return False


def _first_undecoded(path: Path) -> int:
    content = path.read_bytes()
    try:
        content.decode()
    except UnicodeDecodeError as error:
        return content[: error.start].count(b"\n") + 1
    return 1

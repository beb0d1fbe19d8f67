"""CSV files -> records with line numbers, and rows -> CSV: the only place that parses or writes CSV text.

pandas reads and writes tables with many numbers. If it fails, Python's csv module, which counts lines, finds the line
at fault.
"""

import csv
import math
import reprlib
import warnings
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pcwinter._util.checks import count

if TYPE_CHECKING:
    import pandas as pd


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
                f"line {line} of {path} has {count(len(fields), 'field')}, but the header names "
                f"{count(len(columns), 'column')}: check its commas and quotes"
            )
        for name, field in zip(columns, fields, strict=True):
            if name in numbers and not is_number(field):
                came = reprlib.repr(field) if field.strip() else "nothing"
                raise ValueError(
                    f"line {line} of {path} has {came} in the column {name!r}, where a finite number is expected: "
                    "correct it, or remove the column"
                )


def read_table(path: Path, columns: list[str], numbers: set[str]) -> "pd.DataFrame":
    """The rows below the header; columns in `numbers` as finite floats, all others as text, exactly as written."""
    import pandas as pd

    options: dict[str, Any] = {}
    if tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1):
        options["float_precision"] = "round_trip"  # later versions are always exact, and warn about this option
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # the first row is longer than the header
            table: pd.DataFrame = pd.read_csv(
                path,
                header=0,
                names=columns,
                index_col=False,
                dtype={name: np.float64 if name in numbers else str for name in columns},
                na_filter=False,
                encoding="utf-8-sig",
                **options,
            )
    except (ValueError, OverflowError, pd.errors.ParserWarning) as error:
        find_fault(path, columns, numbers)
        raise ValueError(f"{path} is not valid CSV: check its commas, and that every quote is closed") from error
    # pandas pads short rows; an empty last field reveals them
    if columns[-1] not in numbers and (table[columns[-1]] == "").any():
        find_fault(path, columns, numbers)
    if any(not np.isfinite(table[name].to_numpy()).all() for name in numbers):
        find_fault(path, columns, numbers)
    return table


def table_csv(table: "pd.DataFrame") -> bytes:
    """A table as CSV; floats are exact."""
    text = table.to_csv(index=False, lineterminator="\n")
    if "\r" in text:  # in an id; the csv module quotes it only if it quotes all text
        text = table.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    return text.encode()


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Rows as CSV text."""
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def is_number(field: str) -> bool:
    """Whether a field is a finite number."""
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

"""Conversion of named columns to the data frames of other libraries, and to Parquet files.

Each function raises MissingExtraError if the library is not installed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tieaware.checks.arguments import shown
from tieaware.errors import InputError
from tieaware.runtime.atomic_files import whole_file
from tieaware.runtime.extras import load

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


@contextmanager
def _in_utf8() -> Iterator[None]:
    """Raise InputError for an identifier that is not valid UTF-8, because data frames cannot hold it."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise InputError("frame", f"data frames hold text in UTF-8 only, and {shown(error.object)} is not") from None


def as_arrow(columns: Mapping[str, Any]) -> pyarrow.Table:
    """Convert named columns to a pyarrow.Table."""
    with _in_utf8():
        table: pyarrow.Table = load("pyarrow", "arrow").table(dict(columns))
    return table


def as_pandas(columns: Mapping[str, Any]) -> pandas.DataFrame:
    """Convert named columns to a pandas.DataFrame."""
    with _in_utf8():
        frame: pandas.DataFrame = load("pandas", "pandas").DataFrame(dict(columns))
    return frame


def as_polars(columns: Mapping[str, Any]) -> polars.DataFrame:
    """Convert named columns to a polars.DataFrame."""
    with _in_utf8():
        frame: polars.DataFrame = load("polars", "polars").DataFrame(dict(columns))
    return frame


def write_parquet(columns: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write named columns to a Parquet file, whole or not at all."""
    parquet = load("pyarrow.parquet", "arrow")
    table = as_arrow(columns)
    with whole_file(path) as file:
        parquet.write_table(table, file)

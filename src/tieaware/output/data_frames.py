"""Named columns as other libraries' frames, and as a Parquet file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tieaware.checks.arguments import shown, unexpected
from tieaware.runtime.atomic_files import whole_file
from tieaware.runtime.extras import load

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


@contextmanager
def _in_utf8() -> Iterator[None]:
    """Frames hold text in UTF-8; identifiers of other bytes, as a file may have them, have no such form."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise unexpected("frame", "text in UTF-8, as frames hold it", shown(error.object)) from None


def as_arrow(columns: Mapping[str, Any]) -> pyarrow.Table:
    """Return a pyarrow.Table, or raise MissingExtraError."""
    with _in_utf8():
        table: pyarrow.Table = load("pyarrow", "arrow").table(dict(columns))
    return table


def as_pandas(columns: Mapping[str, Any]) -> pandas.DataFrame:
    """Return a pandas.DataFrame, or raise MissingExtraError."""
    with _in_utf8():
        frame: pandas.DataFrame = load("pandas", "arrow").DataFrame(dict(columns))
    return frame


def as_polars(columns: Mapping[str, Any]) -> polars.DataFrame:
    """Return a polars.DataFrame, or raise MissingExtraError."""
    with _in_utf8():
        frame: polars.DataFrame = load("polars", "arrow").DataFrame(dict(columns))
    return frame


def write_parquet(columns: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write a Parquet file, whole or not at all, or raise MissingExtraError."""
    parquet = load("pyarrow.parquet", "arrow")
    table = as_arrow(columns)
    with whole_file(path) as file:
        parquet.write_table(table, file)

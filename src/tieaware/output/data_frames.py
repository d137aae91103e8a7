"""Conversion of named columns to the data frames of other libraries, and to Parquet files."""

from __future__ import annotations

import os
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from tieaware.checks.arguments import shown
from tieaware.errors import InputError
from tieaware.runtime.atomic_files import whole_file
from tieaware.runtime.extras import load

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


class Exportable:
    """The base of classes whose rows other libraries can hold as data frames."""

    __slots__ = ()

    @abstractmethod
    def _columns(self) -> dict[str, Any]:
        """Return the columns by name."""

    def to_arrow(self) -> pyarrow.Table:
        """Return the rows as a pyarrow.Table. Needs `tieaware[arrow]`.

        Returns
        -------
        pyarrow.Table

        Raises
        ------
        InputError
            If an identifier is not valid UTF-8, because data frames cannot hold it.
        MissingExtraError
            If the library is not installed.
        """
        table: pyarrow.Table = self._frame("pyarrow", "arrow", "table")
        return table

    def to_pandas(self) -> pandas.DataFrame:
        """Return the rows as a pandas.DataFrame; columns as for `to_arrow`."""
        frame: pandas.DataFrame = self._frame("pandas", "pandas", "DataFrame")
        return frame

    def to_polars(self) -> polars.DataFrame:
        """Return the rows as a polars.DataFrame; columns as for `to_arrow`."""
        frame: polars.DataFrame = self._frame("polars", "polars", "DataFrame")
        return frame

    def _frame(self, library: str, package: str, kind: str) -> Any:
        try:
            return getattr(load(library, package), kind)(self._columns())
        except UnicodeEncodeError as error:
            problem = f"data frames hold text in UTF-8 only, and {shown(error.object)} is not"
            raise InputError("frame", problem) from None

    def _write_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write a Parquet file, whole or not at all."""
        parquet = load("pyarrow.parquet", "arrow")
        table = self.to_arrow()
        with whole_file(path) as file:
            parquet.write_table(table, file)


class ArrowProducer(Exportable):
    """The base of classes that any library with Arrow's PyCapsule interface reads, such as DuckDB and polars."""

    __slots__ = ()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return a PyCapsule that contains a stream of the rows, as `to_arrow` has them."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

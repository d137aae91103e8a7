"""The options with which runs are read, such as the type of their scores and what happens to duplicate rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arguments import one_of
from tieaware.checks.arrays import Place, Scores, as_numpy, as_scores, check_no_nan
from tieaware.errors import InputError, warn
from tieaware.lists.identifiers import quoted
from tieaware.lists.query_lists import Lists

# The remedies that keep the first of duplicate rows, by the source of the rows.
FROM_FILE = "pass duplicates='first'"
FROM_FRAME = "pass Run.from_frame(frame, duplicates='first')"
FROM_DICT = "pass Run.from_dict(run, duplicates='first')"
FROM_COLUMNS = "pass Run.from_columns(query, doc, score, duplicates='first')"

# The values of the argument `duplicates`: rows that repeat a document are an error, or only the first row counts.
Duplicates: TypeAlias = Literal["error", "first"]
# The values of the argument `score_dtype`: the types to which scores are rounded when they are read.
ScoreDtype: TypeAlias = Literal["float64", "float32"]


class Reading(NamedTuple):
    """The options with which a run in a file or a table is read.

    Parameters
    ----------
    score_dtype : "float64" or "float32"
        The type to which scores are rounded.
    duplicates : "error" or "first"
        The treatment of a document that appears twice for a query.
    ids_as_text : bool
        Whether the identifiers match both text and integers, as "7" matches 7.
    columns : tuple of str or None
        The names of the query, document and score columns of a table; None stands for the usual names.
    """

    score_dtype: ScoreDtype = "float64"
    duplicates: Duplicates = "error"
    ids_as_text: bool = False
    columns: tuple[str | None, str | None, str | None] = (None, None, None)


AS_USUAL = Reading()


@dataclass(frozen=True, slots=True)
class Ignored:
    """The number of duplicate rows that were ignored, and a description of the first of them for the warning."""

    n: int = 0
    first: str = ""

    def __add__(self, other: Ignored) -> Ignored:
        return Ignored(self.n + other.n, self.first or other.first)

    def warn(self, name: str) -> None:
        """Raise a single warning about all duplicate rows that were ignored in the run called `name`."""
        if self.n:
            rows = "row is" if self.n == 1 else "rows are"
            warn(f"{name}: {self.n} duplicate {rows} ignored; {self.first}")


def check_options(duplicates: Duplicates, score_dtype: ScoreDtype = "float64") -> None:
    """Raise InputError if an option has another value than those of its type."""
    one_of("duplicates", duplicates, get_args(Duplicates))
    one_of("score_dtype", score_dtype, get_args(ScoreDtype))


def without_duplicates(lists: Lists, duplicates: Duplicates, remedy: str) -> tuple[Lists, Ignored]:
    """Remove rows whose document already appears in an earlier row of the same query; return the rest.

    If `duplicates` is "error", InputError is raised instead. It describes the first such row, and ends with what to
    pass to keep only the first row, the `remedy`: one of the constants of this module.
    """
    found = lists.duplicates(first_only=duplicates == "error")
    if len(found) == 0:
        return lists, Ignored()
    row, first = found[0].tolist()
    here, there = lists.place_of(row), lists.place_of(first)
    document = f"document {quoted(lists.documents[row])} of query {lists.query_of(row)}"
    if duplicates == "error":
        raise InputError(here, f"{document} appears twice, first at {there}; to keep only the first row, {remedy}")
    return lists.without(found[:, 0]), Ignored(len(found), f"{here}: {document} appears again, first at {there}")


def checked_scores(values: Any, where: str, place: Place | None = None) -> Scores:
    """Return a copy of the scores as a one-dimensional array: float32 scores as float32, all others as float64.

    InputError is raised if a score is not a number, or is NaN.
    """
    values = as_numpy(values, where, place)
    scores = as_scores(values, where, place, flat=True)
    check_no_nan(scores, where, place)
    is_single = isinstance(values, np.ndarray) and values.dtype.kind == "f" and values.dtype.itemsize == 4
    return scores.astype(np.float32) if is_single else scores.astype(np.float64)


def exact_scores(values: NDArray[Any], where: str, place: Place) -> NDArray[Any]:
    """Convert numbers to scores without rounding. Raise InputError, which names the first NaN, if one is NaN."""
    scores = as_scores(values, where, place)
    check_no_nan(scores, where, place)
    return scores


def rounded(scores: Scores, score_dtype: ScoreDtype) -> Scores:
    """Round scores to a type. A score beyond the range of the type becomes infinite, as in C."""
    with np.errstate(over="ignore", under="ignore"):
        if score_dtype == "float32":
            return scores.astype(np.float32, copy=False)
        return scores.astype(np.float64, copy=False)

"""Frames of Spark as judgments and runs: which columns they have, and what is asked of their values.

What a value must be is said in an expression of Spark's own, which raises where it is not so. It is part of the column
of numbers, so that it is asked wherever these are needed, once for each row.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Any, NamedTuple

from tieaware.checks import unexpected
from tieaware.errors import InputError
from tieaware.extras import load
from tieaware.inputs.columns import judged_columns, run_column, run_columns
from tieaware.inputs.frames import Held
from tieaware.integrations.spark.parts import EXTRA

_LONGEST_SHOWN = 80

# Types of Spark, as their names begin: what they hold, and as which type it is taken.
_IDENTIFIERS = {
    "string": "string", "varchar": "string", "char": "string",
    "tinyint": "bigint", "smallint": "bigint", "int": "bigint", "bigint": "bigint",
}  # fmt: skip
_SCORES = {
    "double": "double", "float": "float", "tinyint": "float", "smallint": "float", "boolean": "float",
    "int": "double", "bigint": "double",
}  # fmt: skip
_LABELS = dict.fromkeys(("tinyint", "smallint", "int", "bigint", "float", "double", "boolean"), "int")

# What the error is called that an expression raises, before its message; and after.
_RAISED, _STATE = "[USER_RAISED_EXCEPTION] ", " SQLSTATE: P0001"


class Fault(NamedTuple):
    """What may be wrong with a row: when it is, in which column, and what was expected and found there."""

    condition: Any
    column: str
    expected: str
    found: Any


class Rows(NamedTuple):
    """A frame, its columns named as here.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        query and document, as the types as which they are taken; score or label, as they are; and run, if there are
        several.
    label : str
        What messages call it.
    names : dict of str to str
        What the columns are called in the user's frame.
    types : dict of str to str
        As which types of Spark they are taken.
    faults : tuple of Fault
    """

    frame: Any
    label: str
    names: dict[str, str]
    types: dict[str, str]
    faults: tuple[Fault, ...]

    def bad(self) -> Any:
        """Say whether any value of the row is bad."""
        return reduce(or_, (fault.condition for fault in self.faults))

    def error(self) -> Any:
        """Say what is wrong with a row that is bad, and where."""
        F = load("pyspark.sql.functions", EXTRA)
        words = reduce(lambda words, fault: words.when(fault.condition, self._words(fault)), self.faults, F)
        return F.concat(words, place())

    def checked(self, name: str) -> Any:
        """Return the column of numbers, which raises where any value of the row is bad."""
        F = load("pyspark.sql.functions", EXTRA)
        kind = self.types[name]
        return F.when(self.bad(), F.raise_error(self.error())).otherwise(F.col(name).cast(kind)).cast(kind).alias(name)

    def _words(self, fault: Fault) -> Any:
        F = load("pyspark.sql.functions", EXTRA)
        before = F.lit(f"{self.label}: {self.names[fault.column]}: expected {fault.expected}, found ")
        return F.concat(before, F.coalesce(fault.found.cast("string"), F.lit("null")))


def judgments_in(frame: Any, label: str) -> Rows:
    """Return the judgments in a frame: columns query, document and label."""
    names = tuple(frame.columns)
    found = judged_columns(Held(names, []), label, None, None, None)
    columns = dict(zip(("query", "document", "label"), (names[i] for i in found), strict=True))
    types = _types(frame, label, columns, {"label": ("whole numbers", _LABELS)})
    F = load("pyspark.sql.functions", EXTRA)
    value = F.col("label")
    # Of what is no number, and of NaN, no comparison is true.
    number = value.cast("double")
    whole = (number >= -(2.0**31)) & (number < 2.0**31) & (number == F.floor(number))
    faults = (
        *_missing("query", "document"),
        Fault(F.isnull(value), "label", "a label", value),
        Fault(~whole | _is_nan(frame, columns["label"], value), "label", "a whole number of 32 bits", value),
    )
    return Rows(_chosen(frame, columns, types), label, columns, types, faults)


def runs_in(frame: Any, label: str) -> Rows:
    """Return the runs in a frame: columns query, document and score, and run, if there is one."""
    names = tuple(frame.columns)
    held = Held(names, [])
    found = run_columns(held, label, None, None, None)
    columns = dict(zip(("query", "document", "score"), (names[i] for i in found), strict=True))
    run = run_column(held, label)
    if run is not None:
        columns["run"] = names[run]
    types = _types(frame, label, columns, {"score": ("numbers", _SCORES)})
    F = load("pyspark.sql.functions", EXTRA)
    value = F.col("score")
    faults = [*_missing("query", "document", *(["run"] if "run" in columns else []))]
    faults += [
        Fault(F.isnull(value), "score", "a number", value),
        Fault(_is_nan(frame, columns["score"], value), "score", "a number", value),
    ]
    if dict(frame.dtypes)[columns["score"]] == "bigint":
        inexact = (F.abs(value) > 2**53) & (value.cast("double").cast("decimal(20)") != value.cast("decimal(20)"))
        faults.append(Fault(inexact, "score", "numbers that float64 holds", value))
    return Rows(_chosen(frame, columns, types), label, columns, types, tuple(faults))


def check_alike(runs: Rows, judgments: Rows) -> None:
    """Raise InputError if queries or documents are text on one side, and integers on the other."""
    words = {"string": "text", "bigint": "integers"}
    for column in ("query", "document"):
        own, wanted = words[runs.types[column]], words[judgments.types[column]]
        if own != wanted:
            raise unexpected(
                f"{runs.label}: {runs.names[column]}",
                f"{wanted}, as {judgments.label} has in {judgments.names[column]}",
                f"{own}; make both text, or both integers",
            )


def once(judgments: Rows) -> Any:
    """Return judgments of which each is there once: it may come again with the same label, and no other."""
    F = load("pyspark.sql.functions", EXTRA)
    rows = judgments.frame.select("query", "document", judgments.checked("label"))
    least, most = F.min("label").alias("least"), F.max("label").alias("most")
    both = F.concat_ws(" and ", F.col("least").cast("string"), F.col("most").cast("string"))
    conflict = F.raise_error(F.concat(F.lit(f"{judgments.label}: expected one label, found "), both, place()))
    label = F.when(F.col("least") == F.col("most"), F.col("least")).otherwise(conflict).cast("int")
    return rows.groupBy("query", "document").agg(least, most).select("query", "document", label.alias("label"))


def raising(frame: Any) -> Any:
    """Raise what the column error says, where it does."""
    F = load("pyspark.sql.functions", EXTRA)
    failed = F.col("error").isNotNull()
    return frame.filter(F.when(failed, F.raise_error(F.col("error")).cast("boolean")).otherwise(F.lit(True)))


def message(error: Exception) -> InputError | None:
    """Return the error that an expression raised, as our own; None, if it is another."""
    first = str(error).partition("\n")[0]
    if not first.startswith(_RAISED):
        return None
    return InputError(first.removeprefix(_RAISED).removesuffix(_STATE))


def strangers(where: str, judgments: str) -> str:
    """Say that a run has no query in common with the judgments."""
    return f"{where}: expected a query in common with {judgments}, found none that is judged"


def place() -> Any:
    """Say of which document of which query a row is, for a message: on one line, and not too long."""
    F = load("pyspark.sql.functions", EXTRA)

    def shown(column: str) -> Any:
        text = F.regexp_replace(F.col(column).cast("string"), r"\p{C}", "?")
        return F.coalesce(F.concat(F.lit("'"), F.substring(text, 1, _LONGEST_SHOWN), F.lit("'")), F.lit("null"))

    return F.concat(F.lit(" for document "), shown("document"), F.lit(" of query "), shown("query"))


def _types(
    frame: Any, label: str, columns: dict[str, str], numbers: dict[str, tuple[str, dict[str, str]]]
) -> dict[str, str]:
    """Return the types as which columns are taken; those that are no numbers identify something."""
    found = dict(frame.dtypes)
    types = {}
    for column, name in columns.items():
        wanted, known = numbers.get(column, ("text or integers", _IDENTIFIERS))
        kind = found[name].partition("(")[0].partition(" ")[0]
        if kind not in known:
            raise unexpected(f"{label}: {name}", f"a column of {wanted}", f"one of {found[name]}")
        types[column] = "string" if column == "run" else known[kind]
    return types


def _chosen(frame: Any, columns: dict[str, str], types: dict[str, str]) -> Any:
    """Return the columns, of which those that identify have the type as which they are taken."""
    F = load("pyspark.sql.functions", EXTRA)
    chosen = []
    for column, name in columns.items():
        # By its name, whatever characters that has.
        value = F.col("`" + name.replace("`", "``") + "`")
        chosen.append((value if column in ("score", "label") else value.cast(types[column])).alias(column))
    return frame.select(*chosen)


def _missing(*columns: str) -> list[Fault]:
    F = load("pyspark.sql.functions", EXTRA)
    return [
        Fault(F.isnull(column), column, "the name of a run" if column == "run" else "text or an integer", F.lit("null"))
        for column in columns
    ]


def _is_nan(frame: Any, name: str, value: Any) -> Any:
    F = load("pyspark.sql.functions", EXTRA)
    return F.isnan(value) if dict(frame.dtypes)[name] in ("float", "double") else F.lit(False)

"""Frames of Spark as judgments and runs: which columns they have, and what is asked of their values.

What a value must be is said in expressions of Spark's own, which raise where it is not so: no row is looked at twice.
"""

from __future__ import annotations

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
_LABELS = ("tinyint", "smallint", "int", "bigint", "float", "double", "boolean")

# What the error is called that an expression raises, before its message; and after.
_RAISED, _STATE = "[USER_RAISED_EXCEPTION] ", " SQLSTATE: P0001"


class Rows(NamedTuple):
    """A frame, its columns checked and named as here.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
    label : str
        What messages call it.
    names : tuple of str
        What the columns of queries and documents are called in it.
    types : tuple of str
        The types of queries and documents, string or bigint; and of scores.
    """

    frame: Any
    label: str
    names: tuple[str, ...]
    types: tuple[str, ...]


def judgments_in(frame: Any, label: str) -> Rows:
    """Return the judgments in a frame: columns query, document and label; labels are whole numbers of 32 bits."""
    F = load("pyspark.sql.functions", EXTRA)
    names = frame.columns
    columns = [names[i] for i in judged_columns(Held(tuple(names), []), label, None, None, None)]
    types = _types(frame, label, columns)
    of_label = dict(frame.dtypes)[columns[2]]
    if of_label not in _LABELS:
        raise unexpected(f"{label}: {columns[2]}", "a column of whole numbers", f"one of {of_label}")
    value = _named(columns[2])
    number = value.cast("double") if of_label in ("float", "double") else value.cast("bigint")
    where = f"{label}: {columns[2]}"
    checked = F.when(value.isNull(), _raised(where, "a label", F.lit("null"), columns, types)).when(
        ~((number >= -(2**31)) & (number < 2**31) & (number == F.floor(number))) | _is_nan(value, of_label),
        _raised(where, "a whole number of 32 bits", value.cast("string"), columns, types),
    )
    chosen = frame.select(
        *_identifiers(label, columns, types), checked.otherwise(value.cast("int")).cast("int").alias("label")
    )
    return Rows(chosen, label, tuple(columns), types)


def runs_in(frame: Any, label: str) -> Rows:
    """Return the runs in a frame: columns query, document and score, and run, if there is one."""
    F = load("pyspark.sql.functions", EXTRA)
    names = tuple(frame.columns)
    held = Held(names, [])
    columns = [names[i] for i in run_columns(held, label, None, None, None)]
    types = _types(frame, label, columns)
    of_score = dict(frame.dtypes)[columns[2]]
    if of_score not in _SCORES:
        raise unexpected(f"{label}: {columns[2]}", "a column of numbers", f"one of {of_score}")
    value, where = _named(columns[2]), f"{label}: {columns[2]}"
    checked = F.when(value.isNull(), _raised(where, "a number", F.lit("null"), columns, types))
    if of_score in ("float", "double"):
        checked = checked.when(F.isnan(value), _raised(where, "a number", F.lit("NaN"), columns, types))
    if of_score == "bigint":
        inexact = (F.abs(value) > 2**53) & (value.cast("double").cast("decimal(20)") != value.cast("decimal(20)"))
        checked = checked.when(
            inexact, _raised(where, "numbers that float64 holds", value.cast("string"), columns, types)
        )
    to = _SCORES[of_score]
    chosen = [*_identifiers(label, columns, types), checked.otherwise(value.cast(to)).cast(to).alias("score")]
    run = run_column(held, label)
    if run is not None:
        name = _named(names[run])
        if _kind(dict(frame.dtypes)[names[run]]) is None:
            found = dict(frame.dtypes)[names[run]]
            raise unexpected(f"{label}: {names[run]}", "a column of text or integers", f"one of {found}")
        missing = _raised(f"{label}: {names[run]}", "the name of a run", F.lit("null"), columns, types)
        chosen.append(F.when(name.isNull(), missing).otherwise(name.cast("string")).alias("run"))
    return Rows(frame.select(*chosen), label, tuple(columns), (*types, to))


def check_alike(runs: Rows, judgments: Rows) -> None:
    """Raise InputError if queries or documents are text on one side, and integers on the other."""
    words = {"string": "text", "bigint": "integers"}
    for i in range(2):
        own, wanted = words[runs.types[i]], words[judgments.types[i]]
        if own != wanted:
            raise unexpected(
                f"{runs.label}: {runs.names[i]}",
                f"{wanted}, as {judgments.label} has in {judgments.names[i]}",
                f"{own}; make both text, or both integers",
            )


def once(judgments: Rows) -> Any:
    """Return judgments of which each is there once: it may come again with the same label, and no other."""
    F = load("pyspark.sql.functions", EXTRA)
    least, most = F.min("label"), F.max("label")
    columns, types = ["query", "document"], judgments.types
    conflict = _raised(
        judgments.label, "one label", F.concat_ws(" and ", F.col("least"), F.col("most")), columns, types
    )
    grouped = judgments.frame.groupBy("query", "document").agg(least.alias("least"), most.alias("most"))
    label = F.when(F.col("least") == F.col("most"), F.col("least")).otherwise(conflict).cast("int")
    return grouped.select("query", "document", label.alias("label"))


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


def _kind(of: str) -> str | None:
    """Return the type as which identifiers of a type are taken."""
    return _IDENTIFIERS.get(of.partition("(")[0].partition(" ")[0])


def _types(frame: Any, label: str, columns: list[str]) -> tuple[str, ...]:
    """Return the types as which queries and documents are taken."""
    found = dict(frame.dtypes)
    kinds = []
    for name in columns[:2]:
        kind = _kind(found[name])
        if kind is None:
            raise unexpected(f"{label}: {name}", "a column of text or integers", f"one of {found[name]}")
        kinds.append(kind)
    return tuple(kinds)


def _named(name: str) -> Any:
    """Return a column by its name, whatever characters that has."""
    return load("pyspark.sql.functions", EXTRA).col("`" + name.replace("`", "``") + "`")


def _identifiers(label: str, columns: list[str], types: tuple[str, ...]) -> list[Any]:
    """Return the columns query and document."""
    F = load("pyspark.sql.functions", EXTRA)
    chosen = []
    for name, column, kind in zip(("query", "document"), columns, types, strict=False):
        value = _named(column)
        missing = _raised(f"{label}: {column}", "text or an integer", F.lit("null"), columns, types)
        chosen.append(F.when(value.isNull(), missing).otherwise(value.cast(kind)).alias(name))
    return chosen


def _is_nan(value: Any, of: str) -> Any:
    F = load("pyspark.sql.functions", EXTRA)
    return F.isnan(value) if of in ("float", "double") else F.lit(False)


def _raised(where: str, expected: str, found: Any, columns: list[str], types: tuple[str, ...]) -> Any:
    """Return an expression that raises: with what was found, for which document of which query."""
    F = load("pyspark.sql.functions", EXTRA)

    def shown(column: str, kind: str) -> Any:
        value = _named(column)
        text = F.substring(F.regexp_replace(value.cast("string"), r"\p{C}", "?"), 1, _LONGEST_SHOWN)
        return F.coalesce(F.concat(F.lit("'"), text, F.lit("'")) if kind == "string" else text, F.lit("null"))

    place = [F.lit(" for document "), shown(columns[1], types[1]), F.lit(" of query "), shown(columns[0], types[0])]
    return F.raise_error(F.concat(F.lit(f"{where}: expected {expected}, found "), found, *place))

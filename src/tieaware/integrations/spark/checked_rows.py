"""Judgments and runs in data frames of Spark: recognition of their columns, and checks of the values in them.

The checks of a row are part of the SQL expression for its label or score. So Spark checks each row once, when it
computes this number. Conditions and messages are SQL text, which pyspark sends to Java in one message; an expression
built from pyspark's functions would take dozens of messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from tieaware.checks.arguments import unexpected
from tieaware.engine.totals import Totals
from tieaware.engine.weights import Weights
from tieaware.errors import InputError
from tieaware.inputs.tables.column_names import judged_columns, run_column, run_columns
from tieaware.inputs.tables.frames import FrameInMemory
from tieaware.integrations.spark.installation import EXTRA, F
from tieaware.lists.grades import Grades, Missing
from tieaware.lists.judgments import Judgments
from tieaware.measures import Measure
from tieaware.runtime.extras import load

# Prefixes of the names of Spark's types, and the type that columns of these types are converted to.
_IDENTIFIERS = {
    "string": "string", "varchar": "string", "char": "string",
    "tinyint": "bigint", "smallint": "bigint", "int": "bigint", "bigint": "bigint",
}  # fmt: skip
_SCORES = {
    "double": "double", "float": "float", "tinyint": "float", "smallint": "float", "boolean": "float",
    "int": "double", "bigint": "double",
}  # fmt: skip
_LABELS = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint", "boolean"), "int"),
    **dict.fromkeys(("float", "double"), "double"),
}

# Spark's types of scores and labels, and NumPy's names for them.
_DTYPES = {"float": "float32", "double": "float64", "int": "int32"}


class Fault(NamedTuple):
    """A kind of bad value: a condition that is true for it, its column, and what a message says is expected and found.

    `condition` and `found` are SQL expressions.
    """

    condition: str
    column: str
    expected: str
    found: str


class CheckedRows(NamedTuple):
    """A data frame whose columns have standard names, and the checks of its rows."""

    # The columns query and document, in the types `types`; score or label, in the user's type; and run, if there are
    # several runs.
    frame: Any
    # The name of the frame in messages.
    name: str
    # The names of the columns in the user's frame, and the types that they are converted to, by their standard names.
    columns: dict[str, str]
    types: dict[str, str]
    # The kinds of bad values that a row is checked for.
    faults: tuple[Fault, ...]

    @property
    def dtype(self) -> str:
        """The NumPy name of the type of the scores or labels, e.g. "float32"."""
        return _DTYPES[self.types["score" if "score" in self.types else "label"]]

    def is_bad(self) -> str:
        """Return an SQL condition that is true for a row with a bad value."""
        return f"({' or '.join(f'({fault.condition})' for fault in self.faults)})"

    def error(self) -> str:
        """Return an SQL expression for the message about a bad row: about the first fault that the row has."""
        cases = " ".join(f"when {fault.condition} then {self._problem(fault)}" for fault in self.faults)
        return f"concat(case {cases} end, ' for ', {row_names()})"

    def checked(self, column: str) -> str:
        """Return an SQL expression for a column of numbers, which raises an error for a bad row."""
        kind = self.types[column]
        value = f"case when {self.is_bad()} then raise_error({self.error()}) else cast({column} as {kind}) end"
        return f"cast({value} as {kind})"

    def _problem(self, fault: Fault) -> str:
        before = f"{self.name}: {self.columns[fault.column]}: expected {fault.expected}, found "
        return f"concat({literal(before)}, coalesce(cast({fault.found} as string), 'null'))"


def judgments_in(frame: Any, name: str, missing: Missing | None = None) -> CheckedRows:
    """Recognise the columns of judgments in a data frame, query, document and label, and return its checked rows.

    With `missing`, labels that are null or NaN become -1, which means unjudged.
    """
    names = tuple(frame.columns)
    found = judged_columns(FrameInMemory(names, [], name))
    columns = dict(zip(("query", "document", "label"), (names[i] for i in found), strict=True))
    types = _types(frame, name, columns, {"label": ("numbers", _LABELS)})
    # A value that is not a number becomes null when it is converted to double. Comparisons with null are never true.
    number = "cast(label as double)"
    out_of_range = f"not ({number} >= -2147483648D and {number} <= 2147483647D)"
    wrong = f"{out_of_range} or {_is_nan(frame, columns['label'], 'label')}"
    faults = (
        *_missing("query", "document"),
        Fault("label is null", "label", "a label", "label"),
        Fault(wrong, "label", "a number from -2147483648 to 2147483647", "label"),
    )
    standard = _standard(frame, columns, types)
    if missing is not None:
        # No integer is out of the range of bigint, so the check of the range sees every label as it was given.
        kind = "double" if types["label"] == "double" else "bigint"
        label = f"nanvl(coalesce({number}, -1D), -1D)" if kind == "double" else "coalesce(cast(label as bigint), -1L)"
        standard = standard.selectExpr("query", "document", f"{label} as label")
    return CheckedRows(standard, name, columns, types, faults)


def runs_in(frame: Any, name: str) -> CheckedRows:
    """Recognise the columns of runs in a data frame, query, document, score and maybe run; return its checked rows."""
    names = tuple(frame.columns)
    held = FrameInMemory(names, [], name)
    found = run_columns(held)
    columns = dict(zip(("query", "document", "score"), (names[i] for i in found), strict=True))
    run = run_column(held)
    if run is not None:
        columns["run"] = names[run]
    types = _types(frame, name, columns, {"score": ("numbers", _SCORES)})
    faults = [
        *_missing("query", "document", *(["run"] if "run" in columns else [])),
        Fault("score is null", "score", "a number", "score"),
        Fault(_is_nan(frame, columns["score"], "score"), "score", "a number", "score"),
    ]
    if dict(frame.dtypes)[columns["score"]] == "bigint":
        inexact = "cast(cast(score as double) as decimal(20)) != cast(score as decimal(20))"
        faults.append(Fault(f"abs(score) > {2**53} and {inexact}", "score", "a number that float64 holds", "score"))
    return CheckedRows(_standard(frame, columns, types), name, columns, types, tuple(faults))


def check_identifier_types(runs: CheckedRows, judgments: CheckedRows) -> None:
    """Raise InputError if queries or documents are text in one of the two frames, but integers in the other."""
    words = {"string": "text", "bigint": "integers"}
    for column in ("query", "document"):
        own, wanted = words[runs.types[column]], words[judgments.types[column]]
        if own != wanted:
            raise InputError(
                f"{runs.name}: {runs.columns[column]}",
                f"the column holds {own}, but {judgments.columns[column]} in {judgments.name} holds {wanted}; "
                "make both text, or both integers",
            )


def distinct_judgments(judgments: CheckedRows) -> Any:
    """Return a frame with each judgment once. It raises an error if a document has two labels for a query."""
    rows = judgments.frame.selectExpr("query", "document", f"{judgments.checked('label')} as label")
    labels = rows.groupBy("query", "document").agg(F.expr("min(label) as least"), F.expr("max(label) as most"))
    before, between = literal(f"{judgments.name}: "), literal(" has different labels, ")
    problem = f"concat({before}, {row_names()}, {between}, least, ' and ', most)"
    label = f"cast(case when least = most then least else raise_error({problem}) end as {judgments.types['label']})"
    return labels.selectExpr("query", "document", f"{label} as label")


def _types(
    frame: Any, name: str, columns: dict[str, str], numbers: dict[str, tuple[str, dict[str, str]]]
) -> dict[str, str]:
    """Return the type that each column is converted to. Columns that are not in `numbers` hold identifiers."""
    found = dict(frame.dtypes)
    types = {}
    for column, own_name in columns.items():
        wanted, known = numbers.get(column, ("text or integers", _IDENTIFIERS))
        kind = found[own_name].partition("(")[0].partition(" ")[0]
        if kind not in known:
            raise unexpected(f"{name}: {own_name}", f"a column of {wanted}", f"a column of type {found[own_name]}")
        types[column] = "string" if column == "run" else known[kind]
    return types


def _standard(frame: Any, columns: dict[str, str], types: dict[str, str]) -> Any:
    """Return the columns under their standard names, with identifiers converted to their types."""
    chosen = []
    for column, own_name in columns.items():
        # Backticks allow any characters in the name of a column.
        value = "`" + own_name.replace("`", "``") + "`"
        chosen.append(f"{value if column in ('score', 'label') else f'cast({value} as {types[column]})'} as {column}")
    return frame.selectExpr(*chosen)


def _missing(*columns: str) -> list[Fault]:
    wanted = {"run": "the name of a run"}
    return [Fault(f"{column} is null", column, wanted.get(column, "text or an integer"), "null") for column in columns]


def _is_nan(frame: Any, name: str, value: str) -> str:
    return f"isnan({value})" if dict(frame.dtypes)[name] in ("float", "double") else "false"


def range_of_labels(judged: Any, judgments: CheckedRows) -> tuple[float, bool]:
    """Return the highest label of `distinct_judgments`, and whether all labels are whole numbers.

    This runs a job of Spark: each partition sees only a part of the labels, so it cannot find that all are too low.
    """
    with raised_by_rows(judgments.name):
        (row,) = judged.selectExpr("max(label) as highest", "every(label = floor(label)) as whole").collect()
    return (0.0, True) if row["highest"] is None else (row["highest"], row["whole"])


def check_labels(measures: tuple[Measure, ...], highest: float, are_whole: bool) -> None:
    """Raise InputError if a measure cannot take real labels, or if the highest label is too low for it."""
    if not are_whole:
        labels = np.array([highest])
        grades = Grades.of(labels)
        numbers = grades.numbers(labels)
        Totals.of(measures, Judgments(numbers, np.array([0, 1]), grades=grades))
        Weights.of(measures, numbers, False, grades)


# ---- SQL ----

_LONGEST_SHOWN = 80
_UNPRINTABLE = r"\p{C}"

# Spark puts these texts before and after the message of raise_error.
_PREFIX, _SUFFIX = "[USER_RAISED_EXCEPTION] ", " SQLSTATE: P0001"


def literal(text: str) -> str:
    """Return an SQL literal for a text. It is written in hexadecimal, so that no character needs an escape."""
    return f"cast(X'{text.encode().hex()}' as string)"


def row_names() -> str:
    """Return an SQL expression that names the document and the query of a row in messages: printable, and shortened."""

    def shown(column: str) -> str:
        printable = f"regexp_replace(cast({column} as string), {literal(_UNPRINTABLE)}, '?')"
        quote = literal("'")
        return f"coalesce(concat({quote}, substring({printable}, 1, {_LONGEST_SHOWN}), {quote}), 'null')"

    return f"concat('document ', {shown('document')}, ' of query ', {shown('query')})"


def raising(frame: Any) -> Any:
    """Return a frame that raises an error with the text in its column `error` for a row where that is not null."""
    return frame.filter("case when error is not null then cast(raise_error(error) as boolean) else true end")


@contextmanager
def raised_by_rows(where: str) -> Iterator[None]:
    """Convert an error that the SQL function raise_error raises inside the block to InputError.

    `where` is the place with which the message begins, such as "runs_df".
    """
    try:
        yield
    except load("pyspark.errors", EXTRA).PySparkException as error:
        line = str(error).partition("\n")[0]
        if not line.startswith(_PREFIX):
            raise
        message = line.removeprefix(_PREFIX).removesuffix(_SUFFIX)
        raise InputError(where, message.removeprefix(f"{where}: ")) from None

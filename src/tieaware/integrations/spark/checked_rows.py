"""Frames of Spark as judgments and runs: which columns they have, and what is asked of their values.

What a value must be is said in an expression of Spark's own, which raises where it is not so. It is part of the column
of numbers, so that it is asked wherever these are needed, once for each row. Expressions are SQL: to Java one goes as a
text at once, where one that is put together in Python goes in dozens of messages.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tieaware.checks.arguments import unexpected
from tieaware.errors import InputError
from tieaware.inputs.columns import judged_columns, run_column, run_columns
from tieaware.inputs.frames import Held
from tieaware.integrations.spark.packing import EXTRA
from tieaware.runtime.extras import load

_LONGEST_SHOWN = 80
_UNPRINTABLE = r"\p{C}"

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
    """What may be wrong with a row: when it is, in which column, and what was expected and found there.

    The condition and what was found are SQL.
    """

    condition: str
    column: str
    expected: str
    found: str


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

    def bad(self) -> str:
        """Say whether any value of the row is bad."""
        return f"({' or '.join(f'({fault.condition})' for fault in self.faults)})"

    def error(self) -> str:
        """Say what is wrong with a row that is bad, and where."""
        cases = " ".join(f"when {fault.condition} then {self._words(fault)}" for fault in self.faults)
        return f"concat(case {cases} end, {place()})"

    def checked(self, name: str) -> str:
        """Return the column of numbers, which raises where any value of the row is bad."""
        kind = self.types[name]
        value = f"case when {self.bad()} then raise_error({self.error()}) else cast({name} as {kind}) end"
        return f"cast({value} as {kind})"

    def _words(self, fault: Fault) -> str:
        before = f"{self.label}: {self.names[fault.column]}: expected {fault.expected}, found "
        return f"concat({text(before)}, coalesce(cast({fault.found} as string), 'null'))"


def judgments_in(frame: Any, label: str) -> Rows:
    """Return the judgments in a frame: columns query, document and label."""
    names = tuple(frame.columns)
    found = judged_columns(Held(names, []), label, None, None, None)
    columns = dict(zip(("query", "document", "label"), (names[i] for i in found), strict=True))
    types = _types(frame, label, columns, {"label": ("whole numbers", _LABELS)})
    # Of what is no number, and of NaN, no comparison is true.
    number = "cast(label as double)"
    whole = f"{number} >= -2147483648D and {number} < 2147483648D and {number} = floor({number})"
    not_whole = f"not ({whole}) or {_is_nan(frame, columns['label'], 'label')}"
    faults = (
        *_missing("query", "document"),
        Fault("label is null", "label", "a label", "label"),
        Fault(not_whole, "label", "a whole number of 32 bits", "label"),
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
    faults = [*_missing("query", "document", *(["run"] if "run" in columns else []))]
    faults += [
        Fault("score is null", "score", "a number", "score"),
        Fault(_is_nan(frame, columns["score"], "score"), "score", "a number", "score"),
    ]
    if dict(frame.dtypes)[columns["score"]] == "bigint":
        inexact = "cast(cast(score as double) as decimal(20)) != cast(score as decimal(20))"
        faults.append(Fault(f"abs(score) > {2**53} and {inexact}", "score", "numbers that float64 holds", "score"))
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
    rows = judgments.frame.selectExpr("query", "document", f"{judgments.checked('label')} as label")
    labels = rows.groupBy("query", "document").agg(F.expr("min(label) as least"), F.expr("max(label) as most"))
    found = f"concat({text(f'{judgments.label}: expected one label, found ')}, least, ' and ', most, {place()})"
    label = f"cast(case when least = most then least else raise_error({found}) end as int)"
    return labels.selectExpr("query", "document", f"{label} as label")


def raising(frame: Any) -> Any:
    """Raise what the column error says, where it does."""
    return frame.filter("case when error is not null then cast(raise_error(error) as boolean) else true end")


def text(value: str) -> str:
    """Return a text as SQL has it, whatever its characters, and Spark's settings of how these are written."""
    return f"cast(X'{value.encode().hex()}' as string)"


def message(error: Exception) -> InputError | None:
    """Return the error that an expression raised, as our own; None, if it is another."""
    first = str(error).partition("\n")[0]
    if not first.startswith(_RAISED):
        return None
    return InputError(first.removeprefix(_RAISED).removesuffix(_STATE))


def strangers(where: str, judgments: str) -> str:
    """Say that a run has no query in common with the judgments."""
    return f"{where}: expected a query in common with {judgments}, found none that is judged"


def place() -> str:
    """Say of which document of which query a row is, for a message: on one line, and not too long."""

    def shown(column: str) -> str:
        line = f"regexp_replace(cast({column} as string), {text(_UNPRINTABLE)}, '?')"
        return f"""coalesce(concat({text("'")}, substring({line}, 1, {_LONGEST_SHOWN}), {text("'")}), 'null')"""

    return f"concat(' for document ', {shown('document')}, ' of query ', {shown('query')})"


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
    chosen = []
    for column, name in columns.items():
        # By its name, whatever characters that has.
        value = "`" + name.replace("`", "``") + "`"
        chosen.append(f"{value if column in ('score', 'label') else f'cast({value} as {types[column]})'} as {column}")
    return frame.selectExpr(*chosen)


def _missing(*columns: str) -> list[Fault]:
    wanted = {"run": "the name of a run"}
    return [Fault(f"{column} is null", column, wanted.get(column, "text or an integer"), "null") for column in columns]


def _is_nan(frame: Any, name: str, value: str) -> str:
    return f"isnan({value})" if dict(frame.dtypes)[name] in ("float", "double") else "false"

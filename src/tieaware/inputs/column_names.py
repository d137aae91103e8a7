"""Recognition of the columns of judgments and runs, by the names that they usually have."""

from __future__ import annotations

from collections.abc import Sequence

from tieaware.errors import InputError
from tieaware.inputs.frames import Frame

# The usual names of each column: those in published judgments and runs, and in data frames of other evaluation tools.
QUERIES = ("query_id", "qid", "q_id", "query", "query-id", "user_id", "user")
DOCUMENTS = ("doc_id", "docno", "did", "doc", "corpus-id", "item_id", "item")
_SCORES = ("score", "rating", "prediction", "sim")
_LABELS = ("relevance", "label", "rel", "score")
_RUNS = ("run", "system", "tag")


def run_columns(
    frame: Frame, source_name: str, query: str | None = None, doc: str | None = None, score: str | None = None
) -> tuple[int, ...]:
    """Return the indices of a run's query, document and score columns.

    Parameters
    ----------
    frame : Frame
    source_name : str
        The name of the table in messages.
    query, doc, score : str or None
        The names of the columns. If a name is None, the column is recognised by its usual names.

    Raises
    ------
    InputError
        A column is missing, or several columns have a usual name of the same column.
    """
    wanted = [("query", query, QUERIES), ("doc", doc, DOCUMENTS), ("score", score, _SCORES)]
    return tuple(_required(frame.names, source_name, *each) for each in wanted)


def judged_columns(
    frame: Frame, source_name: str, query: str | None = None, doc: str | None = None, label: str | None = None
) -> tuple[int, ...]:
    """Return the indices of the query, document and label columns of judgments. Parameters as for `run_columns`."""
    wanted = [("query", query, QUERIES), ("doc", doc, DOCUMENTS), ("label", label, _LABELS)]
    return tuple(_required(frame.names, source_name, *each) for each in wanted)


def run_column(frame: Frame, source_name: str, run: str | None = None) -> int | None:
    """Return the index of the column that contains the name of each row's run; None if the table has no such column."""
    return _found(frame.names, source_name, "run", run, _RUNS)


def _required(names: Sequence[str], source_name: str, argument: str, given: str | None, usual: Sequence[str]) -> int:
    column = _found(names, source_name, argument, given, usual)
    if column is None:
        remedy = f"name it {', '.join(usual[:-1])} or {usual[-1]}, or pass its name as {argument}"
        raise InputError(source_name, f"there is no {argument} column {_among(names)}: {remedy}")
    return column


def _found(
    names: Sequence[str], source_name: str, argument: str, given: str | None, usual: Sequence[str]
) -> int | None:
    """Return the index of the column named `given`, or, if that is None, of the only column with a usual name.

    Return None if `given` is None and no column has a usual name.
    """
    wanted = (given,) if given is not None else usual
    found = [i for i, name in enumerate(names) if name in wanted]
    if len(found) > 1:
        several = " and ".join(names[i] for i in found)
        raise InputError(source_name, f"{several} may be the {argument} column: pass the name of one as {argument}")
    if not found and given is not None:
        raise InputError(source_name, f"there is no column {given!r} for {argument} {_among(names)}")
    return found[0] if found else None


def _among(names: Sequence[str]) -> str:
    return f"among {', '.join(names)}" if names else "in a table without columns"

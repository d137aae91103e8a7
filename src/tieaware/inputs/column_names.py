"""Recognition of the columns of judgments and runs, by the names that they usually have."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from tieaware.errors import InputError
from tieaware.inputs.frames import Frame

# The usual names of each column: those in published judgments and runs, and in data frames of other evaluation tools.
# Upper and lower case, hyphens, underscores and spaces are ignored.
_QUERIES = ("query_id", "qid", "query", "user_id", "user", "topic_id", "topic")
_DOCUMENTS = (
    "doc_id", "docno", "did", "doc", "corpus-id", "item_id", "item", "document_id", "document", "passage_id", "pid",
    "movie_id",
)  # fmt: skip
_SCORES = ("score", "rating", "prediction", "sim")
_LABELS = ("relevance", "label", "rel", "score")
_RUNS = ("run", "system", "tag")
# Usual names of labels that are not usual names of scores.
_ONLY_LABELS = ("relevance", "label", "rel")
_SUBTOPICS = ("subtopic", "subtopic_id")
# In frames of ir_measures, the subtopics of measures of diversity are in this column, which has no meaning otherwise.
_ITERATIONS = ("iteration",)
USUAL = {
    "query": _QUERIES, "doc": _DOCUMENTS, "score": _SCORES, "label": _LABELS, "run": _RUNS, "subtopic": _SUBTOPICS,
}  # fmt: skip
# Other usual columns of runs, which do not tell runs apart.
_NOT_RUNS = ("rank", "q0", "iteration", "iter", "text", "title", "body", "contents", "url", "timestamp")
_Usual: TypeAlias = tuple[str, ...]
# Columns that do not identify the document if there is a column docno: in PyTerrier's frames, docid is an internal
# number, and document may contain the text. All other columns of one meaning are an error.
_BESIDE_DOCNO = ("docid", "document")
_SEPARATORS = re.compile(r"[-_ ]")


def usual_names(argument: str) -> list[str]:
    """Return the usual names of a column, without those that differ only in characters that may be ignored."""
    found: dict[str, str] = {}
    for name in USUAL[argument]:
        found.setdefault(_plain(name), name)
    return list(found.values())


def is_header(names: Sequence[str]) -> bool:
    """Return whether some names in the first line of a file are those of a query column and of a document column."""
    return bool(_matching(names, _QUERIES) and _matching(names, _DOCUMENTS))


def has_name_of(argument: str, names: Sequence[str]) -> bool:
    """Return whether one of the names is a usual name of a column of `USUAL`."""
    return bool(_matching(names, USUAL[argument]))


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
    wanted = [("query", query, _QUERIES), ("doc", doc, _DOCUMENTS), ("score", score, _SCORES)]
    return tuple(_required(frame, source_name, "Run.from_frame", *each) for each in wanted)


def judged_columns(
    frame: Frame, source_name: str, query: str | None = None, doc: str | None = None, label: str | None = None
) -> tuple[int, ...]:
    """Return the indices of the query, document and label columns of judgments. Parameters as for `run_columns`."""
    wanted = [("query", query, _QUERIES), ("doc", doc, _DOCUMENTS), ("label", label, _LABELS)]
    return tuple(_required(frame, source_name, "Qrels.from_frame", *each) for each in wanted)


def subtopic_column(frame: Frame, source_name: str, subtopic: str | None = None, needed: bool = False) -> int | None:
    """Return the index of the column of subtopics of judgments; None if there is none, unless it is `needed`."""
    usual = (*_SUBTOPICS, *_ITERATIONS) if needed else _SUBTOPICS
    column = _found(frame, source_name, "Qrels.from_frame", "subtopic", subtopic, usual)
    if column is None and needed:
        return _required(frame, source_name, "Qrels.from_frame", "subtopic", subtopic, usual)
    return column


def run_column(frame: Frame, source_name: str, run: str | None = None) -> int | None:
    """Return the index of the column that contains the name of each row's run; None if the table has no such column."""
    return _found(frame, source_name, "Run.from_frame", "run", run, _RUNS)


def unread_columns(frame: Frame, columns: Sequence[int]) -> str:
    """Return the end of an error about duplicate rows: it names the columns that are not read, and may name the run.

    Columns with usual names, and those that tools add to rankings, do not name a run.
    """
    known = {_plain(name) for usual in (*USUAL.values(), _NOT_RUNS) for name in usual}
    names = [name for i, name in enumerate(frame.names) if i not in columns and _plain(name) not in known]
    names = [name for name in names if name and not name.startswith("_")]
    if not names:
        return ""
    shown = ", ".join(names[:3]) + ", …" * (len(names) > 3)
    what = f"column {shown} is" if len(names) == 1 else f"columns {shown} are"
    return f"; {what} not read: if {'it' if len(names) == 1 else 'one'} tells runs apart, name it run"


def _required(
    frame: Frame, source_name: str, reader: str, argument: str, given: str | None, usual: _Usual
) -> int:
    """Return the index of a column as `_found` does; raise InputError if there is none.

    `reader` is the function that takes the names of the columns, for messages.
    """
    column = _found(frame, source_name, reader, argument, given, usual)
    if column is None:
        if not any(frame.names):
            raise InputError(source_name, "the table is empty, or its columns have no names")
        problem = f"there is no {argument} column among {_listed(frame)}"
        remedy = _remedy(frame, reader, argument)
        labels = [name for name in frame.names if _plain(name) in _ONLY_LABELS]
        if argument == "score" and labels:
            swapped = f"but {labels[0]} is a column of labels: are judgments and runs swapped?"
            raise InputError(source_name, f"{problem}, {swapped} If not, {remedy}")
        raise InputError(source_name, f"{problem}: {remedy}")
    return column


def _remedy(frame: Frame, reader: str, argument: str) -> str:
    """Say how a table gets a column that it lacks."""
    *others, last = usual_names(argument)
    names = f"name it {', '.join(others)} or {last}"
    known = {_plain(name) for usual in USUAL.values() for name in usual}
    unknown = [name for name in frame.names if _plain(name) not in known]
    renaming = frame.renaming(unknown[0] if len(unknown) == 1 else "...", usual_names(argument)[0])
    if renaming is None:
        renaming = f"pass {reader}(frame, {argument}=...)"
    return f"{names}, or {renaming}" if renaming else names


def _found(
    frame: Frame, source_name: str, reader: str, argument: str, given: str | None, usual: _Usual
) -> int | None:
    """Return the index of the column named `given`, or, if that is None, of the only column with a usual name.

    Return None if `given` is None and no column has a usual name.
    """
    names = frame.names
    found = _matching(names, usual) if given is None else [i for i, name in enumerate(names) if name == given]
    if len(found) > 1:
        several, first = " and ".join(names[i] for i in found), names[found[0]]
        remedy = "rename or drop one of them"
        if frame.renaming(first, first) is None:
            remedy = f"pass {reader}(frame, {argument}={first!r}), or the other name"
        raise InputError(source_name, f"{several} may be the {argument} column: {remedy}")
    if not found and given is not None:
        raise InputError(source_name, f"there is no column {given!r} for {argument} among {_listed(frame)}")
    return found[0] if found else None


def _matching(names: Sequence[str], usual: _Usual) -> list[int]:
    """Return the indices of the names that are usual names of a column."""
    known = {_plain(name) for name in usual}
    plain = [_plain(name) for name in names]
    if "docno" in plain:
        known.difference_update(_BESIDE_DOCNO)
    return [i for i, name in enumerate(plain) if name in known]


def _listed(frame: Frame) -> str:
    return ", ".join(frame.names) + frame.heading


def _plain(name: str) -> str:
    return _SEPARATORS.sub("", name).casefold()

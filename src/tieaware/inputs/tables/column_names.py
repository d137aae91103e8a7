"""Recognition of the columns of judgments and runs, by the names that they usually have."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tieaware.errors import InputError
from tieaware.inputs.tables.frames import Frame

# The usual names of each column: those in published judgments and runs, and in data frames of other evaluation tools.
# Upper and lower case, hyphens, underscores and spaces are ignored.
_USUAL = {
    "query": ("query_id", "qid", "query", "user_id", "user", "topic_id", "topic"),
    "doc": (
        "doc_id", "docno", "did", "doc", "corpus-id", "item_id", "item", "document_id", "document", "passage_id", "pid",
        "movie_id",
    ),
    "score": ("score", "rating", "prediction", "sim"),
    "label": ("relevance", "label", "rel", "score"),
    "run": ("run", "system", "tag"),
    "subtopic": ("subtopic", "subtopic_id"),
    # In frames of ir_measures, the subtopics of measures of diversity are in the last column, which has no meaning
    # otherwise.
    "needed subtopic": ("subtopic", "subtopic_id", "iteration"),
}  # fmt: skip
# Usual names of labels that are not usual names of scores.
_ONLY_LABELS = ("relevance", "label", "rel")
# Other usual columns of runs, which do not tell runs apart.
_NOT_RUNS = ("rank", "q0", "iteration", "iter", "text", "title", "body", "contents", "url", "timestamp")
# Columns that do not identify the document if there is a column docno: in PyTerrier's frames, docid is an internal
# number, and document may contain the text. All other columns of one meaning are an error.
_BESIDE_DOCNO = ("docid", "document")
_SEPARATORS = re.compile(r"[-_ ]")


def usual_names(argument: str) -> list[str]:
    """Return the usual names of a column, without those that differ only in characters that may be ignored."""
    found: dict[str, str] = {}
    for name in _USUAL[argument]:
        found.setdefault(_plain(name), name)
    return list(found.values())


def is_header(names: Sequence[str]) -> bool:
    """Return whether some names in the first line of a file are those of a query column and of a document column."""
    return bool(_matching(names, "query") and _matching(names, "doc"))


def run_columns(
    frame: Frame, query: str | None = None, doc: str | None = None, score: str | None = None
) -> tuple[int, ...]:
    """Return the indices of a run's query, document and score columns.

    A column whose name is None is recognised by its usual names. InputError is raised if a column is missing, or if
    several columns have usual names of one column.
    """
    wanted = {"query": query, "doc": doc, "score": score}
    return tuple(_required(frame, "Run.from_frame", *each) for each in wanted.items())


def judged_columns(
    frame: Frame, query: str | None = None, doc: str | None = None, label: str | None = None
) -> tuple[int, ...]:
    """Return the indices of the query, document and label columns of judgments; see `run_columns`."""
    wanted = {"query": query, "doc": doc, "label": label}
    return tuple(_required(frame, "Qrels.from_frame", *each) for each in wanted.items())


def subtopic_column(frame: Frame, subtopic: str | None = None, needed: bool = False) -> int | None:
    """Return the index of the column of subtopics of judgments; None if there is none, unless it is `needed`."""
    if needed:
        return _required(frame, "Qrels.from_frame", "subtopic", subtopic, "needed subtopic")
    return _found(frame, "Qrels.from_frame", "subtopic", subtopic)


def run_column(frame: Frame, run: str | None = None) -> int | None:
    """Return the index of the column that contains the name of each row's run; None if the table has no such column."""
    return _found(frame, "Run.from_frame", "run", run)


def unread_columns(frame: Frame, columns: Sequence[int]) -> str:
    """Return the end of an error about duplicate rows: it names the columns that are not read, and may name the run.

    Columns with usual names, and those that tools add to rankings, do not name a run.
    """
    known = _known | set(map(_plain, _NOT_RUNS))
    names = [name for i, name in enumerate(frame.names) if i not in columns and _plain(name) not in known]
    names = [name for name in names if name and not name.startswith("_")]
    if not names:
        return ""
    shown = ", ".join(names[:3]) + ", …" * (len(names) > 3)
    what = f"column {shown} is" if len(names) == 1 else f"columns {shown} are"
    return f"; {what} not read: if {'it' if len(names) == 1 else 'one'} tells runs apart, name it run"


def _required(frame: Frame, reader: str, argument: str, given: str | None, usual: str = "") -> int:
    """Return the index of a column as `_found` does; raise InputError if there is none."""
    column = _found(frame, reader, argument, given, usual)
    if column is None:
        if not any(frame.names):
            raise InputError(frame.source_name, "the table is empty, or its columns have no names")
        problem = f"there is no {argument} column among {_listed(frame)}"
        if len(frame.names) == 1 and frame.names[0].count(";") > 1:
            remedy = "separate the columns by commas, and write decimal points"
            raise InputError(frame.source_name, f"the columns are separated by semicolons: {remedy}")
        remedy = _remedy(frame, reader, argument)
        labels = [name for name in frame.names if _plain(name) in _ONLY_LABELS]
        if argument == "score" and labels:
            swapped = f"but {labels[0]} is a column of labels: are judgments and runs swapped?"
            raise InputError(frame.source_name, f"{problem}, {swapped} If not, {remedy}")
        raise InputError(frame.source_name, f"{problem}: {remedy}", argument=_named_by(frame, reader, argument))
    return column


def _remedy(frame: Frame, reader: str, argument: str) -> str:
    """Say how a table gets a column that it lacks."""
    *others, last = usual_names(argument)
    names = f"name it {', '.join(others)} or {last}"
    unknown = [name for name in frame.names if _plain(name) not in _known]
    renaming = frame.renaming(unknown[0] if len(unknown) == 1 else "...", _USUAL[argument][0])
    if renaming is None:
        renaming = f"pass {reader}(frame, {argument}=...)"
    return f"{names}, or {renaming}" if renaming else names


def _named_by(frame: Frame, reader: str, argument: str) -> str | None:
    """Return the name, in errors, of an option that names a column of a file of runs; None for any other table."""
    return f"{argument}_column" if frame.is_file and reader == "Run.from_frame" else None


def _found(frame: Frame, reader: str, argument: str, given: str | None, usual: str = "") -> int | None:
    """Return the index of the column named `given`, or, if that is None, of the only column with a usual name.

    Return None if `given` is None and no column has a usual name. `reader` is the function that takes the names of the
    columns, for messages; `usual` is the entry of `_USUAL` with the usual names, by default that of the argument.
    """
    names = frame.names
    found = [i for i, name in enumerate(names) if name == given]
    if given is None:
        found = _matching(names, usual or argument)
    if len(found) > 1:
        several, first = " and ".join(names[i] for i in found), names[found[0]]
        remedy = "rename or drop one of them"
        if frame.renaming(first, first) is None:
            remedy = f"pass {reader}(frame, {argument}={first!r}), or the other name"
        problem = f"{several} may be the {argument} column: {remedy}"
        raise InputError(frame.source_name, problem, argument=_named_by(frame, reader, argument))
    if not found and given is not None:
        problem = f"there is no column {given!r} for {argument} among {_listed(frame)}"
        raise InputError(frame.source_name, problem)
    return found[0] if found else None


def _matching(names: Sequence[str], argument: str) -> list[int]:
    """Return the indices of the names that are usual names of a column."""
    usual = set(map(_plain, _USUAL[argument]))
    plain = [_plain(name) for name in names]
    if "docno" in plain:
        usual.difference_update(_BESIDE_DOCNO)
    return [i for i, name in enumerate(plain) if name in usual]


def _listed(frame: Frame) -> str:
    return ", ".join(frame.names) + frame.heading


def _plain(name: str) -> str:
    return _SEPARATORS.sub("", name).casefold()


_known = {_plain(name) for usual in _USUAL.values() for name in usual}

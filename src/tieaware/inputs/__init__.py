"""Judgments and runs in every form in which callers pass them: paths, files, dicts, arrays and tables.

To support a new form, write the function that reads it, and list it in `FORMS`. A new kind of table file is listed in
`tieaware.inputs.tables.TABLE_FILES` instead: runs and judgments can then be read from it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, BinaryIO, NamedTuple, Protocol, SupportsFloat, TypeAlias

from numpy.typing import ArrayLike

from tieaware.checks.arguments import shown, unexpected
from tieaware.errors import InputError, warn
from tieaware.inputs.files.paths import Parts, are_partitions, files_at, is_file_object, look_like_parts, parts_at
from tieaware.inputs.judgments.qrels import Qrels, read_qrels
from tieaware.inputs.runs.changed import Changed, by_position, excluded_documents, without
from tieaware.inputs.runs.file_order import ORDERS, Order, consistent, never_fall, order_in_ranks, repeatable
from tieaware.inputs.runs.in_memory import RunDict, RunTopK, is_pair_of_arrays
from tieaware.inputs.runs.matching import (
    Matched,
    asking_for_run,
    check_numbers,
    differing,
    first_query,
    match,
    match_whole,
    no_query_judged,
    seem_to_count_from_one,
)
from tieaware.inputs.runs.reading_options import AS_USUAL, Reading
from tieaware.inputs.runs.run import Run, RunSource
from tieaware.inputs.runs.streamed import RunFile, read_run, runs_at, runs_in
from tieaware.inputs.runs.topk import TopK
from tieaware.inputs.tables.frames import frame_of, is_frame
from tieaware.lists.grades import Missing, check_missing
from tieaware.lists.identifiers import Identifiers
from tieaware.lists.sparse import is_matrix

__all__ = [
    "ORDERS",
    "Changed",
    "Identifiers",
    "Matched",
    "Order",
    "Qrels",
    "QrelsLike",
    "Reading",
    "Run",
    "RunDict",
    "RunFile",
    "RunLike",
    "RunSource",
    "as_qrels",
    "as_sources",
    "asking_for_run",
    "by_position",
    "check_numbers",
    "consistent",
    "differing",
    "excluded_documents",
    "first_query",
    "match",
    "match_whole",
    "never_fall",
    "no_query_judged",
    "order_in_ranks",
    "read_qrels",
    "read_run",
    "repeatable",
    "seem_to_count_from_one",
    "source_named",
    "sources_at",
    "warn_of_parts",
    "without",
]

# dict comes first because a test for Mapping, an abstract class, takes a third of a microsecond.
_MAPPINGS = (dict, Mapping)


class _Matrix(Protocol):
    """A sparse matrix in CSR form, such as those of scipy.sparse."""

    indptr: Any
    indices: Any
    data: Any
    shape: Any


class _Stream(Protocol):
    """A table with the Arrow PyCapsule interface, which most data frame libraries implement."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return a PyCapsule that contains a stream of batches."""


class _LazyFrame(Protocol):
    """A lazy frame of polars, which need not be installed."""

    @property
    def collect_schema(self) -> Any:
        """The method that returns the names and types of the columns."""


# Identifiers in mappings are text or integers. The keys of a Mapping are invariant, so that a union of both types would
# not accept a mapping that has both.
_Path: TypeAlias = str | os.PathLike[str]
_TopK: TypeAlias = tuple[ArrayLike, ArrayLike]
_Lists: TypeAlias = Mapping[Any, Mapping[Any, SupportsFloat]]
RunLike: TypeAlias = RunSource | _Path | Sequence[_Path] | BinaryIO | _Lists | _Stream | _LazyFrame | _TopK
_Labels: TypeAlias = Mapping[Any, float] | Mapping[Any, Mapping[Any, float]]
_JudgedLike: TypeAlias = _Labels | Set[str] | list[str] | tuple[str, ...]
QrelsLike: TypeAlias = (
    Qrels | _Path | Sequence[_Path] | BinaryIO | Mapping[Any, _JudgedLike] | _Stream | _LazyFrame | _Matrix
)

class Form(NamedTuple):
    """A form in which judgments, runs or both are passed.

    Parameters
    ----------
    name : str
        What a message calls such a value.
    holds : callable
        Returns whether a value has this form.
    judgments : callable, optional
        Makes judgments from a value. The other arguments are what missing labels mean, and whether a measure needs
        subtopics.
    runs : callable, optional
        Returns the runs in a value. The other arguments are the name of the value, and how it is read.
    """

    name: str
    holds: Callable[[Any], bool]
    judgments: Callable[[Any, Missing | None, bool], Qrels] | None = None
    runs: Callable[[Any, str, Reading], Sequence[RunSource]] | None = None


def _read_qrels(value: Any, missing: Missing | None, subtopics: bool) -> Qrels:
    return read_qrels(value, missing=missing, subtopics=subtopics)


# In the order in which they are tried.
FORMS = (
    Form(
        "{query: {document: value}}",
        lambda value: isinstance(value, _MAPPINGS),
        lambda value, missing, _: Qrels.from_dict(value, missing=missing),
        lambda value, name, _: [RunDict(value, name)],
    ),
    Form("Qrels", lambda value: isinstance(value, Qrels), lambda value, *_: value),
    Form("a Run", lambda value: isinstance(value, RunSource), None, lambda value, *_: [value]),
    Form(
        "(ids, scores)",
        is_pair_of_arrays,
        None,
        lambda value, name, _: [RunTopK(TopK.of(value[0], value[1], before=f"{name}: "), name)],
    ),
    Form("a sparse matrix", is_matrix, lambda value, missing, _: Qrels.from_sparse(value, missing=missing)),
    Form(
        "a table", is_frame, _read_qrels, lambda value, name, reading: runs_in(frame_of(value, name), name, reading)
    ),
    Form(
        "a path, a binary file",
        lambda value: isinstance(value, str | os.PathLike | Parts) or is_file_object(value),
        _read_qrels,
        lambda value, _, reading: runs_at(value, reading),
    ),
)


def as_qrels(qrels: Any, missing: Missing | None = None, *, subtopics: bool = False) -> Qrels:
    """Convert judgments in any supported form to Qrels. `missing` says what missing labels mean.

    If `subtopics`, a measure needs labels of subtopics, so they are read from files and tables.
    """
    check_missing(missing)
    _check_no_rows(qrels, "qrels")
    value = qrels if isinstance(qrels, dict) else parts_at(qrels, "qrels")
    for form in FORMS:
        if form.judgments is not None and form.holds(value):
            return form.judgments(value, missing, subtopics)
    forms = ", ".join(form.name for form in FORMS if form.judgments)
    found = _described(value, "labels: pass scipy.sparse.csr_array(labels)")
    raise InputError("qrels", f"must be judgments ({forms}), not {found}")


def as_sources(runs: Any, least: int = 1) -> dict[str, RunSource]:
    """Wrap each run, of a sequence of runs or of {name: run}, as a RunSource; return {name of the run: source}.

    Each run may have any of the `FORMS`. A table or a folder may contain several runs. InputError is raised if a value
    is not a run, two runs have the same name, or there are fewer than `least` runs.
    """
    if isinstance(runs, _MAPPINGS):
        if _is_run(runs):
            run = RunDict(runs)
            return {run.name: run}
        named = [(name, source_named(name, run)) for name, run in runs.items()]
    else:
        _check_no_rows(runs, "runs")
        is_list = isinstance(runs, Sequence) and not isinstance(runs, str | bytes) and not is_pair_of_arrays(runs)
        several = runs if is_list else [runs]
        found = [(run, source) for run in several for source in sources_at(run)]
        named = _named([source for _, source in found])
        unnamed = [source for run, source in found if isinstance(run, str | os.PathLike)]
        warn_of_parts(unnamed, "pass {'name': folder} to evaluate the parts of a run as one")
    if len(named) < least:
        raise InputError("runs", "there is no run")
    by_name: dict[str, RunSource] = {}
    for name, source in named:
        if name in by_name:
            raise InputError("runs", f"two runs are named {name!r}; name them with {{name: run}}")
        by_name[name] = source
    return by_name


def _check_no_rows(value: Any, where: str) -> None:
    """Raise InputError for rows as dicts, such as JSON records."""
    first = value[0] if isinstance(value, list) and value else None
    if isinstance(first, dict) and any(isinstance(each, str) for each in first.values()):
        raise InputError(where, "must not be a list of rows; pass pandas.DataFrame(rows)")


def sources_at(run: Any, reading: Reading = AS_USUAL, *, name: str = "run") -> list[RunSource]:
    """Wrap all runs in a value, in a folder, or in the files that match a pattern such as "runs/*.run", as RunSources.

    `reading` says how files and tables are read. `name` is the name of the value in messages.
    """
    values = files_at(os.fsdecode(run)) if isinstance(run, str | os.PathLike) else [run]
    return [source for value in values for source in _sources_of(value, name, reading)]


def _sources_of(value: Any, name: str, reading: Reading) -> Sequence[RunSource]:
    """Wrap all runs in a value, which is not a folder or a pattern, as RunSources."""
    for form in FORMS:
        if form.runs is not None and form.holds(value):
            return form.runs(value, name, reading)
    forms = ", ".join(form.name for form in FORMS if form.runs)
    where, what = ("runs", "runs") if name == "run" else (f"runs[{name!r}]", "a run")
    ids = "numpy.broadcast_to(numpy.arange(scores.shape[1]), scores.shape)"
    raise InputError(where, f"must be {what} ({forms}), not {_described(value, f'scores: pass ({ids}, scores)')}")


def source_named(name: Any, run: Any, reading: Reading = AS_USUAL) -> RunSource:
    """Wrap the value of an item of {name: run} as a single RunSource. A folder, a list or a pattern names part files.

    InputError is raised if the value contains no run, or several. Parameters as for `sources_at`.
    """
    if not isinstance(name, str):
        raise unexpected("runs", "names that are strings", shown(name))
    where = f"runs[{name!r}]"
    found = _sources_of(parts_at(run, where), name, reading)
    if not found:
        raise InputError(where, "has no rows")
    if len(found) > 1:
        names = ", ".join(each.name for each in found[:3]) + (", …" if len(found) > 3 else "")
        raise InputError(where, f"must be one run, not {len(found)}: {names}")
    return found[0]


def warn_of_parts(sources: Sequence[RunSource], remedy: str) -> None:
    """Warn if runs without names of their own have names like part-00000: they may be parts of one run."""
    parts = look_like_parts([source.name for source in sources])
    paths = [os.fsdecode(each.path) for each in sources if isinstance(each.path, str | os.PathLike)]
    if parts and not (paths and are_partitions(paths)):
        problem = f"{parts[0]} … {parts[-1]} look like parts of one run, but are evaluated as {len(parts)} runs"
        warn(f"runs: {problem}: {remedy}")


def _described(value: Any, of_matrix: str) -> str:
    """Return the type of a value that has no form, and what to pass instead of a run of ranx or a reader of pyarrow.

    For a matrix, `of_matrix` says what it seems to hold, and what to pass.
    """
    kind = type(value)
    if kind.__name__ in ("Run", "Qrels") and hasattr(value, "to_dict") and not isinstance(value, RunSource | Qrels):
        return f"{kind.__module__.partition('.')[0]}.{kind.__name__}; pass {kind.__name__.lower()}.to_dict()"
    if hasattr(value, "__array__") and getattr(value, "ndim", 0) == 2:
        return f"a matrix of {of_matrix}"
    is_reader = hasattr(value, "read")
    return kind.__name__ + "; pass the path, or pyarrow.dataset.dataset(path)" * is_reader


def _is_run(mapping: Mapping[Any, Any]) -> bool:
    """Return whether a mapping is a single run {query: {document: score}}; if it is not, it is {name: run}."""
    for value in mapping.values():
        if not isinstance(value, _MAPPINGS):
            return False
        for inner in value.values():
            return type(inner) is float or not isinstance(inner, _MAPPINGS)
    return True


def _named(sources: Sequence[RunSource]) -> list[tuple[str, RunSource]]:
    """Return (name, source) of each source. If two sources have the same name, all have their full names instead."""
    names = [source.name for source in sources]
    if len(set(names)) < len(names):
        names = [source.full_name for source in sources]
    return list(zip(names, sources, strict=True))

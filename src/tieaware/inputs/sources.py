"""Recognition of judgments and runs in every form in which callers can pass them: paths, files, dicts and tables.

Every form of a run has a class that implements `tieaware.inputs.run.RunSource`. To support a new form, write a class in
a file of its own, and list it in `SOURCES`. To support a new kind of table file, list its class in
`tieaware.inputs.table_files.TABLE_FILES` instead: runs and judgments can then be read from it.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, BinaryIO, Protocol, SupportsFloat, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from tieaware.checks.arguments import shown, unexpected
from tieaware.errors import InputError, warn
from tieaware.inputs.duplicate_rows import Duplicates
from tieaware.inputs.files import is_file_object
from tieaware.inputs.folders import files_at
from tieaware.inputs.frames import is_frame
from tieaware.inputs.part_files import Parts, are_partitions, folders_of_parts, look_like_parts, parts_at
from tieaware.inputs.qrels import Qrels
from tieaware.inputs.run import RunSource
from tieaware.inputs.run_dict import RunDict
from tieaware.inputs.run_file import RunFile
from tieaware.inputs.run_frame import RunFrame
from tieaware.inputs.run_parts import RunParts
from tieaware.inputs.run_topk import RunTopK, is_pair_of_arrays
from tieaware.inputs.score_types import ScoreDtype
from tieaware.inputs.trec import read_qrels
from tieaware.lists.grades import Missing, check_missing
from tieaware.lists.sparse import is_matrix

# The classes for the forms of runs, in the order in which they are tried. RunSource recognises values that are already
# a RunSource, such as a Run.
SOURCES: tuple[type[RunSource], ...] = (RunSource, RunDict, RunParts, RunTopK, RunFrame, RunFile)
# What to pass if two runs have one name. The command line replaces it by its own option.
NAMED_RUNS = "pass {name: run}"


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

# Characters that document identifiers rarely have.
_OF_PATHS = re.compile(r"[./\\*?]")

# dict comes first because a test for Mapping, an abstract class, takes a third of a microsecond.
_MAPPINGS = (dict, Mapping)


def as_qrels(qrels: Any, missing: Missing | None = None, *, subtopics: bool = False) -> Qrels:
    """Convert judgments in any supported form to Qrels. `missing` says what missing labels mean.

    If `subtopics`, a measure needs labels of subtopics, so they are read from files and tables.

    Raises
    ------
    InputError
        The argument does not have a supported form, or the judgments are invalid.
    """
    check_missing(missing)
    is_mapping = isinstance(qrels, _MAPPINGS)
    if not is_mapping and isinstance(qrels, Qrels):
        return qrels
    if is_mapping:
        return Qrels.from_dict(qrels, missing=missing)
    _check_no_rows(qrels, "qrels")
    if is_matrix(qrels):
        return Qrels.from_sparse(qrels, missing=missing)
    qrels = parts_at(qrels, "qrels")
    if not (is_frame(qrels) or isinstance(qrels, str | os.PathLike | Parts) or is_file_object(qrels)):
        forms = "a path, a binary file, {query: {document: label}}, a table or a sparse matrix"
        raise InputError("qrels", f"must be judgments ({forms}), not {_type_of(qrels)}{_instead(qrels)}")
    return read_qrels(qrels, missing=missing, subtopics=subtopics)


def as_sources(runs: Any, least: int = 1) -> dict[str, RunSource]:
    """Wrap each of the runs as a RunSource; return {name of the run: source}.

    Parameters
    ----------
    runs : run, sequence of runs, or {name: run}
        Each run may have any form in `SOURCES`. A table or a folder may contain several runs.
    least : int
        The smallest allowed number of runs.

    Raises
    ------
    InputError
        A value is not a run, two runs have the same name, or there are fewer than `least` runs.
    """
    is_mapping = isinstance(runs, _MAPPINGS)
    if is_mapping:
        if _is_run(runs):
            run = RunDict(runs)
            return {run.name: run}
        for name, run in runs.items():
            _check_no_documents(name, run)
        named = [(name, source_named(name, run)) for name, run in runs.items()]
    else:
        _check_no_rows(runs, "runs")
        is_list = isinstance(runs, Sequence) and not isinstance(runs, str | bytes) and not is_pair_of_arrays(runs)
        several = runs if is_list else [runs]
        found = [(run, source) for run in several for source in sources_at(run)]
        named = _named([source for _, source in found])
        warn_of_parts([source for run, source in found if isinstance(run, str | os.PathLike)], several)
    if len(named) < least:
        raise InputError("runs", "there is no run")
    by_name: dict[str, RunSource] = {}
    for name, source in named:
        if name in by_name:
            raise InputError("runs", f"two runs are named {name!r}: {NAMED_RUNS} to give them different names")
        by_name[name] = source
    return by_name


def _check_no_rows(value: Any, where: str) -> None:
    """Raise InputError for rows as dicts, such as JSON records."""
    first = value[0] if isinstance(value, list) and value else None
    if isinstance(first, dict) and any(isinstance(each, str) for each in first.values()):
        raise InputError(where, "must not be a list of rows; pass pandas.DataFrame(rows)")


def sources_at(
    run: Any, score_dtype: ScoreDtype = "float64", duplicates: Duplicates = "error", *, name: str = "run"
) -> list[RunSource]:
    """Wrap all runs in a value, in a folder, or in the files that match a pattern such as "runs/*.run", as RunSources.

    Parameters
    ----------
    run : run, or path of a file, a folder or a pattern
    score_dtype : "float64" or "float32"
        The type to which scores are rounded.
    duplicates : "error" or "first"
        The treatment of a document that appears twice for a query, as for `tieaware.inputs.run.RunSource`.
    name : str
        The name of the value in messages.

    Raises
    ------
    InputError
        The value is not a run, or a file cannot be read.
    """
    values = files_at(os.fsdecode(run)) if isinstance(run, str | os.PathLike) else [run]
    sources: list[RunSource] = []
    for value in values:
        sources += _recognised(value, name, score_dtype, duplicates)
    return sources


def _recognised(
    value: Any, name: str = "run", score_dtype: ScoreDtype = "float64", duplicates: Duplicates = "error"
) -> Sequence[RunSource]:
    """Wrap all runs in a value, which is not a folder or a pattern, as RunSources."""
    for kind in SOURCES:
        sources = kind.recognise(value, name, score_dtype, duplicates)
        if sources is not None:
            return sources
    forms = "a path, a binary file, {query: {document: score}}, a table or (ids, scores)"
    remedy = _instead(value)
    if isinstance(value, np.ndarray):
        remedy = "; for the scores of all documents, use Evaluator(...).results({name: scores})"
    where, what = ("runs", "runs") if name == "run" else (f"runs[{name!r}]", "a run")
    raise InputError(where, f"must be {what} ({forms}), not {_type_of(value)}{remedy}")


def _instead(value: Any) -> str:
    """Say what to pass instead of an object of another library: one of pyarrow that reads tables, or a run of ranx."""
    if _is_theirs(value) and hasattr(value, "to_dict"):
        return f"; pass {type(value).__name__.lower()}.to_dict()"
    if isinstance(value, list | tuple) and value and hasattr(value[0], "columns"):
        return "; concatenate the tables, or pass a list of paths"
    if isinstance(value, Iterator):
        return "; pass a list of paths, or a pyarrow.RecordBatchReader"
    return "; pass the path, or pyarrow.dataset.dataset(path)" if hasattr(value, "read") else ""


def _type_of(value: Any) -> str:
    """Return the name of a type for a message; another library's Run or Qrels has the name of the library as well."""
    kind = type(value)
    return f"{kind.__module__.partition('.')[0]}.{kind.__name__}" if _is_theirs(value) else kind.__name__


def _is_theirs(value: Any) -> bool:
    """Return whether a value is a Run or Qrels of another library, such as ranx."""
    return type(value).__name__ in ("Run", "Qrels") and not isinstance(value, RunSource | Qrels)


def source_named(
    name: Any, run: Any, score_dtype: ScoreDtype = "float64", duplicates: Duplicates = "error"
) -> RunSource:
    """Wrap the value of an item of {name: run} as a single RunSource. A folder, a list or a pattern names part files.

    Parameters as for `sources_at`.

    Raises
    ------
    InputError
        The value is not a run, contains several runs, or is a folder or a list without files.
    """
    if not isinstance(name, str):
        raise unexpected("runs", "names that are strings", shown(name))
    where = f"runs[{name!r}]"
    given = parts_at(run, where)
    if isinstance(given, Parts):
        found = list(_recognised(given, name, score_dtype, duplicates))
    else:
        found = sources_at(given, score_dtype, duplicates, name=name)
    if not found:
        raise InputError(where, "has no rows")
    if len(found) > 1:
        names = ", ".join(each.name for each in found[:3]) + (", …" if len(found) > 3 else "")
        raise InputError(where, f"must be one run, not {len(found)}: {names}")
    return found[0]


def _check_no_documents(name: Any, run: Any) -> None:
    """Raise InputError for a list of documents, as in {query: [document]}, which would be taken for a list of files."""
    if not (isinstance(run, list | tuple) and run and all(isinstance(each, str) for each in run)):
        return
    if not any(os.path.exists(each) or _OF_PATHS.search(each) for each in run):
        remedy = "a list under one name holds part files, and a query's scores are a dict {document: score}"
        raise InputError(f"runs[{name!r}]", f"there is no file {run[0]!r}: {remedy}")


def warn_of_parts(sources: Sequence[RunSource], runs: Sequence[Any], *, shell: bool = False) -> None:
    """Warn if runs without names of their own have names like part-00000: they may be parts of one run.

    Parameters
    ----------
    sources : sequence of RunSource
        The runs without names of their own.
    runs : sequence
        What the caller passed.
    shell : bool
        Whether the warning is for the command line.
    """
    parts = look_like_parts([source.name for source in sources])
    paths = [os.fsdecode(each.path) for each in sources if isinstance(each.path, str | os.PathLike)]
    if not parts or (paths and are_partitions(paths)):
        return
    what = f"{parts[0]} … {parts[-1]} look like parts of one run"
    folders = folders_of_parts(paths)
    if folders:
        what = f"{len(parts)} files in {len(folders)} folders look like parts"
    remedy = _remedy_in_shell(folders) if shell else _remedy(runs, folders)
    problem = f"{what}, but are evaluated as {len(parts)} runs"
    warn(f"runs: {problem}: {remedy}")


def _remedy(runs: Sequence[Any], folders: Mapping[str, str]) -> str:
    """Say how to evaluate the files at these paths, or in each of several folders, as one run."""
    if folders:
        return f"pass {dict(folders)} to evaluate each folder as one"
    files = repr(os.fspath(runs[0])) if len(runs) == 1 and isinstance(runs[0], str | os.PathLike) else "[…]"
    return f"pass {{'name': {files}}} to evaluate them as one"


def _remedy_in_shell(folders: Mapping[str, str]) -> str:
    if folders:
        named = shlex.join(f"{name}={folder}" for name, folder in folders.items())
        return f"write {named} to evaluate each folder as one"
    return "use --name NAME to evaluate them as one"


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

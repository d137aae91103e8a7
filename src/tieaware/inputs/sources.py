"""The one door for judgments and runs: whatever they are given as.

Each form of a run is a source, which has a ``name``, its ``parts()`` one after another, and can be had ``whole()``. To
take another form, write its class and name it in `_sources`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any, BinaryIO, Protocol, TypeAlias

from tieaware.checks.arguments import shown, unexpected
from tieaware.inputs.files import files_at, label_of, name_of
from tieaware.inputs.frames import frame_of, is_frame
from tieaware.inputs.qrels import Qrels
from tieaware.inputs.run import Run
from tieaware.inputs.run_dict import RunDict
from tieaware.inputs.run_file import RunFile
from tieaware.inputs.run_frame import RunFrame
from tieaware.inputs.table_files import table_file
from tieaware.inputs.trec import read_qrels

__all__ = ["QrelsLike", "RunLike", "RunSource", "as_qrels", "as_sources", "over_parts", "sources_at"]


class RunSource(Protocol):
    """A run, whatever it was given as."""

    @property
    def name(self) -> str:
        """What results call it, if nothing else is said."""

    def parts(self) -> Iterator[Run | RunDict]:
        """Yield the run in parts, each of whole queries, which `tieaware.inputs.match` joins with judgments."""

    def whole(self) -> Run:
        """Return the run as columns."""


class Stream(Protocol):
    """A table with the Arrow PyCapsule interface, as most libraries of data frames give it."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return a capsule with a stream of batches."""


# Also pandas' frames without pyarrow, and polars' lazy ones.
RunLike: TypeAlias = RunSource | str | os.PathLike[str] | BinaryIO | Mapping[str, Mapping[str, float]] | Stream
JudgedLike: TypeAlias = Mapping[str, float] | Set[str] | list[str] | tuple[str, ...]
QrelsLike: TypeAlias = Qrels | str | os.PathLike[str] | BinaryIO | Mapping[str, JudgedLike] | Stream


# isinstance finds a dict among these at once, and asks an abstract class a third of a microsecond.
_MAPPINGS = (dict, Mapping)
_SOURCES = (RunDict, Run, RunFile, RunFrame)


def as_qrels(qrels: Any) -> Qrels:
    """Return judgments, whatever they were given as."""
    if isinstance(qrels, Qrels):
        return qrels
    if isinstance(qrels, _MAPPINGS):
        return Qrels.from_dict(qrels)
    if isinstance(qrels, Run | RunFile):
        raise unexpected("qrels", "judgments", f"a {type(qrels).__name__}")
    if not is_frame(qrels):
        check_readable("qrels", "judgments: a path, a binary file, {query: {document: label}} or a table", qrels)
    return read_qrels(qrels)


def as_sources(runs: Any, least: int = 1) -> dict[str, RunSource]:
    """Return runs by name, at least so many: of one, a sequence, or {name: run}."""
    if isinstance(runs, _MAPPINGS):
        if _is_run(runs):
            run = RunDict(runs)
            return {run.name: run}
        for name in runs:
            if not isinstance(name, str):
                raise unexpected("runs", "names that are strings", shown(name))
        named = [(name, _source(run, name)) for name, run in runs.items()]
    else:
        several = runs if isinstance(runs, Sequence) and not isinstance(runs, str | bytes) else [runs]
        named = _named([source for run in several for source in _sources(run)])
    if len(named) < least:
        raise unexpected("runs", "at least one", "none")
    by_name: dict[str, RunSource] = {}
    for name, source in named:
        if name in by_name:
            raise unexpected("runs", "different names, as in {name: run}", f"two that are named {name!r}")
        by_name[name] = source
    return by_name


def check_readable(where: str, wanted: str, value: Any) -> None:
    """Raise InputError for what is neither a path nor a file; of which kind a file is, is seen when it is read."""
    if not isinstance(value, str | os.PathLike) and not hasattr(value, "read"):
        raise unexpected(where, wanted, shown(value))


def over_parts(source: RunSource, work: Callable[[Run | RunDict], None], threads: int) -> None:
    """Call `work` with each part of a run, in as many threads."""
    if isinstance(source, RunFile | RunFrame) and source.over_pieces(work, threads):
        return
    for part in source.parts():
        work(part)


def _sources(run: Any, name: str = "run") -> Sequence[RunSource]:
    """Find out what a run was given as; or several, of which the messages have this name."""
    if isinstance(run, _SOURCES):
        return [run]
    if isinstance(run, _MAPPINGS):
        return [RunDict(run)]
    if isinstance(run, Qrels):
        raise unexpected("runs", "a run", "Qrels")
    if is_frame(run):
        return RunFrame.all_of(frame_of(run, name), name)
    check_readable("runs", "a run: a path, a binary file, {query: {document: score}} or a table", run)
    return sources_at(run)


def sources_at(path: Any, score_dtype: str = "float64", duplicates: str = "error") -> list[RunSource]:
    """Return the runs in a file, in all files of a folder, or in those that fit a pattern such as "runs/*.run"."""
    paths = files_at(os.fsdecode(path)) if isinstance(path, str | os.PathLike) else [path]
    sources: list[RunSource] = []
    for each in paths:
        frame = table_file(each)
        if frame is None:
            sources.append(RunFile(each, score_dtype, duplicates))
        else:
            label = label_of(each)
            sources += RunFrame.all_of(frame, label, name_of(label), score_dtype, duplicates, each)
    return sources


def _source(run: Any, name: str) -> RunSource:
    """Find out what the run of this name was given as."""
    found = _sources(run, name)
    if len(found) > 1:
        raise unexpected(f"runs[{shown(name)}]", "one run", f"{len(found)}: {', '.join(each.name for each in found)}")
    return found[0]


def _is_run(mapping: Mapping[Any, Any]) -> bool:
    """Tell {query: {document: score}} from {name: run}."""
    for value in mapping.values():
        if not isinstance(value, _MAPPINGS):
            return False
        for inner in value.values():
            return type(inner) is float or not isinstance(inner, _MAPPINGS)
    return True


def _named(sources: list[RunSource]) -> list[tuple[str, RunSource]]:
    names = [source.name for source in sources]
    if len(set(names)) < len(names):
        # The same file name in several folders: the paths tell them apart.
        names = [_path_of(source) for source in sources]
    return list(zip(names, sources, strict=True))


def _path_of(source: RunSource) -> str:
    if isinstance(source, RunFile):
        return label_of(source.path)
    if isinstance(source, RunFrame) and source.name == name_of(source.rows.label):
        return source.rows.label
    return source.name

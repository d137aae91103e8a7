"""Checkpoints: one file with the Results of each finished run, so that an interrupted evaluation can be resumed."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tieaware._version import __version__
from tieaware.checks.arguments import output_folder, shown, unexpected
from tieaware.engine.views import View
from tieaware.errors import InputError
from tieaware.inputs import Qrels, RunSource
from tieaware.inputs.files.paths import reason, source_name
from tieaware.lists.subtopics import SubtopicGrades
from tieaware.results import storage
from tieaware.results._results import Results

# Characters that some systems do not allow in file names, and a dot at the start, which would hide the file. Where they
# occur in the name of a run, the name of its checkpoint has %XX instead.
_UNSAFE = re.compile(r"[/\\:%\x00-\x1f]|^\.")
_REMEDY = "choose another folder, or remove this file"
# How a message names the difference between a checkpoint and the evaluation, for each option that the file records.
_OPTIONS = {
    "ties": "another tie rule", "spread": "another setting of the spread",
    "chance": "another setting of chance",
    "queries": "another choice of queries", "precision": "another score precision",
    "version": "another version of tieaware",
    "judgments": "other judgments", "score_dtype": "another type of scores",
    "duplicates": "another rule for duplicate documents", "columns": "other columns of the run",
    "undefined": "another value of undefined", "order": "another order of documents",
    "exclude": "other excluded documents",
}  # fmt: skip


class Checkpoints:
    """The checkpoints of one evaluation. Several processes may write to a folder at the same time.

    A file records the judgments, the measures, the options, and the sizes and modification times of the run's files.
    If only the run's files have changed, the checkpoint is out of date, and is replaced. If it lacks measures, `extend`
    adds them. If anything else differs, the checkpoint belongs to another evaluation: InputError is raised, and the
    checkpoint is kept.

    The folder is created if it does not exist. InputError is raised if that fails, or if a run is not in a file that
    can be read again. The options are as for `tieaware.evaluate`.
    """

    def __init__(
        self, folder: str | os.PathLike[str], sources: Mapping[str, RunSource], qrels: Qrels, view: View, queries: str,
        undefined: float = 0.0, order: str = "score", excluded: Qrels | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(folder, str | os.PathLike):
            raise unexpected("out", "the path of a folder", shown(folder))
        output_folder("out", folder)
        self._options = {
            "ties": view.rule.name, "spread": view.spread, "chance": view.chance, "queries": queries,
            "precision": None if view.precision is None else str(view.precision), "version": __version__,
            "judgments": _digest(qrels), "undefined": str(undefined),
            "order": order, "exclude": None if excluded is None else _digest(excluded),
        }  # fmt: skip
        self._runs = {name: _run_key(name, source) for name, source in sources.items()}
        self._folder = os.fsdecode(folder)
        try:
            os.makedirs(folder, exist_ok=True)
        except (OSError, ValueError) as error:
            raise InputError(source_name(folder), f"the folder cannot be created: {reason(error)}") from None

    def _path(self, run: str) -> str:
        name = _UNSAFE.sub(lambda found: f"%{ord(found[0]):02X}", run)
        return os.path.join(self._folder, f"{name}.npz")

    def results(self, run: str) -> Results | None:
        """Load the results of a run; their measures may differ from those of this evaluation.

        Returns None if the run has no checkpoint, or its checkpoint is out of date. InputError is raised if the file is
        damaged, or belongs to another evaluation.
        """
        path = self._path(run)
        if not os.path.lexists(path):
            return None
        fields, found = storage.read_with_key(path)
        if found is None:
            raise InputError(path, f"the file is not a checkpoint; {_REMEDY}")
        for name, value in {**self._options, **self._runs[run]["read"]}.items():
            own = found.get(name)
            if own != value:
                values = "" if name in ("judgments", "exclude") else f" ({own} instead of {value})"
                raise InputError(path, f"the checkpoint was made with {_OPTIONS[name]}{values}; {_REMEDY}")
        return Results(**fields) if found["state"] == self._runs[run]["state"] else None

    def extend(self, run: str, stored: Results, more: Results) -> Results:
        """Add measures to the checkpoint of a run, and return the results with all measures."""
        added = more.cubes()
        cubes: dict[str, Any] = {name: np.concatenate([c, added[name]], axis=2) for name, c in stored.cubes().items()}
        measures, names = stored.measures + more.measures, stored.names + more.names
        together = replace(stored, **cubes, measures=measures, names=names)
        self.add(run, together)
        return together

    def add(self, run: str, results: Results) -> None:
        """Write the checkpoint of a finished run."""
        key = self._runs[run]
        storage.write(vars(results), self._path(run), {**self._options, **key["read"], "state": key["state"]})


def check_judgments(path: str, key: Mapping[str, Any] | None, qrels: Qrels) -> None:
    """Raise InputError if the key of a file says that its values were computed with other judgments."""
    if key is not None and "gate" in key:
        raise InputError(path, "is a base that tieaware gate saved, which only gate reads")
    known = None if key is None else key.get("judgments")
    if known is not None and known != _digest(qrels):
        raise InputError(path, f"the values were stored with other judgments than {qrels.name}")


def _run_key(name: str, source: RunSource) -> dict[str, Any]:
    """Return the options for reading a run, and the state of its files, such as the size and the modification time."""
    state = source.state
    if state is None:
        problem = "checkpoints need a run in a file, because they record its size and time"
        raise InputError(f"runs: {name}", problem, argument="runs")
    reading = source.reading
    # As a file of JSON has them.
    options = {"score_dtype": reading.score_dtype, "duplicates": reading.duplicates, "columns": list(reading.columns)}
    return {"read": options, "state": list(state)}


def _digest(qrels: Qrels) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for identifiers in (qrels.queries, qrels.documents):
        digest.update(identifiers.kind.encode())
        digest.update(identifiers.offsets.data)
        digest.update(identifiers.data.data)
    digest.update(qrels.offsets.data)
    digest.update(qrels.labels.data)
    judged = qrels.judgments
    if judged.subtopics is not None and isinstance(judged.grades, SubtopicGrades):
        weights = judged.subtopics.weights
        for array in (judged.labels, judged.grades.subtopics, judged.subtopics.offsets, weights):
            if array is not None:
                digest.update(array.data)
    return digest.hexdigest()

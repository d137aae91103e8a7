"""The runs that are finished, in a folder: a file of Results for each, to take up again what was stopped."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from typing import Any

from tieaware._version import __version__
from tieaware.checks.arguments import shown, unexpected
from tieaware.engine.views import View
from tieaware.errors import InputError
from tieaware.inputs import Qrels, RunSource
from tieaware.inputs.files import label_of, reason, state_of
from tieaware.results import storage
from tieaware.results._results import Results

__all__ = ["Checkpoints"]

# What is no part of a name in every folder, or hides a file; and what stands for it.
_UNSAFE = re.compile(r"[/%\x00-\x1f]|^\.")
_REMEDY = "take another folder, or remove the file"


class Checkpoints:
    """The finished runs of one evaluation. Several processes may add to a folder at a time.

    A file says what it is of: the judgments, the measures, how ties were resolved, and the size and the time of the
    file of the run. Where the latter has changed, the run is not finished; where anything else differs, somebody wants
    to keep that file.

    Parameters
    ----------
    folder : str or os.PathLike
        Is made if it is not there.
    sources : {str: RunSource}
        The runs by name, all in files.
    qrels, names, view, queries
        What they are evaluated by, the measures under the names that were asked for.

    Raises
    ------
    InputError
        The folder cannot be made, or a run is in no file that is there to be read again.
    """

    def __init__(
        self, folder: str | os.PathLike[str], sources: Mapping[str, RunSource], qrels: Qrels, names: tuple[str, ...],
        view: View, queries: str,
    ) -> None:  # fmt: skip
        if not isinstance(folder, str | os.PathLike):
            raise unexpected("out", "the path of a folder", shown(folder))
        self._key = {
            "measures": ", ".join(names), "ties": view.rule.name, "spread": view.spread, "queries": queries,
            "precision": None if view.precision is None else str(view.precision), "version": __version__,
            "judgments": _digest(qrels),
        }  # fmt: skip
        self._runs = {name: _run_key(name, source) for name, source in sources.items()}
        self._folder = os.fspath(folder)
        try:
            os.makedirs(folder, exist_ok=True)
        except (OSError, ValueError) as error:
            raise InputError(label_of(folder), f"the folder cannot be made: {reason(error)}") from None

    def _path(self, run: str) -> str:
        name = _UNSAFE.sub(lambda found: f"%{ord(found[0]):02X}", run)
        return os.path.join(self._folder, f"{name}.npz")

    def results(self, run: str) -> Results | None:
        """Return what a run came to; None if it is not finished.

        Raises
        ------
        InputError
            Its file is damaged, or of another evaluation.
        """
        path = self._path(run)
        if not os.path.lexists(path):
            return None
        fields, found = storage.read_with_key(path)
        if found is None:
            raise unexpected(path, "a file that out= wrote", f"results of another origin; {_REMEDY}")
        for name, value in {**self._key, **self._runs[run]["read"]}.items():
            if name == "judgments" and found.get(name) != value:
                raise unexpected(path, "results by these judgments", f"those by others; {_REMEDY}")
            if found.get(name) != value:
                others = f"those of {name}={found.get(name)!r}"
                raise unexpected(path, f"results of {name}={value!r}", f"{others}; {_REMEDY}")
        return Results(**fields) if found["state"] == self._runs[run]["state"] else None

    def add(self, run: str, results: Results) -> None:
        """Keep what a run came to."""
        of_run = self._runs[run]
        storage.write(results, self._path(run), {**self._key, **of_run["read"], "state": of_run["state"]})


def _run_key(name: str, source: RunSource) -> dict[str, Any]:
    """Return how a run is read, and by what it is known again."""
    path = getattr(source, "path", None)
    state = None if path is None else state_of(path)
    if state is None:
        raise unexpected(f"runs: {name}", "a file for out=, which is known again by its size and time", "none")
    return {"read": {name: getattr(source, name) for name in ("score_dtype", "duplicates")}, "state": list(state)}


def _digest(qrels: Qrels) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for column in (qrels.queries, qrels.documents):
        digest.update(column.kind.encode())
        digest.update(column.offsets.data)
        digest.update(column.data.data)
    digest.update(qrels.offsets.data)
    digest.update(qrels.labels.data)
    return digest.hexdigest()

"""The widths of groups of near scores, collected by the experiment on score precision while it evaluates the runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np

from tieaware.checks.arrays import Scores
from tieaware.inputs import Run
from tieaware.output.tables import significant
from tieaware.precision import Coarsening, Gap


class Chain(NamedTuple):
    """The widest group of near scores: its highest minus its lowest score, and where it is."""

    width: float
    run: str
    query: str | int


class Chains:
    """The widest group of near scores for each precision that is a `Gap`."""

    def __init__(self, precisions: Sequence[Coarsening]) -> None:
        self._gaps = {p: each for p, each in enumerate(precisions) if isinstance(each, Gap)}
        self._count = len(precisions)
        self._found: dict[tuple[int, str], Chain] = {}

    def __bool__(self) -> bool:
        return bool(self._gaps)

    def add(self, name: str, chunk: Run) -> None:
        """Add a chunk of a run. Groups of a query that is not complete are not wider than those of the whole query."""
        scores, offsets = cast(Scores, np.asarray(chunk.scores)), np.asarray(chunk.offsets)
        for p, gap in self._gaps.items():
            width, place = gap.widest(scores, offsets)
            known = self._found.get((p, name))
            if len(scores) and (known is None or width > known.width):
                self._found[p, name] = Chain(width, name, chunk.queries.to_list()[place])

    def widest(self, runs: Sequence[str]) -> tuple[Chain | None, ...]:
        """Return the widest group for each precision, of the first run that has it; None if there is none.

        The order of the runs decides, because threads may add the runs in any order.
        """
        found = [[self._found[p, run] for run in runs if (p, run) in self._found] for p in range(self._count)]
        return tuple(max(chains, key=lambda chain: chain.width, default=None) for chains in found)


def note_of(precisions: Sequence[Coarsening], widest: Sequence[Chain | None]) -> list[str]:
    """Return a note on the widest groups; no note if there are none."""
    found = [
        f"{precision}: {significant(chain.width)} ({chain.run}, {chain.query})"
        for precision, chain in zip(precisions, widest, strict=False)
        if chain is not None
    ]
    if not found:
        return []
    explained = (
        "Groups of near scores chain, so they can be wider than the tolerance. The widest, highest minus lowest score"
    )
    return [f"{explained} (run, query): {'; '.join(found)}."]

"""A run that is still in a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from tieaware.inputs.columns import PART, Piece, Rows, exact_scores, run_columns, runs_of
from tieaware.inputs.files import Path
from tieaware.inputs.frames import Frame
from tieaware.inputs.run import Dropped, Run, made_run, run_of, warn_of
from tieaware.inputs.spilled import BLOCK, Spilled
from tieaware.lists.query_lists import Lists, NotContiguous
from tieaware.runtime.threads import over_items

__all__ = ["RunFrame"]


@dataclass(frozen=True, slots=True)
class RunFrame:
    """A run in a table, to be read when it is evaluated; scores are rounded if they are to be float32."""

    rows: Rows
    name: str
    score_dtype: str = "float64"
    duplicates: str = "error"
    # Of a table in a file.
    path: Path | None = None

    @classmethod
    def all_of(
        cls, frame: Frame, label: str, name: str | None = None, score_dtype: str = "float64", duplicates: str = "error",
        path: Path | None = None,
    ) -> list[RunFrame]:  # fmt: skip
        """Return the runs of a table: as many as a column names, if it has one; a single one may have a name."""
        rows = Rows(frame, run_columns(frame, label, None, None, None), label)
        runs = runs_of(rows, None)
        if len(runs) == 1 and name is not None:
            runs = dict.fromkeys([name], *runs.values())
        return [cls(each, found or label, score_dtype, duplicates, path) for found, each in runs.items()]

    def parts(self) -> Iterator[Run]:
        """Read the run in parts, each of whole queries.

        Where a query comes back after its part was read, all of the run follows once more, in other parts.
        """
        total = Dropped()
        try:
            for piece in self.rows.pieces(PART):
                part, dropped = self._part(piece)
                total += dropped
                yield part
        except NotContiguous:
            yield from self._spilled()
        else:
            warn_of(total, self.rows.label)

    def over_pieces(self, work: Callable[[Run], None], threads: int) -> bool:
        """Call `work` with each part of the run, in as many threads."""

        def one(piece: Piece) -> Dropped:
            part, dropped = self._part(piece)
            work(part)
            return dropped

        try:
            dropped = over_items(one, self.rows.pieces(PART), threads)
        except NotContiguous:
            for part in self._spilled():
                work(part)
        else:
            warn_of(sum(dropped, Dropped()), self.rows.label)
        return True

    def _spilled(self) -> Iterator[Run]:
        """Read the run in parts by way of a temporary file."""
        with Spilled() as spilled:
            for piece in self.rows.blocks(BLOCK):
                spilled.add(*self.rows.numbered_lists(piece, exact_scores))

            def made(lists: Lists) -> tuple[Run, Dropped]:
                place = partial(self.rows.where, 1)
                return made_run(lists, place, self.name, self.duplicates, self.score_dtype)

            yield from spilled.runs(made, lambda dropped: warn_of(dropped, self.rows.label))

    def whole(self) -> Run:
        """Read the run."""
        run, dropped = self._part(self.rows.whole())
        warn_of(dropped, self.rows.label)
        return run

    def _part(self, piece: Piece) -> tuple[Run, Dropped]:
        return run_of(self.rows, piece, self.name, self.duplicates, self.score_dtype)

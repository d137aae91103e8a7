"""How values were made, and one column of them."""

from __future__ import annotations

from typing import NamedTuple

from tieaware.checks.arrays import Values


class Provenance(NamedTuple):
    """What values were made by.

    Attributes
    ----------
    ties : str
        The tie rule.
    precision : str or None
        What the scores were coarsened to first, in the notation of `tieaware.precision`.
    queries : str
        Which queries count: "judged" or "both".
    version : str
        That of tieaware; several, with commas, where parts were put together.
    """

    ties: str
    precision: str | None
    queries: str
    version: str


class Column(NamedTuple):
    """One number for each run and query, and its summary for each run."""

    name: str
    values: Values  # [n_runs, n_queries]
    summary: Values  # [n_runs]
    is_count: bool
    summary_only: bool

    def shown(self, value: float, digits: int) -> str:
        """Return a value as text: a count as a whole number."""
        return f"{value:.0f}" if self.is_count else f"{value:.{digits}f}"

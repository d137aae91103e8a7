"""Targets that are expected to be missed, and a summary of how a session differs from these expectations."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks.ratios import Ratio

LIST = Path(__file__).with_name("expected_to_miss.toml")


def expected_to_miss(processor: str, path: Path = LIST) -> dict[str, str]:
    """Read the targets that are expected to be missed on a processor.

    Returns
    -------
    dict of str to str
        The reason for each `Ratio.name`.

    Raises
    ------
    ValueError
        If an entry of the file is no reason.
    """
    reasons = {}
    for title, rows in tomllib.loads(path.read_text(encoding="utf-8")).items():
        for name, reason in rows.items():
            if not isinstance(reason, str) or not reason:
                raise ValueError(f"{path.name}: {title}: {name}: no reason")
            if title == processor:
                reasons[name] = reason
    return reasons


def missed(ratios: Iterable[Ratio]) -> list[Ratio]:
    """Return the rows whose target is missed unexpectedly."""
    return [ratio for ratio in ratios if ratio.verdict == "missed"]


def summary(ratios: Sequence[Ratio], reasons: Mapping[str, str], complete: bool) -> list[str]:
    """Return lines about all rows whose result differs from the list of expected misses.

    If `complete`, all benchmarks were measured. Entries of the list that name no measured row are then reported too.
    """
    lines = []
    if met := [ratio for ratio in ratios if ratio.verdict == "met (expected to miss)"]:
        lines += [f"Met, although expected to be missed. If this lasts, delete it from {LIST.name}:", *_named(met)]
    unknown = [name for name in reasons if name not in {ratio.name for ratio in ratios}] if complete else []
    if unknown:
        lines += [f"In {LIST.name}, but no benchmark has these names:"]
        lines += [f"  {name}" for name in unknown]
    if rows := missed(ratios):
        lines += [f"Missed: {len(rows)} target{'s' * (len(rows) != 1)}. If the reason is known, add it to {LIST.name}:"]
        lines += _named(rows)
    return lines


def _named(ratios: Iterable[Ratio]) -> list[str]:
    return [f"  {ratio.name} is {ratio.ratio:.4g}, target at most {ratio.at_most:g}" for ratio in ratios]

"""Targets that are expected to be missed, and a summary of how a session differs from these expectations."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks.ratios import Ratio

LIST = Path(__file__).with_name("expected_to_miss.toml")
_NAMES = ("section", "workload", "of", "to")


def expected_to_miss(processor: str, path: Path = LIST) -> dict[tuple[str, ...], str]:
    """Read the targets that are expected to be missed on a processor.

    Returns
    -------
    dict of tuple of str to str
        The reason for each `Ratio.key`.

    Raises
    ------
    ValueError
        If an entry of the file is incomplete, has an unknown name, or repeats another one.
    """
    reasons: dict[tuple[str, ...], str] = {}
    for number, entry in enumerate(tomllib.loads(path.read_text(encoding="utf-8")).get("row", []), start=1):
        where = f"{path.name}: row {number}"
        required = {*_NAMES, "processors", "reason"}
        if missing := sorted(name for name in required if not entry.get(name)):
            raise ValueError(f"{where}: no {missing[0]}")
        if unknown := sorted(entry.keys() - required - {"column"}):
            raise ValueError(f"{where}: unknown name {unknown[0]!r}")
        if processor not in entry["processors"]:
            continue
        key = (*(entry[name] for name in _NAMES), entry.get("column", ""))
        if key in reasons:
            raise ValueError(f"{where}: an earlier row has the same names and processor")
        reasons[key] = entry["reason"]
    return reasons


def missed(ratios: Iterable[Ratio]) -> list[Ratio]:
    """Return the rows whose target is missed unexpectedly."""
    return [ratio for ratio in ratios if ratio.verdict == "missed"]


def summary(ratios: Sequence[Ratio], reasons: Mapping[tuple[str, ...], str], complete: bool) -> list[str]:
    """Return lines about all rows whose result differs from the list of expected misses.

    If `complete`, all benchmarks were measured. Entries of the list that name no measured row are then reported too.
    """
    lines = []
    if met := [ratio for ratio in ratios if ratio.verdict == "met (expected to miss)"]:
        lines += [f"Met, although expected to be missed. If this lasts, delete it from {LIST.name}:", *_named(met)]
    unknown = [key for key in reasons if key not in {ratio.key for ratio in ratios}] if complete else []
    if unknown:
        lines += [f"In {LIST.name}, but no benchmark has these names:"]
        lines += [f"  {'; '.join(name for name in key if name)}" for key in unknown]
    if rows := missed(ratios):
        lines += [f"Missed: {len(rows)} target{'s' * (len(rows) != 1)}. If the reason is known, add it to {LIST.name}:"]
        lines += _named(rows)
    return lines


def _named(ratios: Iterable[Ratio]) -> list[str]:
    return [f"  {ratio.name} is {ratio.ratio:.4g}, target at most {ratio.at_most:g}" for ratio in ratios]

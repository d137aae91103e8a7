"""Ratios between two timings in one run, and the table that they make."""

from __future__ import annotations

import json
import locale
import math
import os
import platform
import re
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.processes import Process

PEERS = (
    "pytrec_eval-terrier", "ranx", "ir_measures", "scikit-learn", "tie-aware-retrieval-metrics", "lightgbm", "bm25s",
)  # fmt: skip

_BLOCK = re.compile(r"(<!-- table: begin -->\n).*?(<!-- table: end -->)", re.DOTALL)


@dataclass(frozen=True)
class Ratio:
    """One row: the time of `of` divided by that of `to`, the median of their turns, and the same of their least times.

    `at_most` is the target, None for a row of orientation. `seconds` are the least times of both, for the JSON file
    only: a bare time says nothing about another machine. Ratios with a `column` form a table of their own.
    """

    section: str
    workload: str
    of: str
    to: str
    ratio: float
    of_least: float
    at_most: float | None = None
    rounds: int = 1
    seconds: tuple[float, float] | None = None
    column: str = ""

    @property
    def verdict(self) -> str:
        """Whether the target is met; nothing where there is none."""
        if self.at_most is None:
            return ""
        return "met" if self.ratio <= self.at_most else "missed"


def seconds(work: Callable[[], Any], calls: int = 1) -> float:
    """Time so many calls, and return the time of one. A process knows its own time."""
    start = perf_counter()
    for _ in range(calls):
        result = work()
    elapsed = (perf_counter() - start) / calls
    return result.seconds if isinstance(result, Process) else elapsed


def rounds_within(budget: float, pair: float) -> int:
    """How many times both are measured, when once takes `pair` seconds."""
    return max(3, min(200, int(budget / pair)))


def summarise(of: Sequence[float], to: Sequence[float]) -> tuple[float, float]:
    """Return the median of the ratios of each turn, and the ratio of the least times.

    A processor that is faster for a second, or shared with others, meets both times of a turn; the least time of one
    may be from such a second, and that of the other not.
    """
    return statistics.median(a / b for a, b in zip(of, to, strict=True)), min(of) / min(to)


def environment() -> dict[str, Any]:
    """What the ratios were measured on."""
    versions = {"Python": platform.python_version()}
    for package in ("numpy", "tieaware", *PEERS):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed"
    return {
        "versions": versions,
        "machine": {
            "system": f"{platform.system()} {platform.machine()}",
            "processor": _processor(),
            "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
            "locale": locale.setlocale(locale.LC_CTYPE),
        },
    }


def _processor() -> str:
    """Name the processor, with the vector instructions that decide how fast NumPy sorts."""
    try:
        lines = dict(
            re.split(r"\s*:\s*", line, maxsplit=1)
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if ":" in line
        )
    except OSError:
        return platform.processor() or "unknown"
    flags = lines.get("flags", "").split()
    vectors = [name for flag, name in (("avx2", "AVX2"), ("avx512f", "AVX-512")) if flag in flags]
    return ", ".join([lines.get("model name", platform.machine()), *vectors])


def rounded(x: float) -> str:
    """Three significant digits, without an exponent."""
    decimals = max(0, 2 - math.floor(math.log10(x))) if x > 0 else 0
    return f"{x:,.{decimals}f}"


HEADER = ("workload", "what ÷ what", "ratio", "of least times", "at most", "")


def tables(ratios: Sequence[Ratio]) -> list[list[tuple[str, ...]]]:
    """Lay the ratios out: one table, and then one for each section that has columns. The first row is the header.

    A section begins with a row that holds its title alone.
    """
    # In the order in which the sections began, however the benchmarks were ordered.
    sections = {ratio.section: [other for other in ratios if other.section == ratio.section] for ratio in ratios}
    main: list[tuple[str, ...]] = [HEADER]
    others = []
    for title, rows in sections.items():
        if rows[0].column:
            others.append(_crossed(title, rows))
            continue
        main.append((title,))
        for ratio in rows:
            target = "" if ratio.at_most is None else f"{ratio.at_most:g}"
            numbers = rounded(ratio.ratio), rounded(ratio.of_least), target
            main.append((ratio.workload, f"{ratio.of} ÷ {ratio.to}", *numbers, ratio.verdict))
    return [table for table in (main, *others) if len(table) > 1]


def _crossed(title: str, ratios: Sequence[Ratio]) -> list[tuple[str, ...]]:
    columns = dict.fromkeys(ratio.column for ratio in ratios)
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for ratio in ratios:
        row = rows.setdefault((ratio.workload, f"{ratio.of} ÷ {ratio.to}"), {})
        row[ratio.column] = rounded(ratio.ratio)
    body = [(*names, *(row.get(column, "") for column in columns)) for names, row in rows.items()]
    return [(title, "what ÷ what", *columns), *body]


def markdown(ratios: Sequence[Ratio], surroundings: dict[str, Any]) -> str:
    """Write the tables in Markdown, with the versions and the machine above them."""
    lines = [_described(surroundings)]
    for header, *rows in tables(ratios):
        numbers = _numbers(header)
        lines += ["", _row(header), _row(["--:" if i in numbers else "---" for i in range(len(header))])]
        for row in rows:
            if len(row) == 1:
                row = (f"**{row[0]}**", *[""] * (len(header) - 1))
            lines.append(_row([f"**{cell}**" if cell == "missed" else cell for cell in row]))
    return "\n".join(lines) + "\n"


def text(ratios: Sequence[Ratio], surroundings: dict[str, Any]) -> str:
    """Write the tables for a terminal."""
    lines = [_described(surroundings)]
    for table in tables(ratios):
        numbers = _numbers(table[0])
        widths = [max(len(row[i]) for row in table if len(row) > 1) for i in range(len(table[0]))]
        lines.append("")
        for row in table:
            if len(row) == 1:
                lines += ["", row[0]]
                continue
            aligned = [
                cell.rjust(width) if i in numbers else cell.ljust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            lines.append("  ".join(aligned).rstrip())
    return "\n".join(lines)


def _numbers(header: Sequence[str]) -> range:
    """Which columns hold numbers."""
    return range(2, 5) if header == HEADER else range(2, len(header))


def _row(row: Sequence[str]) -> str:
    return f"| {' | '.join(row)} |"


def _described(surroundings: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in surroundings["versions"].items())
    machine = surroundings["machine"]
    return f"{versions}; {machine['processor']}, {machine['cores']} cores, {machine['system']}."


def save(ratios: Sequence[Ratio], surroundings: dict[str, Any], folder: Path) -> None:
    """Write performance.json, and replace the table between the marks in performance.md."""
    rows = [{**asdict(ratio), "verdict": ratio.verdict or None} for ratio in ratios]
    document = json.dumps({**surroundings, "ratios": rows}, indent=1, ensure_ascii=False)
    folder.joinpath("performance.json").write_text(document + "\n", encoding="utf-8")
    page = folder / "performance.md"
    before = page.read_text(encoding="utf-8")
    after, replaced = _BLOCK.subn(lambda block: block[1] + markdown(ratios, surroundings) + block[2], before)
    if replaced != 1:
        raise ValueError(f"{page}: found {replaced} pairs of marks for the table, expected one")
    page.write_text(after, encoding="utf-8")

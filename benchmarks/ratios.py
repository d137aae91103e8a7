"""Ratios of two times measured in the same session, and the description of the machine."""

from __future__ import annotations

import locale
import os
import platform
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.processes import Process
from tieaware.runtime.timing import ratio, ratio_of_least

PEERS = (
    "pytrec_eval-terrier", "ranx", "ir_measures", "scikit-learn", "tie-aware-retrieval-metrics", "lightgbm", "bm25s",
)  # fmt: skip


@dataclass(frozen=True)
class Ratio:
    """One row of the table: the time of `of` divided by the time of `to`.

    Attributes
    ----------
    section, workload, of, to, column : str
        The names of the row. Rows of one section that differ only in their column become one row of a separate table.
    ratio : float
        The median of the ratios of all turns. The target is met if it is at most `at_most`.
    of_least : float
        The least time of `of` divided by the least time of `to`.
    at_most : float or None
        The target, or None if the row has none.
    seconds : tuple of float
        The least times of `of` and of `to`. Only the JSON file contains them, because times of one machine say
        nothing about another.
    expected_to_miss : str
        The reason why the target is expected to be missed on this processor, or "".
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
    expected_to_miss: str = ""

    @property
    def name(self) -> str:
        """The names of the row in one line."""
        where = "; ".join(filter(None, (self.section, self.workload, self.column)))
        return f"{self.of} ÷ {self.to} ({where})"

    @property
    def met(self) -> bool:
        """True if there is no target, or it is met."""
        return self.at_most is None or self.ratio <= self.at_most

    @property
    def verdict(self) -> str:
        """"met" or "missed", with a remark if the target was expected to be missed; "" if there is no target."""
        if self.at_most is None:
            return ""
        if not self.expected_to_miss:
            return "met" if self.met else "missed"
        return "met (expected to miss)" if self.met else "missed (expected)"


def seconds(work: Callable[[], Any], calls: int = 1) -> float:
    """Return the mean seconds per call. If `work` returns a Process, return the time that the process took."""
    start = perf_counter()
    for _ in range(calls):
        result = work()
    elapsed = (perf_counter() - start) / calls
    return result.seconds if isinstance(result, Process) else elapsed


def rounds_within(budget: float, pair: float) -> int:
    """Return how many turns of `pair` seconds fit into a budget of seconds, but at least 3 and at most 200."""
    return max(3, min(200, int(budget / pair)))


def summarise(of: Sequence[float], to: Sequence[float]) -> tuple[float, float]:
    """Return the median of the ratios of all turns, and the ratio of the least times."""
    return ratio(of, to), ratio_of_least(of, to)


def environment() -> dict[str, Any]:
    """Return the versions of the packages, and the machine."""
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
    """Name the processor, its family, and its vector instructions, which decide how fast NumPy sorts."""
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
    # AMD calls processors of different families by one name.
    family = [f"family {lines['cpu family']}"] if lines.get("vendor_id") == "AuthenticAMD" else []
    return ", ".join([lines.get("model name", platform.machine()), *family, *vectors])

"""The `compare` fixture, which makes a row of the table, and the table at the end of the run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.ratios import Ratio, environment, rounds_within, save, seconds, summarise, text

DOCS = Path(__file__).parent.parent / "docs"
_ratios = pytest.StashKey[list[Ratio]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tieaware")
    group.addoption("--small", action="store_true", help="tiny workloads, to see that the benchmarks run")
    group.addoption("--record", action="store_true", help="write docs/performance.json and .md")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_ratios] = []


@pytest.fixture(scope="session")
def small(request: pytest.FixtureRequest) -> bool:
    """Whether the workloads are to be tiny."""
    return bool(request.config.getoption("--small"))


@pytest.fixture
def report(request: pytest.FixtureRequest) -> Callable[[Ratio], None]:
    """Add a row to the table."""
    return request.config.stash[_ratios].append


@pytest.fixture
def compare(benchmark: Any, report: Callable[[Ratio], None], small: bool) -> Callable[..., Ratio]:
    """Measure a contender against a baseline, and report their ratio.

    `check` runs first, and asserts that what is going to be timed gives the right result. Then baseline and contender
    take turns, so that whatever else the machine does meets both. With `inverse` the row is baseline ÷ contender; rows
    that differ in their `column` alone become one row of a table of its own.
    """

    def compare(
        section: str,
        workload: str,
        *,
        check: Callable[[], None],
        contender: Callable[[], Any],
        baseline: Callable[[], Any],
        to: str,
        of: str = "tieaware",
        at_most: float | None = None,
        calls: int = 1,
        budget: float = 1.5,
        inverse: bool = False,
        column: str = "",
    ) -> Ratio:
        check()
        pair = calls * (seconds(contender) + seconds(baseline))
        rounds = 3 if small else rounds_within(budget, pair)
        mine: list[float] = []
        theirs: list[float] = []
        # What is called `setup` runs before every round, outside the time that the plugin records.
        benchmark.pedantic(
            lambda: mine.append(seconds(contender, calls)),
            setup=lambda: theirs.append(seconds(baseline, calls)),
            rounds=rounds,
        )
        first, second = (theirs, mine) if inverse else (mine, theirs)
        names = (to, of) if inverse else (of, to)
        # No verdict on tiny workloads, for which the targets were not meant.
        ratio = Ratio(
            section, workload, *names, *summarise(first, second),
            at_most=None if small else at_most, rounds=rounds, seconds=(min(first), min(second)), column=column,
        )  # fmt: skip
        benchmark.group = section
        benchmark.extra_info.update(
            of=ratio.of, to=ratio.to, ratio=ratio.ratio, ratio_of_least_times=ratio.of_least,
            at_most=at_most, verdict=ratio.verdict, calls=calls,
        )  # fmt: skip
        report(ratio)
        return ratio

    return compare


def pytest_terminal_summary(terminalreporter: Any, exitstatus: int, config: pytest.Config) -> None:
    ratios = config.stash[_ratios]
    if not ratios:
        return
    surroundings = environment()
    terminalreporter.section("ratios")
    terminalreporter.write_line(text(ratios, surroundings))
    if config.getoption("--record"):
        if exitstatus or config.getoption("--small"):
            terminalreporter.write_line("Not recorded: the run was small, or failed.")
            return
        save(ratios, surroundings, DOCS)
        terminalreporter.write_line(f"Recorded in {DOCS / 'performance.json'} and performance.md.")

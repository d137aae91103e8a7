"""The fixture `compare`, which measures a row of the table. The session ends with the table and missed targets."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any

import pytest

from benchmarks import tables, targets
from benchmarks.ratios import Ratio, environment, rounds_within, seconds, summarise

_ratios = pytest.StashKey[list[Ratio]]()
_reasons = pytest.StashKey[dict[str, str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tieaware")
    group.addoption("--small", action="store_true", help="run tiny workloads without targets, to check that all run")
    group.addoption("--record", action="store_true", help="write benchmarks/records and docs/performance.md")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--record") and (config.getoption("--small") or config.getoption("keyword")):
        raise pytest.UsageError("--record requires all benchmarks: use it without --small and -k")
    config.stash[_ratios] = []
    config.stash[_reasons] = targets.expected_to_miss(environment()["machine"]["processor"])


@pytest.fixture(scope="session")
def small(request: pytest.FixtureRequest) -> bool:
    """True if workloads should be tiny."""
    return bool(request.config.getoption("--small"))


@pytest.fixture
def report(request: pytest.FixtureRequest) -> Callable[[Ratio], None]:
    """Return a function that adds a row to the table."""
    stash = request.config.stash

    def report(ratio: Ratio) -> None:
        stash[_ratios].append(replace(ratio, expected_to_miss=stash[_reasons].get(ratio.name, "")))

    return report


@pytest.fixture
def compare(benchmark: Any, report: Callable[[Ratio], None], small: bool) -> Callable[..., Ratio]:
    """Return a function that measures a contender against a baseline, and reports their ratio.

    `check` runs first and asserts that the calls to be timed return the right result. Then baseline and contender take
    turns, so that other load of the machine affects both. With `inverse`, the ratio is baseline ÷ contender. Rows that
    differ only in their `column` become one row of a separate table.
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
        # pytest-benchmark calls `setup` before every round, outside the time that it records.
        benchmark.pedantic(
            lambda: mine.append(seconds(contender, calls)),
            setup=lambda: theirs.append(seconds(baseline, calls)),
            rounds=rounds,
        )
        first, second = (theirs, mine) if inverse else (mine, theirs)
        names = (to, of) if inverse else (of, to)
        # Small workloads have no targets.
        ratio = Ratio(
            section, workload, *names, *summarise(first, second),
            at_most=None if small else at_most, rounds=rounds, seconds=(min(first), min(second)), column=column,
        )  # fmt: skip
        benchmark.group = section
        benchmark.extra_info.update(
            of=ratio.of, to=ratio.to, ratio=ratio.ratio, ratio_of_least_times=ratio.of_least,
            at_most=at_most, calls=calls,
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
    terminalreporter.write_line(tables.text(ratios, surroundings))
    if config.getoption("--record"):
        # The exit status does not yet include missed targets. Results are recorded if targets are missed, but not if a
        # benchmark returned a wrong result.
        if exitstatus:
            terminalreporter.write_line("Not recorded: a benchmark failed.")
            return
        record = tables.save(ratios, surroundings, tables.RECORDS, tables.PAGE)
        terminalreporter.write_line(f"Recorded in {record} and {tables.PAGE.name}.")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, None, None]:
    """Print the summary of the targets after pytest's last line; fail if a target is missed unexpectedly."""
    yield
    config = session.config
    ratios = config.stash[_ratios]
    complete = bool(config.getoption("--record")) and not session.exitstatus
    writer = config.get_terminal_writer()
    for line in targets.summary(ratios, config.stash[_reasons], complete):
        writer.line(line)
    if targets.missed(ratios) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED

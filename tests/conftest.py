"""Fixtures for small queries and test collections. Tests of values run first, tests of wording and slow cases last."""

from __future__ import annotations

import builtins
import os
import random
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from support.queries import Query, random_query
from support.slow_modules import SLOW_MODULES, slow_modules
from support.trec_files import Collection, ranked

from tieaware import samples

TESTS = str(Path(__file__).parent)
# The rooms whose tests compare values with the enumeration of all orders, the reference, or outside authorities.
VALUES = {"engine", "lines", "measures", "precision", "statistics"}
_sum = sum


def sum_of_integers(values: Iterable[Any], /, start: Any = 0) -> Any:
    """Do what `sum` does, but refuse floats to the package and its tests.

    Since Python 3.12, `sum` compensates for the rounding errors of floats, so their sum depends on Python's version.
    """
    total, caller = _sum(values, start), sys._getframe(1)
    if type(total) is float:
        package = caller.f_globals.get("__name__", "").partition(".")[0]
        if package == "tieaware" or caller.f_code.co_filename.startswith((TESTS, "<doctest ")):
            raise TypeError("this sum of floats depends on Python's version: use math.fsum")
    return total


def pytest_configure() -> None:
    """Refuse sums of floats, set no time limit for examples, and handle SIGINT.

    On a busy machine, or with sanitizers, an example can take any time. Background jobs of a script ignore SIGINT, and
    the children of the tests would inherit this.
    """
    builtins.sum = sum_of_integers
    settings.register_profile("tieaware", deadline=None)
    settings.load_profile("tieaware")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run slow cases last, values first and wording last, so that a failure that matters shows within seconds."""
    config.stash[SLOW_MODULES] = slow_modules(items)
    items.sort(key=lambda item: (item.get_closest_marker("slow") is not None, _place(item.path.parent.name)))


def _place(room: str) -> int:
    """Return where the tests of a room run: the values of measures first, the project's pages and commands last."""
    return -1 if room in VALUES else 1 if room in ("commands", "project") else 0


@pytest.fixture(autouse=True)
def _closed_figures() -> Iterator[None]:
    """Close the figures of a test: pyplot keeps them, and warns if there are many."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[Any, str, str]]:
    """Return a function that runs a command in this process, and returns its status, its output and its errors.

    A single argument is the whole command line.
    """
    from tieaware.cli import main

    def run(*arguments: Any) -> tuple[Any, str, str]:
        capfd.readouterr()
        try:
            status = main(arguments[0].split() if len(arguments) == 1 else [str(each) for each in arguments])
        except SystemExit as end:
            status = end.code
        return status, *capfd.readouterr()

    return run


@pytest.fixture
def printed(command: Callable[..., tuple[Any, str, str]]) -> Callable[..., str]:
    """Return a function that runs a command that succeeds, and returns its output."""

    def run(*arguments: Any) -> str:
        status, out, err = command(*arguments)
        assert status == 0, err
        return out

    return run


@pytest.fixture
def refused(command: Callable[..., tuple[Any, str, str]]) -> Callable[..., str]:
    """Return a function that runs a command that must fail without output, and returns the single line of the error."""

    def run(*arguments: Any) -> str:
        status, out, err = command(*arguments)
        assert (status, out, err.count("\n")) == (2, "", 1), (status, out, err)
        return err

    return run


@pytest.fixture(scope="session")
def sweep() -> list[Query]:
    """Return small queries with many ties."""
    rng = random.Random(20)
    special = [
        Query((), (), ()),
        Query((), (), (1, 2)),
        Query((1.0,), (1,), (1,)),
        Query((1.0,), (-1,), (0,)),
        Query((1.0, 1.0), (0, 0), (0, 0, 2)),
        Query((0.0, -0.0), (1, 0), (1, 0)),
        Query((np.inf, np.inf, -np.inf, -np.inf), (0, 3, 4, 0), (0, 3, 4, 0)),
        Query((1.0,) * 7, (4, 3, 2, 1, 0, -1, 0), (4, 4, 3, 2, 1, 0, 0)),
    ]
    return special + [random_query(rng, 7) for _ in range(250)]


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the folder of public test collections: $TIEAWARE_DATA, or shared/data beside the repository."""
    root = Path(__file__).parent.parent
    folder = Path(os.environ.get("TIEAWARE_DATA", root.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"the test collections are not at {folder}; TIEAWARE_DATA can name their folder")
    return folder


@pytest.fixture(scope="session")
def covid(data: Path) -> Collection:
    """Return the 42 runs submitted to the first round of TREC-COVID."""
    folder = data / "trec_covid_r1"
    return Collection(folder / "qrels-rnd1.txt", tuple(sorted((folder / "runs").iterdir())))


@pytest.fixture(scope="session")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    """Return a generated collection like the one in the wheel; its runs range from no ties to ties alone."""
    folder = tmp_path_factory.mktemp("collection") / "generated"
    sample = samples.generate(seed=7, n_queries=40, depth=250)
    untied = {query: ranked(list(scores)) for query, scores in sample.runs["int8-dot"].items()}
    runs = {**sample.runs, "untied": untied}
    samples.write(samples.Collection(sample.topics, sample.qrels, runs), folder)
    return Collection(folder / "qrels.txt", tuple(folder / "runs" / f"{name}.run" for name in runs))


@pytest.fixture(scope="session", params=["generated", "covid"])
def collection(request: pytest.FixtureRequest) -> Collection:
    """Run a test on a generated collection, and on a public one if the data is present."""
    found: Collection = request.getfixturevalue(request.param)
    return found


@pytest.fixture(scope="session", params=["simulated", "trec-7"])
def matrix(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a CSV file with the AP of 103 systems on 50 topics: simulated, and in a slow case of TREC-7's runs."""
    if request.param == "trec-7":
        folder: Path = request.getfixturevalue("data")
        return folder / "matrices" / "sigir2019_adhoc7_ap.csv"
    rng = np.random.default_rng(7)
    ability, easiness = rng.uniform(0.3, 0.7, 103), rng.random((50, 1)) ** 2
    values = np.clip(easiness * (ability + rng.normal(0, 0.2, (50, 103))), 0, 1)
    path = tmp_path_factory.mktemp("matrix") / "ap.csv"
    np.savetxt(path, values, delimiter=",", header=",".join(f"system {i}" for i in range(103)), comments="")
    return path

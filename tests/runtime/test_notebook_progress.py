"""Progress bars in notebooks: when they appear, what they say, and that nothing appears elsewhere."""

import sys
import threading
from contextlib import suppress
from types import SimpleNamespace
from typing import ClassVar

import pytest

import tieaware
from tieaware.experiments.evaluating import progress as over
from tieaware.runtime import notebook_progress, progress
from tieaware.runtime.extras import MissingExtraError


class Bar:
    """A stand-in for tqdm.auto.tqdm that keeps what it was told."""

    made: ClassVar[list["Bar"]] = []

    def __init__(self, **options):
        self.options, self.n, self.seen, self.is_closed = options, options["initial"], [], False
        self.start_t = 0.0
        Bar.made.append(self)

    def update(self, n):
        self.n += n
        self.seen.append(self.n)

    def close(self):
        self.is_closed = True


@pytest.fixture
def bars(monkeypatch):
    """Simulate a notebook: a kernel, tqdm, and no terminal. Bars appear at once."""
    kernel = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    monkeypatch.setitem(sys.modules, "ipykernel", SimpleNamespace())
    monkeypatch.setattr(notebook_progress, "_tqdm", lambda: Bar)
    monkeypatch.setattr(notebook_progress, "_DELAY", 0.0)
    monkeypatch.setattr(Bar, "made", [])
    return Bar.made


def test_a_stage_is_a_bar_that_disappears(bars):
    assert list(over(range(3), "counting")) == [0, 1, 2]
    (bar,) = bars
    assert (bar.options["desc"], bar.options["total"], bar.options["leave"]) == ("counting", 3, False)
    assert (bar.options["initial"], bar.n, bar.is_closed) == (0, 3, True)


def test_inner_stages_have_bars_of_their_own(bars):
    """A stage that is never the outermost one is shown within another stage, and only there."""
    with progress.stage("reading", 2, shown=False) as advance:
        advance(1)
    assert not bars
    with progress.stage("runs", 5) as outer:
        outer(1)
        with progress.stage("reading", 2.5, unit=" MB", shown=False) as advance:
            advance(2)
            assert [bar.is_closed for bar in bars] == [False, False]
            advance(9)  # the file has grown: the bar must not exceed its total
            assert bars[1].n == 2.5
        assert [bar.is_closed for bar in bars] == [False, True]
    assert [bar.options["unit"] for bar in bars] == ["", " MB"]
    assert all(bar.is_closed for bar in bars)


def test_a_finished_stage_is_complete_and_a_failed_one_is_not(bars):
    """A bar that is closed before its total is marked as failed by tqdm."""
    with progress.stage("finished", 5) as advance:
        advance(1)
    with suppress(ValueError), progress.stage("failed", 5) as advance:
        advance(1)
        raise ValueError
    assert [(bar.n, bar.is_closed) for bar in bars] == [(5, True), (1, True)]


def test_short_stages_have_no_bar(bars, monkeypatch):
    monkeypatch.setattr(notebook_progress, "_DELAY", 60.0)
    with progress.stage("short", 5) as advance:
        advance(5)
    assert not bars


def test_any_thread_may_advance(bars):
    with progress.stage("runs", 2_000) as advance:
        threads = [threading.Thread(target=lambda: [advance(1) for _ in range(500)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        (bar,) = bars
        assert bar.n == 2_000
        assert bar.seen == sorted(bar.seen)


def test_evaluate_shows_its_runs(bars, tmp_path):
    qrels = {"q1": {"d1": 1}}
    for name in "ab":
        (tmp_path / name).write_text("q1 Q0 d1 1 1.0 t\n")
    runs = [tmp_path / name for name in "ab"]
    tieaware.evaluate(qrels, runs, "AP", out=tmp_path / "out")
    assert {bar.options["desc"] for bar in bars} >= {"runs"}
    bars.clear()
    tieaware.evaluate(qrels, runs, "AP")
    (outermost,) = (bar for bar in bars if bar.options["desc"] == "runs")
    assert (outermost.options["desc"], outermost.n, outermost.is_closed) == ("runs", 2, True)


def test_without_tqdm_nothing_is_shown(bars, monkeypatch):
    monkeypatch.undo()
    kernel = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    monkeypatch.setitem(sys.modules, "ipykernel", SimpleNamespace())
    monkeypatch.setattr(notebook_progress, "_DELAY", 0.0)
    attempts = []

    def missing(*_):
        attempts.append(1)
        raise MissingExtraError("tqdm is not installed")

    monkeypatch.setattr(notebook_progress, "load", missing)
    notebook_progress._tqdm.cache_clear()
    try:
        assert list(over(range(3), "counting")) == [0, 1, 2]
    finally:
        notebook_progress._tqdm.cache_clear()
    assert attempts == [1]


@pytest.mark.parametrize(
    "modules",
    [
        {},
        {"IPython": SimpleNamespace(get_ipython=lambda: None)},
        # IPython in a terminal, which may have imported ipykernel, has no kernel.
        {"IPython": SimpleNamespace(get_ipython=SimpleNamespace), "ipykernel": SimpleNamespace()},
    ],
)
def test_other_processes_are_no_notebooks(monkeypatch, modules):
    for name in ("IPython", "ipykernel"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    assert not notebook_progress.in_notebook()


@pytest.mark.parametrize(
    ("total", "start", "end"), [(4.0, "reading:  50%|", "| 2 of 4 MB (01:00, "), (None, "reading: ", "2 MB (01:00)")]
)
def test_the_format_of_the_bars_is_valid_for_tqdm(total, start, end):
    pytest.importorskip("tqdm")
    bar = notebook_progress._bar("reading", total, 2.0, " MB", 60.0)
    bar.close()
    shown = type(bar).format_meter(**{**bar.format_dict, "ncols": 80})
    assert shown.startswith(start)
    assert end in shown

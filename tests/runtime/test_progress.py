"""Progress bars: when they appear, what they show, and that nothing appears elsewhere."""

import io
import sys
import threading
from types import SimpleNamespace

import pytest

import tieaware
from tieaware.commands.streams import say
from tieaware.runtime import progress
from tieaware.runtime.progress import progress as over


class Terminal(io.StringIO):
    def isatty(self):
        return True


def terminal_for(monkeypatch):
    """Replace standard error by a terminal on which bars appear at once."""
    # A fixture would be too early: pytest sets sys.stderr again before the test.
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "_DELAY", 0.0)
    monkeypatch.delenv("TERM", raising=False)
    return terminal


def test_bars_show_open_stages_and_disappear(monkeypatch):
    terminal = terminal_for(monkeypatch)
    with progress.stage("runs", 5, 2) as advance:
        threads = [threading.Thread(target=advance, args=(1,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with progress.stage("reading", 3.2, unit=" MB", shown=False) as read:
            read(1.7)
            say("warning: so it is")
    assert list(over(iter("ab"), "letters")) == ["a", "b"]
    written = terminal.getvalue()
    assert all(each in written for each in ("runs: ", "/5 ", "reading: ", "warning: so it is\n", "letters: "))
    assert not progress._open


def test_a_bar_disappears_after_an_error(monkeypatch):
    terminal = terminal_for(monkeypatch)
    def interrupted():
        with progress.stage("all", 3) as advance:
            advance(1)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert "all: " in terminal.getvalue()
    assert not progress._open


@pytest.mark.parametrize("why", ["no terminal", "dumb", "short", "no stage that is shown", "no tqdm"])
def test_nothing_is_written(monkeypatch, why):
    terminal = terminal_for(monkeypatch)
    if why == "no terminal":
        monkeypatch.setattr(terminal, "isatty", lambda: False)
    if why == "dumb":
        monkeypatch.setenv("TERM", "dumb")
    if why == "short":
        monkeypatch.setattr(progress, "_DELAY", 30.0)
    if why == "no tqdm":
        monkeypatch.setattr(progress, "_tqdm", lambda: None)
    with progress.stage("a", shown=why != "no stage that is shown"), progress.stage("b", 3, shown=False) as advance:
        advance(1)
    assert terminal.getvalue() == ""


def test_a_notebook_is_recognised(monkeypatch):
    assert not progress.in_notebook()
    kernel = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    monkeypatch.setitem(sys.modules, "ipykernel", SimpleNamespace())
    assert progress.in_notebook()


def test_evaluate_shows_its_progress_only_within_another_stage(monkeypatch, tmp_path):
    terminal = terminal_for(monkeypatch)
    (tmp_path / "run").write_text("q Q0 d 1 1 t\n")
    tieaware.evaluate({"q": {"d": 1}}, tmp_path / "run", "AP")
    assert terminal.getvalue() == ""
    with progress.stage("command"):
        tieaware.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, "AP")
    assert "runs: " in terminal.getvalue()

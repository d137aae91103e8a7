"""The progress line on a terminal: its content, and its removal at the end."""

import io
import os
import re
import threading
import time
from types import SimpleNamespace

import pytest

import tieaware
from tieaware.commands import streams
from tieaware.commands.streams import say
from tieaware.experiments.evaluating import progress as over
from tieaware.runtime import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True

    def screen(self):
        """Return the visible lines, without text that was overwritten."""
        lines = []
        for line in self.getvalue().split("\n"):
            shown = ""
            for written in line.split("\r"):
                shown = written + shown[len(written) :]
            lines.append(shown.rstrip())
        return lines


@pytest.fixture
def terminal(monkeypatch):
    """Replace standard error by a terminal on which the progress line appears at once."""
    # Replace `sys` in the modules that use it. Setting sys.stderr would not last: pytest sets it again before the test.
    stderr = Terminal()
    for module in (progress, streams):
        monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=stderr))
    monkeypatch.setattr(progress, "_DELAY", 0.0)
    monkeypatch.setattr(progress, "_STEP", 0.001)
    monkeypatch.delenv("TERM", raising=False)
    return stderr


def wait_for(terminal, pattern):
    """Wait until the last line that was drawn matches the pattern."""
    end = time.monotonic() + 20
    while not re.fullmatch(pattern, terminal.getvalue().rpartition("\r")[2].strip()):
        assert time.monotonic() < end, terminal.getvalue()[-300:]
        time.sleep(0.001)


def test_the_line_shows_the_progress_of_all_open_stages(terminal):
    with progress.stage("all"), progress.stage("runs", 5, 2) as advance:
        wait_for(terminal, r"all: runs 2 of 5 \(0 s\)")
        threads = [threading.Thread(target=advance, args=(1,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        wait_for(terminal, r"all: runs 4 of 5 \(0 s, about 0 s left\)")
        with progress.stage("reading", 3.2, unit=" MB", shown=False) as read:
            read(1.7)
            wait_for(terminal, r"all: runs 4 of 5: reading 2 of 3 MB \(0 s, .*left\)")
        assert [i for i in over(iter("ab"), "letters") if wait_for(terminal, r"all: runs .*: letters( 1)? .*") is None]
        wait_for(terminal, r"all: runs 4 of 5 \(0 s, about 0 s left\)")
    assert terminal.screen() == [""]


def test_a_warning_is_printed_on_its_own_line(terminal):
    with progress.stage("a stage with a long name"):
        wait_for(terminal, "a stage .*")
        terminal.write("^C")  # a terminal shows this when Ctrl-C is pressed
        say("warning: so it is")
        wait_for(terminal, "a stage .*")
    assert terminal.screen() == ["warning: so it is", ""]


def test_the_line_disappears_when_the_outermost_stage_ends_or_fails(terminal):
    letters = over("abc", "letters")

    def interrupted():
        with progress.stage("all"):
            assert next(letters) == "a"
            wait_for(terminal, "all: letters 0 of 3 .*")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert terminal.screen() == [""]
    assert list(letters) == ["b", "c"]
    written = terminal.getvalue()
    time.sleep(0.02)
    assert terminal.getvalue() == written
    assert not [thread for thread in threading.enumerate() if thread.name == "tieaware-progress" and thread.is_alive()]


@pytest.mark.parametrize("why", ["no terminal", "dumb", "short", "no stage that is shown"])
def test_nothing_is_written_without_a_terminal_or_a_shown_stage(terminal, monkeypatch, why):
    if why == "no terminal":
        monkeypatch.setattr(terminal, "isatty", lambda: False)
    if why == "dumb":
        monkeypatch.setenv("TERM", "dumb")
    if why == "short":
        monkeypatch.setattr(progress, "_DELAY", 30.0)
    with progress.stage("a", shown=why != "no stage that is shown"), progress.stage("b", 3, shown=False) as advance:
        advance(1)
        time.sleep(0.02)
    assert terminal.getvalue() == ""


def test_the_line_is_cut_to_the_width_of_the_terminal(terminal, monkeypatch):
    monkeypatch.setattr(progress, "_columns", lambda: 20)
    with progress.stage("a stage with a long name", 5):
        wait_for(terminal, "a stage with a lon…")
    assert terminal.screen() == [""]


def test_a_terminal_that_was_closed_is_not_an_error(terminal, monkeypatch):
    monkeypatch.setattr(terminal, "write", lambda _: (_ for _ in ()).throw(OSError))
    with progress.stage("a"):
        time.sleep(0.02)


@pytest.mark.parametrize(("seconds", "text"), [(3.4, "3 s"), (99.4, "99 s"), (150, "2 min"), (7300, "2 h 2 min")])
def test_durations_are_short(seconds, text):
    assert progress._duration(seconds) == text


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_child_has_no_progress_line(terminal):
    with progress.stage("parent"), progress._line.paused():
        child = os.fork()
        if not child:
            with progress.stage("child", shown=False):
                os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_evaluate_shows_its_progress_only_within_another_stage(terminal, tmp_path):
    (tmp_path / "run").write_text("q Q0 d 1 1 t\n")
    tieaware.evaluate({"q": {"d": 1}}, tmp_path / "run", "AP")
    assert terminal.getvalue() == ""
    shown = []

    class Slow(dict):
        def items(self):
            wait_for(terminal, r"command: runs 0 of 1 .*")
            shown.append(True)
            return super().items()

    with progress.stage("command"):
        tieaware.evaluate({"q": {"d": 1}}, Slow({"q": {"d": 1.0}}), "AP")
    assert shown

"""An experiment's files."""

import csv
import html.parser
import os
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tieaware import InputError
from tieaware._evaluate import evaluate_views
from tieaware.experiments.experiment import Experiment
from tieaware.experiments.progress import evaluate_with_progress
from tieaware.measures import parse_measure
from tieaware.plots import Drawing, label
from tieaware.tables import Table
from tieaware.views import View

HOSTILE = '<script>alert("x")</script> & $x_1$ | "q"'


class _Lines(Experiment):
    title = f"Two lines of {HOSTILE}"

    def tables(self):
        return {"lines": Table(f"Lines {HOSTILE}", ("run", HOSTILE), [(HOSTILE, 0.5), ("_b", None)], (HOSTILE,))}

    def drawings(self):
        def draw(ax):
            ax.plot([0, 1], [0, 1], label=label(HOSTILE))
            ax.plot([0, 1], [1, 0], label=label("_b"))
            ax.legend()

        return {"crossing": Drawing(f"Lines cross {HOSTILE}", draw)}


class _Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.attributes = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs


def test_all_files_are_written_and_others_stay(tmp_path):
    (tmp_path / "mine.txt").write_text("kept")
    _Lines().write(tmp_path, "tieaware --out x")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "crossing.png", "crossing.svg", "lines.csv", "mine.txt", "report.html",
    ]  # fmt: skip
    with open(tmp_path / "lines.csv", newline="") as file:
        assert list(csv.reader(file)) == [["run", HOSTILE], [HOSTILE, "0.5"], ["_b", ""]]


def test_the_report_is_one_page_that_loads_nothing_and_runs_nothing(tmp_path):
    _Lines().write(tmp_path, f"tieaware precision {HOSTILE}")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    tags = _Tags()
    tags.feed(page)
    assert "script" not in tags.tags
    assert "link" not in tags.tags
    assert all(value.startswith("data:") for name, value in tags.attributes if name in ("src", "href"))
    assert "&lt;script&gt;" in page
    assert "tieaware precision &lt;script" in page
    assert "matplotlib" in page


def test_the_same_experiment_gives_the_same_bytes(tmp_path):
    for folder in ("a", "b"):
        _Lines().write(tmp_path / folder)
    for name in ("report.html", "crossing.svg", "crossing.png", "lines.csv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_nothing_is_left_half_written(tmp_path):
    """Where one file cannot be written, none is."""
    (tmp_path / "crossing.svg").mkdir()
    with pytest.raises(InputError, match=r"crossing.svg: expected a file or nothing, found a folder"):
        _Lines().write(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["crossing.svg"]
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file: "):
        _Lines().write(tmp_path / "file")


def test_a_plot_is_saved_in_the_format_of_its_name(tmp_path):
    drawing = _Lines().drawings()["crossing"]
    drawing.save(tmp_path / "a.pdf")
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    for wrong in ("a.docx", "a"):
        with pytest.raises(InputError, match="expected one of"):
            drawing.save(tmp_path / wrong)
    with pytest.raises(InputError, match="No such file"):
        drawing.save(tmp_path / "none" / "a.png")


def test_a_plot_is_whole_or_absent(tmp_path, monkeypatch):
    """Also where there was one, behind a link, or something that is no file."""
    drawing = _Lines().drawings()["crossing"]
    (tmp_path / "old.svg").write_text("old")
    (tmp_path / "link.svg").symlink_to("old.svg")
    with monkeypatch.context() as patch:
        patch.setattr("os.replace", _killed)
        for name in ("new.svg", "link.svg"):
            with pytest.raises(KeyboardInterrupt):
                drawing.save(tmp_path / name)
    assert not (tmp_path / "new.svg").exists()
    assert (tmp_path / "old.svg").read_text() == "old"
    drawing.save(tmp_path / "new.svg", tmp_path / "link.svg")
    assert (tmp_path / "old.svg").read_bytes() == (tmp_path / "new.svg").read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"old.svg", "new.svg", "link.svg"}
    (tmp_path / "full.svg").symlink_to("/dev/full")
    with pytest.raises(InputError, match="No space left"):
        drawing.save(tmp_path / "full.svg")


def _killed(*_):
    raise KeyboardInterrupt


def test_what_a_killed_run_has_left_is_cleared_away(tmp_path):
    """But nothing that a living one is at, and nothing else."""
    (tmp_path / ".mine").mkdir()
    (tmp_path / ".unfinished-link").symlink_to(".mine")
    code = (
        "import sys, time; from tieaware.atomic import unfinished_folder\n"
        "with unfinished_folder(sys.argv[1]) as made:\n"
        "    open(made + '/cut.csv', 'w').close(); print(made, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code, tmp_path], stdout=subprocess.PIPE, text=True) as child:
        made = Path(child.stdout.readline().strip())
        _Lines().write(tmp_path)
        assert (made / "cut.csv").exists()
        child.kill()
    assert (made / "cut.csv").exists()
    _Lines().drawings()["crossing"].save(tmp_path / "a.svg")
    assert {path.name for path in tmp_path.iterdir() if path.name[0] == "."} == {".mine", ".unfinished-link"}
    with pytest.raises(InputError, match="folder: expected its name, found ''"):
        _Lines().write("")


def test_axes_can_be_given():
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    assert _Lines().plot(ax) is ax
    assert len(ax.lines) == 2


def test_many_runs_are_evaluated_in_parts_without_loss():
    """Also their spread, and in their order."""
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    runs = {f"run {i}": {"q1": {"a": 1.0, "b": 1.0 + i % 2}, "q2": {"b": 0.5}} for i in range(40)}
    views = [View("average", spread=True), View("run_order")]
    measures = parse_measure("RR"), parse_measure("P@1")
    together = evaluate_views(qrels, runs, measures, views)
    for ours, expected in zip(evaluate_with_progress(qrels, runs, measures, views, 2), together, strict=True):
        assert (ours.runs, ours.queries, ours.measures) == (expected.runs, expected.queries, expected.measures)
        for name in ("values", "std", "min", "max"):
            np.testing.assert_array_equal(getattr(ours, name), getattr(expected, name))
    assert together[0].std.any()


@pytest.mark.parametrize(("pause", "shown"), [(0.0, False), (0.3, True)])
def test_a_bar_appears_on_a_terminal_after_two_seconds(pause, shown):
    """In a terminal of its own; elsewhere, as in all other tests, there is none."""
    pty, fcntl, termios = (pytest.importorskip(name) for name in ("pty", "fcntl", "termios"))
    code = (
        "import time\nfrom tieaware.experiments.progress import progress\n"
        f"for _ in progress(range(9), 'counting'): time.sleep({pause})"
    )
    terminal, end = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    child = subprocess.Popen([sys.executable, "-c", code], stderr=end)
    os.close(end)
    printed = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # the child has closed its end
            break
        if not part:
            break
        printed += part
    os.close(terminal)
    assert child.wait() == 0, printed
    assert (b"counting" in printed) == shown

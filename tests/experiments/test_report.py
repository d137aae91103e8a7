"""The files of an experiment, its figures, and its progress display."""

import base64
import csv
import errno
import hashlib
import html
import math
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.errors import message_of
from support.pages import BROWSER, Page, in_browser

from tieaware import InputError
from tieaware._evaluate import evaluate_views
from tieaware.engine.views import View
from tieaware.experiments.evaluating import evaluate_with_progress
from tieaware.experiments.experiment import Experiment
from tieaware.experiments.report import Report, page
from tieaware.measures import parse_measure
from tieaware.output.plots import Drawing, display_name
from tieaware.output.tables import Table, percent, significant

HOSTILE = '<script>alert("x")</script> & $x_1$ | "q"'


class _Lines(Experiment):
    title = f"Two lines of {HOSTILE}"

    def verdict(self):
        return f"{HOSTILE} crosses."

    def tables(self):
        return {"lines": Table(f"Lines {HOSTILE}", ("run", HOSTILE), [(HOSTILE, 0.5), ("_b", None)], (HOSTILE,))}

    def drawings(self):
        def draw(ax):
            ax.plot([0, 1], [0, 1], label=display_name(HOSTILE))
            ax.plot([0, 1], [1, 0], label=display_name("_b"))
            ax.legend()

        return {"crossing": Drawing(f"Lines cross {HOSTILE}", draw)}


CROSSING = _Lines().drawings()["crossing"]


def test_all_files_are_written_and_other_files_stay(tmp_path):
    (tmp_path / "mine.txt").write_text("kept")
    _Lines().write(tmp_path, "tieaware --out x")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "crossing.png", "crossing.svg", "lines.csv", "mine.txt", "report.html",
    ]  # fmt: skip
    with open(tmp_path / "lines.csv", newline="") as file:
        assert list(csv.reader(file)) == [["run", HOSTILE], [HOSTILE, "0.5"], ["_b", ""]]


def test_the_report_loads_nothing_and_runs_only_its_own_script(tmp_path):
    _Lines().write(tmp_path, f"tieaware precision {HOSTILE}")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert not {"link", "iframe", "object", "form"} & set(page.tags)
    assert all(source.startswith("data:image/") for source in page.values("src"))
    # All links lead to a place in the page or to a file beside it.
    places = {f"#{name}" for name in page.values("id")}
    assert set(page.values("href")) <= places | {path.name for path in tmp_path.iterdir()}
    assert {"lines.csv", "crossing.svg", "#table-lines", "#how"} <= set(page.values("href"))
    # The content security policy allows the only script of the page.
    assert page.tags.count("script") == 1
    (script,) = re.findall("<script>(.*?)</script>", text, re.DOTALL)
    (policy,) = [value for value in page.values("content") if "default-src" in value]
    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" in policy
    assert "&lt;script&gt;" in text
    assert "tieaware precision &lt;script" in text
    assert "matplotlib" in text


def test_the_answer_comes_first(tmp_path):
    """The page has the verdict first, then its figure, the contents, the tables and the method, in this order."""
    _Lines().write(tmp_path, "tieaware")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    order = ['class="verdict"', "<figure>", "<nav ", "<table>", 'id="how"', "<script>"]
    assert sorted(order, key=text.index) == order
    assert html.escape(_Lines().verdict()) in text
    headings = re.findall(r"<h\d[^>]*>(.*?)</h\d>", text)
    assert len(set(headings)) == len(headings) == 4


def test_numbers_have_three_significant_digits():
    numbers = (0.0, -0.0, 1.0, 0.99999, 0.123456, -0.04435, 0.000123456, 1.23456e-12, 12.3456, 999.6, 123456.7, 2.5)
    shown = ["0", "0", "1", "1.00", "0.123", "-0.0444", "0.000123", "1.23e-12", "12.3", "1,000", "123,000", "2.50"]
    assert [significant(x) for x in numbers] == shown
    assert [significant(x) for x in (math.inf, -math.inf, 0.9996, 99.96)] == ["inf", "-inf", "1.00", "100"]
    assert [percent(x) for x in (0.0, 0.123456, 1.0)] == ["0 %", "12.3 %", "100 %"]


class _Large(Experiment):
    """An experiment with more rows and figures than fit on a page."""

    title, heading = "Large", "Is it large?"

    def tables(self):
        rows = [(f"a run with a long name {i}", i, i / 7, 1 / (i + 1), -i / 3) for i in range(9_000)]
        return {"few": Table("Few", ("run", "n"), [("a", 1)]), "many": Table("Many", tuple("vwxyz"), rows)}

    def drawings(self):
        def draw(ax):
            for i in range(40):
                ax.plot(np.arange(400) + 1 / 3, np.sin(np.arange(400) * i) + i / 7)

        return {f"lines-{i}": Drawing(f"Lines {i}.", draw) for i in range(4)}


def test_a_page_shows_the_first_rows_of_a_long_table(tmp_path):
    _Large().write(tmp_path)
    text = (tmp_path / "report.html").read_text("utf-8")
    assert 500_000 < len(text) < 2_000_000
    assert Page(text).tags.count("tr") == 2 + 1 + 100
    assert "The first 100 of 9,000 rows" in text
    assert len((tmp_path / "many.csv").read_text().splitlines()) == 9_001


def test_small_figures_come_before_large_ones(tmp_path):
    """The page shows the main figure and the smallest of the others, and says where those are that it leaves out."""

    def drawing(n, name):
        def draw(ax):
            for i in range(n):
                ax.plot(np.arange(400) + 1 / 3, np.sin(np.arange(400) * i) + i / 7)

        return Drawing(f"{name} at level 0.95. It has lines.", draw)

    sizes = {"main": 40, "large": 100, "other": 100, "summary": 1, "last": 2}

    class Many(_Large):
        def drawings(self):
            return {name: drawing(n, name) for name, n in sizes.items()}

    Many().write(tmp_path)
    text = (tmp_path / "report.html").read_text("utf-8")
    assert re.findall(r'<section id="figure-(\w+)">', text) == ["summary", "last"]
    assert "2 of 5 figures would make this page too large. They are in files beside it" in text
    assert {"large.svg", "other.svg", "#other-figures"} <= set(Page(text).values("href"))
    # The texts are whole: they are not cut at the decimal point or at the end of a sentence.
    assert "<h3>summary at level 0.95. It has lines.</h3>" in text
    assert '<a href="large.svg">large.svg</a>: large at level 0.95. It has lines.</li>' in text
    assert {path.name for path in tmp_path.glob("*.svg")} == {f"{name}.svg" for name in sizes}
    assert {path.name for path in tmp_path.glob("*.png")} == {"main.png", "summary.png", "last.png"}


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is on PATH")
def test_a_click_sorts_a_table(tmp_path):
    """Numbers are sorted from the largest; missing values are always last; the buttons also work with the keyboard."""
    rows = [("b", 0.5), ("a10", 1234.5), ("a9", None), ("c", 1e-7), ("d", -3.0)]
    report = Report("Sorted?", "", "", {"t": Table("T", ("run", "x"), rows)}, {})
    clicks = """<script>
    const [text, number] = document.querySelectorAll("th button");
    const seen = [];
    for (const button of [number, number, text]) {
      button.focus();
      document.activeElement.click();
      const names = [...document.querySelectorAll("tbody tr")].map(row => row.cells[0].textContent);
      seen.push(button.parentElement.getAttribute("aria-sort") + " " + names.join(" "));
    }
    document.title = seen.join("; ") + "; " + document.querySelectorAll("[aria-sort]").length;
    </script>"""
    written = page(report, {}, "")
    assert '<th scope="col" class="n"><button type="button">x</button></th>' in _shown(written, tmp_path)
    text = re.sub('<meta http-equiv="Content-Security-Policy"[^>]*>', "", written)
    expected = "descending a10 b c d a9; ascending d c b a10 a9; ascending a9 a10 b c d; 1"
    assert f"<title>{expected}</title>" in _shown(text.replace("</body>", f"{clicks}</body>"), tmp_path)


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is on PATH")
def test_a_page_fits_on_a_phone(tmp_path):
    """Only tables and figures scroll sideways; long texts do not make rows higher than the screen."""
    names = ", ".join(f"run_of_group_{i}" for i in range(40))
    rows = [(f"run {i}", 0.5, 1, 2, 3, names) for i in range(9)]
    table = Table("A title of a table with many words in it", ("run", "mean", "a long name", "b", "c", "whom"), rows)
    text = page(Report("How?", "x" * 200, "y " * 99, {"t": table}, _Lines().drawings()), _svgs(), "")
    script = """<script>onload = () => {
    const page = document.querySelector("iframe").contentDocument;
    const heights = [...page.querySelectorAll("tbody tr")].map(row => row.getBoundingClientRect().height);
    document.title = (page.documentElement.scrollWidth <= 390) + " " + (Math.max(...heights) < 200);
    }</script>"""
    frame = f'<iframe style="width:390px;height:800px;border:0" srcdoc="{html.escape(text)}"></iframe>'
    assert "<title>true true</title>" in _shown(f"<!DOCTYPE html><head>{script}</head><body>{frame}</body>", tmp_path)


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is on PATH")
@pytest.mark.parametrize(("width", "hinted", "shows_all"), [(390, "table figure", False), (1280, "", True)])
def test_a_wide_table_takes_the_margins_and_what_is_cut_says_that_it_scrolls(tmp_path, width, hinted, shows_all):
    """The table is wider than the text and narrower than the large screen, and the figure is wider than the phone."""
    columns = ("run", *(f"column_{i:03}" for i in range(9)))
    drawing = replace(_Lines().drawings()["crossing"], size=(9.0, 4.0))
    report = Report("How?", "t", "v", {"t": Table("T", columns, [("a", *[1.0] * 9)])}, {"lines": drawing})
    script = """<script>onload = () => setTimeout(() => {
    const page = document.querySelector("iframe").contentDocument;
    const cut = [...page.querySelectorAll(".cut")].map(box => box.closest("figure") ? "figure" : "table");
    const [box, text] = ["section > .scroll", "h1"].map(each => page.querySelector(each));
    const all = box.scrollWidth === box.clientWidth && box.clientWidth > text.clientWidth;
    const hint = page.defaultView.getComputedStyle(page.querySelector(".cut") ?? text, "::before").content;
    const fits = page.documentElement.scrollWidth <= page.documentElement.clientWidth;
    document.title = [cut.sort().reverse().join(" "), all, hint.includes("scroll sideways"), fits];
    }, 100)</script>"""
    text = page(report, {"lines": drawing.svg()}, "")
    frame = f'<iframe style="width:{width}px;height:800px;border:0" srcdoc="{html.escape(text)}"></iframe>'
    loaded = _shown(f"<!DOCTYPE html><head>{script}</head><body>{frame}</body>", tmp_path)
    expected = [hinted, *(str(each).lower() for each in (shows_all, bool(hinted), True))]
    assert re.search("<title>(.*)</title>", loaded)[1] == ",".join(expected)


def _svgs():
    return {name: drawing.svg() for name, drawing in _Lines().drawings().items()}


def _shown(text, folder):
    """Return the HTML of a page after a browser has loaded it."""
    (folder / "page.html").write_text(text)
    # Chromium waits for the timers of the page, in a time of its own.
    return in_browser((folder / "page.html").as_uri(), folder, "--virtual-time-budget=1000")


def test_the_same_experiment_gives_the_same_bytes(tmp_path):
    for folder in ("a", "b"):
        _Lines().write(tmp_path / folder)
    for name in ("report.html", "crossing.svg", "crossing.png", "lines.csv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


class _Others(_Lines):
    """An experiment whose tables and figures have other names."""

    def tables(self):
        return {"runs-é": super().tables()["lines"]}

    def drawings(self):
        return {"meeting": super().drawings()["crossing"]}


def test_a_report_replaces_the_last_report_as_a_whole(tmp_path):
    """Files that no page lists stay, also if they are links or folders where the last report had a file."""
    theirs = {"mine.csv", "figure.svg", "crossing.svg"}
    _Others().write(tmp_path)
    _Lines().write(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"crossing.png", "crossing.svg", "lines.csv", "report.html"}
    (tmp_path / "crossing.svg").unlink()
    (tmp_path / "crossing.svg").mkdir()
    for name in theirs - {"crossing.svg"}:
        (tmp_path / name).write_text("kept")
    _Others().write(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        "meeting.png", "meeting.svg", "report.html", "runs-é.csv", *theirs,
    }  # fmt: skip


def test_a_page_lists_no_files_elsewhere(tmp_path):
    """A page that somebody else has changed can only make a report remove tables and figures beside it."""
    (tmp_path / "out").mkdir()
    names = ("../a.csv", "/a.csv", ".a.csv", "a.txt", "report.html", "b")
    for name in ("a.csv", "out/.a.csv", "out/a.txt", "out/b"):
        (tmp_path / name).write_text("kept")
    page = f'<html>\n<meta name="files" content="{" ".join(names)}">\n</html>\n'
    for written in (page, page.replace("../a.csv /a.csv ", "")):
        (tmp_path / "out" / "report.html").write_text(written)
        _Lines().write(tmp_path / "out")
    assert all((tmp_path / name).read_text() == "kept" for name in ("a.csv", "out/.a.csv", "out/a.txt", "out/b"))


@pytest.mark.parametrize("failing", range(1, 9))
def test_a_report_that_cannot_be_moved_leaves_the_last_one(tmp_path, monkeypatch, failing):
    """Eight files are moved: four of the last report, and four of the new one."""
    _Others().write(tmp_path)
    last = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    replace, moves = os.replace, []

    def fail(source, target):
        moves.append(target)
        if len(moves) == failing:
            raise PermissionError(errno.EACCES, "Permission denied", str(source))
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail)
    assert "Permission denied" in message_of(_Lines().write, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == last


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda folder: CROSSING.save(folder / "a.docx"), "expected one of"),
        (lambda folder: CROSSING.save(folder / "a"), "expected one of"),
        (lambda folder: CROSSING.save(folder / "none" / "a.png"), "No such file"),
        (lambda folder: CROSSING.save(folder / "full.svg"), "No space left"),
        (lambda folder: _Lines().write(folder / "blocked"), r"crossing.svg: cannot be replaced by a file: it is a fol"),
        (lambda folder: _Lines().write(folder / "file.txt"), "file.txt: "),
        (lambda folder: _Lines().write(""), "folder: the path is empty"),
    ],
)
def test_paths_that_cannot_be_written_are_refused(call, message, tmp_path):
    """No file is written if one of them cannot be written."""
    (tmp_path / "blocked" / "crossing.svg").mkdir(parents=True)
    (tmp_path / "file.txt").write_text("")
    (tmp_path / "full.svg").symlink_to("/dev/full")
    with pytest.raises(InputError, match=message):
        call(tmp_path)
    assert {path.name for path in tmp_path.rglob("*")} == {"blocked", "crossing.svg", "file.txt", "full.svg"}


def test_a_plot_is_saved_in_the_format_of_its_suffix(tmp_path):
    CROSSING.save(tmp_path / "a.pdf")
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")


def _killed(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("owner", "name", "call"),
    [
        ("os", "replace", lambda folder: CROSSING.save(folder / "new.svg")),
        ("os", "replace", lambda folder: CROSSING.save(folder / "link.svg")),
        ("tieaware.output.plots.Drawing", "images", lambda folder: _Lines().write(folder)),
    ],
)
def test_what_is_interrupted_changes_nothing(owner, name, call, tmp_path, monkeypatch):
    """An existing file stays as it was, also if it is the target of a symbolic link, or tables were written before."""
    (tmp_path / "old.svg").write_text("old")
    (tmp_path / "link.svg").symlink_to("old.svg")
    (tmp_path / "lines.csv").write_text("old")
    monkeypatch.setattr(f"{owner}.{name}", _killed)
    with pytest.raises(KeyboardInterrupt):
        call(tmp_path)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(
        ("old.svg", "link.svg", "lines.csv"), "old"
    )


def test_a_plot_replaces_the_target_of_a_link(tmp_path):
    (tmp_path / "old.svg").write_text("old")
    (tmp_path / "link.svg").symlink_to("old.svg")
    CROSSING.save(tmp_path / "new.svg", tmp_path / "link.svg")
    assert (tmp_path / "link.svg").is_symlink()
    assert (tmp_path / "old.svg").read_bytes() == (tmp_path / "new.svg").read_bytes()


def test_unfinished_files_of_killed_processes_are_removed(tmp_path):
    """Unfinished files of running processes are kept, and so are all other files."""
    (tmp_path / ".mine").mkdir()
    (tmp_path / ".unfinished-link").symlink_to(".mine")
    code = (
        "import sys, time; from tieaware.runtime.atomic_files import unfinished_folder\n"
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


def test_progress_does_not_change_the_results():
    """Values, spread and the order of 40 runs are the same with and without the progress display."""
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

"""Hostile names of runs and queries are harmless in tables, on terminals, in browsers, and as names of output files."""

from __future__ import annotations

import csv
import html
import io
import os
import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.errors import message_of
from support.pages import BROWSER, in_browser

import tieaware
from tieaware import experiments
from tieaware.output.tables import Marked, Table

# Each script would set a mark on the page. Other names would control a terminal, lead to a file outside the folder, or
# become a formula in a spreadsheet.
MARK = "document.documentElement.setAttribute('owned','')"
IN_PAGES = (
    f"<script>{MARK}</script>", f'"><img src=x onerror="{MARK}">', f"'><svg onload={MARK}>",
    f"</pre><script>{MARK}</script>", f"</title></style><script>{MARK}</script>",
    f"</table><iframe src=\"javascript:parent.{MARK}\"></iframe>", f"<!-- <script>{MARK}</script> -->",
    "&lt;b&gt; &amp; &#60;", f"]]><script>{MARK}</script>", "$x_1$ {title} %s",
)  # fmt: skip
IN_TERMINALS = ("\x1b[31mred", "\x1b]0;title\x07", "a\rb", "a\nb", "a\tb", "\x9b2J", "\u202eg", "\0", "\udcff")
IN_FOLDERS = ("../../outside", "/outside", "..", ".", "~", "a/b", "a\\b", "a\0b", "x" * 300, "report.html")
IN_MARKDOWN = (
    "![x](http://x/y.png)", "[a](javascript:b)", "[a]: http://x", "<http://x>", "http://x.org/y", "www.x.org", "*a*",
    "__a__", "a_b_", "`a`", "~~a~~", "a | b", "a\\|b", "&copy;", "\\*a*", "$x$", "[^1]", "![x][y]", "# a", "- a",
)  # fmt: skip
IN_SHEETS = ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1+1", '=HYPERLINK("http://x")', 'a","=1')
NAMES = (*IN_PAGES, *IN_TERMINALS, *IN_FOLDERS, *IN_MARKDOWN, *IN_SHEETS)


@pytest.fixture(scope="module")
def results():
    """Return results whose runs and queries have all hostile names."""
    qrels = {name: {"d": 1, "e": 0} for name in NAMES}
    runs = {name: {q: {"d": float(i % 3), "e": 1.0} for q in NAMES} for i, name in enumerate(NAMES)}
    return tieaware.evaluate(qrels, runs, ["AP", "P@1"])


@pytest.fixture(scope="module")
def experiment():
    """Return an experiment with a few hostile names of each kind."""
    names = (*IN_PAGES[:4], *IN_TERMINALS[:2], *IN_TERMINALS[-2:], *IN_FOLDERS[:2], "a\0b", IN_SHEETS[0])
    runs = {name: {q: {"d": float(i % 3), "e": 1.0} for q in NAMES[:3]} for i, name in enumerate(names)}
    with pytest.warns(UserWarning, match="end inside a tie") as caught:
        made = experiments.tie_prevalence(runs, {q: {"d": 1, "e": 0} for q in NAMES[:3]}, "AP")
    assert not controls(str(caught[0].message))
    return made


@pytest.fixture(scope="module")
def report(experiment, tmp_path_factory):
    """Return a folder with the report of the experiment, which is the only content of its parent folder."""
    folder = tmp_path_factory.mktemp("report") / "a" / "out"
    experiment.write(folder, command=" ".join(IN_PAGES))
    return folder


def controls(text):
    """Return the non-printable characters of a text, except line ends."""
    return [c for c in text if not c.isprintable() and c != "\n"]


# ---- terminals ------------------------------------------------------------------------------------


def test_the_text_form_of_results_and_tables_has_no_escape_sequences(results, experiment):
    """The text form is printed on terminals, so it escapes control characters. Files keep names unchanged."""
    table = Table("a\x1b", NAMES[:3], [(name, Marked(1, "\x1b"), 0.5) for name in NAMES], ("\x07",))
    for shown in (repr(results), str(results.means()), str(results.table(test="none")), str(experiment), str(table)):
        assert not controls(shown)
    # Each row is one line, and all lines have the same width.
    lines = str(Table("", ("run", "AP"), [(name, 0.5) for name in NAMES])).splitlines()[2:]
    assert len(lines) == len(NAMES) + 1
    assert len(set(map(len, lines))) == 1


def test_errors_have_no_escape_sequences(results, tmp_path):
    for name in NAMES:
        calls = (
            lambda name=name: tieaware.read_run(name + "\x1b/none"),
            lambda name=name: tieaware.parse_measure(name),
            lambda name=name: tieaware.evaluate({name: {name: 1}}, {"q": {name: 1.0}}, "AP"),
            lambda name=name: tieaware.evaluate({"q": {"d": 1}}, {"q": {name: name}}, "AP"),
            lambda name=name: results.table(baseline=f"no{name}"),
            lambda name=name: results.save(tmp_path / "none" / name),
        )
        assert all(message_of(call).isprintable() for call in calls)


def test_errors_on_the_command_line_have_no_escape_sequences(tmp_path, monkeypatch, refused):
    monkeypatch.chdir(tmp_path)
    for name in ("\x1b[31m", "\u202e", "\x9b2J"):
        for line in (f"eval {name} {name}", f"eval -m {name} {name}", f"ties {name}", name, f"eval --{name}"):
            assert not controls(refused(line))


# ---- tables for other programs --------------------------------------------------------------------


def test_csv_keeps_names_that_a_spreadsheet_would_read_as_formulas(results):
    """A prefix against formulas would change the identifiers, so CSV has none."""
    rows = list(csv.reader(io.StringIO(results.means().csv(), newline="")))
    assert [row[0] for row in rows[1:]] == list(NAMES)


def test_markdown_has_one_line_per_row_and_no_tags(results):
    for text in (results.means().to_markdown(), Table("", NAMES[:2], [(name, 1) for name in NAMES]).to_markdown()):
        assert text.count("\n") == len(NAMES) + 2
        assert "<" not in text


def in_markdown(text):
    """Return the types of all tokens that CommonMark finds in Markdown with tables, and the texts of the cells."""
    parser = pytest.importorskip("markdown_it").MarkdownIt("commonmark").enable(["table", "strikethrough"])
    inline = [token for token in parser.parse(text) if token.type == "inline"]
    types = {each.type for token in inline for each in token.children}
    return types | {token.type for token in parser.parse(text)}, [
        "".join(each.content for each in token.children) for token in inline
    ]


CELLS = {f"{kind}_{end}" for kind in ("table", "thead", "tbody", "tr", "th", "td") for end in ("open", "close")}
TEXT = {"inline", "text", "text_special"}


@given(st.lists(st.sampled_from([*IN_MARKDOWN, *"*_`[]()<>!|~$\\&#:@.- aB1é"]), min_size=1, max_size=8).map("".join))
@example("run_1.bm25")
def test_a_name_is_only_text_in_markdown(name):
    """Every name is shown as it is: none makes a link, an image, emphasis or another cell."""
    shown = Table("", (name, "b"), [(name, Marked(1, name)), (name, Marked(1, "1", raised=name))]).to_markdown()
    types, texts = in_markdown(shown)
    assert types <= CELLS | TEXT | {"html_inline"}
    assert texts == [name.strip(), "b", name.strip(), name.strip(), name.strip(), f"1<sup>{name}</sup>"]
    # GitHub makes links of addresses, too.
    assert not re.search(r"(?<!\\)://|www\.", shown)


def test_the_notes_of_a_table_in_markdown_are_only_text(tmp_path, printed):
    for name in ("a", "![x](y) *b*"):
        (tmp_path / f"{name}.run").write_text("1 Q0 d 1 1 t\n2 Q0 d 1 1 t\n")
    (tmp_path / "qrels").write_text("1 0 d 1\n2 0 d 1\n")
    runs = [str(tmp_path / f"{name}.run") for name in ("a", "![x](y) *b*")]
    shown = printed("eval", tmp_path / "qrels", *runs, "--table", "markdown", "--baseline", "![x](y) *b*")
    types, texts = in_markdown(shown)
    assert not types & {"image", "link_open", "em_open"}
    assert sum("![x](y) *b*" in text for text in texts) == 2


def test_latex_has_one_line_per_row_and_note_and_no_control_characters(results):
    lines = Table(NAMES[0], ("run", NAMES[1]), [(name, 1) for name in NAMES], NAMES).to_latex().splitlines()
    # The table is longer than a page, so it is in two pieces.
    ends = [[i for i, line in enumerate(lines) if line == rule] for rule in (r"\midrule", r"\bottomrule")]
    assert sum(end - start - 1 for start, end in zip(*ends, strict=True)) == len(NAMES)
    assert len(ends[0]) == 2
    assert sum(line.endswith(r"\par") for line in lines) == len(NAMES)
    assert not controls("\n".join([*lines, *results.means().to_latex().splitlines()]))


# ---- pages ----------------------------------------------------------------------------------------


def pages(results, report):
    """Yield (name, HTML) for the report and for everything that notebooks show."""
    rows = [(name, Marked(name, name, True, name, name), 1) for name in NAMES]
    table = Table(IN_PAGES[0], IN_PAGES[:3], rows, IN_PAGES)
    yield "report", (report / "report.html").read_text("utf-8")
    for name, each in (("results", results), ("means", results.means()), ("table", table)):
        yield name, f"<!DOCTYPE html>\n<html>{each._repr_html_()}</html>"
        if each is not results:
            yield f"{name}-html", f"<!DOCTYPE html>\n<html>{each.to_html()}</html>"


TAGS = """!DOCTYPE a b body details div figcaption figure h1 h2 h3 head html img li meta nav p pre section small style
summary sup table tbody td th thead title tr ul"""
# A report contains no other script.
OUR_SCRIPT = re.compile("<script>\n.*?</script>", re.DOTALL)


def test_names_add_no_tags_to_pages(results, report):
    for name, page in pages(results, report):
        page, n_scripts = OUR_SCRIPT.subn("", page)
        assert n_scripts == (name == "report")
        assert set(re.findall(r"<\s*/?\s*([A-Za-z!][A-Za-z0-9]*)", page)) <= set(TAGS.split()), name
        assert html.escape(IN_PAGES[0]) in page, name


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is on PATH")
def test_no_name_is_executed_in_a_browser(results, report, tmp_path):
    """A control page contains an unescaped name. It shows that the browser would execute an unescaped script."""

    def is_owned(name, page):
        path = tmp_path / f"{name}.html"
        path.write_text(page, "utf-8", "replace")
        return "owned" in re.search(r"<html[^>]*>", in_browser(path.as_uri(), tmp_path))[0]

    assert is_owned("control", f"<!DOCTYPE html>\n<html><body>{IN_PAGES[1]}</body></html>")
    # Load one page with everything that a notebook shows, the report, and a page with all figures.
    whole = dict(pages(results, report))
    # Remove the content security policy: the escaping alone must prevent execution.
    written = whole.pop("report")
    without = re.sub('<meta http-equiv="Content-Security-Policy"[^>]*>', "", written)
    assert len(without) < len(written)
    assert not is_owned("report", without)
    assert not is_owned("policy", written.replace("<h1>", f"<h1>{IN_PAGES[0]}{IN_PAGES[1]}", 1))
    assert not is_owned("notebook", "".join(whole.values()))
    figures = "".join(figure.read_text() for figure in report.glob("*.svg"))
    assert not is_owned("figures", f"<!DOCTYPE html>\n<html><body>{figures}</body></html>")


# ---- folders --------------------------------------------------------------------------------------


def tree(folder):
    return sorted(os.path.join(path, name) for path, folders, files in os.walk(folder) for name in (*folders, *files))


def test_a_report_never_writes_outside_its_folder(experiment, report):
    """No run name becomes a path outside the folder. Symbolic links in place of files are replaced, not followed."""
    root = report.parent.parent
    files = [str(path) for path in sorted(report.iterdir())]
    assert tree(root) == sorted([str(report.parent), str(report), *files])
    assert all(re.fullmatch(r"[\w.-]+", os.path.basename(file)) for file in files)
    outside = root / "outside"
    outside.write_text("untouched")
    for file in files:
        os.remove(file)
        os.symlink(outside, file)
    os.symlink(root, report / ".unfinished-link")
    experiment.write(report, command=" ".join(IN_PAGES))
    assert outside.read_text() == "untouched"
    assert not any(os.path.islink(file) for file in files)
    assert tree(report) == sorted([*files, str(report / ".unfinished-link")])


def test_the_names_of_tables_and_figures_are_valid_file_names(tmp_path):
    """The file name of the figure about a run's queries contains the name of the run."""
    runs = {name: {"q": {"d": 2.0, "e": 1.0}} for name in (*IN_FOLDERS, IN_PAGES[0])}
    made = experiments.curves({"q": {"d": 1, "e": 0}}, runs)
    assert sum(name.startswith("queries-") for name in made.drawings()) == len(runs)
    for name in (*made.tables(), *made.drawings()):
        assert re.fullmatch(r"\w[\w.-]{,80}", name), name


def test_data_frames_refuse_names_that_are_not_utf_8(results):
    means = results.means()
    for make in (means.to_arrow, means.to_polars, results.to_arrow):
        assert r"frame: data frames hold text in UTF-8 only, and '\udcff' is not" in message_of(make)


def test_a_file_name_with_a_nul_byte_is_an_error(results, experiment, tmp_path):
    path = str(tmp_path / "a\0b.npz")
    for call in (experiment.write, experiment.to_csv, results.save, tieaware.Results.load):
        assert "embedded null " in message_of(call, path)
    assert not tree(tmp_path)


def test_a_file_of_results_keeps_all_names_unchanged(results, tmp_path):
    for name in ("results.npz", "results.parquet"):
        results.save(tmp_path / name)
        loaded = tieaware.Results.load(tmp_path / name)
        assert loaded.runs == results.runs == NAMES
        assert loaded.queries == NAMES
        np.testing.assert_array_equal(loaded.values, results.values)

"""The site that `make docs` builds is complete, and the checks of the site find faults."""

import html
import importlib
import inspect
import re
import shutil
import tomllib
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from support import docstrings
from support.pages import BROWSER, in_browser
from website import check, draw, package_page, stage

import tieaware

ROOT = Path(__file__).parents[2]
REF = package_page.reference(package_page.settings(), tieaware.__version__)
SOURCE = f"{package_page.repository()}/blob/{REF}/"


def entries():
    """Return the functions, classes and modules in docs/api, and the measures with an anchor in docs/measures.md."""
    pages = [*ROOT.glob("docs/api/*.md"), ROOT / "docs" / "measures.md"]
    text = "".join(path.read_text("utf-8") for path in pages)
    return set(re.findall(r"^::: (\S+)", text, re.MULTILINE)), set(re.findall(r'id="([\w.]+)"', text))


def named(name):
    """Return the module, or the object in a module, with this name."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        module, _, last = name.rpartition(".")
        return getattr(importlib.import_module(module), last)


def test_every_public_name_has_an_entry_in_the_api():
    """Every exported name, and every class that a public function returns."""
    directives, measures = entries()
    assert [name for name in check.public() if not {name, name.rpartition(".")[0]} & (directives | measures)] == []
    shown = [named(name) for name in directives]
    # The entry of a module in the API shows everything that the module exports, or defines if it has no exports.
    shown += [each for module in shown if inspect.ismodule(module) for each in docstrings.exported(module)]
    missing = {
        name: each
        for name, each in docstrings.public().items()
        if each not in shown and importlib.import_module(each.__module__) not in shown
    }
    assert missing == {}


def pages_of(nav):
    for each in nav:
        if isinstance(each, str):
            yield each
        elif isinstance(each, list):
            yield from pages_of(each)
        else:
            yield from pages_of(each.values())


def test_every_page_is_in_the_navigation_once():
    project = tomllib.loads((ROOT / "website" / "zensical.toml").read_text("utf-8"))["project"]
    pages = sorted(path for path in stage.places().values() if path.endswith(".md"))
    assert sorted(pages_of(project["nav"])) == pages


def test_the_settings_of_the_builder_have_values():
    """The address of the repository and the version come from the package."""
    made = tomllib.loads(stage.settings())["project"]
    assert made["repo_url"] == package_page.repository()
    assert made["repo_name"] == f"tieaware {tieaware.__version__}"
    assert not re.search(r"\{(address|ref|version|checkout)\}", stage.settings())


def test_formulas_are_written_so_that_they_are_typeset():
    """All formulas of the pages have GitHub's notation, which the staging converts, and none is in plain text."""
    plain = re.compile(r"[Σ∑Π∏√]|\$[^$\n]+\$")
    for source in (each for each in stage.places() if each.endswith(".md")):
        prose = stage.FORMULA.sub("", stage.FENCE.sub("", stage.page(source)))
        prose = re.sub(r"`[^`]*`", "", prose)
        assert plain.findall(prose) == [], source


@pytest.mark.parametrize("name", draw.FIGURES)
def test_the_figures_are_those_that_the_script_draws(name):
    """If this fails, run `python website/draw.py website/figures`."""
    assert (ROOT / "website" / "figures" / f"{name}.svg").read_text("utf-8") == draw.FIGURES[name]()


WHERE = {"docs/a/page.md": "a/page.md", "docs/b.md": "b.md", "examples/x.py": "examples/x.md"}


@pytest.mark.parametrize(
    ("page", "where", "text", "expected"),
    [
        ("docs/a/page.md", WHERE, "[b](../b.md#part) [out](https://example.org/a)\n```text\n[c](no.md)\n```\n", None),
        ("docs/a/page.md", WHERE, "[x](../../examples/x.py)", "[x](../examples/x.md)"),
        ("docs/b.md", WHERE, "$`a_1 \\, b_1`$", "$a_1 \\, b_1$"),
        ("docs/b.md", WHERE, "```pycon\n>>> print()\n<BLANKLINE>\n>>> 1\n1\n\n```",
         "```pycon\n>>> print()\n\n>>> 1\n1\n```"),
        ("docs/ties.md", stage.places(), "[performance.md](performance.md)", "[Performance](performance.md)"),
    ],
)  # fmt: skip
def test_links_lead_to_the_places_that_files_have_in_the_site(page, where, text, expected):
    """Links to files outside the site work too, links in code are left alone, and doctest directives are removed."""
    assert stage.linked(text, page, where) == (text if expected is None else expected)


def test_a_link_to_a_file_that_the_site_lacks_is_an_error():
    with pytest.raises(SystemExit, match=r"^docs/b.md: gone.md is linked, but is not part of the site$"):
        stage.linked("[gone](gone.md)", "docs/b.md", WHERE)


def test_examples_are_pages_of_the_site(tmp_path):
    stage.stage(tmp_path)
    shown = (tmp_path / "docs" / "examples" / "graders.md").read_text("utf-8")
    assert shown.startswith("---\nhide: [toc]\n---\n\n# Graders\n\nLLM graders and rerankers tie")
    assert (ROOT / "examples" / "graders.py").read_text("utf-8") in shown


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ('<a href="other.html#there">', None),
        ('<a href="https://example.org/x#y">', None),
        ('<a href="#here" id="here">', None),
        ('<a href="gone.html">', "index.html:1: gone.html: no such page"),
        ('<a href="other.html#gone">', "index.html:1: other.html#gone: no such anchor"),
        ('<a href="http://example.org">', "index.html:1: http://example.org: external links need https and a host"),
        ('<img src="gone.png">', "index.html:1: gone.png: no such page"),
        ('<script src="https://example.org/x.js">', "index.html:1: https://example.org/x.js: loaded from another host"),
        ('<link rel="stylesheet" href="//x.org/y.css">', "index.html:1: //x.org/y.css: loaded from another host"),
        ('<link rel="canonical" href="https://example.org/">', None),
        ('<b class="arithmatex">', "index.html: formulas need katex.min.js, katex.min.css, formulas.js"),
        ("<p>the sum $a_1$ of", "index.html: a formula is not marked as one: $a_1$"),
        ("<p><code>echo $a $b</code>", None),
        (f'<a href="{SOURCE}README.md#L1">', None),
        (f'<a href="{SOURCE}gone.py">', f"index.html:1: {SOURCE}gone.py: the repository has no such file"),
    ],
)
def test_faults_of_a_site_are_found(body, problem, tmp_path):
    (tmp_path / "index.html").write_text(body)
    (tmp_path / "other.html").write_text('<h2 id="there">')
    assert list(check.Site(tmp_path).problems()) == ([problem] if problem else [])


def test_names_missing_from_the_api_are_found(tmp_path):
    (tmp_path / "index.html").write_text('<h2 id="tieaware.evaluate">')
    missing = list(check.Site(tmp_path).missing())
    assert "tieaware.Evaluator: no entry in the API pages" in missing
    assert not [each for each in missing if each.startswith("tieaware.evaluate:")]
SITE = ROOT / "build" / "site"
# A page that loads the pages of the site in frames of some width, one after the other. For each, it prints the width of
# its content, how many formulas are not typeset, how many tables are cut, and how many examples copy a prompt.
FRAMES = """<!DOCTYPE html><html><body><pre></pre><script>
const pages = %s;
function next() {
  const page = pages.shift();
  if (!page) return;
  const frame = document.createElement("iframe");
  frame.style = "width: %dpx; height: 800px; border: 0";
  frame.onload = () => {
    const content = frame.contentDocument;
    const plain = [...content.querySelectorAll(".arithmatex")].filter(
      (formula) => !formula.querySelector(".katex") || formula.querySelector(".katex-error"));
    const cut = [...content.querySelectorAll("table")].filter(
      (table) => [table.parentElement, table.closest(".md-typeset__scrollwrap")].some(
        (box) => box && box.scrollWidth > box.clientWidth));
    const prompts = [...content.querySelectorAll("pre > code:has(.gp)")].filter(
      (code) => !code.dataset.copy || /^(>>>|[$]) /m.test(code.dataset.copy));
    const result = [page, content.documentElement.scrollWidth, plain.length, cut.length, prompts.length];
    document.querySelector("pre").append(result.join(" ") + "\\n");
    next();
    frame.remove();
  };
  frame.src = page;
  document.body.append(frame);
}
next();
</script></body></html>"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium is on PATH")
@pytest.mark.skipif(not SITE.is_dir(), reason="there is no site: make docs builds it")
@pytest.mark.parametrize("width", [390, 1280])
def test_every_page_fits_a_phone_and_a_notebook(width, tmp_path):
    """On a phone, wide tables scroll inside their boxes; on a notebook, none needs to. Formulas are typeset.

    A control page fails each test, which shows that they work.
    """
    shutil.copytree(SITE, tmp_path / "site")
    control = "<!DOCTYPE html><p style='width: 1500px'>wide <span class='arithmatex'>a formula</span>"
    control += "<div style='width: 9px'><table><td>wide</table></div><pre><code><b class=gp>$ </b>a</code></pre>"
    (tmp_path / "site" / "control.html").write_text(control)
    pages = sorted(path.relative_to(tmp_path / "site").as_posix() for path in (tmp_path / "site").rglob("*.html"))
    (tmp_path / "site" / "frames.html").write_text(FRAMES % (pages, width))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path / "site"))
    with server:
        Thread(target=server.serve_forever, daemon=True).start()
        loaded = in_browser(f"http://127.0.0.1:{server.server_port}/frames.html", tmp_path, timeout=300)
        server.shutdown()
    lines = re.findall(r"([^\s>]+\.html) (\d+) (\d+) (\d+) (\d+)", loaded)
    found = {page: tuple(map(int, numbers)) for page, *numbers in lines}
    assert sorted(found) == pages
    assert {page for page, (content, *_) in found.items() if content > width} == {"control.html"}
    assert {page for page, (_, plain, _, _) in found.items() if plain} == {"control.html"}
    if width > 390:
        assert {page for page, (_, _, cut, _) in found.items() if cut} == {"control.html"}
    assert {page for page, (*_, prompts) in found.items() if prompts} == {"control.html"}


@pytest.mark.slow
@pytest.mark.skipif(not SITE.is_dir(), reason="there is no site: make docs builds it")
def test_parameters_that_share_a_line_have_their_own_defaults():
    """The API pages once gave all parameters of a line, as in "alpha, confidence", the default of the first."""
    page = (SITE / "api" / "experiments.html").read_text("utf-8")
    entry = page[page.index('id="tieaware.experiments.compare"') :].partition("Returns:")[0]
    text = html.unescape(re.sub(r"\s+", " ", re.sub("<[^>]+>", "", entry)))
    for shown in ("confidence (float, default: 0.95 )", "correction (Correction | None, default: None )"):
        assert shown in text

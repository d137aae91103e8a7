"""The documentation: its examples run and print the output shown, and its lists are complete."""

import argparse
import doctest
import importlib
import importlib.util
import os
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from support import docstrings, inline_calls
from website import generated

import tieaware
from tieaware import cli
from tieaware.commands.demo_command import demo
from tieaware.commands.options import TABLES
from tieaware.measures import DEFINITIONS

ROOT = Path(__file__).parents[2]
# Modules written in Python. Compiled kernels have no examples.
MODULES = sorted(
    m.name
    for m in pkgutil.walk_packages(tieaware.__path__, "tieaware.")
    if importlib.util.find_spec(m.name).origin.endswith(".py")
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_docstrings_run(name):
    """Every doctest of every module passes."""
    module = importlib.import_module(name)
    public = {name: getattr(tieaware, name) for name in tieaware.__all__}
    assert doctest.testmod(module, globs={"tieaware": tieaware, **public, **vars(module)}).failed == 0


PAGES = (
    "c_interface.md", "certainty.md", "chance.md", "ci.md", "data.md", "diversity.md", "exposure.md", "index.md",
    "judgments.md", "measures.md", "planning.md", "precision.md", "results.md", "retrieval.md", "scaling.md",
    "smoothing.md", "tie_rules.md", "ties.md", "uncertain_labels.md",
)  # fmt: skip
# The pages of tools are run by tests/integrations/test_pages.py.
DOCUMENTS = ["README.md", "CONTRIBUTING.md", *(f"docs/{name}" for name in PAGES)]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_examples_in_the_documents_run(name, tmp_path, monkeypatch):
    """Every doctest of the file passes, and every call in its text; pages for users have at least one doctest."""
    text = (ROOT / name).read_text("utf-8")
    examples = doctest.DocTestParser().get_doctest(text, {"__name__": "__main__"}, name, name, 0)
    runner = doctest.DocTestRunner()
    runner.run(examples, clear_globs=False)
    assert runner.summarize(verbose=False).failed == 0
    assert runner.tries > 0 or name == "CONTRIBUTING.md"
    monkeypatch.chdir(tmp_path)  # some calls write files
    assert list(inline_calls.problems(text, examples.globs)) == []


# The changelog is left out: it names calls of earlier versions, too.
OTHERS = {*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")}
OTHERS -= {path for path in ROOT.glob("docs/tools/*.md") if path.stem not in ("README", "spark")}
OTHERS = {str(path.relative_to(ROOT)) for path in OTHERS} - {*DOCUMENTS, "CHANGELOG.md"}


@pytest.mark.parametrize("name", sorted(OTHERS))
def test_calls_on_pages_whose_examples_are_not_run_here(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert list(inline_calls.problems((ROOT / name).read_text("utf-8"), {})) == []


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        ('result.intervals().plot("RR")', "raises InputError: plot: the first argument is matplotlib axes; type plot"),
        ('result.intervals().plot(measure="RR")', ""),
        ('intervals.plot("RR")', "raises InputError: plot: the first argument is matplotlib axes; type plot"),
        ('line.plot("nDCG@10")', "raises InputError: plot: the first argument is matplotlib axes; type plot"),
        ("line.plot()", ""),
        ("result.interval()", "raises AttributeError: "),
        ("result.interval(…)", "calls result.interval, which does not exist"),
        ("unknown.intervals(levels=0.9)", "calls unknown.intervals with arguments that it does not take"),
        ("unknown.intervals(level=0.9)", ""),
        ("unknown.internals(level=0.9)", "calls unknown.internals, which does not exist"),
        ("tieaware.evaluate(qrels, runs)", "raises TypeError: "),
        ("tieaware.evaluate(qrels, path)", "calls tieaware.evaluate with arguments that it does not take"),
        ("evaluate(qrels, …, threads=2)", ""),
        ("tieaware.evaluat(path, runs, measures)", "calls tieaware.evaluat, which does not exist"),
        ("feval=metric('nDCG@10')", ""),
        (".to_dict(path, path)", "calls to_dict with arguments that it does not take"),
        ("nDCG(dcg='exp-log2')@10", ""),
        ("nDCG(dgc='exp-log2')@10", "raises InputError: nDCG: unknown parameter 'dgc'"),
        ("evaluate(qrels, runs", "is not Python"),
    ],
)
def test_wrong_calls_in_running_text_are_found(span, expected):
    result = tieaware.evaluate({"q1": {"d1": 1}, "q2": {"d1": 1}}, {"a": {"q1": {"d1": 1.0}}}, "RR")
    text = f"Some text with `{span}` in it.\n\n```python\n`not_this(1)`\n```\n"
    assert inline_calls.calls(text) == [span]
    found = inline_calls.problem(span, {"result": result, "nDCG": tieaware.nDCG})
    assert found.startswith(expected)
    assert bool(found) == bool(expected)


OF_COMMANDS = [name for name in DOCUMENTS if "```console" in (ROOT / name).read_text("utf-8")]


@pytest.mark.parametrize("name", [*OF_COMMANDS, "docs/tools/searching.md", "docs/tools/trec_eval.md"])
def test_the_commands_in_the_documents_print_what_follows_them(name, tmp_path):
    """In console blocks, a line that begins with a dollar is a command; its output includes standard error."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for block in re.findall("```console\n(.*?)```", (ROOT / name).read_text("utf-8"), re.DOTALL):
        for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = example.partition("\n")
            done = subprocess.run(
                command, shell=True, cwd=tmp_path, env={**os.environ, "PATH": path}, encoding="utf-8",
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
            assert done.stdout == expected, command


def page(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_readme_shows_values_of_the_demo():
    rows = re.findall(r"^\| ([\w-]+) \| (\d.\d{4}) \| (\d.\d{4}) \| (\d.\d{4}) \|$", page("README.md"), re.MULTILINE)
    printed = {line.split()[0]: line.split() for line in demo().splitlines() if "%" in line}
    assert len(rows) == 3
    for run, by_order, by_id, average in rows:
        assert (by_order, by_id, average) == (*printed[run][2:4], printed[run][5])


def test_the_readme_is_short():
    assert len(page("README.md").splitlines()) <= 120
    assert len(page("README.md").split()) <= 1_000


def test_the_index_has_a_row_for_every_command():
    (commands,) = (each for each in cli._parser()._actions if isinstance(each, argparse._SubParsersAction))
    assert set(re.findall(r"^\| `tieaware ([\w-]+)`", page("docs/index.md"), re.MULTILINE)) == set(commands.choices)


def submodules(package):
    return pkgutil.iter_modules(package.__path__)


def test_the_index_lists_the_tables_in_json_output():
    rows = re.findall(r"^\| `([\w-]+)` \| (`[\w-]+`.*) \|$", page("docs/index.md"), re.MULTILINE)
    found = {command: tuple(re.findall(r"`([a-z][\w-]*)`", names)) for command, names in rows}
    assert found == TABLES


def test_every_extra_is_documented():
    extras = set(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"])
    text = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("docs/**/*.md"))
    documented = {name for names in re.findall(r"tieaware\[([\w,-]+)\]", text) for name in names.split(",")}
    assert documented == extras


@pytest.mark.parametrize("name", generated.WRITTEN)
def test_lists_of_measures_and_tie_rules_are_generated(name):
    """If this fails, run `python -m website.generated`."""
    assert generated.WRITTEN[name](page(name)) == page(name)


def test_every_measure_has_a_formula_and_a_source():
    """The formula is one line of TeX."""
    for definition in DEFINITIONS.values():
        assert definition.formula.isprintable()
        assert definition.formula
        assert definition.source
        assert all(text.count("$`") == text.count("`$") for text in (definition.where, definition.title))


PUBLIC = docstrings.public()


@pytest.mark.parametrize("name", PUBLIC)
def test_public_docstrings_are_complete(name):
    """A public function has a summary line, Parameters, Returns, Raises and Examples, and so has a public class.

    Parameters must equal those of the signature. Returns (or Yields) is required if the signature has a return type
    other than None. Raises is required if there is a raise statement in the function, in a function of tieaware that it
    calls by name, or in a private method that it calls. tests/support/docstrings.py says which names are public, and
    what methods, properties and classes need.
    """
    assert docstrings.lacks(PUBLIC[name]) == []


def test_what_is_public_is_found():
    """Public are exported names, all names of a module without exports, returned classes, and submodules."""
    assert {
        "tieaware.evaluator.Evaluator",
        "tieaware.engine.spread.Spread",
        "tieaware.precision.formats.Levels",
        "tieaware.statistics.paired_tests.PairedTest",
        "tieaware.experiments._tie_prevalence.tie_prevalence",
        "tieaware.reference.pairs.mean_of_binary_preference",
    } <= set(PUBLIC)
    assert {"TiePrevalence", "Comparison", "Table"} <= {each.__name__ for each in PUBLIC.values()}
    assert "columns" in {name for name, _, _ in docstrings.methods(tieaware.Evaluator)}

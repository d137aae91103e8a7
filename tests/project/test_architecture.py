"""The architecture: rules on which module may import which, and on where modules, kernels and tests belong.

Imports are read from the source, so that imports inside functions and imports for types alone count as well.
"""

import ast
import importlib
import importlib.metadata
import pkgutil
import re
import subprocess
import sys
import textwrap
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from types import ModuleType

import pytest

import tieaware
from tieaware.measures import DEFINITIONS

SOURCE = Path(tieaware.__file__).parent
ROOT = Path(__file__).parents[2]

# The floors from the lowest to the highest. Each lists prefixes of module names; the longest matching prefix decides on
# which floor a module is. A module imports from its own floor and from lower floors only.
FLOORS = (
    ("kernels", "errors", "_version"),
    ("checks", "runtime"),
    ("lists", "output", "defaults"),
    ("measures", "ties", "precision", "inputs"),
    ("engine", "reference", "statistics"),
    ("results", "samples", "lines", "conformance"),
    ("evaluator", "_evaluate"),
    ("trec_eval", "retrieval", "optimise", "fairness"),
    ("experiments",),
    ("commands", "integrations", "testing"),
    ("cli",),
    ("__main__",),
)
MOST_FLOORS = 12
MOST_MODULES = 10

# The folders of tests that mirror no package: tests of the whole project, of all packages, or with other tools.
OTHER_TESTS = {"concurrency", "faults", "mutations", "project", "scale", "spark", "support", "tools", "typing"}
KERNEL_FOLDERS = {"engine", "inputs", "retrieval"}


def _modules():
    """Return the files of all Python modules by name."""
    files = {}
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        files[".".join(("tieaware", *parts)).removesuffix(".__init__")] = path
    return files


MODULES = _modules()
PACKAGES = {name: path for name, path in MODULES.items() if path.stem == "__init__"}
PUBLIC_PACKAGES = {name.removeprefix("tieaware.") for name in PACKAGES} & set(tieaware.__all__)
KERNELS = {f"tieaware.kernels.{module.name}" for module in pkgutil.iter_modules(tieaware.kernels.__path__)}


def _imported(path):
    """Return the modules of tieaware that a file imports anywhere, for any purpose."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports are not allowed"
            for alias in node.names:
                member = f"{node.module}.{alias.name}"
                found.add(member if member in MODULES or member in KERNELS else node.module)
    return {name for name in found if name.partition(".")[0] == "tieaware"}


IMPORTS = {name: _imported(path) for name, path in MODULES.items()}


def _floor(module):
    """Return the index of a module's floor."""
    name = module.removeprefix("tieaware.")
    fits = [(len(prefix), i) for i, floor in enumerate(FLOORS) for prefix in floor if name.startswith(prefix)]
    assert fits, f"{module} is on no floor; add it to FLOORS"
    return max(fits)[1]


def test_no_imports_form_a_circle():
    try:
        TopologicalSorter(IMPORTS).prepare()
    except CycleError as error:
        pytest.fail(" ← ".join(error.args[1]))


@pytest.mark.parametrize("module", sorted(set(MODULES) - {"tieaware"}))
def test_imports_run_down(module):
    """A module imports no module of a higher floor, and not the package tieaware itself, which is above all floors."""
    assert "tieaware" not in IMPORTS[module]
    above = {name for name in IMPORTS[module] if _floor(name) > _floor(module)}
    assert not above


def test_there_are_few_floors():
    assert len(FLOORS) <= MOST_FLOORS


# The package tieaware itself names its public packages for type checkers, and imports them on first use.
def test_no_module_imports_the_integrations():
    inside = {name for name in MODULES if name.startswith("tieaware.integrations")}
    assert inside
    assert not [name for name in set(IMPORTS) - inside - {"tieaware"} if IMPORTS[name] & inside]


def test_retrieval_is_independent_of_evaluation():
    """Retrieval makes runs and does not evaluate them. Only its experiment and its commands import it."""
    inside = {name for name in MODULES if name.startswith("tieaware.retrieval")}
    assert inside
    evaluation = {f"tieaware.{name}" for name in ("_evaluate", "evaluator", "results", "engine", "measures")}
    assert not [name for name in inside if IMPORTS[name] & evaluation]
    users = {name for name in set(MODULES) - inside - {"tieaware"} if IMPORTS[name] & inside}
    commands = {f"tieaware.commands.{name}" for name in ("retrieval_commands", "retrieval_options")}
    assert users == {"tieaware.experiments._inexact", *commands}


def test_imports_are_found_everywhere_in_a_module(tmp_path):
    """The helper finds imports at the top of a module, under TYPE_CHECKING and in functions, and imports of kernels."""
    source = """
        import numpy
        import tieaware.errors
        from tieaware import ties, AP
        from tieaware.kernels import _slots
        if TYPE_CHECKING:
            from tieaware.inputs import Run
        def late():
            from tieaware.results import Results
        """
    (tmp_path / "module.py").write_text("if True:" + source)
    names = {"errors", "ties", "kernels._slots", "inputs", "results"}
    assert _imported(tmp_path / "module.py") == {"tieaware", *(f"tieaware.{name}" for name in names)}


def test_the_first_level_has_few_modules():
    assert len(list(SOURCE.glob("*.py"))) <= MOST_MODULES


def test_no_two_modules_have_the_same_name():
    """The last part of a module's name identifies it in tracebacks and searches. Compiled kernels are exempt."""
    names = Counter(path.stem for path in MODULES.values() if path.stem not in ("__init__", "__main__"))
    assert [name for name, n in names.items() if n > 1] == []


@pytest.mark.parametrize(
    "package", ["", ".conformance", ".experiments", ".fairness", ".statistics", ".reference", ".retrieval"]
)
def test_no_module_has_the_name_of_a_public_object_of_its_package(package):
    """Otherwise ``package.name`` would depend on which modules were imported before."""
    package = f"tieaware{package}"
    opened = importlib.import_module(package)
    modules = [module.name for module in pkgutil.iter_modules(opened.__path__)]
    for name in modules:
        importlib.import_module(f"{package}.{name}")
    public = PUBLIC_PACKAGES if opened is tieaware else set()
    assert set(modules) & set(getattr(opened, "__all__", ())) == public
    assert all(isinstance(getattr(opened, name), ModuleType) for name in modules)


def test_every_folder_of_tests_mirrors_a_package():
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/*.py")}
    packages = {name.removeprefix("tieaware.") for name in PACKAGES}
    assert folders >= OTHER_TESTS
    assert folders - OTHER_TESTS <= packages


def _kernel_sources(*suffixes):
    return sorted(path for path in (ROOT / "ext").rglob("*") if path.suffix in suffixes)


def test_the_sources_of_kernels_are_in_their_folders():
    """The folders are named after the packages that use the kernels."""
    sources = _kernel_sources(".pyx", ".pxd", ".h", ".c")
    assert {path.parent for path in sources} == {ROOT / "ext" / folder for folder in KERNEL_FOLDERS}


@pytest.mark.parametrize("path", _kernel_sources(".pyx"), ids=lambda path: path.name)
def test_kernels_have_no_list_comprehensions(path):
    """If the list of a comprehension cannot grow, Cython 3.3 frees the new element twice."""
    code = re.sub(r'""".*?"""|"[^"\n]*"|#[^\n]*', "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert re.findall(r"\[(?:[^\[\]]|\[[^\[\]]*\])*\sfor\s[^\]]*|\(\*\w[\w.[\]:-]*,", code) == []


@pytest.mark.parametrize("path", _kernel_sources(".pyx", ".pxd"), ids=lambda path: path.name)
def test_kernels_are_translated_soon_and_again_when_a_declaration_changes(path):
    """Cython takes longer to read NumPy's own declarations than to translate most kernels.

    It lists the files that a kernel depends on, but not those of ``from tieaware.kernels cimport _name``.
    """
    assert not re.search("cimport numpy|from tieaware.kernels cimport", path.read_text(encoding="utf-8"))


def test_the_version_is_that_of_the_installed_package():
    assert tieaware.__version__ == importlib.metadata.version("tieaware")


def test_dir_lists_public_names_only():
    """In a notebook, completion shows what `dir` returns."""
    assert {name for name in dir(tieaware) if not name.startswith("__")} == set(tieaware.__all__)
    assert "__version__" in dir(tieaware)
    for name in PUBLIC_PACKAGES:
        if name == "integrations":
            continue
        package = getattr(tieaware, name)
        assert dir(package) == sorted(package.__all__)


def _loaded_by(code):
    """Return the modules of tieaware that some lines of Python load in a new process."""
    code += "\nimport sys; print(*[name for name in sys.modules if name.startswith('tieaware')])"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


def test_the_import_of_the_package_loads_nothing_else():
    """Public names and packages are imported on first use; completion and other spellings load no package."""
    assert _loaded_by("import tieaware; dir(tieaware)") == {"tieaware", "tieaware._version"}
    code = """
        import tieaware
        print(tieaware.retrieval.Index.__name__, tieaware.statistics.holm.__name__, tieaware.integrations.__name__)
        print(hasattr(tieaware, "experimints"), "AP" in vars(tieaware), str(tieaware.AP), "AP" in vars(tieaware))
        """
    found = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert found.stdout == "Index holm tieaware.integrations\nFalse False AP True\n"


def test_all_attributes_of_the_package_are_imported_on_first_use():
    """The imports for type checkers, the modules of names, and the names of packages agree with each other."""
    tree = ast.parse(PACKAGES["tieaware"].read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {alias.name: node.module for node in block.body for alias in node.names}
    assert set(typed) == set(tieaware.__all__)
    for name, module in typed.items():
        assert getattr(tieaware, name) is getattr(importlib.import_module(module), name)
    modules = {name.name for name in pkgutil.iter_modules(tieaware.__path__) if not name.name.startswith("_")}
    assert modules == set(tieaware._ROOMS)
    assert all(getattr(tieaware, name) is sys.modules[f"tieaware.{name}"] for name in modules)


def test_evaluating_dicts_loads_no_readers_of_files_and_no_optimisers():
    """A first call pays for the modules that it uses, not for those of other inputs, results and names of measures."""
    code = "import tieaware; tieaware.evaluate({'q': {'a': 1}}, {'q': {'a': 1.0, 'b': 1.0}}, ['AP', 'nDCG@10']).mean()"
    others = {
        "evaluator", "fairness", "lines", "optimise", "statistics", "experiments", "retrieval", "trec_eval",
        "measures.spellings",
    }  # fmt: skip
    assert not {f"tieaware.{name}" for name in others} & _loaded_by(code)


def _texts(path):
    """Return the string constants of a module, without docstrings: (line, text)."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = [node for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)]
    docstrings = {id(node.body[0].value) for node in documented if node.body and isinstance(node.body[0], ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value


# Rooms whose texts are for users of the command line, or for those of another tool.
TOP = ("tieaware.commands", "tieaware.cli", "tieaware.integrations", "tieaware.conformance")
# A name that a text calls or whose attribute it names, as in evaluate(…) and result.to_csv(path).
NAMED = re.compile(r"(?<![\w.'])(?:tieaware\.)?([A-Za-z]\w*)(?=[.(])")
INSTANCES = {"result": "results", "evaluator": "evaluator", "fusion": "optimise"}


def _room(name):
    """Return the module of a name of the interface, by the name that texts use; None for any other name."""
    if name in tieaware.__all__ and name not in DEFINITIONS:
        return tieaware._MODULES.get(name, name)
    return INSTANCES.get(name)


def test_no_text_names_what_is_above_its_room():
    """Only hints.toml tells users of a lower room about a higher one. A text for readers has a space."""
    found = []
    for module, path in MODULES.items():
        if module == "tieaware" or module.startswith(TOP):
            continue
        for line, text in _texts(path):
            for name in NAMED.findall(text) if " " in text else ():
                room = _room(name)
                if room is not None and _floor(f"tieaware.{room}") > _floor(module):
                    found.append(f"{path.name}:{line}: {text}")
    assert found == []


PARSED = {"startswith", "endswith", "partition", "rpartition", "split", "replace", "removeprefix", "removesuffix"}


def _parses(node):
    """Return whether an expression takes the problem of an error apart, or searches the text of an error."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in PARSED:
        taken = node.func.value
        return isinstance(taken, ast.Attribute) and taken.attr == "problem"
    if isinstance(node, ast.Compare) and any(isinstance(each, ast.In | ast.NotIn) for each in node.ops):
        (compared, *_) = node.comparators
        return (isinstance(compared, ast.Attribute) and compared.attr == "problem") or _is_text_of_error(compared)
    return isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.") and any(
        map(_is_text_of_error, node.args)
    )  # fmt: skip


def _is_text_of_error(node):
    return isinstance(node, ast.Call) and [ast.unparse(each) for each in (node.func, *node.args)] == ["str", "error"]


def test_nothing_parses_a_message():
    """Errors have fields: where, problem, expected, found and argument."""
    found = [
        f"{path.name}:{node.lineno}" for path in MODULES.values()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))) if _parses(node)
    ]  # fmt: skip
    assert found == []

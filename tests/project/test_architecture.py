"""Who may import whom: read from the source, so that what is imported late or for types alone counts as well."""

import ast
import importlib
import importlib.metadata
import pkgutil
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from types import ModuleType

import pytest

import tieaware

SOURCE = Path(tieaware.__file__).parent

# From the ground up, by the beginnings of names; the longest counts. A module imports from its own floor and below.
FLOORS = (
    ("kernels", "errors", "_version"),
    ("checks", "runtime"),
    ("lists", "output", "defaults"),
    ("measures", "ties", "precision", "inputs"),
    ("engine", "reference", "statistics"),
    ("results", "samples"),
    ("evaluator", "_evaluate"),
    ("trec_eval", "retrieval"),
    ("experiments",),
    ("commands", "integrations"),
    ("cli",),
)


def _modules():
    """All modules written in Python: their files, by name."""
    files = {}
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        files[".".join(("tieaware", *parts)).removesuffix(".__init__")] = path
    return files


MODULES = _modules()
KERNELS = {f"tieaware.kernels.{module.name}" for module in pkgutil.iter_modules(tieaware.kernels.__path__)}


def _imported(path):
    """The modules of tieaware that a file imports, wherever in it and whatever for."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import, expected absolute ones"
            for alias in node.names:
                member = f"{node.module}.{alias.name}"
                found.add(member if member in MODULES or member in KERNELS else node.module)
    return {name for name in found if name.partition(".")[0] == "tieaware"}


IMPORTS = {name: _imported(path) for name, path in MODULES.items()}


def _floor(module):
    """The number of the floor that a module is on."""
    name = module.removeprefix("tieaware.")
    fits = [(len(prefix), i) for i, floor in enumerate(FLOORS) for prefix in floor if name.startswith(prefix)]
    assert fits, f"{module}: on no floor, expected one of FLOORS to name it"
    return max(fits)[1]


def test_no_imports_form_a_circle():
    try:
        TopologicalSorter(IMPORTS).prepare()
    except CycleError as error:
        pytest.fail(" ← ".join(error.args[1]))


@pytest.mark.parametrize("module", sorted(set(MODULES) - {"tieaware"}))
def test_imports_run_down(module):
    """And nobody inside goes through the front door."""
    assert "tieaware" not in IMPORTS[module]
    above = {name for name in IMPORTS[module] if _floor(name) > _floor(module)}
    assert not above


def test_nobody_imports_the_integrations():
    """Nor what opens the front door."""
    inside = {name for name in MODULES if name.startswith("tieaware.integrations")}
    assert inside
    assert not [name for name in IMPORTS if name not in inside and IMPORTS[name] & inside]


def test_retrieval_is_a_room_of_its_own():
    """It makes runs, and does not evaluate them; only its experiment, and the commands, know of it."""
    inside = {name for name in MODULES if name.startswith("tieaware.retrieval")}
    assert inside
    of_evaluation = {f"tieaware.{name}" for name in ("_evaluate", "evaluator", "results", "engine", "measures")}
    assert not [name for name in inside if IMPORTS[name] & of_evaluation]
    users = {name for name in set(MODULES) - inside if IMPORTS[name] & inside}
    assert users == {"tieaware.experiments._inexact", "tieaware.commands.inexact_command"}


def test_the_reader_of_imports_sees_all_of_them(tmp_path):
    """At the top, for types, in functions, and of kernels."""
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


@pytest.mark.parametrize("package", ["", ".experiments", ".statistics", ".reference", ".retrieval"])
def test_no_module_has_the_name_of_what_its_package_offers(package):
    """So that ``package.name`` is one thing, whatever was imported before."""
    package = f"tieaware{package}"
    opened = importlib.import_module(package)
    modules = [module.name for module in pkgutil.iter_modules(opened.__path__)]
    for name in modules:
        importlib.import_module(f"{package}.{name}")
    assert not set(modules) & set(getattr(opened, "__all__", ()))
    assert all(isinstance(getattr(opened, name), ModuleType) for name in modules)


KERNEL_SOURCES = sorted((Path(__file__).parents[2] / "ext").glob("*/*.pyx"))


@pytest.mark.parametrize("path", KERNEL_SOURCES, ids=lambda path: path.name)
def test_kernels_have_no_list_comprehensions(path):
    """Where such a list cannot grow, Cython 3.3 frees the element twice: found by failing every allocation."""
    code = re.sub(r'""".*?"""|"[^"\n]*"|#[^\n]*', "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert re.findall(r"\[(?:[^\[\]]|\[[^\[\]]*\])*\sfor\s[^\]]*|\(\*\w[\w.[\]:-]*,", code) == []


def test_the_version_is_that_of_the_package():
    assert tieaware.__version__ == importlib.metadata.version("tieaware")

"""The calls in the running text of pages, such as `result.intervals()`: each is run, or at least bound to a signature.

A call is run if the examples of its page define all of its names, or else if `usual` does. Otherwise it has
placeholders, such as `path`; then what it calls must exist, and its arguments must fit the signature.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import importlib.util
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from support import docstrings

import tieaware
from tieaware import experiments, fairness, optimise, retrieval, statistics
from tieaware.errors import InputError
from tieaware.measures import parse_measure

# Blocks of code, and formulas.
NO_TEXT = re.compile(r"^( *)```.*?^\1```|\$`[^`]*`\$", re.DOTALL | re.MULTILINE)
SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
# A name directly before a bracket. Options of commands and formulas of spreadsheets have these, too.
CALL = re.compile(r"[A-Za-z_]\w*\(")
OTHER = re.compile(r"[-@]|tieaware |eval ")
# These change other tools for all later tests, and are not run.
EFFECTS = {"install", "uninstall", "scorer"}
# The objects that pages call by these names.
OBJECTS = {"evaluator": tieaware.Evaluator}
MODULES = {"np": "numpy", "json": "json", "polars": "polars", "duckdb": "duckdb", "optuna": "optuna"}
# Names of other tools, with the module that has them; None if nothing in the suite needs it.
TOOLS: dict[str, str | None] = {
    **dict.fromkeys(("ndcg_score", "dcg_score", "recall_score", "make_scorer"), "sklearn.metrics"),
    "Decimal": "decimal", "LGBMRanker": "lightgbm", "XGBRanker": "xgboost",
    **dict.fromkeys((
        "LightGBMPruningCallback", "XGBoostPruningCallback", "LogRankWeight", "RunAnalysis", "NDCG", "MRR", "trm",
        "build_tie_groups", "torch", "activation_fn", "report.to_latex", "trainer", "full_tensor", "spark", "rename",
        "fit", "parquet", "backward", "set_score_request", "set_fit_request", "detach", "toarray",
    )),
    # The functions of the C interface, and a class that is created when its tool is there.
    **dict.fromkeys(("prepare", "message", "RankingMetric")),
}  # fmt: skip


# Functions of a tool that is not installed, which have the names of ours.
THEIRS = {"ranx": ("evaluate", "compare", "fuse", "Qrels", "Run")}


def calls(text: str) -> list[str]:
    """Return the spans of code in the running text that have a call, each once."""
    found = (" ".join(span[2].split()) for span in SPAN.finditer(NO_TEXT.sub("", text)))
    return [each for each in dict.fromkeys(found) if CALL.search(each) and not OTHER.match(each)]


def problem(span: str, names: dict[str, Any], tool: str = "") -> str:
    """Return what is wrong with a call; empty if it runs, or if what it calls exists and takes its arguments.

    Parameters
    ----------
    span : str
    names : dict
        The names that the examples of the page define.
    tool : str
        The name of the tool that the page is about, whose integration comes before others of the same name.
    """
    if is_measure(span):
        return ""
    tree = parsed(span)
    if tree is None:
        return "is not Python"
    nodes = list(ast.walk(tree))
    used = {each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
    called = [each for each in nodes if isinstance(each, ast.Call)]
    last = {ast.unparse(each.func).rpartition(".")[2] for each in called}
    is_whole = not any(isinstance(each, ast.Constant) and each.value is ... for each in nodes)
    if is_whole and not last & (EFFECTS | TOOLS.keys()):
        bare = {each.func.id for each in called if isinstance(each.func, ast.Name)}
        others = {name: value for name, value in usual().items() if callable(value) or name not in bare}
        for defined in (names, others):
            if used <= defined.keys() | vars(builtins).keys() | {"tieaware"}:
                return raised(tree, defined)
    return next(filter(None, (unbound(each, names, tool) for each in called)), "")


def raised(tree: ast.Module, names: dict[str, Any]) -> str:
    """Run a call; return the error that it raises, unless it lacks the file of a reader of the page."""
    try:
        exec(compile(tree, "page", "exec"), {"tieaware": tieaware, **names})
    except Exception as error:
        if not re.search("no such file|No files found", str(error)):
            return f"raises {type(error).__name__}: {error}"
    return ""


@functools.cache
def usual() -> dict[str, Any]:
    """Return the objects that pages call by the same names, which fit together."""
    rng = np.random.default_rng(0)
    labels, first, second = rng.integers(0, 2, (12, 6)), *rng.integers(1, 5, (2, 12, 6)).astype(float)
    labels[:, 0] = 1
    qrels = {f"q{i}": {f"d{j}": int(label) for j, label in enumerate(row)} for i, row in enumerate(labels)}
    runs = {
        name: {f"q{i}": {f"d{j}": float(score) for j, score in enumerate(row)} for i, row in enumerate(scores)}
        for name, scores in (("bm25", first), ("dense", second))
    }
    result = tieaware.evaluate(qrels, runs, ["AP", "RR", "nDCG@10"], spread=True, chance=True)
    evaluator = tieaware.Evaluator(labels, "nDCG@10")
    return {
        "labels": labels, "scores": first, "qrels": qrels, "runs": runs, "run": tieaware.Run.from_dict(runs["bm25"]),
        "measures": ["AP", "RR"],
        "result": result, "results": result, "intervals": result.intervals(), "table": result.table(),
        "evaluator": evaluator, "spread": evaluator.spread(first), "line": evaluator.between(first, second),
        "a": first, "b": second, "values": result.values[:, :, 0], "outcome": experiments.compare(result),
    }  # fmt: skip


def is_measure(span: str) -> bool:
    try:
        parse_measure(span)
    except InputError:
        return False
    return True


def parsed(span: str) -> ast.Module | None:
    """Parse a statement, keyword arguments, an entry of a dict, or a method without its object."""
    text = span.replace("…", "...").removeprefix(".").removeprefix("return ")
    keywords = [f"dict({text})"] if re.match(r"\w+=[^=]", text) else []
    for attempt in (*keywords, text, f"{{{text}}}"):
        try:
            return ast.parse(attempt)
        except SyntaxError:
            pass
    return None


def unbound(call: ast.Call, names: dict[str, Any], tool: str) -> str:
    """Return why a call cannot be right; empty if some function of this name takes its arguments."""
    name = ast.unparse(call.func)
    # The result of a call is not known, so its own call is not checked.
    is_known = isinstance(call.func, ast.Call) or name in vars(builtins) or name in THEIRS.get(tool, ())
    found = None if is_known else candidates(name, names, tool)
    if found is None or any(takes(each, call) for each in found):
        return ""
    return f"calls {name} with arguments that it does not take" if found else f"calls {name}, which does not exist"


def candidates(name: str, names: dict[str, Any], tool: str) -> list[Callable[..., Any]] | None:
    """Return the functions that a name can mean; None for one of a tool that is not installed."""
    first, _, rest = name.partition(".")
    last = name.rpartition(".")[2]
    foreign = next((each for each in (name, first, last) if each in TOOLS and each not in names), None)
    if foreign is not None:
        return None if TOOLS[foreign] is None else attribute(importlib.import_module(TOOLS[foreign]), name)
    by_name = [*index().get(last, ()), *attribute(np.zeros(1), last)]
    if not re.fullmatch(r"[\w.]+", name):  # a method of what another call returns
        return by_name
    if name in OBJECTS and name not in names:
        return [functools.partial(OBJECTS[name].__call__, None)]
    if first in MODULES:
        return attribute(importlib.import_module(MODULES[first]), rest)
    if first == "tieaware":
        return attribute(tieaware, rest)
    found = [*attribute(names.get(first), rest)] if first in names else []
    found += [*(attribute(module_of(first), rest) if rest else []), *attribute(module_of(tool), name)]
    if tool and importlib.util.find_spec(tool):
        found += attribute(importlib.import_module(tool), rest if first == tool else name)
    elif tool and not found and not any(name == each.__name__ for each in by_name if hasattr(each, "__name__")):
        return None
    return found or by_name


@functools.cache
def module_of(name: str) -> Any:
    for full in (f"tieaware.integrations.{name}", f"tieaware.{name}"):
        try:
            return importlib.import_module(full)
        except ModuleNotFoundError:
            pass
    return None


def attribute(value: Any, path: str) -> list[Any]:
    for part in filter(None, path.split(".")):
        if inspect.ismodule(value) and not hasattr(value, part):
            try:
                value = importlib.import_module(f"{value.__name__}.{part}")
                continue
            except ModuleNotFoundError:
                return []
        if not hasattr(value, part):
            return []
        value = getattr(value, part)
    return [value]


@functools.cache
def index() -> dict[str, list[Any]]:
    """Return all public functions, classes and methods of the package by their last name."""
    found: dict[str, list[Any]] = {}
    for name, each in docstrings.public().items():
        found.setdefault(name.rpartition(".")[2], []).append(each)
        if inspect.isclass(each):
            for own, method in inspect.getmembers(each, inspect.isroutine):
                if inspect.isfunction(method) and not own.startswith("_"):
                    found.setdefault(own, []).append(functools.partial(method, None))  # its object comes first
                elif inspect.ismethod(method):
                    found.setdefault(own, []).append(method)
    rooms = [module_of(each.name) for each in pkgutil.iter_modules(tieaware.integrations.__path__)]
    for module in (tieaware, experiments, fairness, optimise, retrieval, statistics, *filter(None, rooms)):
        for name, value in inspect.getmembers(module, callable):
            found.setdefault(name, []).append(value)
    return found


def takes(function: Callable[..., Any], call: ast.Call) -> bool:
    """Return whether the arguments of a call fit a signature; dots stand for any positional arguments."""
    try:
        signature = inspect.signature(function)
    except ValueError:  # a compiled function without a signature
        return True
    given = [each for each in call.args if not (isinstance(each, ast.Constant) and each.value is ...)]
    keywords = {each.arg: None for each in call.keywords if each.arg}
    bind = signature.bind if len(given) == len(call.args) else signature.bind_partial
    try:
        bind(*given, **keywords)
    except TypeError:
        return False
    return True


def problems(text: str, names: dict[str, Any], tool: str = "") -> Iterator[str]:
    """Yield each call in the running text of a page that cannot be right, with what is wrong."""
    for span in calls(text):
        if wrong := problem(span, names, tool):
            yield f"`{span}` {wrong}"

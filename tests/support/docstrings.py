"""A checker that finds what is missing from the docstrings of public functions and classes.

Public names are those that `tieaware` and its modules experiments, statistics, precision, reference, retrieval and
integrations export, and the classes that exported functions return. Public methods of these classes are those without a
leading underscore, and `__call__`, `__getitem__` and `__matmul__`. Other special methods need no docstring. A property
needs only a summary.

A docstring need not repeat another docstring. If it contains "as for `name`", it shares the sections of the function,
class, method or module of this name. A method that overrides another, and a class that inherits from another, share the
sections of the base class. Each parameter must then be described in one of these docstrings, and Returns and Raises may
be left out. In a module's docstring, a parameter counts as described if it is mentioned in backticks.

All functions of `tieaware.reference` share the docstrings of the package and of their module, and name further
parameters in backticks. A function mean_of_x or variance_of_x also shares the docstring of x, with its examples.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from functools import cached_property
from types import FunctionType, ModuleType
from typing import Any

import tieaware
from tieaware import integrations, reference

OPERATORS = ("__call__", "__getitem__", "__matmul__")
REFERENCE = re.compile(r"\bas\s+for\s+`([\w.]+)`", re.IGNORECASE)


def public() -> dict[str, Any]:
    """Return all public functions and classes by their full names, with the classes that they return."""
    found: dict[str, Any] = {}
    waiting = [each for module in public_modules() for each in exported(module)]
    while waiting:
        each = waiting.pop()
        if not (inspect.isfunction(each) or inspect.isclass(each)) or package(each) != tieaware.__name__:
            continue
        name = f"{each.__module__}.{each.__qualname__}"
        if name not in found:
            found[name] = each
            functions = [each] if inspect.isfunction(each) else [function for _, function, _ in methods(each)]
            waiting += [function.__globals__.get(str(returned(function))) for function in functions]
    return dict(sorted(found.items()))


def public_modules() -> list[ModuleType]:
    """Return the modules that export something."""
    names = [f"tieaware.{name}" for name in ("experiments", "statistics", "precision", "reference", "retrieval")]
    for room in (integrations, reference):
        names += [f"{room.__name__}.{module.name}" for module in pkgutil.iter_modules(room.__path__)]
    return [tieaware, *map(importlib.import_module, names)]


def exported(module: ModuleType) -> list[Any]:
    """Return the objects that a module lists in `__all__`, or else defines under names without a leading underscore."""
    if hasattr(module, "__all__"):
        return [getattr(module, name) for name in module.__all__]
    return [
        each
        for name, each in vars(module).items()
        if not name.startswith("_") and getattr(each, "__module__", None) == module.__name__
    ]


def package(each: Any) -> str:
    """Return the name of the top-level package that defines an object."""
    return str(each.__module__).partition(".")[0]


def methods(cls: type) -> Iterator[tuple[str, FunctionType, bool]]:
    """Yield the public methods: the name, the function, and whether its first parameter is the instance or class."""
    for name in dir(cls):
        each = inspect.getattr_static(cls, name)
        function = each.__func__ if isinstance(each, classmethod | staticmethod) else each
        is_public = not name.startswith("_") or name in OPERATORS
        if is_public and inspect.isfunction(function) and package(function) == package(cls):
            yield name, function, not isinstance(each, staticmethod)


def lacks(each: Any) -> list[str]:
    """Return the problems in the docstring of a function, or in the docstrings of a class and its methods."""
    if inspect.isfunction(each):
        shown = any("Examples" in sections(other) for other in (each, *shared_in_reference(each)[2:]))
        examples = [] if shown else ["no Examples"]
        return [f"{each.__name__}: {problem}" for problem in [*lacks_of_function(each), *examples]]
    problems = [f"{each.__name__}: {problem}" for problem in lacks_of_class(each)]
    for name, function, bound in methods(each):
        problems += [f"{each.__name__}.{name}: {problem}" for problem in lacks_of_function(function, bound, each)]
    for name in dir(each):
        value = inspect.getattr_static(each, name)
        if isinstance(value, property | cached_property) and not name.startswith("_"):
            problems += [f"{each.__name__}.{name}: {problem}" for problem in lacks_of_summary(sections(value))]
    return problems


def lacks_of_function(function: FunctionType, bound: bool = False, cls: type | None = None) -> list[str]:
    """Return the problems with summary, Parameters, Returns and Raises in the docstring of a function or method."""
    described = sections(function)
    shared = referred(function, cls)
    problems = [*lacks_of_summary(described), *dangling(shared)]
    wanted, found = parameters(function)[bound:], named(described.get("Parameters", []))
    # Parameters that are described in a shared docstring may also be described here.
    elsewhere = [name for name in wanted if name not in found and describes(shared, name, cls)]
    if sorted(wanted) != sorted([*found, *elsewhere]):
        problems.append(f"Parameters: expected {', '.join(wanted) or 'none'}, found {', '.join(found) or 'none'}")
    if shared:
        return problems
    if returned(function) is not None and not any(described.get("Returns", []) + described.get("Yields", [])):
        problems.append("no Returns")
    if can_raise(function, cls) and not any(described.get("Raises", [])):
        problems.append("no Raises")
    return problems


def lacks_of_class(cls: type) -> list[str]:
    """Return the problems in the docstring of a class.

    The section Parameters lists the parameters of the constructor; if only functions make instances, it may be called
    Attributes. A class with Parameters also needs Examples, and Raises if its constructor can raise.
    """
    described = sections(cls)
    bases = [base for base in cls.__mro__[1:] if package(base) == package(cls)]
    shared = referred(cls, cls)
    problems = [*lacks_of_summary(described), *dangling(shared)]
    found = named(described.get("Parameters", [])) + named(described.get("Attributes", []))
    constructors = [
        vars(base)[name]
        for base in cls.__mro__
        for name in ("__new__", "__init__", "__post_init__")
        if package(base) == package(cls) and name in vars(base) and not getattr(base, "_is_protocol", False)
    ]
    missing = [
        name
        for name in (parameters(cls) if constructors else [])
        if name not in found and not describes([*shared, *bases], name, cls)
    ]
    if missing:
        problems.append(f"Parameters or Attributes: expected {', '.join(missing)}")
    if "Parameters" in described:
        if "Examples" not in described:
            problems.append("no Examples")
        says_raises = any(any(sections(each).get("Raises", [])) for each in (cls, *bases))
        if not shared and not says_raises and any(can_raise(each, cls) for each in constructors):
            problems.append("no Raises")
    return problems


def references(each: Any, names: Mapping[str, Any], cls: type | None) -> list[Any]:
    """Return the objects that a docstring names by "as for `name`". An unknown name is returned as a string.

    A name is looked up in the class, then in `names`, the names of the module, then among all public functions and
    classes. A dotted name may also begin with the package.
    """
    return [resolved(name, names, cls) for name in REFERENCE.findall(each.__doc__ or "")]


def resolved(name: str, names: Mapping[str, Any], cls: type | None) -> Any:
    """Return the function, class, method or module that a docstring refers to by a name; an unknown name as it is."""
    first, *rest = name.split(".")
    bases = reversed(cls.__mro__) if cls else ()
    attributes = {attribute: value for base in bases for attribute, value in vars(base).items()}
    exported_names = {name: getattr(tieaware, name) for name in tieaware.__all__}
    for scope in (attributes, {cls.__name__: cls} if cls else {}, names, exported_names):
        found = scope.get(first)
        found = getattr(found, "__func__", found)
        for attribute in rest:
            found = getattr(found, attribute, None)
        if found is not None:
            return found
    try:
        return pkgutil.resolve_name(name)
    except (ImportError, AttributeError, ValueError):
        return next((each for full, each in public().items() if full.endswith(f".{name}")), name)


def overridden(function: FunctionType, cls: type | None) -> list[FunctionType]:
    """Return the documented methods of base classes that a method overrides."""
    found = [vars(base).get(function.__name__) for base in (cls.__mro__ if cls else ())]
    functions = [getattr(each, "__func__", each) for each in found]
    if function not in functions:
        return []
    later = functions[functions.index(function) + 1 :]
    return [each for each in later if inspect.isfunction(each) and each.__doc__ and package(each) == package(function)]


def dangling(shared: list[Any]) -> list[str]:
    """Return a problem for each reference to something that does not exist."""
    return [f"as for `{each}`, which does not exist" for each in shared if isinstance(each, str)]


def describes(shared: list[Any], parameter: str, cls: type | None) -> bool:
    """Return whether a parameter is described in one of the docstrings, or in one that these refer to or override."""
    for each in shared:
        described = sections(each)
        found = parameter in named(described.get("Parameters", []) + described.get("Attributes", []))
        if inspect.ismodule(each) or shared_in_reference(each):
            found = found or f"`{parameter}`" in (each.__doc__ or "")
        if found or describes([other for other in referred(each, cls) if other is not each], parameter, cls):
            return True
    return False


def referred(each: Any, cls: type | None) -> list[Any]:
    """Return the objects that a docstring refers to, and the methods that a method overrides."""
    names = vars(sys.modules.get(getattr(each, "__module__", ""), tieaware))
    shared = [*references(each, names, cls), *shared_in_reference(each)]
    return [*shared, *(overridden(each, cls) if inspect.isfunction(each) else ())]


def shared_in_reference(each: Any) -> list[Any]:
    """Return what a function of the reference shares: the package, its module, itself, and x if it is mean_of_x."""
    if not inspect.isfunction(each) or not each.__module__.startswith(f"{reference.__name__}."):
        return []
    module = sys.modules[each.__module__]
    measure = vars(module).get(re.sub("^(mean|variance)_of_", "", each.__name__), each)
    return [reference, module, each, *([] if measure is each else [measure])]


def lacks_of_summary(described: dict[str, list[str]]) -> list[str]:
    """Return the problems with the first line, which must be a sentence, and with the underlines of headings."""
    problems = [title for title in described if title.endswith("dashes")]
    summary = described["summary"]
    if not summary or not summary[0].endswith(".") or any(summary[1:2]):
        problems.append("no summary line")
    return problems


def sections(each: Any) -> dict[str, list[str]]:
    """Return the lines of each section of a numpydoc docstring by heading; before the first, the section "summary"."""
    found: dict[str, list[str]] = {"summary": []}
    heading = "summary"
    for line in inspect.cleandoc(each.__doc__ or "").splitlines():
        if re.fullmatch("-{3,}", line) and found[heading]:
            above = found[heading].pop()
            heading = above if len(above) == len(line) else f"{above}: underlined by {len(line)} dashes"
            found[heading] = []
        else:
            found[heading].append(line)
    return found


def named(lines: list[str]) -> list[str]:
    """Return the names that a section describes, from unindented lines such as "a, b : int"."""
    starts = [
        line.partition(" : ")[0] for line in lines if line and not line[0].isspace() and not REFERENCE.search(line)
    ]
    return [name.strip() for start in starts for name in start.split(",")]


def parameters(function: Any) -> list[str]:
    """Return the names of the parameters in a signature, with their stars, as in "*args"."""
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [stars.get(each.kind, "") + each.name for each in inspect.signature(function).parameters.values()]


def returned(function: FunctionType) -> Any:
    """Return the annotation of the return value of a function, or None if it returns nothing."""
    annotation = inspect.signature(function).return_annotation
    return None if annotation in (None, "None", inspect.Signature.empty) else annotation


def can_raise(function: FunctionType, cls: type | None = None) -> bool:
    """Return whether a function contains a raise statement, or calls a function by name that does.

    Only functions of the same package and private methods of the same class count. Public methods document their errors
    themselves.
    """
    called = [function]
    for call in (node.func for node in ast.walk(parsed(function)) if isinstance(node, ast.Call)):
        if isinstance(call, ast.Name):
            called.append(function.__globals__.get(call.id))
        elif isinstance(call, ast.Attribute) and isinstance(call.value, ast.Name):
            is_private_method = call.value.id in ("self", "cls") and call.attr.startswith("_")
            owner = cls if is_private_method else function.__globals__.get(call.value.id)
            if is_private_method or inspect.ismodule(owner):
                called.append(inspect.unwrap(getattr(owner, call.attr, None)))
    return any(
        isinstance(node, ast.Raise)
        for each in called
        if inspect.isfunction(each) and package(each) == package(function)
        for node in ast.walk(parsed(each))
    )


def parsed(function: FunctionType) -> ast.AST:
    """Return the syntax tree of a function. It is empty for methods that a dataclass or named tuple generates."""
    if function.__code__.co_filename.startswith("<"):
        return ast.Module([], [])
    return ast.parse(textwrap.dedent(inspect.getsource(function)))

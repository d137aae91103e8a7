"""Write what follows from the definitions of measures and tie rules: lists of names, blocks of pages and tables.

Run `python -m website.generated` after a change of a definition.
"""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from website.package_page import ROOT

from tieaware import measures
from tieaware.measures import DEFINITIONS, Definition
from tieaware.measures.definition import FAMILIES
from tieaware.measures.spellings import SPELLINGS
from tieaware.ties import RULES

# The table of parameters does not list more measures than this.
MOST_LISTED = 12


def block(measure: Definition) -> str:
    """Return the definition of a measure: title, formula, names, range and source."""
    name = measure.name
    spelled = [(notation, names) for notation, names in SPELLINGS.items() if notation.partition("(")[0] == name]
    others = [listed([*measure.aliases, *(each for notation, names in spelled for each in names if notation == name)])]
    others += [f"{listed(names)} for `{notation}`" for notation, names in spelled if notation != name]
    own = [f"{name}@recall"] if measure.at_recall else [f"{name}@k", name] if measure.has_cutoff else [name]
    in_trec_eval = [
        *filter(None, (measure.trec_name, *measure.trec_names_with_parameters)),
        *([f"{measure.trec_name_with_cutoff}_{own[0].partition('@')[2]}"] if measure.trec_name_with_cutoff else []),
    ]
    facts = {
        "Notes": measure.where,
        "Notation": listed(own),
        "Other names": "; ".join(filter(None, others)),
        "trec_eval": listed(in_trec_eval),
        "Range": measure.range,
        "Parameters": listed([each for each in measure.parameters if each != "recall"]),
        "Source": measure.source,
    }
    title = measure.title[0].upper() + measure.title[1:]
    return "\n".join((
        f"### {name}\n",
        f'<span id="tieaware.{name}"></span>{title}: $`\\displaystyle {measure.formula}`$\n',
        *(f"- {fact}: {text}" for fact, text in facts.items() if text),
    ))  # fmt: skip


def listed(names: Iterable[str]) -> str:
    """Return names as code, separated by commas."""
    return ", ".join(f"`{name}`" for name in names)


def parameters() -> str:
    """Return the table of all parameters: name, range, default, meaning, and the measures if they are few."""
    takers = defaultdict(list)
    for measure in DEFINITIONS.values():
        for name, each in measure.parameters.items():
            takers[f"`{name}`", each.range, str(each.default), each.description].append(measure.name)
    rows = [(*row, listed(names) if len(names) <= MOST_LISTED else "most") for row, names in takers.items()]
    head = ("parameter", "range", "default", "meaning", "measures")
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ("---",) * 5, *rows))


def tie_rules() -> str:
    """Return the table of tie rules."""
    rows = [f"| `{rule.name}` | {rule.title} |" for rule in RULES.values()]
    return "\n".join(("| rule | how tied documents are ordered |", "|---|---|", *rows))


def order(name: str) -> tuple[Any, ...]:
    """Return a sort key: Ruff sorts constants before classes and these before others, and numbers by their values."""
    kind = 0 if len(name) > 1 and name.isupper() else 1 if name[0].isupper() else 2
    return kind, [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", name)]


def order_of_imports(name: str) -> tuple[Any, ...]:
    """Return a sort key: Ruff sorts imports of each kind regardless of case."""
    return order(name)[0], order(name.lower())[1]


def imports() -> str:
    """Return the imports of all measures for type checkers, from the modules that define them."""
    places: dict[str, str] = {}
    for module in filter(inspect.ismodule, vars(measures).values()):
        for name in FAMILIES.keys() & vars(module).keys():
            places.setdefault(name, module.__name__)
    return "".join(
        f"    from {module} import (\n"
        + "".join(f"        {name},\n" for name in sorted(places, key=order_of_imports) if places[name] == module)
        + "    )\n"
        for module in sorted(set(places.values()))
    )


def page_of_measures(text: str) -> str:
    """Return docs/measures.md with the blocks of all measures and the table of parameters."""
    blocks = "\n\n".join(map(block, DEFINITIONS.values()))
    text = between(text, "<!-- {}measures -->", f"\n{blocks}\n\n")
    return between(text, "<!-- {}parameters -->", f"\n{parameters()}\n\n")


def page_of_ties(text: str) -> str:
    """Return docs/ties.md with the table of tie rules."""
    return between(text, "<!-- {}tie rules -->", f"\n{tie_rules()}\n\n")


def package(text: str) -> str:
    """Return tieaware/__init__.py with the imports of all measures, and with their names in `__all__`."""
    text = between(text, "    # {}measures", imports())
    exported = set(re.findall(r'^    "(\w+)",$', text, re.MULTILINE))
    names = "".join(f'    "{name}",\n' for name in sorted(exported | FAMILIES.keys(), key=order))
    return re.sub(r"__all__ = \[\n.*?\]", f"__all__ = [\n{names}]", text, flags=re.DOTALL)


def between(text: str, mark: str, part: str) -> str:
    """Return a text with another part between two marks, the second of which says that it is the end."""
    begin, end = f"{mark.format('')}\n", f"{mark.format('end of ')}\n"
    before, rest = text.split(begin)
    return re.sub(r" +$", "", f"{before}{begin}{part}{end}{rest.split(end)[1]}", flags=re.MULTILINE)


# The files with generated parts, and the functions that write these anew.
WRITTEN: dict[str, Callable[[str], str]] = {
    "docs/measures.md": page_of_measures,
    "docs/ties.md": page_of_ties,
    "src/tieaware/__init__.py": package,
}

if __name__ == "__main__":
    for name, written in WRITTEN.items():
        path = ROOT / name
        path.write_text(written(path.read_text(encoding="utf-8")), encoding="utf-8")

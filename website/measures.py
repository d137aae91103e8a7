"""Write the generated parts of docs/measures.md: a block for each measure, and the table of parameters.

python -m website.measures
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from website.package_page import ROOT

from tieaware.measures import DEFINITIONS, Definition
from tieaware.measures.spellings import SPELLINGS

PAGE = ROOT / "docs" / "measures.md"
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


def generated(page: str) -> str:
    """Return the page with its generated parts written anew."""
    for name, text in (("measures", "\n\n".join(map(block, DEFINITIONS.values()))), ("parameters", parameters())):
        begin, end = f"<!-- {name}: python -m website.measures -->\n", f"<!-- end of {name} -->\n"
        before, _, rest = page.partition(begin)
        page = f"{before}{begin}\n{text}\n\n{end}{rest.partition(end)[2]}"
    return re.sub(r" +$", "", page, flags=re.MULTILINE)


if __name__ == "__main__":
    PAGE.write_text(generated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

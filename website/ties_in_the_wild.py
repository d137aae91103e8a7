"""The table of docs/ties_in_the_wild.md: tied lists, evaluated by the tools that are installed.

``python website/ties_in_the_wild.py`` evaluates the lists with every tool of `wild_tools` that can be imported,
each in a process of its own, and keeps the results in website/ties_in_the_wild.json. Results of tools that are not
installed are kept, so that tools which need different environments can be run one after another. It then writes the
table into the page. ``--table`` only writes the table. Needs the tools, and no tieaware:

    pip install pytrec-eval-terrier ir-measures ranx rank-eval trectools repro_eval cwl-eval mteb beir pyterrier
    pip install sentence-transformers scikit-learn torchmetrics tie-aware-retrieval-metrics lightgbm xgboost-cpu
    pip install catboost lenskit recommenders recbole cornac pykeen ogb
"""

from __future__ import annotations

import contextlib
import datetime
import importlib.metadata
import json
import math
import os
import platform
import subprocess
import sys
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

from wild_tools import MEASURES, TOOLS, Given, NotApplicable, Tool

ROOT = Path(__file__).parent.parent
SET = ROOT / "src" / "tieaware" / "data" / "conformance" / "rankings_with_ties.json"
RESULTS = ROOT / "website" / "ties_in_the_wild.json"
PAGE = ROOT / "docs" / "ties_in_the_wild.md"
BEGIN, END = "<!-- tables: begin -->\n", "<!-- tables: end -->\n"

# The lists of the conformance set by the heads of their columns. `nan` is no list of the set.
LISTS = {
    "tied, first": "all-tied-1-of-6-first",
    "tied, last": "all-tied-1-of-6-last",
    "cut-off": "groups-2-4-b",
    "unseen": "unretrieved-1-3-1",
    "unjudged": "unjudged-2-3",
    "graded": "graded-08",
    "zeros": "score-negative-zero",
    "one bit apart": "score-one-bit-apart",
    "infinities": "score-both-infinities",
    "none relevant": "no-relevant-3",
}
NAN = {
    "about": "The first of three documents has the score NaN, and is the relevant one.",
    "judgments": {"d4": 1, "d9": 0, "d2": 0},
    "run": [["d4", "NaN"], ["d9", 1.0], ["d2", 0.5]],
}
LIMIT = 300  # seconds for a tool


def lists() -> dict[str, dict[str, Any]]:
    """Return the lists by the heads of their columns, each with its exact mean, minimum and maximum."""
    contents = json.loads(SET.read_text(encoding="ascii"))
    places = [contents["columns"].index(name) for name in ("average", "minimum", "maximum")]
    cases = {case["id"]: case for case in contents["cases"]}
    found = {}
    for head, name in LISTS.items():
        case = cases[name]
        exact = {each: [float(Fraction(case["values"][each][i])) for i in places] for each in MEASURES}
        found[head] = {"id": name, **{key: case[key] for key in ("about", "judgments", "run")}, "exact": exact}
    return found | {"NaN": {"id": "", **NAN, "exact": None}}


def evaluated(tool: Tool) -> dict[str, dict[str, float | str]]:
    """Return the values of a tool by measure and list; for a list that it cannot evaluate, the error."""
    values: dict[str, dict[str, float | str]] = {measure: {} for measure in tool.measures}
    for head, each in lists().items():
        given = Given(each["judgments"], {document: float(score) for document, score in each["run"]})
        for measure in tool.measures:
            try:
                value = float(tool.evaluate(given, measure))
                values[measure][head] = "NaN" if math.isnan(value) else value
            except NotApplicable:
                values[measure][head] = "not applicable"
            except Exception as error:
                text = " ".join(f"{type(error).__name__}: {error}".split())
                values[measure][head] = text[:120]
    return values


def run(tool: Tool) -> dict[str, Any] | None:
    """Evaluate the lists with a tool in a process of its own; return None if the tool is not installed."""
    try:
        version = importlib.metadata.version(tool.package)
    except importlib.metadata.PackageNotFoundError:
        return None
    command = [sys.executable, __file__, "--tool", tool.name]
    environment = {**os.environ, "TQDM_DISABLE": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, env=environment)
    if done.returncode:
        raise SystemExit(f"{tool.name}: {done.stderr}")
    values = json.loads(done.stdout.splitlines()[-1])
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return {"package": tool.package, "version": version, "date": today, "values": values}


def record() -> None:
    """Run the installed tools, and keep the results of the others."""
    stored = json.loads(RESULTS.read_text(encoding="utf-8"))["tools"] if RESULTS.exists() else {}
    tools = {}
    for tool in TOOLS:
        found = run(tool) or stored.get(tool.name)
        if found is not None:
            tools[tool.name] = found
        print(f"{tool.name}: {found['version'] if found else 'not installed'}", flush=True)
    contents = {"python": platform.python_version(), "machine": platform.machine(), "lists": lists(), "tools": tools}
    RESULTS.write_text(json.dumps(contents, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def tables(contents: dict[str, Any]) -> str:
    """Return the lists and the tables as Markdown. Values outside the range of all orders are bold."""
    heads = list(contents["lists"])
    parts = ["| list | scores | labels |\n| --- | --- | --- |\n" + "".join(map(_shown_list, contents["lists"].items()))]
    for measure in MEASURES:
        exact = [contents["lists"][head]["exact"] for head in heads]
        rows = [
            [f"**{measure}**", *heads],
            ["---"] * (1 + len(heads)),
            ["exact mean", *("–" if each is None else _number(each[measure][0]) for each in exact)],
            ["least to greatest", *("–" if each is None else _range(each[measure]) for each in exact)],
        ]
        # Tools that return the same values share a row.
        found: dict[tuple[str, ...], list[str]] = {}
        for name, tool in contents["tools"].items():
            if measure in tool["values"]:
                cells = tuple(_cell(tool["values"][measure][head], contents["lists"][head], measure) for head in heads)
                found.setdefault(cells, []).append(f"{name} ({tool['version']})")
        rows += [["; ".join(tools), *cells] for cells, tools in found.items()]
        parts.append("".join(f"| {' | '.join(row)} |\n" for row in rows))
    dates = sorted({tool["date"] for tool in contents["tools"].values()})
    days = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    parts.append(f"Run on {days}, with Python {contents['python']} on {contents['machine']}.\n")
    return "\n".join(parts)


def _shown_list(entry: tuple[str, dict[str, Any]]) -> str:
    head, given = entry
    retrieved = [document for document, _ in given["run"]]
    labels = [str(given["judgments"].get(document, "unjudged")) for document in retrieved]
    missing = [str(label) for document, label in given["judgments"].items() if document not in retrieved]
    also = f"; not retrieved: {', '.join(missing)}" if missing else ""
    scores = ", ".join(str(score).replace("Infinity", "∞").replace("-∞", "−∞") for _, score in given["run"])
    return f"| {head} | {scores} | {', '.join(labels)}{also} |\n"


def _number(value: float) -> str:
    return f"{value:.3f}"


def _range(exact: list[float]) -> str:
    _, least, most = exact
    return _number(least) if least == most else f"{_number(least)} to {_number(most)}"


def _cell(value: float | str, given: dict[str, Any], measure: str) -> str:
    if isinstance(value, str):
        return {"not applicable": "", "NaN": "**NaN**"}.get(value, "error")
    if given["exact"] is None:
        return _number(value)
    _, least, most = given["exact"][measure]
    # Some tools round to five decimals.
    return _number(value) if least - 6e-6 <= value <= most + 6e-6 else f"**{_number(value)}**"


def write_tables() -> None:
    """Write the tables into the page."""
    page = PAGE.read_text(encoding="utf-8")
    start, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    text = tables(json.loads(RESULTS.read_text(encoding="utf-8")))
    PAGE.write_text(f"{start}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


def _one(name: str) -> None:
    """Print the values of one tool, on the last line of standard output; what the tool prints goes elsewhere."""
    warnings.simplefilter("ignore")
    (tool,) = (each for each in TOOLS if each.name == name)
    with contextlib.redirect_stdout(sys.stderr):
        values = evaluated(tool)
    print("\n" + json.dumps(values))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--tool"]:
        _one(sys.argv[2])
    else:
        if "--table" not in sys.argv:
            record()
        write_tables()

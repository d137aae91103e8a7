"""Formatting of the ratios as tables, for docs/performance.md and for a terminal.

The terminal also shows the targets of `make bench`; the page, which is for users, does not. Use ``python -m
benchmarks.tables`` after changes of the format: it rewrites the page from docs/performance.json without measuring.
"""

from __future__ import annotations

import json
import math
import re
import textwrap
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from benchmarks.ratios import Ratio
from benchmarks.targets import expected_to_miss

DOCS = Path(__file__).parent.parent / "docs"
HEADER = ("workload", "what ÷ what", "ratio", "of least times", "at most", "")
_BLOCK = re.compile(r"(<!-- table: begin -->\n).*?(<!-- table: end -->)", re.DOTALL)
_REASONS = "Targets that are expected to be missed on this processor:"


def rounded(x: float) -> str:
    """Format a number with three significant digits and without an exponent."""
    decimals = max(0, 2 - math.floor(math.log10(x))) if x > 0 else 0
    return f"{x:,.{decimals}f}"


def tables(ratios: Sequence[Ratio], targets: bool = True) -> list[list[tuple[str, ...]]]:
    """Return the main table, and a table for each section with columns. The first row of each table is its header.

    In the main table, each section begins with a row that contains only its title. Targets and verdicts are optional.
    """
    width = len(HEADER) if targets else len(HEADER) - 2
    # Group rows by section, in the order of each section's first row: benchmarks of a section may run in several files.
    sections = {ratio.section: [other for other in ratios if other.section == ratio.section] for ratio in ratios}
    main: list[tuple[str, ...]] = [HEADER[:width]]
    others = []
    for title, rows in sections.items():
        if rows[0].column:
            others.append(_crossed(title, rows, targets))
            continue
        main.append((title,))
        for ratio in rows:
            target = "" if ratio.at_most is None else f"{ratio.at_most:g}"
            numbers = rounded(ratio.ratio), rounded(ratio.of_least), target
            main.append((ratio.workload, f"{ratio.of} ÷ {ratio.to}", *numbers, ratio.verdict)[:width])
    return [table for table in (main, *others) if len(table) > 1]


def _crossed(title: str, ratios: Sequence[Ratio], targets: bool) -> list[tuple[str, ...]]:
    columns = dict.fromkeys(ratio.column for ratio in ratios)
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for ratio in ratios:
        row = rows.setdefault((ratio.workload, f"{ratio.of} ÷ {ratio.to}"), {})
        # These tables have no column for verdicts, so a missed target is marked beside its ratio.
        missed = targets and not ratio.met
        row[ratio.column] = f"{rounded(ratio.ratio)} {ratio.verdict}" if missed else rounded(ratio.ratio)
    body = [(*names, *(row.get(column, "") for column in columns)) for names, row in rows.items()]
    return [(title, "what ÷ what", *columns), *body]


def markdown(ratios: Sequence[Ratio], surroundings: dict[str, Any]) -> str:
    """Format the tables in Markdown, after the versions and the machine, without targets."""
    lines = textwrap.wrap(_description(surroundings), 120, break_long_words=False, break_on_hyphens=False)
    for header, *rows in tables(ratios, targets=False):
        numbers = _number_columns(header)
        lines += ["", _row(header), _row(["--:" if i in numbers else "---" for i in range(len(header))])]
        for row in rows:
            if len(row) == 1:
                row = (f"**{row[0]}**", *[""] * (len(header) - 1))
            lines.append(_row(row))
    return "\n".join(lines) + "\n"


def text(ratios: Sequence[Ratio], surroundings: dict[str, Any]) -> str:
    """Format the tables for a terminal."""
    lines = [_description(surroundings)]
    for table in tables(ratios):
        numbers = _number_columns(table[0])
        widths = [max(len(row[i]) for row in table if len(row) > 1) for i in range(len(table[0]))]
        lines.append("")
        for row in table:
            if len(row) == 1:
                lines += ["", row[0]]
                continue
            aligned = [
                cell.rjust(width) if i in numbers else cell.ljust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            lines.append("  ".join(aligned).rstrip())
    if reasons := _reasons(ratios):
        lines += ["", _REASONS, *(f"  {reason}" for reason in reasons)]
    return "\n".join(lines)


def _reasons(ratios: Sequence[Ratio]) -> list[str]:
    return [f"{ratio.name}: {ratio.expected_to_miss}" for ratio in ratios if ratio.verdict == "missed (expected)"]


def _number_columns(header: Sequence[str]) -> range:
    return range(2, min(5, len(header))) if header[0] == HEADER[0] else range(2, len(header))


def _row(row: Sequence[str]) -> str:
    return f"| {' | '.join(row)} |"


def _description(surroundings: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in surroundings["versions"].items())
    machine = surroundings["machine"]
    return f"{versions}; {machine['processor']}, {machine['cores']} cores, {machine['system']}."


def save(ratios: Sequence[Ratio], surroundings: dict[str, Any], folder: Path) -> None:
    """Write performance.json, and replace the tables between the marks in performance.md."""
    rows = [{**asdict(ratio), "verdict": ratio.verdict or None} for ratio in ratios]
    rows = [{name: value for name, value in row.items() if name != "expected_to_miss" or value} for row in rows]
    document = json.dumps({**surroundings, "ratios": rows}, indent=1, ensure_ascii=False)
    folder.joinpath("performance.json").write_text(document + "\n", encoding="utf-8")
    page = folder / "performance.md"
    before = page.read_text(encoding="utf-8")
    after, replaced = _BLOCK.subn(lambda block: block[1] + markdown(ratios, surroundings) + block[2], before)
    if replaced != 1:
        raise ValueError(f"{page}: the table must be between one pair of marks, but there are {replaced} pairs")
    page.write_text(after, encoding="utf-8")


def rewrite(folder: Path) -> None:
    """Write the recorded ratios again, with the reasons that expected_to_miss.toml gives now."""
    recorded = json.loads(folder.joinpath("performance.json").read_text(encoding="utf-8"))
    reasons = expected_to_miss(recorded["machine"]["processor"])
    names = {field.name for field in fields(Ratio)}
    ratios = [Ratio(**{name: value for name, value in row.items() if name in names}) for row in recorded.pop("ratios")]
    save([replace(ratio, expected_to_miss=reasons.get(ratio.key, "")) for ratio in ratios], recorded, folder)


if __name__ == "__main__":
    rewrite(DOCS)

"""Formatting of the ratios as tables, for docs/performance.md and for a terminal.

The folder ``records`` has all ratios of each processor. The page shows those that users ask for, of all processors. The
terminal shows all of one session, with their targets. ``python -m benchmarks.tables`` only rewrites the page.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.ratios import Ratio

RECORDS = Path(__file__).parent / "records"
PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
# The sections of the page.
SHOWN = (
    "Scores in arrays, one thread, `out=` given",
    "Dictionaries",
    "File to result: whole processes",
    "Other evaluators: dictionaries, one thread",
    "After a round of LightGBM, one thread",
    "Exact against tie-oblivious: 28,043 lists with discrete scores",
)
KEY = ("section", "workload", "of", "to", "column")
HEADER = ("workload", "what ÷ what", "ratio", "of least times", "at most", "")
_BLOCK = re.compile(r"(<!-- table: begin -->\n).*?(<!-- table: end -->)", re.DOTALL)
_REASONS = "Targets that are expected to be missed on this processor:"


def rounded(x: float) -> str:
    """Format a number with three significant digits and without an exponent."""
    decimals = max(0, 2 - math.floor(math.log10(x))) if x > 0 else 0
    return f"{x:,.{decimals}f}"


def tables(ratios: Sequence[Ratio]) -> list[list[tuple[str, ...]]]:
    """Return the main table, and a table for each section with columns. The first row of each table is its header.

    In the main table, each section begins with a row that contains only its title.
    """
    # Group rows by section, in the order of each section's first row: benchmarks of a section may run in several files.
    sections = {ratio.section: [other for other in ratios if other.section == ratio.section] for ratio in ratios}
    main: list[tuple[str, ...]] = [HEADER]
    others = []
    for title, rows in sections.items():
        if rows[0].column:
            others.append(_crossed(title, rows))
            continue
        main.append((title,))
        for ratio in rows:
            target = "" if ratio.at_most is None else f"{ratio.at_most:g}"
            numbers = rounded(ratio.ratio), rounded(ratio.of_least), target
            main.append((ratio.workload, f"{ratio.of} ÷ {ratio.to}", *numbers, ratio.verdict))
    return [table for table in (main, *others) if len(table) > 1]


def _crossed(title: str, ratios: Sequence[Ratio]) -> list[tuple[str, ...]]:
    columns = dict.fromkeys(ratio.column for ratio in ratios)
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for ratio in ratios:
        row = rows.setdefault((ratio.workload, f"{ratio.of} ÷ {ratio.to}"), {})
        # These tables have no column for verdicts, so a missed target is marked beside its ratio.
        row[ratio.column] = rounded(ratio.ratio) if ratio.met else f"{rounded(ratio.ratio)} {ratio.verdict}"
    body = [(*names, *(row.get(column, "") for column in columns)) for names, row in rows.items()]
    return [(title, "what ÷ what", *columns), *body]


def markdown(records: Sequence[dict[str, Any]]) -> str:
    """Format the sections that the page shows: one row for each pair of programs, one column for each processor."""
    ratios = [{tuple(row.get(name, "") for name in KEY): row["ratio"] for row in each["ratios"]} for each in records]
    rows = list(dict.fromkeys(key for found in ratios for key in found))
    header = ("workload", "what ÷ what", *(_short(record["machine"]["processor"]) for record in records))
    lines = [_row(header), _row(["---", "---", *["--:"] * len(records)])]
    for section in SHOWN:
        lines.append(_row((f"**{section}**", *[""] * (len(header) - 1))))
        for key in rows:
            _, workload, of, to, _ = key
            if key[0] == section:
                numbers = (rounded(found[key]) if key in found else "" for found in ratios)
                lines.append(_row((workload, f"{of} ÷ {to}", *numbers)))
    return "\n".join(lines) + "\n"


def _short(processor: str) -> str:
    """Name a processor by no more vector instructions than are needed: whoever has AVX-512 has AVX2 as well."""
    return processor.replace("(R)", "").replace(" Processor", "").replace("AVX2, AVX-512", "AVX-512")


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


def save(ratios: Sequence[Ratio], surroundings: dict[str, Any], records: Path, page: Path) -> Path:
    """Write the record of this processor, and rewrite the page from all records. Return the path of the record."""
    rows = [{name: value for name, value in asdict(ratio).items() if value not in (None, "")} for ratio in ratios]
    name = re.sub(r"\W+", "-", surroundings["machine"]["processor"].lower()).strip("-")
    record = records / f"{name}.json"
    document = json.dumps({**surroundings, "ratios": rows}, indent=1, ensure_ascii=False)
    record.write_text(document + "\n", encoding="utf-8")
    rewrite(records, page)
    return record


def rewrite(records: Path, page: Path) -> None:
    """Replace the table between the marks of the page by that of all records of processors."""
    recorded = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(records.glob("*.json"))]
    table = markdown([record for record in recorded if "ratios" in record])
    before = page.read_text(encoding="utf-8")
    after, replaced = _BLOCK.subn(lambda block: block[1] + table + block[2], before)
    if replaced != 1:
        raise ValueError(f"{page}: the table must be between one pair of marks, but there are {replaced} pairs")
    page.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    rewrite(RECORDS, PAGE)

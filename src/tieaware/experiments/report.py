"""The HTML report of an experiment, and the files beside it: CSV tables, SVG figures and PNG figures.

The page needs no other files: figures are embedded images. Its content security policy allows only one script, the one
below, by its hash.
The size of the page is limited. Tables and figures that do not fit are in files beside the page, which links to them.
Figures that the page only links to are SVG files alone: drawing them twice would take as long as everything else.
"""

from __future__ import annotations

import base64
import hashlib
import html
import os
import platform
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tieaware._version import __version__
from tieaware.checks.arguments import local_path
from tieaware.errors import InputError
from tieaware.output.plots import Drawing
from tieaware.output.tables import Cell, Marked, Table, counted, significant
from tieaware.runtime.atomic_files import unfinished_folder
from tieaware.runtime.extras import load
from tieaware.runtime.progress import progress

# The most characters of all table rows, and of all figures, on a page, so that it stays below 2 MB and can be mailed.
_ROOM_OF_ROWS, _ROOM_OF_FIGURES = 820_000, 1_050_000
# If a table does not fit, only its first _SOME rows are shown. Tables of more than _LONG rows are folded.
_SOME, _LONG = 100, 60
# A column with a text of at least this length is wide.
_WIDE = 40
# The pixels per inch to which a narrow screen may shrink figures, which normally have 96.
_PIXELS = 50.0

_STYLE = """
:root { color-scheme: light dark; --text: #1a1a1a; --quiet: #555; --line: #ddd; --page: #fff; --box: #f4f6f8;
  --link: #0060a8; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e4e4; --quiet: #a8a8a8; --line: #3a3a3a; --page: #121212; --box: #1e2328; --link: #7cc0f4; }
  figure img { filter: invert(.93) hue-rotate(180deg); }
}
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
  color: var(--text); background: var(--page); overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.25; margin-bottom: .2rem; }
h2 { font-size: 1.25rem; line-height: 1.3; margin: 2.5rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 .3rem; }
a { color: var(--link); }
.verdict { font-size: 1.1rem; background: var(--box); border-left: .3rem solid var(--link); margin: 1rem 0;
  padding: .7rem 1rem; }
.quiet, figcaption, .note { color: var(--quiet); font-size: .9rem; margin: .3rem 0; }
figure { margin: 1rem 0; break-inside: avoid; }
figure img { display: block; max-width: 100%; height: auto; }
nav ul { columns: 17rem; column-gap: 2rem; padding-left: 1.2rem; margin: .3rem 0; font-size: .95rem; }
nav h2 { font-size: 1rem; margin: 1.5rem 0 0; }
.scroll { overflow-x: auto; }
/* A table that is wider than the text takes as much of the margins as it needs. */
section > .scroll, details > .scroll { width: min-content; min-width: 100%; max-width: calc(100vw - 4rem);
  position: relative; left: 50%; transform: translateX(-50%); }
.cut::before { content: "Wider than the screen: scroll sideways \\2192"; display: block; position: sticky; left: 0;
  background: var(--box); color: var(--quiet); font-size: .85rem; padding: .1rem .5rem; margin-bottom: .3rem; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem 1rem .25rem 0; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top;
  max-width: 22rem; }
th { vertical-align: bottom; min-width: 3rem; }
td:first-child { min-width: 5rem; }
th.n, td.n { text-align: right; }
td.n { white-space: nowrap; }
td.w { min-width: 18rem; }
th button { font: inherit; text-align: inherit; color: inherit; background: none; border: 0; padding: 0;
  cursor: pointer; }
th button::after { content: "\\A0\\2195"; color: var(--quiet); font-weight: normal; }
th[aria-sort=ascending] button::after { content: "\\A0\\2191"; color: inherit; }
th[aria-sort=descending] button::after { content: "\\A0\\2193"; color: inherit; }
summary { cursor: pointer; }
/* The table scrolls anyway. Narrower cells of long texts would make its rows higher than a phone's screen. */
@media (max-width: 40rem) { td.w { min-width: 44rem; } }
pre { background: var(--box); padding: .7rem; font-size: .85rem; white-space: pre-wrap; overflow-wrap: anywhere; }
@media print {
  body { max-width: none; margin: 0; font-size: 11px; }
  tr { break-inside: avoid; }
  section > .scroll, details > .scroll { width: auto; max-width: none; left: 0; transform: none; }
  .cut::before { display: none; }
  nav { display: none; }
}
"""

# A click on the head of a column sorts the table by it: numbers from the largest to the smallest, with missing
# numbers ("–") last. Tables and figures that are wider than their place on the page say that they scroll, because many
# browsers show no scroll bar.
_SCRIPT = """
for (const table of document.querySelectorAll("table")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(head.textContent);
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const number = head.className === "n";
      const first = number ? "descending" : "ascending", second = number ? "ascending" : "descending";
      const direction = head.getAttribute("aria-sort") === first ? second : first;
      const sign = direction === "ascending" ? 1 : -1;
      const key = row => {
        const text = row.cells[column].textContent;
        return number ? parseFloat(text.replaceAll(",", "")) : text;
      };
      const compare = (a, b) => number
        ? isNaN(a) - isNaN(b) || sign * (a - b) || 0
        : sign * a.localeCompare(b, "en", {numeric: true});
      const rows = [...table.tBodies[0].rows].map(row => [key(row), row]);
      rows.sort((a, b) => compare(a[0], b[0]));
      table.tBodies[0].append(...rows.map(pair => pair[1]));
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", direction);
    });
  });
}
const sizes = new ResizeObserver(entries => entries.forEach(({target: box}) =>
  box.classList.toggle("cut", box.scrollWidth > box.clientWidth + 1)));
document.querySelectorAll(".scroll").forEach(box => sizes.observe(box));
"""

_POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    f"script-src 'sha256-{base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()}'"
)


@dataclass(frozen=True)
class Report:
    """The content of a report; tables and figures are by file name, the main ones first."""

    heading: str
    title: str
    verdict: str
    tables: Mapping[str, Table]
    drawings: Mapping[str, Drawing]
    command: str = ""


def page(report: Report, figures: Mapping[str, bytes], versions: str, files: Sequence[str] = ()) -> str:
    """Return the HTML page of an experiment, with as many of its SVG figures as fit, and the names of its files."""
    shown = on_page({name: len(svg) for name, svg in figures.items()})
    linked = [name for name in figures if name not in shown]
    main, *more = shown or [""]
    room = _ROOM_OF_ROWS
    tables: list[str] = []
    for name, table in report.tables.items():
        rows = _rows(table, room)
        room -= sum(map(len, rows))
        # The first table, which holds the answer, is never folded.
        tables.append(_table(name, _heading(table, report), table, rows, folded=len(rows) > _LONG and bool(tables)))
    sections = [
        f"<h1>{html.escape(report.heading)}</h1>",
        f'<p class="quiet">{html.escape(report.title)}</p>' if report.title != report.heading else "",
        f'<p class="verdict">{html.escape(report.verdict)}</p>' if report.verdict else "",
        _figure(main, report.drawings[main], figures[main]) if main else "",
        _contents(report, more, linked),
        *tables,
        '<h2 id="figures">More figures</h2>' if more or linked else "",
        _not_shown(shown, linked),
        *(_section(name, report.drawings[name], figures[name]) for name in more),
        _links(report, linked),
        '<h2 id="how">How this was computed</h2>',
        f"<pre>{html.escape(report.command)}</pre>" if report.command else "",
        f'<p class="note">Numbers are shown with three significant digits; the CSV files have full precision. '
        f"{html.escape(versions)}</p>",
    ]
    return "\n".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta name="files" content="{html.escape(" ".join(files))}">',
            f"<title>{html.escape(report.heading)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>",
            *filter(None, sections),
            f"<script>{_SCRIPT}</script>\n</body>\n</html>\n",
        ]
    )


def on_page(sizes: Mapping[str, int]) -> list[str]:
    """Return the names of the figures that the page shows, given the sizes of all in bytes, in their order.

    The first figure is the main one, and is always shown. The smallest of the others follow: summaries are small, and
    figures with a mark for each run are large.
    """
    main, *others = sizes or [""]
    shown, room = {main}, _ROOM_OF_FIGURES - sizes.get(main, 0) * 4 // 3
    for name in sorted(others, key=sizes.__getitem__):
        room -= sizes[name] * 4 // 3
        if room < 0:
            break
        shown.add(name)
    return [name for name in sizes if name in shown]


def _heading(table: Table, report: Report) -> str:
    """Return the heading of a table: its title, unless that only repeats the title of the page."""
    return "Summary" if table.title in (report.heading, report.title) else table.title


def _contents(report: Report, figures: Sequence[str], linked: Sequence[str]) -> str:
    entries = [(f"table-{name}", _heading(table, report)) for name, table in report.tables.items()]
    entries += [(f"figure-{name}", _name(report.drawings[name])) for name in figures]
    entries += [("other-figures", "Figures in files")] if linked else []
    entries.append(("how", "How this was computed"))
    items = "".join(f'<li><a href="#{html.escape(at)}">{html.escape(text)}</a></li>\n' for at, text in entries)
    return f'<nav aria-labelledby="contents">\n<h2 id="contents">Contents</h2>\n<ul>\n{items}</ul>\n</nav>'


def _table(name: str, title: str, table: Table, rows: Sequence[str], *, folded: bool) -> str:
    """Return the HTML section of a table, with the given rows, which may be only the first rows of the table."""
    numbers = [not text for text in table.starts_left()]
    head = "".join(
        f"<th scope=col{' class=n' if number else ''}>{html.escape(column)}</th>"
        for number, column in zip(numbers, table.columns, strict=True)
    )
    content = (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{html.escape(title)}">\n'
        f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{''.join(rows)}</tbody>\n</table>\n</div>\n"
    )
    count = counted(len(table.rows), "row")
    if len(rows) < len(table.rows):
        count = f"the first {len(rows):,} of {count}"
    if folded:
        content = f"<details>\n<summary>{count}</summary>\n{content}</details>\n"
    notes = "".join(f'<p class="note">{html.escape(note)}</p>\n' for note in table.notes)
    file = html.escape(f"{name}.csv")
    return (
        f'<section id="table-{html.escape(name)}">\n<h2>{html.escape(title)}</h2>\n{content}{notes}'
        f'<p class="note">{count[0].upper()}{count[1:]}; all in full precision: <a href="{file}">{file}</a></p>\n'
        "</section>"
    )


def _rows(table: Table, room: int) -> list[str]:
    """Return the rows of a table in HTML: all rows, or the first rows if all take more than `room` characters."""
    left = table.starts_left()
    rows, taken = [], 0
    for row in table.rows:
        rows.append(f"<tr>{''.join(_cell(cell, text) for cell, text in zip(row, left, strict=True))}\n")
        taken += len(rows[-1])
        if taken > room:
            return rows[:_SOME]
    return rows


def _cell(cell: Cell, is_text: bool) -> str:
    value = cell.text if isinstance(cell, Marked) else cell
    if value is None or value != value:
        shown = "–"
    elif isinstance(value, float):
        shown = significant(value)
    else:
        shown = f"{value:,}" if isinstance(value, int) else html.escape(value)
    kind = "" if is_text and len(shown) < _WIDE else " class=w" if is_text else " class=n"
    return f"<td{kind}>{shown}"


def _name(drawing: Drawing) -> str:
    return drawing.title or drawing.caption


def _section(name: str, drawing: Drawing, svg: bytes) -> str:
    return (
        f'<section id="figure-{html.escape(name)}">\n<h3>{html.escape(_name(drawing))}</h3>\n'
        f"{_figure(name, drawing, svg)}\n</section>"
    )


def _figure(name: str, drawing: Drawing, svg: bytes) -> str:
    """Embed a figure as an image, in which no script can run."""
    source = f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
    text = html.escape(drawing.caption)
    # On a phone, a figure that would be too small to read scrolls instead.
    least = drawing.size[0] * _PIXELS
    files = ", ".join(f'<a href="{html.escape(name)}.{kind}">{kind.upper()}</a>' for kind in ("svg", "png"))
    return (
        f'<figure><div class="scroll" role="region" tabindex="0" aria-label="{html.escape(_name(drawing))}">'
        f'<img src="{source}" alt="{text}" style="min-width: {least:.0f}px"></div>\n'
        f"<figcaption>{text} {files}</figcaption></figure>"
    )


def _not_shown(shown: Sequence[str], linked: Sequence[str]) -> str:
    """Say how many figures are not on the page, and where they are."""
    if not linked:
        return ""
    count = f"{len(linked):,} of {counted(len(shown) + len(linked), 'figure')}"
    return (
        f'<p class="note">{count} would make this page too large. They are in files beside it: '
        '<a href="#other-figures">list of these files</a>.</p>'
    )


def _links(report: Report, names: Sequence[str]) -> str:
    if not names:
        return ""
    items = "".join(
        f'<li><a href="{html.escape(name)}.svg">{html.escape(name)}.svg</a>: '
        f"{html.escape(_name(report.drawings[name]))}</li>\n"
        for name in names
    )
    return (
        f'<section id="other-figures">\n<h3>Figures in files beside this page</h3>\n<details>\n'
        f"<summary>{len(names):,} more</summary>\n<ul>\n{items}</ul>\n</details>\n</section>"
    )


_PAGE = "report.html"
# A page names the other files of its report before any other name.
_FILES = re.compile(r'<meta name="files" content="([\w. -]*)">')
_FILE = re.compile(r"\w[\w.-]*\.(csv|svg|png)")


def write(report: Report, folder: str | os.PathLike[str]) -> None:
    """Write the files of a report into a folder in place of the last report. After an error, nothing has changed."""
    target = Path(local_path("folder", folder))
    try:
        target.mkdir(parents=True, exist_ok=True)
        with unfinished_folder(target) as made:
            new, old = Path(made, "new"), Path(made, "old")
            new.mkdir()
            old.mkdir()
            _write(report, new)
            _swap(target, new, old)
    except OSError as error:
        raise InputError(str(error.filename or target), error.strerror or str(error)) from None


def _swap(target: Path, new: Path, old: Path) -> None:
    """Move the files of the last report from a folder to another, and the new files into the folder.

    The page is the first file to go and the last to come: if the process is killed, there is no page of other files.
    """
    names = sorted((file.name for file in new.iterdir()), key=_PAGE.__eq__)
    for name in names:
        if (target / name).is_dir():
            raise InputError(f"{target / name}", "cannot be replaced by a file: it is a folder")
    ours = dict.fromkeys((_PAGE, *_last_files(target), *names))
    leaving = [name for name in ours if (target / name).is_file() or (target / name).is_symlink()]
    moved: list[tuple[Path, Path]] = []
    try:
        for come_from, name in (*((target, name) for name in leaving), *((new, name) for name in names)):
            moved.append((come_from / name, (old if come_from == target else target) / name))
            os.replace(*moved[-1])
    except BaseException:
        for before, after in reversed(moved):
            with suppress(OSError):
                os.replace(after, before)
        raise


def _last_files(folder: Path) -> list[str]:
    """Return the names of the files that the page in a folder lists as those of its report."""
    last = folder / _PAGE
    found = _FILES.search(last.read_text("utf-8", "replace")) if last.is_file() else None
    return [] if found is None else list(filter(_FILE.fullmatch, found[1].split()))


def _write(report: Report, folder: Path) -> None:
    for name, table in progress(report.tables.items(), "writing tables"):
        table.to_csv(folder / f"{name}.csv")
    figures: dict[str, bytes] = {}
    sizes: dict[str, int] = {}
    for name, drawing in progress(report.drawings.items(), "drawing figures"):
        images = drawing.images("svg", "png")
        figures[name] = next(images)
        sizes[name] = len(figures[name])
        (folder / f"{name}.svg").write_bytes(figures[name])
        # A figure that has no room beside those before it will have none beside more figures.
        if name in on_page(sizes):
            (folder / f"{name}.png").write_bytes(next(images))
    for name in figures.keys() - set(on_page(sizes)):
        (folder / f"{name}.png").unlink(missing_ok=True)
    files = sorted(file.name for file in folder.iterdir())
    (folder / _PAGE).write_bytes(page(report, figures, versions(), files).encode("utf-8", "replace"))


def versions() -> str:
    """Return the versions of tieaware, of its dependencies and of Python, as a sentence."""
    packages = ", ".join(f"{name} {load(name, 'analysis').__version__}" for name in ("numpy", "scipy", "matplotlib"))
    return f"tieaware {__version__}, {packages}, Python {platform.python_version()}."

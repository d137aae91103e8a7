"""An experiment as files: CSV tables, PNG and SVG figures, and one HTML page that holds all of it."""

from __future__ import annotations

import base64
import html
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tieaware._version import __version__
from tieaware.atomic import unfinished_folder
from tieaware.checks import unexpected
from tieaware.errors import InputError
from tieaware.extras import load
from tieaware.plots import Drawing
from tieaware.tables import Table

# More rows than a reader wants to scroll through.
_LONG = 60

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #111; }}
h1 {{ font-size: 1.6rem; line-height: 1.25; }}
h2 {{ font-size: 1.15rem; margin: 2.5rem 0 .5rem; }}
figure {{ margin: 1.5rem 0; break-inside: avoid; }}
figure img {{ width: 100%; height: auto; max-width: 52rem; }}
figcaption, .note {{ color: #444; font-size: .9rem; margin: .3rem 0; }}
.scroll {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }}
thead {{ display: table-header-group; }}
th, td {{ padding: .2rem .7rem .2rem 0; text-align: left; border-bottom: 1px solid #ddd; vertical-align: top; }}
th.number, td.number {{ text-align: right; }}
tr {{ break-inside: avoid; }}
summary {{ cursor: pointer; margin: 2.5rem 0 .5rem; font-weight: bold; }}
pre {{ background: #f5f5f5; padding: .7rem; overflow-x: auto; font-size: .85rem; white-space: pre-wrap; }}
@media print {{ body {{ max-width: none; margin: 0; font-size: 11px; }} }}
</style>
</head>
<body>
<h1>{title}</h1>
{main}
{figures}
{others}
<h2>How this was made</h2>
{command}
<p class="note">{versions}</p>
</body>
</html>
"""


@dataclass(frozen=True)
class Report:
    """What is written of an experiment.

    Attributes
    ----------
    title : str
    tables, drawings : dict
        By the names that their files have; the main one first.
    command : str
        What made it.
    """

    title: str
    tables: Mapping[str, Table]
    drawings: Mapping[str, Drawing]
    command: str = ""


def write(report: Report, folder: str | os.PathLike[str]) -> None:
    """Write an experiment's files into a folder: all of them, or after an error none."""
    if not os.fspath(folder) or "\0" in os.fsdecode(folder):
        raise unexpected("folder", "its name", repr(os.fspath(folder)))
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
        with unfinished_folder(target) as made:
            _write(report, Path(made))
            for file in sorted(Path(made).iterdir()):
                if (target / file.name).is_dir():
                    raise unexpected(f"{target / file.name}", "a file or nothing", "a folder")
            for file in sorted(Path(made).iterdir()):
                file.replace(target / file.name)
    except OSError as error:
        raise InputError(f"{error.filename or target}: {error.strerror}") from None


def _write(report: Report, folder: Path) -> None:
    for name, table in report.tables.items():
        table.to_csv(folder / f"{name}.csv")
    for name, drawing in report.drawings.items():
        drawing.save(folder / f"{name}.svg", folder / f"{name}.png")
    page = _page(report, folder)
    (folder / "report.html").write_bytes(page.encode("utf-8", "replace"))


def _page(report: Report, folder: Path) -> str:
    figures = [
        _figure(drawing.caption, (folder / f"{name}.svg").read_bytes())
        for name, drawing in report.drawings.items()
    ]
    tables = [_table(table) for table in report.tables.values()]
    return _PAGE.format(
        title=html.escape(report.title),
        main=tables[0],
        figures="\n".join(figures),
        others="\n".join(tables[1:]),
        command=f"<pre>{html.escape(report.command)}</pre>" if report.command else "",
        versions=html.escape(versions()),
    )


def _table(table: Table) -> str:
    """Return a table under its title; one of many rows is to be unfolded."""
    content = f'<h2>{html.escape(table.title)}</h2>\n<div class="scroll">\n{table.to_html()}</div>'
    if len(table.rows) <= _LONG:
        return content
    return f"<details>\n<summary>{html.escape(table.title)}: {len(table.rows)} rows</summary>\n{content}\n</details>"


def _figure(caption: str, svg: bytes) -> str:
    """Embed a figure as an image, in which nothing can run."""
    source = f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
    text = html.escape(caption)
    return f'<figure><img src="{source}" alt="{text}"><figcaption>{text}</figcaption></figure>'


def versions() -> str:
    """Name what the numbers were made with."""
    packages = ", ".join(f"{name} {load(name, 'analysis').__version__}" for name in ("numpy", "scipy", "matplotlib"))
    return f"tieaware {__version__}, {packages}, Python {platform.python_version()}."

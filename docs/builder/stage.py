"""Copy the pages of the documentation site to one folder, from which Zensical builds the site.

The pages are those of ``docs``, and other files of the repository to which these link: the examples with their source,
the security policy, the changelog. Links are rewritten for the new locations, so that the same Markdown works in the
repository and on the site.

    python docs/builder/stage.py build/docs
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Pages of the site that are outside docs in the repository.
PAGES = {
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "fuzz/README.md": "project/fuzzing.md",
    **{f"examples/{path.name}": f"examples/{path.stem}.md" for path in ROOT.glob("examples/*.py")},
}
ASSETS = {".svg", ".png", ".json", ".css"}
LINK = re.compile(r"(?<=\]\()(?P<path>[^)#\s:]+)(?=[)#])")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def places() -> dict[str, str]:
    """Map the path of each page and asset in the repository to its path in the site."""
    found = dict(PAGES)
    for path in sorted((ROOT / "docs").rglob("*")):
        inside = path.relative_to(ROOT / "docs")
        if inside.parts[0] != "builder" and path.suffix in {".md", *ASSETS}:
            found[f"docs/{inside}"] = str(inside)
    return found


def linked(text: str, source: str, where: dict[str, str]) -> str:
    """Rewrite links to files for the site, except in code."""

    def placed(link: re.Match[str]) -> str:
        target = os.path.normpath(os.path.join(os.path.dirname(source), link["path"]))
        if target not in where:
            raise SystemExit(f"{source}: {link['path']} is linked, but is not part of the site")
        return os.path.relpath(where[target], os.path.dirname(where[source]))

    converted, end = [], 0
    for code in FENCE.finditer(text):
        converted += [LINK.sub(placed, text[end : code.start()]), shown(code[0])]
        end = code.end()
    return "".join([*converted, LINK.sub(placed, text[end:])])


def shown(code: str) -> str:
    """Remove from a block of code what only doctest needs: the last empty line, and the marker ``<BLANKLINE>``."""
    return code.replace("<BLANKLINE>\n", "\n").replace("\n\n```", "\n```") if code.startswith("```pycon") else code


def page(source: str) -> str:
    """Return the Markdown of a file; for a Python file, its summary line and its source."""
    text = (ROOT / source).read_text(encoding="utf-8")
    if not source.endswith(".py"):
        return text
    summary = text.split('"""')[1].partition("\n")[0]
    return f"# {Path(source).stem.replace('_', ' ').capitalize()}\n\n{summary}\n\n```python\n{text}```\n"


def stage(folder: Path) -> None:
    """Write the pages and their assets to a folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    where = places()
    for source, target in where.items():
        path = folder / target
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            path.write_text(linked(page(source), source, where), encoding="utf-8")
        else:
            shutil.copyfile(ROOT / source, path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    stage(parser.parse_args().folder)

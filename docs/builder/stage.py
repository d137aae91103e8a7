"""Put the pages of the site together in one folder, from which Zensical builds it.

The pages are those of ``docs``, and files of the repository that they link to, which become pages as well: the examples
with their source, the security policy, the changelog. Links go to where a page stands here; so the same Markdown can be
read in the repository.

    python docs/builder/stage.py build/docs
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
# What is a page of the site without being one of docs.
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
    """Return where each file of the site comes from: its path in the repository, and that in the site."""
    found = dict(PAGES)
    for path in sorted((ROOT / "docs").rglob("*")):
        inside = path.relative_to(ROOT / "docs")
        if inside.parts[0] != "builder" and path.suffix in {".md", *ASSETS}:
            found[f"docs/{inside}"] = str(inside)
    return found


def linked(text: str, source: str, where: dict[str, str]) -> str:
    """Return the text with its links to files changed to their places in the site; those in code stay."""

    def placed(link: re.Match[str]) -> str:
        target = os.path.normpath(os.path.join(os.path.dirname(source), link["path"]))
        if target not in where:
            raise SystemExit(f"{source}: expected links to files of the site, found one to {link['path']}")
        return os.path.relpath(where[target], os.path.dirname(where[source]))

    pieces, end = [], 0
    for code in FENCE.finditer(text):
        pieces += [LINK.sub(placed, text[end : code.start()]), shown(code[0])]
        end = code.end()
    return "".join([*pieces, LINK.sub(placed, text[end:])])


def shown(code: str) -> str:
    """Return a block of code without what only doctest needs: the last empty line, and the word for others."""
    return code.replace("<BLANKLINE>\n", "\n").replace("\n\n```", "\n```") if code.startswith("```pycon") else code


def page(source: str) -> str:
    """Return the Markdown of a file: its own, or for one of Python its docstring and all of its source."""
    text = (ROOT / source).read_text(encoding="utf-8")
    if not source.endswith(".py"):
        return text
    summary = text.split('"""')[1].partition("\n")[0]
    return f"# {Path(source).stem.replace('_', ' ').capitalize()}\n\n{summary}\n\n```python\n{text}```\n"


def stage(folder: Path) -> None:
    """Write the pages and what they show into a folder, which is made anew."""
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

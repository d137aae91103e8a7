"""Copy the pages of the documentation site to one folder, from which Zensical builds the site.

The pages are those of ``docs``, and other files of the repository to which these link: the examples with their source,
the security policy, the changelog. Links are rewritten for the new locations, so that the same Markdown works in the
repository and on the site. KaTeX, which typesets formulas, is copied from the installed package djangocms-katex.

    python -m website.stage build
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
from importlib import metadata
from pathlib import Path

from website import package_page

ROOT = Path(__file__).parent.parent
# Pages of the site that are outside docs in the repository.
PAGES = {
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "fuzz/README.md": "project/fuzzing.md",
    **{f"examples/{path.name}": f"examples/{path.stem}.md" for path in ROOT.glob("examples/*.py")},
}
# Files with the numbers of a page, to which it links.
RECORDS = {"website/ties_in_the_wild.json": "ties_in_the_wild.json"}
LINK = re.compile(r"(?<=\]\()(?P<path>[^)#\s:]+)(?=[)#])")
# GitHub's safest notation of formulas, which Markdown cannot take for emphasis or for escapes.
FORMULA = re.compile(r"\$`(?P<formula>[^`\n]+)`\$")
# A link whose text is the name of the file that it leads to.
NAMED = re.compile(r"\[(?P<name>[\w/-]+\.md)\]\((?P<path>[^)#\s:]+\.md)\)")
# The files of KaTeX that pages load, and its licence.
KATEX = re.compile(r"vendor/katex/(katex\.min\.(js|css)|fonts/.*\.woff2|LICENSE)$")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def places() -> dict[str, str]:
    """Map the path of each page and asset in the repository to its path in the site."""
    pages = {f"docs/{path}": str(path) for path in _files("docs", "*.md")}
    assets = {f"website/assets/{path}": str(path) for path in _files("website/assets", "*")}
    figures = {f"website/figures/{path}": f"figures/{path}" for path in _files("website/figures", "*")}
    return {**PAGES, **pages, **assets, **figures, **RECORDS}


def _files(folder: str, pattern: str) -> list[Path]:
    """Return the files below a folder of the repository, relative to it."""
    return sorted(path.relative_to(ROOT / folder) for path in (ROOT / folder).rglob(pattern))


def linked(text: str, source: str, where: dict[str, str]) -> str:
    """Rewrite links to files for the site, except in code."""

    def placed(link: re.Match[str]) -> str:
        target = os.path.normpath(os.path.join(os.path.dirname(source), link["path"]))
        if target not in where:
            raise SystemExit(f"{source}: {link['path']} is linked, but is not part of the site")
        return os.path.relpath(where[target], os.path.dirname(where[source]))

    def titled(link: re.Match[str]) -> str:
        return f"[{title(os.path.normpath(os.path.join(os.path.dirname(source), link['path'])))}]({link['path']})"

    def prose(words: str) -> str:
        return LINK.sub(placed, NAMED.sub(titled, FORMULA.sub(r"$\g<formula>$", words)))

    converted, end = [], 0
    for code in FENCE.finditer(text):
        converted += [prose(text[end : code.start()]), shown(code[0])]
        end = code.end()
    return "".join([*converted, prose(text[end:])])


def title(source: str) -> str:
    """Return the title of a page, which is its first heading."""
    return re.search("^# (.*)$", (ROOT / source).read_text(encoding="utf-8"), re.MULTILINE)[1]


def shown(code: str) -> str:
    """Remove from a block of code what only doctest needs: the last empty line, and the marker ``<BLANKLINE>``."""
    return code.replace("<BLANKLINE>\n", "\n").replace("\n\n```", "\n```") if code.startswith("```pycon") else code


def page(source: str) -> str:
    """Return the Markdown of a file; for a Python file, its summary line and its source."""
    text = (ROOT / source).read_text(encoding="utf-8")
    if not source.endswith(".py"):
        return text
    summary = text.split('"""')[1].partition("\n")[0]
    heading = Path(source).stem.replace("_", " ").capitalize()
    # Source has longer lines than text, and no headings for a table of contents.
    return f"---\nhide: [toc]\n---\n\n# {heading}\n\n{summary}\n\n```python\n{text}```\n"


def stage(folder: Path) -> None:
    """Write the pages and their assets to the subfolder docs, which is emptied first, and the builder's settings."""
    pages = folder / "docs"
    shutil.rmtree(pages, ignore_errors=True)
    where = places()
    for source, target in where.items():
        path = pages / target
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            path.write_text(linked(page(source), source, where), encoding="utf-8")
        else:
            shutil.copyfile(ROOT / source, path)
    (folder / "zensical.toml").write_text(settings(), encoding="utf-8")


def settings() -> str:
    """Return the settings of the builder: zensical.toml, with values for the names in braces."""
    version = package_page.version()
    ref = package_page.reference(package_page.settings(), version)
    text = (ROOT / "website" / "zensical.toml").read_text(encoding="utf-8")
    values = {"address": package_page.repository(), "ref": ref, "version": version, "checkout": ROOT.as_posix()}
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def copy_katex(folder: Path) -> None:
    """Copy KaTeX from the installed package that carries it."""
    (folder / "fonts").mkdir(parents=True)
    found = [file for file in metadata.files("djangocms-katex") or () if KATEX.search(file.as_posix())]
    for file in found:
        shutil.copyfile(file.locate(), folder / file.as_posix().partition("vendor/katex/")[2])
    if len(found) < 10:
        raise SystemExit(f"djangocms-katex has only {len(found)} of KaTeX's files: did it move them?")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    stage(folder)
    copy_katex(folder / "docs" / "katex")

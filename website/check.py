"""Check a built site: links and images exist, no other host is asked, formulas are typeset, the API is complete.

Links into the repository must lead to files of the checkout. Other external links must have https and a host, but are
not followed.

    python -m website.check build/site
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterator
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from website import package_page
from website.package_page import ROOT

from tieaware import integrations

# Every name that these modules or the integrations export needs an entry in the API pages.
MODULES = ("", ".precision", ".statistics", ".experiments", ".retrieval", ".samples", ".reference")
# HTML elements for which a browser loads another file, and the attribute that contains the address of the file.
LOADED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src", "object": "data"}
# Files that typeset formulas.
TYPESETTING = ("katex.min.js", "katex.min.css", "formulas.js")
# HTML elements whose text is shown as it is, so that a dollar in it begins no formula.
VERBATIM = {"code", "pre", "script", "style"}
# Values of rel for which a browser does not load the address of a link element.
TOLD = {"canonical", "next", "prev", "alternate"}


class Page(HTMLParser):
    """A parser that collects the anchors of a page, and the addresses that it links to or loads, with line numbers."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[tuple[int, str]] = []
        self.loaded: list[tuple[int, str]] = []
        self.has_formulas = False
        self.unmarked: list[str] = []
        self.verbatim = 0
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the anchors and addresses of a tag."""
        said = {name: value or "" for name, value in attrs}
        self.anchors |= {said[name] for name in ("id", "name") if name in said}
        line = self.getpos()[0]
        self.has_formulas |= "arithmatex" in said.get("class", "").split()
        self.verbatim += tag in VERBATIM
        if tag == "a" and "href" in said:
            self.links.append((line, said["href"]))
        if tag in LOADED and LOADED[tag] in said and not TOLD & set(said.get("rel", "").split()):
            self.loaded.append((line, said[LOADED[tag]]))


    def handle_endtag(self, tag: str) -> None:
        """Leave an element with verbatim text."""
        self.verbatim -= tag in VERBATIM

    def handle_data(self, data: str) -> None:
        """Collect formulas that are shown as their source, because they are not marked as formulas."""
        if not self.verbatim:
            self.unmarked += re.findall(r"\$[^$\n]+\$", data)


class Site:
    """A folder of built pages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        ref = package_page.reference(package_page.settings(), package_page.version())
        self.repository = rf"{re.escape(package_page.repository())}/(?:blob|tree|raw)/{re.escape(ref)}"

    @cached_property
    def pages(self) -> dict[Path, Page]:
        """All pages, by path."""
        return {path: Page(path) for path in sorted(self.folder.rglob("*.html"))}

    def problems(self) -> Iterator[str]:
        """Yield one line for each wrong link, untypeset formula, and resource that is missing or of another host."""
        for path, page in self.pages.items():
            name = path.relative_to(self.folder)
            lacking = [file for file in TYPESETTING if not any(link.endswith(file) for _, link in page.loaded)]
            if page.has_formulas and lacking:
                yield f"{name}: formulas need {', '.join(lacking)}"
            yield from (f"{name}: a formula is not marked as one: {formula}" for formula in page.unmarked)
            for line, link in page.links:
                if problem := self.wrong(path, link):
                    yield f"{name}:{line}: {problem}"
            for line, link in page.loaded:
                problem = "loaded from another host" if urlsplit(link).netloc else self.wrong(path, link)
                if problem:
                    yield f"{name}:{line}: {link}: {problem}" if link not in problem else f"{name}:{line}: {problem}"

    def wrong(self, path: Path, link: str) -> str | None:
        """Return what is wrong with a link on a page, or None."""
        parts = urlsplit(link)
        if parts.scheme == "data":
            return None
        inside = re.fullmatch(rf"{self.repository}/([^#]*)(#.*)?", link)
        if inside and not (ROOT / inside[1]).exists():
            return f"{link}: the repository has no such file"
        if parts.scheme or parts.netloc:
            is_well_formed = parts.scheme == "https" and re.fullmatch(r"[\w-]+(\.[\w-]+)+", parts.netloc)
            is_fine = is_well_formed or parts.scheme == "mailto"
            return None if is_fine else f"{link}: external links need https and a host"
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if parts.path.startswith("/"):
            # Only the error page (404) has absolute links, because it is shown at any address.
            target = self.folder / unquote(parts.path)[1:]
        target = target / "index.html" if target.is_dir() else target
        if not target.is_file():
            return f"{link}: no such page"
        if parts.fragment and target in self.pages and unquote(parts.fragment) not in self.pages[target].anchors:
            return f"{link}: no such anchor"
        return None

    def foreign(self) -> Iterator[str]:
        """Yield one line for each style sheet that loads something from another host."""
        for path in sorted(self.folder.rglob("*.css")):
            style = path.read_text(encoding="utf-8")
            for link in re.findall(r"(?:url\(|@import )[\"']?((?:https?:)?//[^)\"' ]+)", style):
                yield f"{path.relative_to(self.folder)}: {link}: loaded from another host"

    def missing(self) -> Iterator[str]:
        """Yield the public names without an entry in the API."""
        anchors = set().union(*(page.anchors for page in self.pages.values()))
        for name in public():
            if name not in anchors:
                yield f"{name}: no entry in the API pages"


def public() -> list[str]:
    """Return the names that the modules export, or define without a leading underscore, except for modules."""
    found = []
    tools = [f".integrations.{module.name}" for module in pkgutil.iter_modules(integrations.__path__)]
    for name in (f"tieaware{module}" for module in (*MODULES, *tools)):
        module = importlib.import_module(name)
        defined = [
            each
            for each, value in vars(module).items()
            if not each.startswith("_") and (inspect.isclass(value) or inspect.isfunction(value))
            and value.__module__ == name
        ]  # fmt: skip
        exported = getattr(module, "__all__", defined)
        found += [f"{name}.{each}" for each in exported if not inspect.ismodule(getattr(module, each))]
    return found


def main() -> int:
    """Print all problems and a summary; return 1 if there are problems."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    site = Site(parser.parse_args().folder)
    found = [*site.problems(), *site.foreign(), *site.missing()]
    links = sum(len(page.links) + len(page.loaded) for page in site.pages.values())
    print(*found, f"{len(site.pages)} pages, {links} links, {len(found)} problems", sep="\n")
    return 1 if found or not site.pages else 0


if __name__ == "__main__":
    sys.exit(main())

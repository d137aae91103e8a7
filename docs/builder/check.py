"""Check a built site: all links and images exist, nothing is loaded from another host, and the API is complete.

External links must have https and a host, but are not followed.

    python docs/builder/check.py site
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

from tieaware import integrations

# Every name that these modules or the integrations export needs an entry in the API pages.
MODULES = ("", ".precision", ".statistics", ".experiments", ".retrieval", ".samples", ".reference")
# HTML elements for which a browser loads another file, and the attribute that contains the address of the file.
LOADED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src", "object": "data"}
# Values of rel for which a browser does not load the address of a link element.
TOLD = {"canonical", "next", "prev", "alternate"}


class Page(HTMLParser):
    """A parser that collects the anchors of a page, and the addresses that it links to or loads, with line numbers."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[tuple[int, str]] = []
        self.loaded: list[tuple[int, str]] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the anchors and addresses of a tag."""
        said = {name: value or "" for name, value in attrs}
        self.anchors |= {said[name] for name in ("id", "name") if name in said}
        line = self.getpos()[0]
        if tag == "a" and "href" in said:
            self.links.append((line, said["href"]))
        if tag in LOADED and LOADED[tag] in said and not TOLD & set(said.get("rel", "").split()):
            self.loaded.append((line, said[LOADED[tag]]))


class Site:
    """A folder of built pages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()

    @cached_property
    def pages(self) -> dict[Path, Page]:
        """All pages, by path."""
        return {path: Page(path) for path in sorted(self.folder.rglob("*.html"))}

    def problems(self) -> Iterator[str]:
        """Yield one line for each wrong link, and for each resource that is missing or loaded from another host."""
        for path, page in self.pages.items():
            name = path.relative_to(self.folder)
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

    def missing(self) -> Iterator[str]:
        """Yield the public names without an entry in the API."""
        anchors = set().union(*(page.anchors for page in self.pages.values()))
        for name in public():
            if name not in anchors:
                yield f"{name}: no entry in the API pages"


def public() -> list[str]:
    """Return the names that the modules export, or define without a leading underscore."""
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
        found += [f"{name}.{each}" for each in getattr(module, "__all__", defined)]
    return found


def main() -> int:
    """Print all problems and a summary; return 1 if there are problems."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    site = Site(parser.parse_args().folder)
    found = [*site.problems(), *site.missing()]
    links = sum(len(page.links) + len(page.loaded) for page in site.pages.values())
    print(*found, f"{len(site.pages)} pages, {links} links, {len(found)} problems", sep="\n")
    return 1 if found or not site.pages else 0


if __name__ == "__main__":
    sys.exit(main())

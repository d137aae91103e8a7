"""Pages in HTML: their tags and attributes, and the browser that shows them."""

from __future__ import annotations

import html.parser
import shutil

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Page(html.parser.HTMLParser):
    """A parser that collects the tags and attributes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def values(self, name: str) -> list[str | None]:
        """Return the values of all attributes with this name."""
        return [value for each, value in self.attributes if each == name]

"""Pages in HTML: their tags and attributes, and the browser that shows them."""

from __future__ import annotations

import html.parser
import os
import shutil
import subprocess
from pathlib import Path

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def in_browser(address: str, folder: Path, *options: str, timeout: float = 120) -> str:
    """Return the HTML of a page after the browser has loaded it. The browser keeps its files in a folder."""
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--dump-dom"]
    made = subprocess.run(
        [*command, *options, f"--user-data-dir={folder / 'profile'}", address], capture_output=True, timeout=timeout,
        # `make checked` preloads the sanitizer, which must not be loaded into the browser.
        env={name: value for name, value in os.environ.items() if name != "LD_PRELOAD"},
    )  # fmt: skip
    text = made.stdout.decode("utf-8", "replace")
    assert "<html" in text, made.stderr.decode("utf-8", "replace")[-2000:]
    return text


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

"""Python code on the pages of docs/integrations that is no doctest."""

import re
from pathlib import Path

PAGES = Path(__file__).parents[2] / "docs" / "integrations"


def code_of(page, module):
    """Return the block of Python on a page that imports a module."""
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    return next(each for each in re.findall("```python\n(.*?)```", text, re.DOTALL) if module in each)

"""The pages about precision name only precisions that exist."""

import re
from pathlib import Path

from tieaware.precision.coarsening import REGISTRY, parse_precision

DOCS = Path(__file__).parents[2] / "docs"


def test_the_pages_name_only_precisions_that_exist():
    """Each notation in the guide and in the API page is parsed."""
    names = "|".join(REGISTRY)
    for page in ("precision.md", "api/precision.md"):
        found = re.findall(rf"(?:--precision |`)((?:{names})(?::[\w./]+)?)\b", (DOCS / page).read_text("utf-8"))
        assert found
        for text in found:
            parse_precision(text)

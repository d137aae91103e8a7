"""The pages about precision name only precisions that exist, and are right about embeddings."""

import re
from pathlib import Path

import numpy as np
import pytest

from tieaware.precision.coarsening import REGISTRY, parse_precision

DOCS = Path(__file__).parents[2] / "docs"


def test_the_pages_name_only_precisions_that_exist():
    """Each notation in the guide and in the API page is parsed."""
    names = "|".join(REGISTRY)
    for page in ("precision.md", "api/tieaware.md"):
        text = (DOCS / page).read_text("utf-8")
        found = re.findall(rf"(?:--precision |`)((?:{names})(?::[\w./,]+(?: [\w:]+)?)?)\b", text)
        assert found
        for notation in found:
            parse_precision(notation)


def test_the_page_on_embeddings_knows_where_sigmoids_saturate():
    """Each row of the table has the spacing of a format below 1, and the first logit whose sigmoid rounds to 1."""
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml-dtypes is missing")
    text = (DOCS / "tools" / "embeddings.md").read_text("utf-8")
    dtypes = (ml_dtypes.float8_e4m3fn, ml_dtypes.bfloat16, np.float16, np.float32)
    rows = re.findall(r"^\| (?:b?float\d.*?) \| \S+ = ([\d.]+) \| ([\d,]+) \| ([\d.]+) \|$", text, re.MULTILINE)
    for dtype, (spacing, numbers, logit) in zip(dtypes, rows, strict=True):
        below = 1 - float(np.array(1).astype(dtype) - np.nextafter(np.array(1, dtype), np.array(0, dtype)))
        assert float(spacing) == pytest.approx(1 - below, rel=0.02)
        assert int(numbers.replace(",", "")) == 0.5 / (1 - below)
        sigmoids = 1 / (1 + np.exp([0.01 - float(logit), -0.01 - float(logit)]))
        assert (sigmoids.astype(dtype) == 1).tolist() == [False, True]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.float32])
def test_the_best_documents_of_the_page_on_embeddings_are_the_best_for_quantised_scores(dtype):
    """The negative of the least int8 number, and of any uint8 number but 0, is not a number of the same type."""
    text = (DOCS / "tools" / "embeddings.md").read_text("utf-8")
    (lines,) = re.findall(r"^>>> (def top\(.*\n(?:\.\.\. .*\n)+)", text, re.MULTILINE)
    page = {"np": np}
    exec(lines.replace("... ", ""), page)
    least = 0 if dtype == np.uint8 else -128
    ids, scores = page["top"](np.array([[least, 5, 100, 5]], dtype), 3)
    assert (ids.tolist(), scores.tolist()) == ([[2, 1, 3]], [[100, 5, 5]])

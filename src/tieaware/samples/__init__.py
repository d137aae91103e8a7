"""Sample collections: generated topics, pooled judgments and runs whose scores tie.

`generate` makes a collection from a seed. One small collection is embedded in the package: `load` reads it,
`sample_files` returns its folder, and ``python -m tieaware.samples --compress --out DIR`` generates the same files.
`discrete_lists` generates lists for benchmarks, and `generate_texts` a collection of texts for retrieval.
"""

from tieaware.samples.discrete import DiscreteLists, discrete_lists
from tieaware.samples.generator import RUN_NAMES, Collection, generate
from tieaware.samples.texts import Texts, generate_texts
from tieaware.samples.writing import load, sample_files, write

__all__ = [
    "RUN_NAMES", "Collection", "DiscreteLists", "Texts", "discrete_lists", "generate", "generate_texts", "load",
    "sample_files", "write",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__

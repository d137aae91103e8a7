"""Sample collections: a seeded generator of TREC-like topics, pooled judgments and runs whose scores tie.

A small collection of this kind is embedded in the package: `load` reads it, `sample_files` locates it, and
``python -m tieaware.samples --compress --out DIR`` makes it anew. `discrete_lists` is for benchmarks,
and `generate_texts` makes a collection of texts for retrieval.
"""

from tieaware.samples.discrete import DiscreteLists, discrete_lists
from tieaware.samples.generator import RUN_NAMES, Collection, generate
from tieaware.samples.texts import Texts, generate_texts
from tieaware.samples.writing import load, sample_files, write

__all__ = [
    "RUN_NAMES", "Collection", "DiscreteLists", "Texts", "discrete_lists", "generate", "generate_texts", "load",
    "sample_files", "write",
]  # fmt: skip

"""Sample collections: a seeded generator of TREC-like topics, pooled judgments and runs whose scores tie.

A small collection of this kind is embedded in the package: `load` reads it, `sample_files` locates it, and
``python -m tieaware.samples --compress --out DIR`` makes it anew. `discrete_lists` is for benchmarks.
"""

from tieaware.samples.discrete import DiscreteLists, discrete_lists
from tieaware.samples.files import load, sample_files, write
from tieaware.samples.generator import RUN_NAMES, Collection, generate

__all__ = ["RUN_NAMES", "Collection", "DiscreteLists", "discrete_lists", "generate", "load", "sample_files", "write"]

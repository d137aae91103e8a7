"""The conformance set: small rankings with ties and their exact values, for tests of any evaluator.

The values were computed by enumeration of all orders of tied documents, in fractions. `cases` returns the set, `check`
compares an evaluator with it, and `path` is its JSON file, for other languages. The file is in the public domain
(CC0-1.0): tests of any project may contain it. docs/conformance.md describes its format.
"""

from tieaware.conformance.checking import Difference, Report, check
from tieaware.conformance.exact_values import Case, ExactValues, cases, path

__all__ = ["Case", "Difference", "ExactValues", "Report", "cases", "check", "path"]


def __dir__() -> list[str]:
    return __all__

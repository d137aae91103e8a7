"""The conformance set, made by enumeration: ``PYTHONPATH=tests python -m support.conformance_values`` writes it.

The values come from `support.oracle`, which evaluates every order of the tied documents in exact fractions, and from
none of the kernels.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from pathlib import Path

from support import oracle
from support.conformance_lists import TiedList, lists

from tieaware.measures import Measure, parse_measure

PATH = Path(__file__).parents[2] / "src" / "tieaware" / "data" / "conformance" / "rankings_with_ties.json"
VERSION = "1.0"
DIGITS = 30

# Every measure of the set, with its definition for a list in one order. Irrational measures have decimals as values.
MEASURES = {
    "P@1": "hits / 1",
    "P@3": "hits / 3, also if the list is shorter",
    "P@5": "hits / 5, also if the list is shorter",
    "R@1": "hits / N",
    "R@3": "hits / N",
    "R@5": "hits / N",
    "Recall_cap@3": "hits / min(3, N)",
    "F1@3": "harmonic mean of P@3 and R@3; 0 without hits",
    "Success@1": "1 with a hit, else 0",
    "Success@3": "1 with a hit, else 0",
    "RR": "1 / rank of the first hit; 0 without hits",
    "RR@3": "1 / rank of the first hit; 0 without hits",
    "AP": "sum, over the hits, of hits down to its rank / rank; divided by N",
    "AP@3": "sum, over the hits, of hits down to its rank / rank; divided by N",
    "AP(rel=2)": "AP with 2 as the least relevant label",
    "Rprec": "hits among the first N ranks / N",
    "Bpref": "sum, over the hits, of 1 - min(n, N) / min(N, M), where n judged nonrelevant documents precede the hit "
    "and M are judged; 1 for a hit where n = 0; divided by N",
    "IPrec@0.5": "greatest precision at a hit that is at least the int(N / 2 + 1/2)-th; 0 if there is none",
    "AUC": "share of pairs of a hit and another retrieved document in which the hit comes first; "
    "1 with hits alone, 0 without hits",
    "ESL": "number of other documents before the first hit, or in the whole list without hits; 0 if N = 0. Lower is "
    "better: optimistic is the minimum",
    "RBP(p=0.5)": "sum, over the hits, of 0.5^rank",
    "ERR@3": "sum over the ranks j of s(j) / j times the product of 1 - s(i) over i < j; s = (2^label - 1) / 16",
    "nERR@3": "ERR@3 divided by that of all judged documents, ordered by label; s = (2^label - 1) / 16",
    "Q": "sum, over the hits, of (hits + gain down to its rank) / (rank + greatest gain possible down to its rank), "
    "where the gain is the sum of the relevant labels; divided by N",
    "Judged@3": "share of judged documents among the first 3, or in the list if it is shorter; 0 for no documents",
    "DCG@3": "sum of label / log2(rank + 1)",
    "nDCG": "DCG divided by that of all judged documents, ordered by label; 0 if that is 0",
    "nDCG@3": "DCG@3 divided by that of all judged documents, ordered by label; 0 if that is 0",
    "nDCG(dcg='exp-log2')@5": "as nDCG, with 2^label - 1 in place of the label",
}
IRRATIONAL = ("DCG", "nDCG")
# Measures whose definition needs 2^label as a fraction, which real labels do not give.
WHOLE_LABELS = ("ERR", "nERR")
LOWER_IS_BETTER = ("ESL",)

RULES = {
    "average": "mean over all orders of the tied documents, each equally likely",
    "run_order": "the tied documents in the order of the run",
    "trec_eval": "the tied documents by identifier, descending, compared as bytes in UTF-8",
    "docid_ascending": "the tied documents by identifier, ascending, compared as bytes in UTF-8",
    "optimistic": "the best value over all orders of the tied documents",
    "pessimistic": "the worst value over all orders of the tied documents",
}
SPREAD = {
    "variance": "variance over all orders of the tied documents, each equally likely",
    "minimum": "least value over all orders",
    "maximum": "greatest value over all orders",
}
TERMS = {
    "run": "pairs of document and score, in the order of the run. A higher score ranks first. Scores are numbers of "
    'double precision, or the strings "Infinity" and "-Infinity". Equal scores tie, also 0.0 and -0.0, and 1 and 1.0',
    "judgments": "labels of the judged documents, retrieved or not. Others are not judged: not relevant, without gain",
    "relevant": "a document whose label is at least 1, or at least rel",
    "N": "number of relevant documents in the judgments",
    "hits": "relevant documents in the list; with a cut-off @k, among its first k ranks. All sums are over these ranks",
    "values": "fractions p/q or integers, exact; for irrational measures decimals, rounded half to even to "
    f"{DIGITS} significant digits",
}


def conformance_set() -> str:
    """Return the text of the JSON file. Every list and every measure of a list has a line of its own."""
    head = {
        "name": "tieaware conformance set: rankings with ties",
        "version": VERSION,
        "licence": "CC0-1.0",
        "licence_url": "https://creativecommons.org/publicdomain/zero/1.0/",
        "terms": TERMS,
        "rules": RULES,
        "spread": SPREAD,
        "measures": {
            name: {"values": "decimals" if _is_irrational(name) else "fractions", "definition": definition}
            for name, definition in MEASURES.items()
        },
        "columns": [*RULES, *SPREAD],
    }
    cases = ",\n".join(_case(each) for each in lists())
    return _text(head, indent=2)[:-2] + f',\n  "cases": [\n{cases}\n  ]\n}}\n'


def _case(given: TiedList) -> str:
    head = {
        "id": given.name, "about": given.about, "tags": given.tags, "judgments": given.judgments,
        "run": [(document, _score(score)) for document, score in given.run],
    }  # fmt: skip
    labels = [0 if label is None else label for _, _, label in given.documents]
    whole = all(isinstance(label, int) for label in (*labels, *given.unretrieved))
    measures = [name for name in MEASURES if whole or parse_measure(name).name not in WHOLE_LABELS]
    rows = ",\n".join(f"      {_text(name)}: {_text(values_of(given, name))}" for name in measures)
    return f'    {_text(head)[:-1]}, "values": {{\n{rows}\n    }}}}'


def values_of(given: TiedList, measure: str) -> list[str]:
    """Return the values of a list, in the order of the columns."""
    parsed = parse_measure(measure)
    labels = [-1 if label is None else label for _, _, label in given.documents]
    scores = [float(score) for _, score, _ in given.documents]
    judged = list(given.judgments.values())
    exact = oracle.exact(parsed, scores, labels, judged)
    best, worst = exact.maximum, exact.minimum
    if parsed.name in LOWER_IS_BETTER:
        best, worst = worst, best
    values = (exact.mean, *_in_orders(parsed, given, labels, judged), best, worst, *exact[1:])
    return [_number(value, decimals=_is_irrational(measure)) for value in values]


def _in_orders(measure: Measure, given: TiedList, labels: Sequence[float], judged: Sequence[float]) -> list[Fraction]:
    """Return the values in the order of the run, and with the identifiers of ties descending and ascending."""
    documents = range(len(labels))
    # Two sorts, the second of which is stable: by identifier, then by score. -0.0 equals 0.0 in Python too.
    names = sorted(documents, key=lambda i: given.documents[i][0].encode())
    by_score = [sorted(order, key=lambda i: -given.documents[i][1]) for order in (documents, names[::-1], names)]
    return [oracle.value(measure, [labels[i] for i in order], judged) for order in by_score]


def _is_irrational(measure: str) -> bool:
    return parse_measure(measure).name in IRRATIONAL


def _number(value: Fraction, *, decimals: bool) -> str:
    """Return p/q, or a decimal; differences that the 50 digits of the enumeration leave of zero count as zero."""
    if not decimals:
        return str(value)
    if abs(value) < Fraction(1, 10**45):
        return "0"
    context = Context(prec=DIGITS, rounding=ROUND_HALF_EVEN)
    rounded = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return format(rounded.normalize(context), "f")


def _score(score: float) -> float | str:
    return score if math.isfinite(score) else "Infinity" if score > 0 else "-Infinity"


def _text(value: object, indent: int | None = None) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=True, allow_nan=False)


if __name__ == "__main__":
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else PATH
    path.write_text(conformance_set(), encoding="ascii", newline="\n")
    print(f"{path}: {path.stat().st_size} bytes")

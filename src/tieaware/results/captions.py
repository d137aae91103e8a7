"""Default captions and labels of tables in LaTeX: what the numbers are, and how they were computed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tieaware.output.tables import counted
from tieaware.results.exports import Column, Export
from tieaware.results.provenance import Provenance
from tieaware.ties import RULES

# A caption names no more measures than this; the columns name them all.
_NAMED = 4
_LETTERS = re.compile(r"[a-z0-9]+")


def caption_of(export: Export) -> str:
    """Return a sentence with the measures, the numbers of runs and queries, the tie rule and the precision.

    Examples
    --------
    >>> from tieaware import evaluate
    >>> from tieaware.results import export_of
    >>> caption_of(export_of(evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 2.0}}, ["map", "num_ret"], ties="optimistic")))
    'Mean map and the sum of num_ret of 1 run over 1 query, with tied documents in the best order.'
    """
    values = [column for column in export.columns if column.kind == "value"]
    n_queries = counted(len(export.queries), "query", "queries")
    made = export.made
    over = f"the queries that each run answers, {n_queries} in all" if made and made.queries == "both" else n_queries
    rest = "" if made is None else f", {_ties(made)}{_precision(made)}"
    return f"{_quantities(values)} of {counted(len(export.runs), 'run')} over {over}{rest}."


def _quantities(values: Sequence[Column]) -> str:
    if not values or len(values) > _NAMED:
        return f"{counted(len(values), 'measure').capitalize()}"
    means = [column.name for column in values if not column.is_count]
    sums = [column.name for column in values if column.is_count]
    parts = [f"mean {_listed(means)}"] if means else []
    parts += [f"the {'sum' if len(sums) == 1 else 'sums'} of {_listed(sums)}"] if sums else []
    text = " and ".join(parts) if len(means) < 2 else ", and ".join(parts)
    return text[0].upper() + text[1:]


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _ties(made: Provenance) -> str:
    rule = RULES[made.ties]  # type: ignore[index]
    if rule.averages:
        return "averaged over all orders of tied documents"
    order = rule.title.partition(":")[0]
    return f"with tied documents {'in ' if rule.extreme else ''}{order}"


def _precision(made: Provenance) -> str:
    return "" if made.precision is None else f", from scores reduced to {made.precision}"


def label_of(export: Export, *more: str) -> str:
    """Return a label with the measures, the number of queries and everything that is not a default.

    Parameters
    ----------
    export : Export
    more : str
        Further texts that distinguish the table from others of the same results.

    Examples
    --------
    >>> from tieaware import evaluate
    >>> from tieaware.results import export_of
    >>> result = evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 2.0}}, ["nDCG@10", "AP"], ties="optimistic")
    >>> label_of(export_of(result), "vs a")
    'tab:ndcg-10-ap-over-1-query-optimistic-vs-a'
    """
    names = [column.name for column in export.columns if column.kind == "value"]
    made = export.made
    options = [] if made is None else [made.ties, made.precision or "", made.queries]
    distinct = [option for option in options if option not in ("average", "judged")]
    texts = [*names, f"over {counted(len(export.queries), 'query', 'queries')}", *distinct, *more]
    return f"tab:{'-'.join(_LETTERS.findall(' '.join(texts).lower()))}"

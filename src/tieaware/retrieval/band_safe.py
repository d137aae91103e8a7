"""Band-safe search: a search that stops when every document of the top K is settled in its band of ranks."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from tieaware.checks.arguments import flag
from tieaware.checks.arrays import Integers
from tieaware.kernels import _settling
from tieaware.precision import Bands, bands
from tieaware.retrieval.accumulators import Found, IdleMemory, accumulate, score, top
from tieaware.retrieval.impact_order import Segments
from tieaware.retrieval.index import Index
from tieaware.retrieval.method import Method, Searcher, WeightedQuery, one_by_one, posting_weights, term_lists
from tieaware.retrieval.postings import Numbers

# The kernel has a bit for each term of a query.
_MOST_TERMS = 63


@dataclass(frozen=True, kw_only=True)
class BandSafe(Method):
    """Find the documents of each band of ranks, and stop as soon as no document can change its band.

    The bands are those of `tieaware.bands`: band g has the ranks from b_g to b_{g+1} - 1, with b_1 = 1 and b_{g+1} =
    ⌈rho b_g⌉. All documents of band g get the score 1/g, so a band is a tie group of the run. The bands are those of
    the run of `Exact`, in which tied documents are in the order of the index: `evaluate` gives the same values, bit for
    bit, for the run of `Exact` with ``precision="bands:RHO"`` and for this run, with that precision or without one.
    With a rho of 1, the result is that of `Exact`, bit for bit, with its scores.

    If rank K falls inside a band, the last band has the documents of its ranks up to K; with ``whole_ties=True``, it
    has the documents of all its ranks.

    Parameters
    ----------
    rho : str, Fraction, int or float, default: 1.5
        The growth factor of the bands, at least 1, read exactly; see `tieaware.bands`.
    look_up : bool, default: True
        Whether documents are looked up in posting lists that are sorted by document. False reads on in order of impact
        until all documents are settled, as a search must if postings are stored in this order only. Exact scores are
        then summed when all postings were read.

    Notes
    -----
    Postings are read in descending order of impact, as by `ImpactOrdered`. A document that was not seen in any list has
    a score of at most the sum of the lists' next impacts. When this sum is below the K-th largest sum of impacts read,
    reading stops. The score of a document that was seen lies between the sum of the impacts read and this sum plus the
    next impacts of the other lists. While such an interval reaches over a boundary between two bands, its document is
    looked up in the list that may add most; after the last list, its score is summed in the order of the terms, and
    compared exactly. Intervals inside a band are left as they are. Fagin, Lotem and Naor call reading with such bounds
    NRA, and its combination with look-ups CA: Optimal aggregation algorithms for middleware, PODS 2001.

    If fewer postings are left than documents to look up, the search reads on instead. A posting counts as read if it
    was read in order of impact, or if a look-up stopped at it. A document counts as scored if its score became known
    completely. A query with a negative weight, or with more than 63 terms, is searched in the same way as by `Exact`,
    and its bands are made from the result; so is a query with a filter, whose bands have only documents that pass it.

    Examples
    --------
    >>> texts = [("d1", "tie"), ("d2", "tie tie"), ("d3", "tie tie tie"), ("d4", "tie tie tie tie")]
    >>> index = Index.build(texts, analyzer=str.split)
    >>> run = BandSafe(rho=2, weighting="nnn.nnn").search(index, {"q": "tie"}, k=3)
    >>> run.documents.to_list(), run.scores.tolist()
    (['d4', 'd2', 'd3'], [1.0, 0.5, 0.5])
    """

    rho: str | float | Fraction = 1.5
    look_up: bool = True

    _adds_document_parts: ClassVar[bool] = False
    # The bands are those of the documents that pass the filter.
    _applies_filter: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        flag("look_up", self.look_up)
        # Equal factors become equal parameters, in a form that `parse_method` can read.
        written = str(Bands(self.rho)).partition(":")[2]
        factor = written if "/" in written else float(written)
        object.__setattr__(self, "rho", int(factor) if isinstance(factor, float) and factor.is_integer() else factor)

    def _searcher(self, index: Index, k: int, whole_ties: bool) -> Searcher:
        n = max(len(index), 1)
        weights = posting_weights(index, self.weighting)
        segments = index.prepared(("segments", self.weighting), lambda: Segments.of(index.postings, weights))
        in_bands = None if self.rho == 1 else _InBands(self.rho, k, n, whole_ties)
        depth = min(k, n) if in_bands is None else in_bands.depth
        lists = term_lists(index, self.weighting)
        memory = IdleMemory(lambda: _settling.Accumulators(n))

        def find(query: WeightedQuery) -> Found:
            own, allowed = query.weights, query.query.documents
            whole = whole_ties and in_bands is None
            if allowed is not None:
                exact = score(allowed, lists(query), len(index), depth, whole_ties=whole)
                return exact if in_bands is None else in_bands.of(exact)
            if len(own) > _MOST_TERMS or not ((own >= 0) & (own < np.inf)).all():
                exact = accumulate(lists(query), len(index), depth, whole_ties=whole)
                return exact if in_bands is None else in_bands.of(exact)
            starts, stops = index.postings.starts[query.terms], index.postings.starts[query.terms + 1]
            documents, scores, n_scored, n_comparisons, n_postings = memory.lent_to(
                _settling.search, starts, stops, own, segments.documents, segments.weights, index.postings.documents,
                weights, n, depth, None if in_bands is None else in_bands.boundaries, self.look_up,
            )  # fmt: skip
            if in_bands is not None:
                return in_bands.of(Found(documents, scores, n_postings, n_scored, n_comparisons))
            best = top(documents, scores, n_postings, k, whole_ties=whole_ties)
            return best._replace(n_documents=n_scored, n_comparisons=best.n_comparisons + n_comparisons)

        return one_by_one(find)


class _InBands:
    """The bands of the first `depth` ranks; `boundaries` has the last rank of the band of each rank."""

    depth: int
    boundaries: Integers

    def __init__(self, rho: str | float | Fraction, k: int, n_documents: int, whole: bool) -> None:
        # The ranks of a collection are those of its documents, so further bands are not needed.
        starts = bands(rho, n_documents)
        lasts = np.append(starts[1:] - 1, n_documents)
        band = int(np.searchsorted(lasts, min(k, n_documents)))
        self.depth = int(lasts[band]) if whole else min(k, n_documents)
        lasts = np.minimum(lasts[: band + 1], self.depth)
        sizes = np.diff(lasts, prepend=0)
        self.boundaries = np.repeat(lasts, sizes)
        self._bands = np.repeat(np.arange(1, band + 2), sizes)

    def of(self, found: Found) -> Found:
        """Give the documents of band g the score 1/g; sort the documents of each band."""
        numbers = self._bands[: len(found.documents)]
        order = np.lexsort((found.documents, numbers))
        documents: Numbers = found.documents[order]
        return found._replace(documents=documents, scores=1.0 / numbers)

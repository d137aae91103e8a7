"""The expected number of documents that the user of a measure views, where it depends on the measure alone."""

from __future__ import annotations

from collections.abc import Callable

from tieaware.errors import InputError
from tieaware.measures.definition import Measure
from tieaware.measures.formulas import logarithmic_slots
from tieaware.measures.notation import parse_measure
from tieaware.measures.user_models import inverse_square_slots, trigamma

# The weights of this many ranks are added up at most.
_DEEPEST = 1_000_000


def documents_viewed(measure: str | Measure) -> float:
    """Return how many documents the user of a measure views on average: the expected depth, and cost, of reading.

    In the C/W/L framework, a measure is the gain per document viewed. So the expected *total* gain is the measure times
    this number. If each document costs 1 to read, the number is the expected total cost as well.

    Parameters
    ----------
    measure : str or Measure
        P@k, RBP, SDCG@k or INSQ: the measures whose users read on without looking at the gain.

    Returns
    -------
    float
        1 / the weight of the first rank, at least 1.

    Raises
    ------
    InputError
        If the number depends on the ranking (INST, BPM, RR, AP …), or if P or SDCG has no cut-off.

    References
    ----------
    Moffat, A., Bailey, P., Scholer, F. and Thomas, P. (2017). Incorporating user expectations and behavior into the
    measurement of search effectiveness. ACM TOIS 35(3).

    Examples
    --------
    The user of RBP(p=0.8) views five documents. Two documents tie, and one of them is relevant.

    >>> import tieaware
    >>> [round(tieaware.documents_viewed(measure), 3) for measure in ("P@10", "RBP(p=0.8)", "SDCG@10", "INSQ")]
    [10.0, 5.0, 4.544, 2.58]
    >>> gain_per_document = tieaware.Evaluator([1, 0], "RBP(p=0.8)").score([1.0, 1.0])
    >>> round(gain_per_document * tieaware.documents_viewed("RBP(p=0.8)"), 6)
    0.9
    """
    known = parse_measure(measure)
    viewed = _VIEWED.get(known.name)
    if viewed is None:
        raise InputError("measure", f"{known} has users who look at the gain; use one of {', '.join(_VIEWED)}")
    if known.cutoff is None and known.name in ("P", "SDCG"):
        raise InputError("measure", f"{known} needs a cut-off, such as {known}@10")
    return viewed(known)


def _of_precision(measure: Measure) -> float:
    return float(measure.cutoff or 0)


def _of_patience(measure: Measure) -> float:
    """Return Σ p^(j-1) over the first k ranks, or over all."""
    p = float(measure["p"])
    return (1.0 - (p**measure.cutoff if measure.cutoff else 0.0)) / (1.0 - p)


def _of_discounts(measure: Measure) -> float:
    """Return Σ 1 / log2(1 + j) over the first k ranks."""
    if measure.cutoff is None or measure.cutoff > _DEEPEST:
        raise InputError(f"cut-off of {measure}", f"must be at most {_DEEPEST:,}")
    return float(logarithmic_slots(measure, measure.cutoff)[measure.cutoff].sum())


def _of_inverse_squares(measure: Measure) -> float:
    """Return Σ (2T / (j - 1 + 2T))² over the first k ranks, or over all."""
    first = 2.0 * float(measure["T"])
    if measure.cutoff is None:
        return first * first * trigamma(first)
    if measure.cutoff > _DEEPEST:
        return first * first * (trigamma(first) - trigamma(first + measure.cutoff))
    return first * first * float(inverse_square_slots(measure, measure.cutoff)[measure.cutoff].sum())


_VIEWED: dict[str, Callable[[Measure], float]] = {
    "P": _of_precision, "RBP": _of_patience, "SDCG": _of_discounts, "INSQ": _of_inverse_squares,
}  # fmt: skip

"""The verdict of the comparison experiment, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tieaware.checks.arrays import Integers
from tieaware.experiments._comparison_figures import TestedPairs
from tieaware.experiments._cut_lists import AS_FAR
from tieaware.experiments._identical_runs import described
from tieaware.output.tables import counted, significant
from tieaware.statistics import Resolutions

# The most runs that are named as better or worse than a baseline.
_NAMED = 3


def verdict(measures: Sequence[TestedPairs]) -> str:
    """Return who is best by the first measure, how sure that is, and what ties can change; then the other measures."""
    tested = measures[0]
    if tested.baseline is None or len(tested.first) == 1:
        effect, rest_of_effect = _effect_on_the_best(tested)
        start = [f"{_best_run(tested)}; {effect}.", f"{_number_of_verdicts(tested)}{rest_of_effect}."]
    else:
        start = [
            f"By {tested.measure}, {_against_baseline(tested)}; {_effect_of_ties(tested)}.",
            f"{_best_mean(tested)}.",
        ]
    # The sentence about a single pair already says that its runs are identical.
    known = tested.resolutions is not None and len(tested.first) > 1
    identical = described(tested.identical) if known else ""
    rest = [*(_by_another_measure(each) for each in measures[1:]), identical, tested.limit]
    return " ".join(filter(None, [*start, *rest]))


def _best_run(tested: TestedPairs) -> str:
    """Say which run is best, how sure its mean is, how many runs it beats, and which it does not beat."""
    means, best, others = tested.means, int(tested.order[0]), len(tested.runs) - 1
    if (n_best := _number_of_best(tested)) > 1:
        who = "Both runs" if n_best == 2 and others == 1 else f"{n_best} of {others + 1} runs"
        return f"{who} share the {_extreme(tested)}, {significant(means[best])}"
    beaten = tested.beaten()[best]
    beats = int(beaten.sum())
    if beats == others:
        which = "the other run" if others == 1 else "both other runs" if others == 2 else f"all other {others} runs"
    else:
        which = "the other run" if others == 1 else f"{beats or 'any'} of the other {others} runs"
    better = "is significantly better than" if beats else "is not significantly better than"
    equal = [run for i, run in enumerate(tested.runs) if i != best and not beaten[i]] if beats else []
    but = f", but not than {_listed(equal)}" if equal else ""
    low, high = (significant(float(end[best])) for end in tested.ends)
    mean = f"{significant(means[best])} ({tested.confidence:.0%} interval {low} to {high})"
    return f"{tested.runs[best]} has the {_extreme(tested)}, {mean}, and {better} {which}{but}"


def _number_of_best(tested: TestedPairs) -> int:
    """Return how many runs have the best mean."""
    return int((tested.means == tested.means[tested.order[0]]).sum())


def _listed(runs: Sequence[str]) -> str:
    """Return a few names with commas and "or", or the number of many."""
    if len(runs) > _NAMED:
        return f"{len(runs)} of them"
    return f"{', '.join(runs[:-1])} or {runs[-1]}" if len(runs) > 1 else runs[0]


def _extreme(tested: TestedPairs) -> str:
    return f"{'lowest' if tested.less_is_better else 'highest'} mean {tested.measure}"


def _best_mean(tested: TestedPairs) -> str:
    means, best = tested.means, int(tested.order[0])
    assert tested.baseline is not None
    baseline = tested.runs.index(tested.baseline)
    is_best = means[best] == means[baseline]
    name = tested.baseline if is_best else tested.runs[best]
    other = "" if is_best else f" ({tested.baseline}: {significant(means[baseline])})"
    return f"{name} has the {_extreme(tested)}, {significant(means[best])}{other}"


def _number_of_verdicts(tested: TestedPairs) -> str:
    if len(tested.first) == 1:
        difference, p = abs(float(tested.test.difference[0])), float(tested.adjusted[0])
        return f"The difference of {significant(difference)} has {tested.p_name} = {significant(p)}"
    n = int((tested.signs != 0.0).sum())
    return f"{n} of {len(tested.first)} pairs of runs differ significantly ({tested.p_name} below {tested.alpha:g})"


def _against_baseline(tested: TestedPairs) -> str:
    """Say how many runs are significantly better and worse than the baseline, with the names of a few."""
    better, worse = (np.flatnonzero(sign * tested.better > 0.0) for sign in (1.0, -1.0))
    n = len(tested.first)
    if not len(better) + len(worse):
        none = f"none of {n} runs differs" if n > 1 else "the other run does not differ"
        return f"{none} significantly from {tested.baseline} ({_level(tested)})"
    if n == 1:
        kind = "better" if len(better) else "worse"
        return f"the other run is significantly {kind} than {tested.baseline} ({_level(tested)})"
    return (
        f"{len(better)} of {n} runs{_names(tested, better)} {'is' if len(better) == 1 else 'are'} significantly better "
        f"than {tested.baseline}, and {len(worse)}{_names(tested, worse)} {'is' if len(worse) == 1 else 'are'} "
        f"significantly worse ({_level(tested)})"
    )


def _names(tested: TestedPairs, pairs: Integers) -> str:
    """Return the first runs of a few pairs in parentheses; empty if there are none or too many."""
    names = ", ".join(tested.runs[i] for i in tested.first[pairs])
    return f" ({names})" if 0 < len(pairs) <= _NAMED else ""


def _level(tested: TestedPairs) -> str:
    return f"{tested.p_name} below {tested.alpha:g}"


def _by_another_measure(tested: TestedPairs) -> str:
    if tested.baseline is not None:
        return f"By {tested.measure}, {_against_baseline(tested)}; {_effect_of_ties(tested)}."
    best = int(tested.order[0])
    n, n_best = int((tested.signs != 0.0).sum()), _number_of_best(tested)
    who = f"{tested.runs[best]} is the best" if n_best == 1 else f"{n_best} runs share the best mean"
    if len(tested.first) == 1:
        found = f"with {tested.p_name} = {significant(float(tested.adjusted[0]))}"
    else:
        found = f"and {n} of {len(tested.first)} pairs differ significantly"
    return f"By {tested.measure}, {who}, {found}; {_effect_of_ties(tested)}."


def _effect_on_the_best(tested: TestedPairs) -> tuple[str, str]:
    """Say what ties can change for the best run, and, in a further clause, what they can change for all pairs."""
    effect, best = tested.resolutions, tested.order[0]
    all_pairs = _effect_of_ties(tested)
    if effect is None or len(tested.first) == 1 or _number_of_best(tested) > 1:
        return all_pairs, ""
    if not (effect.sign_flips.any() or effect.verdict_flips.any()):
        return all_pairs, ""
    flips = effect.verdict_flips[(tested.first == best) | (tested.second == best)]
    changed, n_open = int((flips == 1).sum()), int((flips == -1).sum())
    if changed:
        clause = f"orders of the tied documents can change {changed} of its {len(flips)} verdicts"
    elif n_open:
        clause = f"for {n_open} of its {len(flips)} verdicts, it is not known whether ties can change them"
    else:
        clause = "no order of the tied documents changes its verdicts"
    return clause, f"; among all pairs, {all_pairs}"


def _effect_of_ties(tested: TestedPairs) -> str:
    """Say how many signs and verdicts the order of tied documents can change."""
    effect = tested.resolutions
    if effect is None:
        return "the effect of ties is unknown: the results have no spread"
    as_far = AS_FAR if tested.is_cut is not False else ""
    if len(tested.first) == 1 and tested.identical:
        return "the two runs have the same documents and scores"
    if len(tested.first) == 1:
        return f"{_effect_on_the_pair(tested, effect)}{as_far}"
    kinds = effect.sign_flips, effect.verdict_flips == 1, effect.verdict_flips == -1
    signs, verdicts, n_open = (int(kind.sum()) for kind in kinds)
    if not signs + verdicts + n_open:
        return f"no order of the tied documents changes a sign or a verdict{as_far}"
    changes = [f"reverse {counted(signs, 'difference')}"] if signs else []
    changes += [f"change the verdict of {counted(verdicts, 'pair')}"] if verdicts else []
    text = f"orders of the tied documents can {' and '.join(changes)}" if changes else ""
    if not n_open:
        return f"{text if verdicts else f'{text}, but change no verdict'}{as_far}"
    unknown = f"for {counted(n_open, 'pair')}, it is not known whether ties can change the verdict"
    return f"{text}; {unknown}{as_far}" if text else f"{unknown}{as_far}"


def _effect_on_the_pair(tested: TestedPairs, effect: Resolutions) -> str:
    """Say whether the order of tied documents can change the sign and the verdict of the only pair."""
    reverses, changes = bool(effect.sign_flips[0]), int(effect.verdict_flips[0])
    order, reversal = "order of the tied documents", "reverse the difference"
    if changes < 0:
        start = f"an {order} can {reversal}, but " if reverses else ""
        return f"{start}it is not known whether {'one' if reverses else f'an {order}'} can change the verdict"
    if not changes:
        return f"an {order} can {reversal}, but none changes the verdict" if reverses else (
            f"no {order} reverses the difference or changes the verdict"
        )  # fmt: skip
    becomes = "significant" if not tested.signs[0] else "not significant"
    # A significant difference with a sign that can change may also become significant in the other direction.
    change = "change the verdict" if tested.signs[0] and reverses else f"make it {becomes}"
    return f"orders of the tied documents can {f'{reversal} or ' if reverses else ''}{change}"

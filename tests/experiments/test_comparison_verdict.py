"""The verdict of the comparison: who is best, how sure that is, and what the orders of ties can change."""

import re
import warnings

import numpy as np
import pytest

import tieaware
from tieaware.cli import main
from tieaware.experiments import compare, comparison
from tieaware.statistics import paired_test

stats = pytest.importorskip("scipy.stats")
pytest.importorskip("matplotlib")

# The lists of the small runs below are complete, but `comparison` cannot know it.
pytestmark = pytest.mark.filterwarnings("ignore:.* inside a tie at the common length:UserWarning")


def _results(n_runs, n_measures=1, n_queries=12):
    """Return results of runs whose means grow from run to run, with queries of different difficulty."""
    rng = np.random.default_rng(9)
    values = rng.random((n_runs, n_queries, n_measures)) / 2 + np.arange(n_runs)[:, None, None] / 6
    queries = tuple(f"q{i}" for i in range(n_queries))
    return tieaware.Results(
        values, tuple(f"r{i}" for i in range(n_runs)), queries, (tieaware.AP, tieaware.ESL)[:n_measures]
    )


def test_the_verdict_in_special_cases():
    def verdict(*runs, measure=tieaware.AP, ties=0.0):
        values = np.array(runs)[..., None]
        results = tieaware.Results(values, tuple("abcd"[: len(runs)]), ("x", "y", "z"), (measure,))
        return compare(results, *((values - ties, values + ties) if ties is not None else ())).verdict()

    good, bad = [0.5, 0.61, 0.7], [0.1, 0.2, 0.3]
    assert verdict(good, bad, ties=None) == (
        "a has the highest mean AP, 0.603 (95% interval 0.355 to 0.852), and is significantly better than the "
        "other run; the effect of ties is unknown: the results have no spread. The difference of 0.403 has Holm's p = "
        "6.83e-05."
    )
    assert verdict(good, bad, measure=tieaware.ESL).startswith("b has the lowest mean ESL, 0.200 (95% interval")
    first = "than the other run; {}, as far as the lists reach. The difference of"
    no_effect = first.format("no order of the tied documents reverses the difference or changes the verdict")
    assert no_effect in verdict(good, bad)
    reverse_or_change = first.format("orders of the tied documents can reverse the difference or change the verdict")
    assert reverse_or_change in verdict(good, bad, ties=0.3)
    assert first.format("orders of the tied documents can make it not significant") in verdict(good, bad, ties=0.19)
    close = [0.4, 0.5, 0.7]
    assert first.format("orders of the tied documents can make it significant") in verdict(good, close, ties=0.03)
    assert verdict(good, good, bad).startswith(
        "2 of 3 runs share the highest mean AP, 0.603; no order of the tied documents changes a sign or a verdict, as "
        "far as the lists reach. 2 of 3 pairs of runs"
    )
    even = verdict([0.5, 0.1, 0.9], [0.1, 0.5, 0.8], [0.2, 0.9, 0.1])
    assert "is not significantly better than any of the other 2 runs; no order" in even


@pytest.mark.parametrize(
    ("ties", "on_the_best", "on_all"),
    [
        (0.0, "no order of the tied documents changes a sign or a verdict, as far as the lists reach", None),
        (0.002, "no order of the tied documents changes its verdicts", "reverse 1 difference, but change no verdict"),
        (0.03, "can change 1 of its 2 verdicts", "reverse 1 difference and change the verdict of 1 pair"),
        (0.3, "can change 2 of its 2 verdicts", "reverse 3 differences and change the verdict of 3 pairs"),
    ],
)
def test_the_first_sentence_says_what_ties_can_change_for_the_best_run(ties, on_the_best, on_all):
    """The other runs are equal but for their ties, and the second sentence speaks of them too."""
    values = np.array([[0.5, 0.61, 0.7], [0.1, 0.2, 0.3], [0.2, 0.1, 0.3]])[..., None]
    results = tieaware.Results(values, ("a", "b", "c"), ("x", "y", "z"), (tieaware.AP,))
    first, second = compare(results, values - ties, values + ties).verdict().split(". ")
    assert "is significantly better than both other runs; " in first
    assert first.endswith(on_the_best)
    assert second.startswith("2 of 3 pairs of runs differ significantly (Holm's p below 0.05)")
    among = f"; among all pairs, orders of the tied documents can {on_all}, as far as the lists reach."
    assert second.endswith(among if on_all else "0.05).")


def test_the_first_sentence_says_what_is_not_known_for_the_best_run():
    values = np.array([[0.5, 1.0, 0.1, 0.9], [0.3, 0.4, 0.8, 0.4], [0.5, 0.0, 0.8, 0.5]])[..., None]
    results = tieaware.Results(values, ("a", "b", "c"), ("w", "x", "y", "z"), (tieaware.AP,))
    outcome = compare(results, values - 0.1, values + 0.1, test="wilcoxon", alpha=0.3, correction="none")
    assert outcome.resolutions[0].verdict_flips[:2].tolist() == [-1, -1]
    assert "; for 2 of its 2 verdicts, it is not known whether ties can change them. 0 of" in outcome.verdict()


def test_the_verdict_with_a_baseline_that_nothing_differs_from():
    equal = tieaware.Results(np.full((3, 4, 1), 0.5), ("a", "b", "c"), tuple("wxyz"), (tieaware.AP,))
    assert compare(equal, baseline="b").verdict() == (
        "By AP, none of 2 runs differs significantly from b (Holm's p below 0.05); the effect of ties is unknown: the "
        "results have no spread. b has the highest mean AP, 0.500."
    )


def test_ties_flip_the_verdicts_that_the_page_shows():
    """The effect of ties is that on the corrected verdicts, not on those without a correction."""
    results = _results(6, n_queries=8)
    flips = {}
    for correction in ("bonferroni", "none"):
        outcome = compare(results, results.values - 0.1, results.values + 0.1, correction=correction)
        resolved = outcome.resolutions[0]
        flips[correction] = (resolved.verdict_flips == 1) & (outcome.signs[0] != 0)
        # Where the least difference is not significant at the corrected level, a significant verdict can flip.
        n_pairs = len(outcome.first)
        level = 0.05 / n_pairs if correction == "bonferroni" else 0.05
        values = results.values[:, :, 0]
        turned = np.sign(outcome.tests[0].difference)[:, None]
        least = turned * (values[outcome.first] - values[outcome.second]) - 0.2
        flipped = paired_test(least, 0.0).p >= level
        assert flips[correction][flipped & (outcome.signs[0] != 0)].all()
        affected = resolved.verdict_flips != 0
        by_run = [int(affected[(outcome.first == i) | (outcome.second == i)].sum()) for i in range(6)]
        assert {row[1]: row[9] for row in outcome.tables()["wins"].rows} == {f"r{i}": n for i, n in enumerate(by_run)}
    assert flips["bonferroni"].tolist() != flips["none"].tolist()


def test_the_verdict_says_if_the_test_cannot_find_a_difference():
    results = _results(3, n_queries=4)
    verdict = compare(results, test="sign").verdict()
    assert "0 of 3 pairs of runs differ significantly (Holm's p below 0.05)" in verdict
    assert verdict.endswith("With 4 queries for 3 pairs, p is at least 0.38: choose another test, because this one "
                            "cannot find a significant difference.")  # fmt: skip
    assert any(note.startswith("With 4 queries for 3 pairs") for note in results.table(test="sign").notes)


def test_the_effect_of_ties_in_words():
    """Ties may reverse a difference without changing a verdict; for Wilcoxon's test, the effect may be unknown."""
    values = np.array([[0.5, 0.4, 0.6], [0.4, 0.5, 0.59]])[..., None]
    results = tieaware.Results(values, ("a", "b"), ("x", "y", "z"), (tieaware.AP,))
    bounds = values - 0.01, values + 0.01
    effect = "; an order of the tied documents can reverse the difference, but none changes the verdict, as far as "
    assert f"{effect}the lists reach. The difference" in compare(results, *bounds).verdict()
    wilcoxon = compare(results, *bounds, test="wilcoxon").verdict()
    assert "but none changes the verdict, as far as the lists reach. The difference" in wilcoxon
    unknown = "but it is not known whether one can change the verdict, as far as the lists reach. The difference"
    assert unknown in compare(results, *bounds, test="wilcoxon", alpha=0.3).verdict()


def test_each_measure_has_a_sentence_on_ties():
    """The effect of ties was once in the verdict for the first measure only."""
    values = np.array([[0.5, 0.61, 0.7], [0.1, 0.2, 0.3], [0.3, 0.1, 0.2]])[..., None].repeat(2, axis=2)
    spread = np.array([0.0, 0.3])
    results = tieaware.Results(values, ("a", "b", "c"), ("x", "y", "z"), (tieaware.AP, tieaware.RR))
    for design in ({}, {"baseline": "a"}):
        first, second = compare(results, values - spread, values + spread, **design).verdict().split("By RR, ")
        assert "no order of the tied documents changes a sign or a verdict, as far as the lists reach." in first
        assert "; orders of the tied documents can reverse" in second
    assert compare(results).verdict().endswith("; the effect of ties is unknown: the results have no spread.")


def test_lists_that_end_inside_a_tie_limit_what_is_said_about_ties(tmp_path, capfd):
    """If lists were cut inside a tie, no order of the documents that are left accounts for the others."""
    qrels = {f"q{i}": {"a": 1, "z": 1} for i in range(4)}
    cut = {query: {"a": 3.0, "b": 2.0, "c": 2.0} for query in qrels}
    whole = {query: {"b": 3.0, "a": 2.0, "c": 1.0} for query in qrels}
    message = r"^4 lists end inside a tie at the common length of their run: 4 of cut at 3\. If they were cut there"
    for measure, reaches in (("R@3", True), ("R@5", True), ("R", True), ("R@2", False), ("R@1", False)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            outcome = comparison(qrels, {"cut": cut, "whole": whole}, [measure])
        assert [bool(re.search(message, str(each.message))) for each in caught] == [True] * reaches
        assert ("verdict, as far as the lists reach. The difference" in outcome.verdict()) == reaches
        tables = [table for name, table in outcome.tables().items() if name != "ranks"]
        assert [any("If they were cut there" in note for note in table.notes) for table in tables] == [reaches] * 3
        caption = next(drawing.caption for name, drawing in outcome.drawings().items() if "differences" in name)
        assert ("as far as the lists reach" in caption) == reaches
    # A query that reappears in a later chunk counts once.
    lines = [f"{query} Q0 {document} 1 {score} t" for query, run in cut.items() for document, score in run.items()]
    (tmp_path / "cut").write_text("\n".join(lines[1:] + lines[:1]) + "\n")
    (tmp_path / "whole").write_text("\n".join(line.replace(" 2.0 ", " 1.0 ", 1) for line in lines) + "\n")
    (tmp_path / "qrels").write_text("".join(f"{query} 0 a 1\n" for query in qrels))
    main(["compare", *(str(tmp_path / name) for name in ("qrels", "cut", "whole")), "-m", "R@3"])
    assert "4 of cut at 3" in capfd.readouterr().err


def test_results_with_a_spread_bring_the_bounds_of_their_values():
    qrels = {f"q{i}": {"d1": 1} for i in range(4)}
    tied = {query: {"d1": 1.0, "d2": 1.0} for query in qrels}
    better = {query: {"d1": 2.0, "d2": 1.0} for query in qrels}
    results = tieaware.evaluate(qrels, {"better": better, "tied": tied}, ["RR"], spread=True)
    by_default, given = compare(results), compare(results, results.min, results.max)
    assert by_default.lowest[0].tolist() == given.lowest[0].tolist() == [0.0]
    assert by_default.verdict() == given.verdict()
    assert "the effect of ties is unknown" not in by_default.verdict()


def test_ties_flip_nothing_between_runs_with_the_same_documents_and_scores():
    """Runs a and b are the same, except on a query that is not judged; run c has the same ties with other scores."""
    qrels = {f"q{i}": {"d1": 1} for i in range(4)}
    one, two = ({f"q{i}": {"d1": score, "d2": score} for i in range(4)} for score in (1.0, 2.0))
    runs = {"a": one, "b": {**one, "other": {"d3": 1.0}}, "c": two}
    outcome = comparison(qrels, runs, ["RR"])
    assert outcome.identical == (("a", "b"),)
    (effect,) = outcome.resolutions
    assert effect.sign_flips.tolist() == [False, True, True]
    assert effect.verdict_flips.tolist() == [0, 1, 1]
    assert effect.lowest.tolist() == [-0.5] * 3
    note = "Runs with the same documents and scores: a and b. Their pairs do not count as changed by ties."
    assert "change the verdict of 2 pairs" in outcome.verdict()
    assert outcome.verdict().endswith(note)
    assert all(note in table.notes for name, table in outcome.tables().items() if name != "ranks")
    pair = comparison(qrels, {"a": one, "b": one}, ["RR"]).verdict()
    assert pair.startswith("Both runs share the highest mean RR, 0.750; the two runs")
    assert "the two runs have the same documents and scores." in pair
    assert comparison(qrels, {"a": one, "c": two}, ["RR"]).identical == ()


def test_the_documents_of_identical_runs_have_the_same_names():
    """The bytes of all names are the same, but they end in other places."""
    qrels = {"q0": {"d1": 1, "d12": 1}, "q1": {"d1": 1, "d12": 1}}
    runs = [{query: {name: 1.0, other: 1.0} for query in qrels} for name, other in (("d1", "d23"), ("d12", "d3"))]
    assert comparison(qrels, dict(zip("ab", runs, strict=True)), ["RR"]).identical == ()

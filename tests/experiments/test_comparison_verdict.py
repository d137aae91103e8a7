"""The verdict of the comparison: who is best, how sure that is, and what the orders of ties can change."""

from contextlib import nullcontext

import numpy as np
import pytest
from made_runs import growing_results

import tieaware
from tieaware.experiments import compare, comparison
from tieaware.statistics import paired_test

stats = pytest.importorskip("scipy.stats")
pytest.importorskip("matplotlib")

# The lists of the small runs below are complete, but `comparison` cannot know it.
pytestmark = pytest.mark.filterwarnings("ignore:.* inside a tie at the common length:UserWarning")


def test_ties_flip_the_verdicts_that_the_page_shows():
    """The effect of ties is that on the corrected verdicts, not on those without a correction."""
    results = growing_results(6, n_queries=8)
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


QUERIES = {f"q{i}": {"a": 1, "z": 1} for i in range(4)}
CUT = {query: {"a": 3.0, "b": 2.0, "c": 2.0} for query in QUERIES}
WHOLE = {query: {"b": 3.0, "a": 2.0, "c": 1.0} for query in QUERIES}
WARNING = r"^4 lists end inside a tie at the common length of their run: 4 of cut at 3\. If they were cut there"


@pytest.mark.parametrize("measure", ["R@3", "R@5", "R", "R@2", "R@1"])
def test_lists_that_end_inside_a_tie_limit_what_is_said_about_ties(measure):
    """If lists were cut inside a tie, no order of the documents that are left accounts for the others."""
    reaches = measure in ("R@3", "R@5", "R")
    with pytest.warns(UserWarning, match=WARNING) if reaches else nullcontext():
        outcome = comparison(QUERIES, {"cut": CUT, "whole": WHOLE}, [measure])
    assert ("verdict, as far as the lists reach. The difference" in outcome.verdict()) == reaches
    tables = [table for name, table in outcome.tables().items() if name != "ranks"]
    assert [any("If they were cut there" in note for note in table.notes) for table in tables] == [reaches] * 3
    caption = next(drawing.caption for name, drawing in outcome.drawings().items() if "differences" in name)
    assert ("as far as the lists reach" in caption) == reaches


def test_a_query_that_reappears_in_a_later_chunk_counts_once(tmp_path):
    lines = [f"{query} Q0 {document} 1 {score} t\n" for query, run in CUT.items() for document, score in run.items()]
    (tmp_path / "cut").write_text("".join(lines[1:] + lines[:1]))
    with pytest.warns(UserWarning, match=WARNING):
        comparison(QUERIES, {"cut": tmp_path / "cut", "whole": WHOLE}, ["R@3"])


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
    assert outcome.verdict().endswith(note)
    assert all(note in table.notes for name, table in outcome.tables().items() if name != "ranks")
    assert comparison(qrels, {"a": one, "c": two}, ["RR"]).identical == ()


def test_the_documents_of_identical_runs_have_the_same_names():
    """The bytes of all names are the same, but they end in other places."""
    qrels = {"q0": {"d1": 1, "d12": 1}, "q1": {"d1": 1, "d12": 1}}
    runs = [{query: {name: 1.0, other: 1.0} for query in qrels} for name, other in (("d1", "d23"), ("d12", "d3"))]
    assert comparison(qrels, dict(zip("ab", runs, strict=True)), ["RR"]).identical == ()

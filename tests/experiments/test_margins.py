"""What compare says about margins, single runs, pairs that ties turn, unanswered queries and plans; and its JSON."""

import importlib.resources
import json
import re
from itertools import product

import numpy as np
import pytest
from support.errors import message_of

import tieaware
from tieaware import AP, ESL, RR, Results
from tieaware.experiments import compare, comparison, fusion, tie_prevalence
from tieaware.statistics import kept, topics_needed

pytest.importorskip("scipy")
pytest.importorskip("matplotlib")
N = 60
RNG = np.random.default_rng(3)
BASE = RNG.random(N)
QUERIES = tuple(f"q{i}" for i in range(N))


def results_of(measure=AP, **runs):
    return Results(np.array(list(runs.values()))[:, :, None], tuple(runs), QUERIES, (measure,))


SAME, NOISY, WORSE = BASE + 0.001, BASE + RNG.normal(0, 0.1, N), 0.5 * BASE


@pytest.mark.parametrize(
    ("runs", "options", "start"),
    [
        ({"same": SAME, "noisy": NOISY, "half": WORSE}, {"keep": 0.99},
         r"^By AP, same keeps 99% of base; noisy is open \([\d,]+ queries would show that it keeps 99%, at this "
         r"difference\); half loses more\.$"),
        ({"noisy": NOISY, "less": NOISY - 0.02, "lost": NOISY - 0.03}, {"tolerance": 0.01},
         r"^By AP, no run is known to keep all but 0\.01 of base: noisy is open \([\d,]+ queries would show that it "
         r"keeps all but 0\.01, at this difference\); less and lost are open \([\d,]+ and [\d,]+ queries would show "
         r"that they lose more, at these differences\)\.$"),
        ({"same": SAME, "other": SAME + 0.001}, {"keep": 0.9}, r"^By AP, same and other keep 90% of base\.$"),
        ({"half": WORSE, "less": 0.4 * BASE}, {"keep": 0.99},
         r"^By AP, no run is known to keep 99% of base: half and less lose more\.$"),
        ({"half": WORSE}, {"tolerance": 0.9}, r"^By AP, half keeps all but 0\.9 of base\.$"),
        ({"half": WORSE}, {},
         r"^half is significantly worse than base by AP: -0\.\d+ \(0\.\d+ → 0\.\d+, Holm's p = "),
        ({"twice": 2.0 * BASE}, {}, r"^twice is significantly better than base by AP: \+0\.\d+ "),
        ({"noisy": NOISY}, {}, r"^noisy does not differ significantly from base by AP: "),
        ({"half": WORSE}, {"plan": 0.1},
         r" To show a difference of 0\.1 in AP with probability 0\.8 takes [\d,]+ queries for half\.$"),
    ],
)  # fmt: skip
def test_the_verdict_against_a_baseline(runs, options, start):
    outcome = compare(results_of(base=BASE, **runs), baseline="base", **options)
    assert re.search(start, outcome.verdict()), outcome.verdict()


def test_the_table_has_the_interval_of_what_is_kept():
    outcome = compare(results_of(base=BASE, same=SAME, noisy=NOISY), baseline="base", keep=0.99)
    rows = {row[1]: row[7:] for row in outcome.tables()["wins"].rows}
    assert rows["base"] == (None,) * 5
    for name, run in (("same", SAME), ("noisy", NOISY)):
        found = kept(BASE, run)
        assert rows[name] == (found.decision, found.low, found.high, found.needed, None)


@pytest.mark.parametrize("measure", [AP, ESL])
@pytest.mark.parametrize("margin", [{"keep": 0.9}, {"tolerance": 0.05}])
def test_ties_turn_a_margin_if_some_order_does(measure, margin):
    """All combinations of the least and the greatest values are tried, of two tied queries of each run."""
    rng = np.random.default_rng(8)
    seen = set()
    for loss in np.linspace(-0.2, 0.2, 15):
        base = rng.random(6) + 1.0
        values = np.stack((base, base - loss + rng.normal(0, 0.03, 6)))
        reach = rng.random((2, 6)) * (rng.random((2, 6)).argsort(axis=1) < 2) * 0.2
        results = Results(values[..., None], ("base", "run"), QUERIES[:6], (measure,))
        bounds = [(values + sign * reach)[..., None] for sign in (-1, 1)]
        outcome = compare(results, *bounds, baseline="base", **margin)
        (decision,), (turned,) = [each.decision for each in outcome._kept(0)], outcome.turned[0]
        others = set()
        for signs in product((-1, 1), repeat=4):
            change = np.zeros((2, 6))
            change[reach > 0] = signs * reach[reach > 0]
            sides = values + change
            others.add(kept(*(sides[::-1] if measure is ESL else sides), margin.get("keep", 0.9),
                            tolerance=margin.get("tolerance")).decision)  # fmt: skip
        assert turned == -1 or (turned == 1) == (others != {decision})
        (pair,) = outcome.to_dict()["measures"][0]["pairs"]
        assert pair["kept_flips"] == ("no", "yes", "open")[turned]
        said = {1: "An order of the tied documents can change that for run, as", 0: "No order of the tied documents "
                "changes that, as", -1: "Ties may change that for run, as"}[turned]  # fmt: skip
        assert said in outcome.verdict()
        seen.add((decision, int(turned)))
    assert {("keeps", 1), ("open", 1)} <= seen
    assert {turned for _, turned in seen} >= {0, 1}


def test_less_is_better_in_what_a_difference_would_show():
    """A run that needs more steps than the tolerance allows would be shown to lose, not to keep it."""
    outcome = compare(results_of(ESL, base=BASE, more=NOISY + 0.03, less=NOISY), baseline="base", tolerance=0.01)
    assert re.search(r"less is open \([\d,]+ queries would show that it keeps .*; more is open .* that it loses more",
                     outcome.verdict())  # fmt: skip


@pytest.mark.parametrize(
    ("less", "start"),
    [
        (0.0, "same keeps 99% of base by both measures. "),
        (0.9, "No run is known to keep 99% of base by both measures. "),
    ],
)
def test_what_all_measures_say_comes_first(less, start):
    values = np.stack([np.stack([BASE, BASE], axis=1), np.stack([SAME, SAME - less], axis=1)])
    outcome = compare(Results(values, ("base", "same"), QUERIES, (AP, RR)), baseline="base", keep=0.99)
    assert outcome.verdict().startswith(f"{start}By AP, same keeps ")


def test_ties_of_identical_runs_turn_no_margin():
    run = {q: {"a": 1.0, "b": 1.0, "z": 0.0} for q in QUERIES}
    qrels = {q: {"a": 1} for q in QUERIES}
    verdict = comparison(qrels, {"a": run, "b": run}, ["RR"], baseline="a", keep=0.99).verdict()
    assert verdict.startswith("By RR, b keeps 99% of a. No order of the tied documents changes that. ")


def test_a_share_is_a_number_or_a_percentage():
    results = results_of(base=BASE, noisy=NOISY, half=WORSE)
    of_number = compare(results, baseline="base", keep=0.29)
    for keep in ("29%", "0.29", "29 %"):
        assert compare(results, baseline="base", keep=keep).to_dict() == of_number.to_dict()
        assert str(results.table("base", keep=keep)) == str(results.table("base", keep=0.29))
        assert kept(BASE, NOISY, keep) == kept(BASE, NOISY, 0.29)


def test_less_is_better_where_it_is():
    """A run that needs half of the steps keeps everything; one that needs twice as many loses half."""
    outcome = compare(results_of(ESL, base=BASE, half=WORSE, twice=2.0 * BASE), baseline="base", keep=0.9)
    assert [each.decision for each in outcome._kept(0)] == ["keeps", "loses"]
    assert [round(each.estimate, 12) for each in outcome._kept(0)] == [2.0, 0.5]


def test_the_interval_of_a_difference_has_its_sign():
    outcome = compare(results_of(ESL, base=BASE, noisy=NOISY), baseline="base", tolerance=0.1)
    (pair,) = outcome.to_dict()["measures"][0]["pairs"]
    assert pair["kept_low"] < pair["difference"] < pair["kept_high"]
    assert (pair["kept_low"], pair["kept_high"]) == pytest.approx((pair["low"], pair["high"]))


def test_a_plan_for_runs_that_do_not_differ_is_left_out():
    outcome = compare(results_of(base=BASE, same=BASE), baseline="base", plan=0.1)
    assert "To show a difference" not in outcome.verdict()
    (needed,) = outcome.to_dict()["plan"]["needed"]
    assert needed == {"measure": "AP", "run": "same", "queries": None}
    both = compare(results_of(base=BASE, noisy=NOISY, half=WORSE), baseline="base", plan=0.1)
    runs = {"noisy": NOISY, "half": WORSE}
    alone = {name: results_of(base=BASE, run=run).topics_needed(0.1) for name, run in runs.items()}
    assert {each["run"]: each["queries"] for each in both.to_dict()["plan"]["needed"]} == alone
    said = f"takes {alone['noisy']:,} queries for noisy and {alone['half']:,} queries for half."
    assert said in both.verdict()
    strict, usual = (compare(results_of(base=BASE, noisy=NOISY), plan=0.1, alpha=alpha) for alpha in (0.001, 0.05))
    assert strict.to_dict()["plan"]["needed"][0]["queries"] > usual.to_dict()["plan"]["needed"][0]["queries"]


def test_planned_queries_have_the_variance_that_was_asked_about():
    results = results_of(base=BASE, noisy=NOISY, half=WORSE)
    pairs = [np.var(a - b, ddof=1) for a, b in ((BASE, NOISY), (BASE, WORSE), (NOISY, WORSE))]
    assert results.topics_needed(0.05) == topics_needed(0.05, np.mean(pairs))
    assert results.topics_needed(0.05, "AP", "base") == topics_needed(0.05, np.mean(pairs[:2]))
    assert message_of(results_of(base=BASE).topics_needed, 0.1).startswith("topics_needed: needs at least two runs")
    assert "no two of these runs differ" in message_of(results_of(a=BASE, b=BASE).topics_needed, 0.1)


def test_the_pairs_that_ties_can_turn_are_named():
    qrels = {f"q{i}": {"a": 1} for i in range(9)}
    clear, tied = ({q: {"a": score, "b": 1.0, "z": 0.0} for q in qrels} for score in (2.0, 1.0))
    verdict = comparison(qrels, {"clear": clear, "tied": tied, "other": clear}, ["RR"]).verdict()
    assert "change the verdict of 2 pairs (clear and tied, tied and other)" in verdict
    verdict = comparison(qrels, {"clear": clear, "tied": tied, "other": clear}, ["RR"], baseline="clear").verdict()
    assert "change the verdict of 1 pair (tied)" in verdict


def test_unanswered_queries_are_counted_in_every_verdict():
    qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(9)}
    first = {q: {"a": 3.0, "b": 1.0, "c": float(i % 4), "z": -1.0} for i, q in enumerate(qrels)}
    short = {q: each for q, each in first.items() if q not in ("q1", "q5")}
    expected = "short leaves 2 of 9 judged queries unanswered, which count 0."
    runs = {"first": first, "short": short}
    assert expected in comparison(qrels, runs, ["RR"]).verdict()
    assert expected in fusion(qrels, runs, "AP", folds=3).verdict()
    assert expected in tie_prevalence(runs, qrels, ["RR"]).verdict()
    more = comparison(qrels, {**runs, "less": {q: first[q] for q in ("q0", "q1")}}, ["RR"]).verdict()
    assert "less and 1 other run leave up to 7 of 9 judged queries unanswered, which count 0." in more


def test_many_groups_are_ranks_instead_of_letters():
    values = np.linspace(0, 1, 60)[:, None] * np.ones(20) + np.random.default_rng(4).normal(0, 0.02, (60, 20))
    results = Results(values[..., None], tuple(f"r{i}" for i in range(60)), tuple(map(str, range(20))), (AP,))
    groups = [row[5] for row in compare(results).tables()["wins"].rows]
    ranks = {row[0]: row[1] for row in results.ranks(resamples=2000).rows}
    assert groups == [ranks[f"r{i}"] for i in np.argsort(-results.mean()[:, 0], kind="stable")]
    assert max(map(len, str(compare(results)).splitlines())) < 400
    (most,) = {row[-1].text for row in compare(results).tables()["wins"].rows if row[1] == "r59"}
    assert most.endswith(", r47, r46 and 46 more")
    few = Results(values[::20, :, None], ("a", "b", "c"), tuple(map(str, range(20))), (AP,))
    assert [row[5] for row in compare(few).tables()["wins"].rows] == ["a", "b", "c"]


@pytest.mark.parametrize(
    "options",
    [
        {}, {"baseline": "base"}, {"baseline": "base", "keep": 0.99, "plan": 0.1}, {"test": "tukey"},
        {"correction": "bh", "test": "sign"}, {"baseline": "base", "tolerance": 0.1, "confidence": 0.8},
    ],
)  # fmt: skip
@pytest.mark.parametrize("ties", [False, True])
def test_the_json_has_the_keys_of_its_schema(options, ties):
    jsonschema = pytest.importorskip("jsonschema")
    path = importlib.resources.files("tieaware.experiments").joinpath("compare.schema.json")
    schema = json.loads(path.read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    results = results_of(base=BASE, noisy=NOISY, half=WORSE)
    bounds = (results.values - 0.01, results.values + 0.01) if ties else ()
    found = json.loads(json.dumps(compare(results, *bounds, **options).to_dict()))
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(found)
    assert not validator.is_valid({**found, "more": 1})
    assert [each["run"] for each in found["measures"][0]["means"]] == ["base", "noisy", "half"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keep": 0.99}, "keep: needs a baseline whose mean the runs keep"),
        ({"tolerance": 0.1}, "tolerance: needs a baseline whose mean the runs keep"),
        ({"keep": 0.99, "tolerance": 0.1, "baseline": "base"},
         "tolerance: keep and tolerance are two ways to say the same; pass one of them"),
        ({"keep": 0.0, "baseline": "base"}, "keep: expected a share such as 99% or 0.99, found 0.0"),
        ({"keep": 99, "baseline": "base"}, "keep: expected a share such as 99% or 0.99, found 99"),
        ({"keep": "99", "baseline": "base"}, "keep: expected a share such as 99% or 0.99, found '99'"),
        ({"plan": 0.0}, "plan: expected a number above 0, found 0"),
    ],
)  # fmt: skip
def test_errors(options, message):
    assert message_of(compare, results_of(base=BASE, half=WORSE), **options) == message


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ([1.0, 1.0, 0.0, 1.0], "Use finer scores in some: 25 % of its documents share the highest score of their list, "
         "and all its scores are whole numbers."),
        ([0.75, 0.75, 0.75, 0.125], ", and all its scores are bfloat16 numbers."),
        ([0.751, 0.751, 0.751, 0.123], "Rank some by logits, if its scores are probabilities: "),
        ([3.0, 2.0, 2.0, 1.0], ""),
    ],
)  # fmt: skip
def test_saturation_is_said_of_long_lists(scores, said):
    for further, expected in ((8, said), (2, "")):
        run = {f"q{i}": dict(enumerate([*scores, *range(-further, 0)])) for i in range(3)}
        verdict = tie_prevalence({"some": run}).verdict()
        assert (expected in verdict) if expected else ("share the highest score" not in verdict)


def test_top_ties_and_grids_are_counted():
    ties = tieaware.statistics.count_ties([[2.0, 2.0, 1.0], [3.0, 1.0, 1.0]])
    assert (ties.top_documents, ties.grid) == (2, "whole numbers")
    for scores, grid in (
        ([0.5, 0.1], "numbers with one decimal"), ([0.25, 1.0], "numbers with two decimals"),
        ([0.125, 1.0], "bfloat16 numbers"), ([1.0, 1.0 + 2.0**-9], "float16 numbers"), ([0.123, 1.0], ""),
        ([np.inf, 1.0], ""), ([1e300, 1.125], ""),
    ):  # fmt: skip
        assert tieaware.statistics.count_ties(scores).grid == grid

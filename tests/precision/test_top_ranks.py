"""A precision that depends on the rank: exact scores in the first ranks, coarse ones below."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.scores import coarsen_list

import tieaware
from tieaware import Evaluator, InputError, reference
from tieaware.cli import main
from tieaware.precision import Levels, Thresholds, Top, parse_precision

MEASURES = ["AP", "AP@5", "RR", "P@10", "R@7", "nDCG@10", "nDCG", "RBP", "Success@3", "Rprec"]
BELOW = ["levels:3", "decimals:0", "bfloat16", "gap:0.3", "thresholds:-0.5,0.5", "top:2 levels:2"]


SCORES = [-2.0, -1.0, -0.4, 0.0, 0.1, 0.35, 0.5, 0.51, 1.0, 3.0]


def by_definition(ranks, below, scores):
    """Return the scores of one list, document by document.

    A document keeps its score if fewer than `ranks` documents have a higher one. Another gets the lowest score of the
    documents that do not keep theirs and have its coarse score.
    """
    coarse = coarsen_list(parse_precision(below), scores).tolist()
    keeps = [sum(other > score for other in scores) < ranks for score in scores]
    lows = {level: min(s for s, c, kept in zip(scores, coarse, keeps, strict=True) if c == level and not kept)
            for level, kept in zip(coarse, keeps, strict=True) if not kept}  # fmt: skip
    return [s if kept else lows[level] for s, level, kept in zip(scores, coarse, keeps, strict=True)]


@pytest.mark.parametrize("below", BELOW)
@given(st.lists(st.sampled_from(SCORES), min_size=1), st.integers(1, 9))
def test_scores_are_those_of_the_definition(below, scores, ranks):
    found = coarsen_list(Top(ranks, below), scores).tolist()
    assert found == by_definition(ranks, below, scores)
    in_order = np.array(found)[np.argsort(scores, kind="stable")]
    assert (np.diff(in_order) >= 0).all()


def test_documents_below_the_first_ranks_never_tie_with_those_in_them():
    """The third and fourth document are of the level of the second, which is exact, so they tie below it."""
    assert coarsen_list(Top(2, "levels:1"), [9.0, 8.0, 7.9, 7.8, 1.0]).tolist() == [9.0, 8.0, 1.0, 1.0, 1.0]


def test_all_documents_that_tie_across_the_last_rank_are_exact():
    assert coarsen_list(Top(2, "levels:1"), [5.0, 4.0, 4.0, 4.0, 2.0, 1.0]).tolist() == [5.0, 4.0, 4.0, 4.0, 1.0, 1.0]
    assert coarsen_list(Top(1, "levels:1"), [3.0, 3.0, 3.0]).tolist() == [3.0, 3.0, 3.0]


def test_levels_are_those_of_the_whole_list():
    """The range is 0 … 10 with the first document, and would be 0 … 4 without it."""
    scores = [10.0, 4.0, 3.0, 0.0]
    assert coarsen_list(Top(1, "levels:2"), scores).tolist() == [10.0, 0.0, 0.0, 0.0]
    assert coarsen_list(Levels(2), scores[1:]).tolist() == [1.0, 1.0, 0.0]


def test_lists_are_coarsened_one_by_one_and_keep_their_type():
    scores = np.array([3.0, 2.0, 1.0, 30.0, 20.0, 10.0, 5.0], np.float32)
    coarse = Top(1, "levels:1").coarsen(scores, np.array([0, 3, 3, 7]))
    assert coarse.dtype == np.float32
    assert coarse.tolist() == [3.0, 1.0, 1.0, 30.0, 5.0, 5.0, 5.0]
    assert scores.tolist() == [3.0, 2.0, 1.0, 30.0, 20.0, 10.0, 5.0]


def test_infinite_scores_stay_infinite():
    scores = [math.inf, math.inf, 2.0, 1.0, -math.inf, -math.inf]
    assert coarsen_list(Top(1, "levels:1"), scores).tolist() == [math.inf, math.inf, 1.0, 1.0, -math.inf, -math.inf]
    with pytest.raises(InputError, match=r"^precision=levels:2: divides the range"):
        Evaluator([0, 1], "AP", precision=Top(1, "levels:2"))([math.inf, math.inf])


@pytest.mark.parametrize("ranks", [1, 5, 20])
def test_every_way_to_evaluate_agrees_with_the_reference(lists, ranks):
    """Values, means, candidates, features, the spread, rows and chunks of threads are those of the coarse scores."""
    sizes, labels, scores = lists
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    text = f"top:{ranks} levels:4"
    evaluator, threaded = (
        Evaluator(labels, MEASURES, offsets=offsets, precision=text, threads=threads) for threads in (1, 2)
    )
    values = evaluator(scores)
    for q, (start, end) in enumerate(pairwise(offsets)):
        some, own = labels[start:end].tolist(), scores[start:end].tolist()
        coarse = by_definition(ranks, "levels:4", own) if own else []
        judged = [label for label in some if label >= 0]
        expected = [reference.evaluate(measure, coarse, some, judged) for measure in MEASURES]
        np.testing.assert_allclose(values[q], expected, atol=1e-12)
    plain = Evaluator(labels, MEASURES, offsets=offsets)
    coarse = parse_precision(text).coarsen(scores, offsets)
    for found, expected in zip(evaluator.spread(scores), plain.spread(coarse), strict=True):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(threaded(scores), values)
    np.testing.assert_array_equal(evaluator.rows(2, 5)(scores[offsets[2] : offsets[5]]), values[2:5])
    np.testing.assert_array_equal(evaluator.many([scores, scores])[1], evaluator.mean(scores))
    np.testing.assert_array_equal(evaluator.columns(scores[:, None])[0], evaluator.mean(scores))


def test_measures_down_to_the_first_ranks_keep_their_values(lists):
    """With distinct scores, cut-offs within the exact ranks see no difference; deeper ones do."""
    sizes, labels, scores = lists
    scores = scores + np.linspace(0.0, 1e-6, len(scores))
    measures = ["P@10", "nDCG@10", "AP@5", "AP"]
    exact, coarse = (Evaluator(labels, measures, group=sizes, precision=p)(scores) for p in (None, "top:10 levels:2"))
    np.testing.assert_array_equal(coarse[:, :3], exact[:, :3])
    assert (coarse[:, 3] != exact[:, 3]).any()


def test_catalogues_leave_out_excluded_items():
    import scipy.sparse as sp

    relevance, seen = sp.csr_array([[0, 0, 0, 1, 0]]), sp.csr_array([[1, 0, 0, 0, 0]])
    evaluator = Evaluator.from_sparse(relevance, "RR", exclude=seen, precision="top:1 levels:1")
    assert evaluator([[math.nan, 4.0, 3.0, 2.0, 1.0]]).item() == pytest.approx((1 / 2 + 1 / 3 + 1 / 4) / 3)


def test_evaluate_and_the_command_take_it(tmp_path, capfd):
    qrels = {"q1": {"d3": 1}}
    run = {"q1": {"d1": 4.0, "d2": 3.0, "d3": 2.0, "d4": 1.0}}
    result = tieaware.evaluate(qrels, run, "RR", precision="top:2 levels:1", spread=True)
    assert result.values.item() == pytest.approx((1 / 3 + 1 / 4) / 2)
    assert (result.min.item(), result.max.item()) == (1 / 4, 1 / 3)
    (tmp_path / "qrels").write_text("q1 0 d3 1\n")
    (tmp_path / "run").write_text("".join(f"q1 Q0 {d} 1 {s} x\n" for d, s in run["q1"].items()))
    files = [str(tmp_path / "qrels"), str(tmp_path / "run")]
    assert main(["eval", *files, "-m", "RR", "--precision", "top:2 levels:1"]) == 0
    assert "0.2917" in capfd.readouterr().out
    assert main(["coarsen", files[1], "--precision", "top:2 levels:1"]) == 0
    assert [line.split()[4] for line in capfd.readouterr().out.splitlines()] == ["4.0", "3.0", "1.0", "1.0"]


def test_the_notation_nests_and_is_stripped():
    assert parse_precision(" top: 20  levels:16 ") == Top(20, Levels(16))
    assert str(Top(3, Thresholds([0.5]))) == "top:3 thresholds:0.5"
    assert parse_precision("top:5 top:3 bf16") == Top(5, Top(3, "bfloat16"))


REST = "^precision: top needs a number of ranks and the precision below them, as in top:20 levels:16$"
ERRORS = [
    *((parse_precision, (f"top{end}",), REST) for end in ("", ":", ":20", ":20 ")),
    (parse_precision, ("top:x levels:16",), "^precision: top needs a whole number, as in top:20 levels:16$"),
    (parse_precision, ("top:20 levls:16",), "^precision: unknown precision 'levls:16'; did you mean levels"),
    *((Top, (ranks, "levels:2"), "^top: expected a whole number from 1 to ") for ranks in (0, -1, 1.5, None, True)),
    (Top, (5, "bands:2"), "^precision: bands:2 groups ranks, so it cannot follow top:5$"),
    (Top, (5, None), "^precision: expected a text such as 'decimals:2', or a coarsening, found None"),
    (lambda: Evaluator([0, 1], "P(judged_only=True)@1", precision="top:1 levels:2"), (),
     r"^precision=top:1 levels:2: cannot be used with judged_only"),
    (lambda: Evaluator([0, 1], "AP").between([1, 2], [2, 1], precision="top:1 levels:2"), (),
     "^precision: top:1 levels:2 does not round single scores, so lines cannot take it$"),
    (lambda: Evaluator([0, 1], "AP", precision="top:1 levels:2").along([1, 2], [2, 1]), (),
     "^precision: rounds the scores of every t"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "arguments", "message"), ERRORS)
def test_errors(call, arguments, message):
    with pytest.raises(InputError, match=message):
        call(*arguments)

"""Warnings about top-k lists that are shorter than a cut-off, or of different lengths in one comparison."""

import pickle
import warnings

import numpy as np
import pytest
from support.matrices import sparse

from tieaware import Qrels, Run, evaluate

RNG = np.random.default_rng(5)
LABELS = (RNG.random((6, 40)) < 0.1).astype(int)
LABELS[:, 0] = 1
RELEVANCE = sparse(LABELS > 0, LABELS)
ALL_SCORES = RNG.random((6, 40))


def best(k, n_rows=6):
    ids = np.argsort(-ALL_SCORES[:n_rows], axis=1)[:, :k]
    return ids, np.take_along_axis(ALL_SCORES[:n_rows], ids, axis=1)


def caught(qrels, runs, measures, **options):
    """Return the texts of the warnings; each names this file."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        evaluate(qrels, runs, measures, **options)
    assert {each.filename for each in found} <= {__file__}
    return [str(each.message) for each in found]


SHORT = "als: lists of 10 items, but R@20 looks at 20: pass longer lists, or use a cut-off of at most 10"


@pytest.mark.parametrize("order", ["score", "file"])
def test_a_cut_off_beyond_the_lists_gives_a_warning(order):
    assert caught(RELEVANCE, {"als": best(10)}, ["R@10", "R@20", "P@30"], order=order) == [SHORT]
    assert not caught(RELEVANCE, {"als": best(10)}, ["R@10", "RR", "NumRel"], order=order)
    with pytest.warns(UserWarning, match="^als: lists of 10 items") as found:
        evaluate(RELEVANCE, {"als": best(10), "bpr": best(20)}, "R@20")
    assert len(found) == 1


def test_a_run_made_of_lists_remembers_their_length():
    ids, scores = best(10)
    run = Run.from_topk(ids[[1, 4]], scores[[1, 4]], queries=[1, 4], name="als")
    for each in (run, pickle.loads(pickle.dumps(run))):
        assert caught(RELEVANCE, {"als": each}, "R@20", queries="both") == [SHORT]


def test_judgments_without_columns_show_by_the_run_whether_lists_are_cut():
    qrels = Qrels.from_dict({q: dict.fromkeys(np.flatnonzero(row).tolist(), 1) for q, row in enumerate(LABELS)})
    assert caught(qrels, {"als": best(10)}, "R@20") == [SHORT]
    # All lists have the same forty documents: there may be no others.
    assert not caught(qrels, {"als": best(40)}, "R@50")


def test_whole_lists_give_no_warning():
    ids, scores = best(10)
    assert not caught(RELEVANCE, {"als": best(40)}, "R@50")
    padded = ids.copy()
    padded[:, -1] = -1
    assert not caught(RELEVANCE, {"als": (padded, scores)}, "R@20")
    padded[0] = ids[0]
    assert caught(RELEVANCE, {"als": (padded, scores)}, "R@20") == [SHORT]
    of_lists = [row[: 10 - i].tolist() for i, row in enumerate(ids)], [row[: 10 - i] for i, row in enumerate(scores)]
    assert not caught(RELEVANCE, {"als": of_lists}, "R@20")


def test_files_and_dicts_give_no_warning(tmp_path):
    run = Run.from_topk(*best(10))
    run.write(tmp_path / "als.run")
    assert not caught(RELEVANCE, {"dict": run.to_dict()}, ["R@20", "RR"])
    qrels = {str(q): {str(d): 1 for d in np.flatnonzero(row)} for q, row in enumerate(LABELS)}
    assert not caught(qrels, {"file": tmp_path / "als.run"}, ["R@20", "RR"])


def test_a_measure_without_cut_off_compares_lists_of_different_lengths():
    runs = {"als": best(10), "bpr": best(20), "all": best(40)}
    assert caught(RELEVANCE, runs, ["R@10", "RR", "AP", "NumRel"]) == [
        "runs: RR has no cut-off, and compares lists of 10 items (als) with lists of 40 (all): use RR@10"
    ]
    assert not caught(RELEVANCE, runs, ["R@10", "NumRet"])
    assert not caught(RELEVANCE, {"als": best(10), "bpr": best(10)}, "RR")


def test_the_warning_about_distances_names_the_line_of_the_caller():
    ids = np.arange(20).reshape(2, 10)
    distances = np.sort(RNG.random((2, 10)), axis=1)
    for call in (lambda: evaluate({0: {3: 1}, 1: {4: 1}}, {"als": (ids, distances)}, "RR"),
                 lambda: Run.from_topk(ids, distances)):  # fmt: skip
        with pytest.warns(UserWarning, match="scores rise along every row") as found:
            call()
        assert found[0].filename == __file__


def test_excluded_items_are_padding():
    """The line that the documentation shows gives the values of an evaluator that excludes the items."""
    import scipy.sparse as sp

    from tieaware import Evaluator

    held_out = sp.csr_array(LABELS)
    seen = sp.csr_array((RNG.random(LABELS.shape) < 0.3) & (LABELS == 0))
    ids, scores = best(40)
    ids = np.where(seen[np.arange(len(ids))[:, None], ids].toarray() > 0, -1, ids)
    expected = Evaluator.from_sparse(held_out, ["nDCG@10", "AP"], exclude=seen)(ALL_SCORES)
    np.testing.assert_array_equal(evaluate(held_out, (ids, scores), ["nDCG@10", "AP"]).values[0], expected)


@pytest.mark.parametrize("name", ["exclude", "seen", "train"])
def test_arguments_that_exclude_items_say_what_to_write(name):
    hint = "more than k items and set the ids of those to exclude to -1, or .* Evaluator.from_sparse"
    with pytest.raises(TypeError, match=rf"^evaluate\(\) has no argument '{name}': in top-k lists, recommend {hint}"):
        evaluate(RELEVANCE, best(10), "R@10", **{name: RELEVANCE})
    with pytest.raises(TypeError, match=rf"^from_topk\(\) has no argument '{name}': recommend {hint}"):
        Run.from_topk(*best(10), **{name: RELEVANCE})

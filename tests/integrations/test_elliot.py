"""Files of Elliot, written as its code writes them, and the values of its nDCG, by its formulas.

Elliot itself requires TensorFlow and old versions of other packages, so it is not installed.
"""

import gzip
import io
import math
import operator

import numpy as np
import pytest

import tieaware
from tieaware import InputError
from tieaware.integrations import elliot


def recommendations_file(recommendations, path):
    """Write {user: [(item, score)]}: a line for each item, the numbers in Python's own notation."""
    lines = [f"{user}\t{item}\t{score}\n" for user, ranked in recommendations.items() for item, score in ranked]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def ndcg(recommendations, test, threshold, cutoff):
    """Return nDCG by Elliot's formulas: gains of 2^(rating - threshold + 1) - 1, discounts of log2(rank + 1)."""
    values = []
    for user, ranked in recommendations.items():
        gains = {item: 2 ** (rating - threshold + 1) - 1 for item, rating in test[user].items() if rating >= threshold}
        if not gains:
            continue
        discounts = [math.log(2) / math.log(rank + 2) for rank in range(cutoff)]
        of_best, of_run = sorted(gains.values(), reverse=True), [gains.get(item, 0) for item, _ in ranked]
        dcg, best = (math.fsum(map(operator.mul, each, discounts)) for each in (of_run, of_best))
        values.append(dcg / best)
    return np.mean(values)


@pytest.mark.parametrize("threshold", [0, 3, 3.5])
def test_values_are_those_of_elliot_where_nothing_ties(threshold, tmp_path):
    rng = np.random.default_rng(4)
    recommendations, test = {}, {}
    for user in range(20):
        items = rng.permutation(60)[:25].tolist()
        recommendations[user] = list(zip(items, sorted(rng.random(25).tolist(), reverse=True), strict=True))
        test[user] = {item: float(rng.integers(2, 11) / 2) for item in rng.permutation(60)[:6].tolist()}
    run = elliot.read_recommendations(recommendations_file(recommendations, tmp_path / "ItemKNN_nn=50.tsv"))
    lines = [f"{user}\t{item}\t{rating}\t978300760\n" for user in test for item, rating in test[user].items()]
    qrels = elliot.read_test(io.BytesIO("".join(lines).encode()), threshold)
    result = tieaware.evaluate(qrels, run, ["nDCG(dcg='exp-log2')@10", "RR", "P@10"])
    assert result.runs == ("ItemKNN_nn=50",)
    assert result.mean()[0, 0] == pytest.approx(ndcg(recommendations, test, threshold, 10), rel=1e-13)
    hits = {user: [test[user].get(item, -1) >= threshold for item, _ in recommendations[user]] for user in test}
    for query, (_, rr, precision) in zip(result.queries, result.values[0], strict=True):
        mine = hits[int(query)]
        assert rr == (1 / (mine.index(True) + 1) if any(mine) else 0)
        assert precision == pytest.approx(math.fsum(mine[:10]) / 10, rel=1e-15)


def test_ties_are_averaged_and_files_may_be_compressed():
    run = elliot.read_recommendations(io.BytesIO(gzip.compress(b"7\t101\t0.5\n7\t102\t0.5\n7\t103\t1e-05")))
    assert (run.name, run.queries.to_list(), run.scores.tolist()) == ("run", ["7"], [0.5, 0.5, 1e-05])
    assert tieaware.evaluate({"7": {"102": 1}}, run, "RR").values.item() == 0.75


def test_users_without_relevant_items_are_left_out():
    rows = b"\xef\xbb\xbf7\t101\t5\n7\t102\t3\n7\t103\t2\n8\t101\t2\n"
    assert elliot.read_test(io.BytesIO(rows), 3).to_dict() == {"7": {"101": 3, "102": 1}}
    assert elliot.read_test(io.BytesIO(b"7\t101\n8\t102\n")).to_dict() == {"7": {"101": 2}, "8": {"102": 2}}
    assert elliot.read_test(io.BytesIO(b"7\t101\t4.5\n"), 4).to_dict() == {"7": {"101": 1.5}}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (b"7\t101\t0.5\n7\t102\n", "<file>:2: a line has 3 fields, separated by tabs; this one has 2"),
        (b"7\t101\tnan\n", "<file>:1: the third field must be a number; found 'nan'"),
        (b"7\t101\t1_0\n", "<file>:1: the third field must be a number; found '1_0'"),
        (b"user\titem\tscore\n", "<file>:1: the third field must be a number; found 'score'"),
        (b"7\t101\t1\n7\t102\t1\n7\t101\t2\n", "<file>:3: user '7' has item '101' twice"),
        (b"7\t101\t1\n\xff\t101\t1\n", "<file>:2: the text is not UTF-8"),
    ],
)
def test_the_error_names_the_line(rows, message):
    with pytest.raises(InputError) as caught:
        elliot.read_recommendations(io.BytesIO(rows))
    assert str(caught.value) == message


def test_wrong_arguments_are_errors(tmp_path):
    with pytest.raises(InputError, match="a line has 2 to 4 fields, separated by tabs; this one has 1"):
        elliot.read_test(io.BytesIO(b"7 101 5\n"))
    with pytest.raises(InputError, match="relevance_threshold"):
        elliot.read_test(io.BytesIO(b"7\t101\n"), float("nan"))
    with pytest.raises(InputError, match=r"missing\.tsv"):
        elliot.read_recommendations(tmp_path / "missing.tsv")

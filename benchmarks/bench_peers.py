"""Other evaluators on the same data: their time divided by tieaware's. There are no targets."""

from functools import cache, partial

import numpy as np
import pytest

import tieaware
from benchmarks.peers import ARRAYS, DICTS, MEASURES, TAKE_ARRAYS, TAKE_DICTS, Collection

SHAPES = {"few relevant": (698, 1_000, 1.1), "many relevant": (50, 1_000, 40), "short lists": (500, 100, 10)}
collection = cache(Collection)


@pytest.mark.filterwarnings("ignore:unsafe cast")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("peer", [*TAKE_ARRAYS, *TAKE_DICTS], ids=lambda peer: peer.name)
def test_peer(compare, small, peer, shape):
    if not peer.installed:
        pytest.skip(f"{peer.name} is not installed")
    n_lists, length, relevant = SHAPES[shape]
    data = collection(10 if small else n_lists, length, relevant)
    ours = ARRAYS if peer in TAKE_ARRAYS else DICTS
    theirs, mine = peer.prepare(data), ours.prepare(data)

    def check() -> None:
        expected = tieaware.Evaluator(data.labels, MEASURES).mean(data.scores)
        ours.check(mine(), expected)
        peer.check(theirs(), expected)

    measures = " + ".join(MEASURES) if len(peer.measures) > 1 else f"theirs {peer.measures[0]} alone"
    form = "arrays" if peer in TAKE_ARRAYS else "dictionaries"
    compare(
        f"Other evaluators: {form}, one thread", f"{data.n_lists} × {length:,}, {relevant} relevant, {measures}",
        check=check, contender=mine, baseline=theirs, to=peer.name, inverse=True,
    )  # fmt: skip


def test_one_group(compare, small):
    trm = pytest.importorskip("trm")
    n = 200 if small else 2_000
    scores, relevant = [0.5] * n, [True] * 3 + [False] * (n - 3)
    evaluator = tieaware.Evaluator(np.array(relevant, dtype=np.int32), ["RR"])
    array, out = np.array(scores), np.empty((1, 1))
    theirs = partial(trm.evaluate, [scores], [relevant], ["mrr"], [n])
    compare(
        "Other evaluators: arrays, one thread", f"one group of {n:,} tied documents, 3 relevant, RR",
        check=lambda: np.testing.assert_allclose(
            evaluator(array, out)[0, 0], theirs().metrics["mrr"][n].expected, rtol=1e-9
        ),
        contender=partial(evaluator, array, out), baseline=theirs, to="tie-aware-retrieval-metrics", inverse=True,
        budget=5,
    )  # fmt: skip

"""Interruption of searches of a single query that take long."""

import os
import signal
import threading

import numpy as np
import pytest

from tieaware.kernels import _settling, _wand

N = 1_000_000


@pytest.mark.parametrize("kernel", ["wand", "settling"])
def test_an_interruption_stops_a_search(kernel):
    # All 60 lists share the same postings. Searching them takes seconds.
    starts, stops, own = np.zeros(60, np.int64), np.full(60, N), np.ones(60)
    documents, weights = np.arange(N, dtype=np.int32), np.linspace(1, 0.5, N, dtype=np.float32)
    accumulators = _settling.Accumulators(N)

    def search(k):
        if kernel == "wand":
            return _wand.wand(
                starts, stops, own, own, documents, weights, N, k, False, 0.0, None, None, None, 0
            )  # fmt: skip
        boundaries = np.full(k, k)
        return _settling.search(
            starts, stops, own, documents, weights, documents, weights, N, k, boundaries, False, accumulators
        )  # fmt: skip

    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        search(N - 1)
    timer.join()
    # An interrupted search leaves nothing behind: the same accumulators give the right result.
    stops[:] = 1000
    assert search(5)[0].tolist() == [0, 1, 2, 3, 4]

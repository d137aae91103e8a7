"""Small random collections as dicts, for comparisons with other evaluators."""

from __future__ import annotations

import random


def collection(seed, *, tied, labels=(-1, 0, 0, 1, 2)):
    """Return judgments of six queries, and a run that answers five of them and one unjudged query.

    The scores are exact in single precision.
    """
    rng = random.Random(seed)
    documents = [f"d{i:02}" for i in range(25)]
    qrels = {f"q{i}": {d: rng.choice(labels) for d in rng.sample(documents, 15)} | {"d00": 1} for i in range(6)}
    run = {}
    for query in ("q4", "q1", "q7", "q0", "q3", "q2"):
        places = rng.sample(range(100), 18)
        scores = [place // 25 if tied else place for place in places]
        run[query] = {d: score / 64 for d, score in zip(rng.sample(documents, 18), scores, strict=True)}
    return qrels, run

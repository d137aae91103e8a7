"""Missing labels in the judgments of experiments: an error, or unjudged documents."""

import inspect
import math

import numpy as np
import pytest
from support.errors import message_of

from tieaware import InputError, experiments, retrieval, samples

pytest.importorskip("matplotlib")

RNG = np.random.default_rng(5)
LABELS = {f"q{q}": {f"d{d}": int(RNG.integers(0, 3)) for d in range(8)} for q in range(6)}
RUNS = {
    name: {q: {**{f"d{d}": int(RNG.integers(0, 9)) / 4 for d in range(1, 9)}, "last": -1.0} for q in LABELS}
    for name in ("first", "second")
}
# The same judgments, with a missing label for one document of each query, and without that document.
WITH_NAN = {q: {**labels, "d3": math.nan} for q, labels in LABELS.items()}
WITHOUT = {q: {d: label for d, label in labels.items() if d != "d3"} for q, labels in LABELS.items()}


def inexact(qrels, **options):
    collection = samples.generate_texts(n_documents=60, n_topics=3)
    index = retrieval.Index.build(collection.documents.items())
    changed = {topic: dict(labels) for topic, labels in collection.qrels.items()}
    document = next(iter(next(iter(changed.values()))))
    for labels in changed.values():
        if qrels is WITH_NAN:
            labels[document] = math.nan
        else:
            labels.pop(document, None)
    return experiments.inexact(index, collection.topics, changed, [retrieval.Champions(r=2)], ["AP"], k=20, **options)


CALLS = {
    "assessors": lambda qrels, **options: experiments.assessors(qrels, LABELS, RUNS, ["AP"], **options),
    "banding": lambda qrels, **options: experiments.banding(qrels, RUNS, ["2"], ["AP"], **options),
    "bounds": lambda qrels, **options: experiments.bounds(qrels, RUNS, 0.5, ["AP"], **options),
    "comparison": lambda qrels, **options: experiments.comparison(qrels, RUNS, ["AP"], **options),
    "curves": lambda qrels, **options: experiments.curves(qrels, RUNS, "roc", **options),
    "gate": lambda qrels, **options: experiments.gate(qrels, RUNS["first"], RUNS["second"], "AP", **options),
    "inexact": inexact,
    "noise": lambda qrels, **options: experiments.noise(qrels, RUNS, "AP", **options),
    "pooling": lambda qrels, **options: experiments.pooling(RUNS, 4, qrels=qrels, **options),
    "precision": lambda qrels, **options: experiments.precision(qrels, RUNS, "decimals:0", ["AP"], **options),
    "scales": lambda qrels, **options: experiments.scales(qrels, RUNS, 2, "AP", folds=2, **options),
    "tie_prevalence": lambda qrels, **options: experiments.tie_prevalence(RUNS, qrels, ["AP"], **options),
}


def numbers(outcome):
    """Return the tables of an experiment as text, without those of measured times."""
    timed = {"time", "microseconds"}
    return {name: str(table) for name, table in outcome.tables().items() if not timed & set(table.columns)}


def test_every_experiment_with_judgments_is_tested():
    # The argument `missing` of fusion is about scores. Overhead shows only times; test_overhead.py has its values.
    functions = {name: getattr(experiments, name) for name in experiments.__all__}
    parameters = {name: " ".join(inspect.signature(each).parameters) for name, each in functions.items()}
    takes = [name for name, each in parameters.items() if "missing" in each]
    reads = [name for name, each in parameters.items() if "qrels" in each]
    assert sorted(takes) == sorted(reads) == sorted([*CALLS, "fusion", "overhead"])


@pytest.mark.parametrize("name", CALLS)
def test_missing_labels_are_unjudged_if_asked_for(name):
    given, expected = CALLS[name](WITH_NAN, missing="unjudged"), numbers(CALLS[name](WITHOUT))
    assert expected
    assert numbers(given) == expected
    assert name == "inexact" or numbers(CALLS[name](LABELS)) != expected


@pytest.mark.parametrize("name", CALLS)
def test_missing_labels_are_an_error_by_default(name):
    with pytest.raises(InputError, match="is NaN; pass missing='unjudged' if NaN means that a document is not judged"):
        CALLS[name](WITH_NAN)
    assert "missing: expected" in message_of(CALLS[name], WITHOUT, missing="zero")


@pytest.mark.parametrize("kind", ["precision-recall", "interpolated"])
def test_other_curves_take_missing_labels(kind):
    given = experiments.curves(WITH_NAN, RUNS, kind, missing="unjudged")
    assert np.array_equal(given.y, experiments.curves(WITHOUT, RUNS, kind).y)

"""LLM graders and rerankers tie: compare the values that tools report with the range and the average over all orders.

The output of one reranker, whose logits do not tie, is converted to scores in four ways: logits, sigmoids in bfloat16
(1.0 for all logits of at least 6.24), grades from 0 to 10, and yes or no. The candidates are listed in the order of a
first-stage retrieval. A tool that sorts tied candidates by this order, or by document id, credits the order to the
grader.

    python examples/graders.py [--small]
"""

from __future__ import annotations

import argparse
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tieaware import Evaluator
from tieaware.precision import BFloat16
from tieaware.ties import TieRuleName

MEASURES = ("nDCG@10", "RR@10")
# The tie rules of tools (docs/tie_rules.md), and that of a reversed np.argsort.
Rule: TypeAlias = TieRuleName | Literal["reversed"]
REPORTED: tuple[Rule, ...] = ("run_order", "reversed", "trec_eval", "docid_ascending")

Floats = NDArray[np.float64]


class Graded(NamedTuple):
    """The means of a grader under each tie rule, and their spread over the orders of ties; [n_measures] each."""

    name: str
    distinct: float
    reported: dict[Rule, Floats]
    average: Floats
    std: Floats
    min: Floats
    max: Floats


class Lists(NamedTuple):
    """Candidates in first-stage order, with the logits of a reranker: [n_queries, depth] each."""

    labels: NDArray[np.int32]
    logits: Floats
    documents: list[str]


def make_lists(n_queries: int, depth: int = 50, seed: int = 6) -> Lists:
    """Draw lists with a tenth of the documents relevant, for a weak first stage and a strong reranker."""
    rng = np.random.default_rng(seed)
    relevant = rng.random((n_queries, depth)) < 0.1
    order = np.argsort(-(0.8 * relevant + rng.normal(size=relevant.shape)), axis=1, kind="stable")
    labels = np.take_along_axis(relevant, order, axis=1).astype(np.int32)
    logits = 3.0 + 4.0 * labels + 3.0 * rng.normal(size=labels.shape)
    documents = [f"d{number:07}" for number in rng.permutation(labels.size)]
    return Lists(labels, logits, documents)


def graders(logits: Floats) -> dict[str, Floats]:
    """Convert logits to scores in four ways."""
    sigmoids = 1 / (1 + np.exp(-logits))
    stored = BFloat16().coarsen(sigmoids.ravel(), np.array([0, sigmoids.size]))
    return {
        "logits": logits,
        "bfloat16 sigmoids": stored.reshape(sigmoids.shape).astype(np.float64),
        "grades 0-10": np.rint(10 * sigmoids),
        "yes or no": np.rint(sigmoids),
    }


def grade(name: str, lists: Lists, scores: Floats) -> Graded:
    """Evaluate one grader under every rule."""

    def reported(rule: Rule) -> Floats:
        if rule == "reversed":
            return Evaluator(lists.labels[:, ::-1], MEASURES, ties="run_order").mean(scores[:, ::-1])
        return Evaluator(lists.labels, MEASURES, ties=rule, docids=documents.get(rule)).mean(scores)

    documents: dict[Rule, list[str]] = {"trec_eval": lists.documents, "docid_ascending": lists.documents}
    spread = Evaluator(lists.labels, MEASURES).spread(scores)
    return Graded(
        name,
        float(np.mean([len(np.unique(each)) for each in scores])),
        {rule: reported(rule) for rule in REPORTED},
        spread.mean.mean(axis=0),
        # Queries are independent, so the variances of their values add up.
        np.sqrt((spread.std**2).sum(axis=0)) / len(scores),
        spread.min.mean(axis=0),
        spread.max.mean(axis=0),
    )


def main(arguments: list[str] | None = None) -> list[Graded]:
    """Evaluate the four graders, and print their values under each rule."""
    parser = argparse.ArgumentParser(description="Evaluate LLM graders and rerankers under each tie rule.")
    parser.add_argument("--small", action="store_true", help="use few queries")
    lists = make_lists(50 if parser.parse_args(arguments).small else 500)
    results = [grade(name, lists, scores) for name, scores in graders(lists.logits).items()]

    print(f"{len(lists.labels)} queries of {lists.labels.shape[1]} candidates each, listed in first-stage order\n")
    for m, measure in enumerate(MEASURES):
        print(
            f"{measure:<18}{'distinct':>9}{''.join(f'{rule:>16}' for rule in REPORTED)}{'average':>10}{'± std':>8}",
            end="",
        )
        print(f"{'min':>8}{'max':>8}")
        for each in results:
            reported = "".join(f"{each.reported[rule][m]:>16.4f}" for rule in REPORTED)
            print(f"{each.name:<18}{each.distinct:>9.1f}{reported}{each.average[m]:>10.4f}{each.std[m]:>8.4f}", end="")
            print(f"{each.min[m]:>8.4f}{each.max[m]:>8.4f}")
        print()
    return results


if __name__ == "__main__":
    main()

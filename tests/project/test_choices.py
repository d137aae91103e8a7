"""The type aliases of closed choices list exactly the names that the functions accept."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from tieaware import InputError, Run, _evaluate, ties
from tieaware.checks.arguments import one_of
from tieaware.commands import retrieval_options
from tieaware.experiments import _curves
from tieaware.inputs.runs import reading_options
from tieaware.integrations import link_prediction
from tieaware.measures import DEFINITIONS
from tieaware.precision import ladders
from tieaware.reference import gains
from tieaware.results import paper_table
from tieaware.retrieval import collections, topics
from tieaware.statistics import multiple_comparisons, paired_tests, procedures


@pytest.mark.parametrize(
    ("alias", "registry"),
    [
        (ties.TieRuleName, ties.RULES),
        (link_prediction.LinkTieRule, [rule.name for rule in ties.RULES.values() if rule.by_score_alone]),
        (link_prediction.DataSet, link_prediction._METRICS),
        (gains.Dcg, DEFINITIONS["nDCG"].parameters["dcg"].choices),
        (_curves.CurveKind, _curves.KINDS),
        (_evaluate.QueryChoice, _evaluate.QUERIES),
        (collections.Format, retrieval_options.FORMATS),
        (topics.Part, retrieval_options.PARTS),
        (paired_tests.PairedMethod, paired_tests._METHODS),
        (procedures.PairTest, procedures.TESTS),
        (procedures.Test, [*procedures.TESTS, "none"]),
        (multiple_comparisons.Correction, procedures.CORRECTIONS),
        (paper_table.Beside, paper_table.BESIDE),
        (ladders.FamilyName, ladders.FAMILIES),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_an_alias_lists_the_choices_in_their_order(alias, registry):
    assert get_args(alias) == tuple(registry)


@pytest.mark.parametrize("duplicates", get_args(reading_options.Duplicates))
def test_every_treatment_of_duplicates_is_accepted(duplicates):
    assert Run.from_dict({"q": {"d": 1.0}}, duplicates=duplicates).scores.tolist() == [1.0]


@pytest.mark.parametrize("dtype", get_args(reading_options.ScoreDtype))
def test_every_type_of_scores_is_a_type_of_numpy(dtype):
    assert reading_options.rounded(np.array([0.1]), dtype).dtype == dtype


def test_a_choice_is_returned_as_it_was_given():
    assert one_of("ties", "average", ties.RULES) == "average"
    with pytest.raises(InputError, match=r"found 'avrage'; did you mean average\?$"):
        one_of("ties", "avrage", ties.RULES)

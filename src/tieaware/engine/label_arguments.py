"""Validation of the arguments that hold an evaluator's labels: labels, judgments, subtopics, intents, missing."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from tieaware.checks.arguments import flag, shown, unexpected
from tieaware.checks.arrays import as_array, as_flat, as_labels
from tieaware.engine.list_arguments import lacking_judgments, list_offsets, offsets_of_judgments
from tieaware.engine.subtopic_arguments import SubtopicLabels
from tieaware.errors import InputError
from tieaware.lists.grades import GradedLabels, Missing, numbered_alike
from tieaware.lists.judgments import JudgedLists, Judgments


def judged_lists(
    labels: npt.ArrayLike,
    places: tuple[npt.ArrayLike | None, npt.ArrayLike | None, npt.ArrayLike | None],
    judgments: tuple[npt.ArrayLike, npt.ArrayLike] | None,
    missing: Missing | None,
    subtopics: bool,
    intents: npt.ArrayLike | None,
    weighted: dict[str, bool],
) -> tuple[tuple[int, ...], JudgedLists, Judgments]:
    """Return the shape of the scores, the lists, and all judgments, from the arguments of an evaluator.

    Parameters
    ----------
    labels, judgments, missing, subtopics, intents
        As for `Evaluator`.
    places : tuple
        The arguments offsets, group and qid.
    weighted : dict
        The result of `also_weighted`.
    """
    array = as_array(labels, "labels")
    pair = None if judgments is None else _pair(judgments)
    if flag("subtopics", subtopics):
        of_subtopics = SubtopicLabels.read(array, missing)
        array = array[..., 0]
        offsets = list_offsets(array, *places)
        return array.shape, *of_subtopics.judged(offsets, intents, pair, pool=weighted["pool"])
    if intents is not None:
        raise InputError("intents", "are weights of subtopics: pass subtopics=True, and a label for each subtopic")
    numbers, grades = GradedLabels.read(array, "labels", missing=missing)
    lists = JudgedLists.of_labels(numbers, list_offsets(array, *places), **weighted, grades=grades)
    if pair is None:
        return array.shape, lists, lists.judgments
    return array.shape, *_all_judged(pair, lists, missing)


def _pair(judgments: Any) -> tuple[Any, Any]:
    try:
        labels, offsets = judgments
    except (TypeError, ValueError):
        raise unexpected("judgments", "a pair (labels, offsets)", shown(judgments)) from None
    return labels, offsets


def _all_judged(pair: tuple[Any, Any], lists: JudgedLists, missing: Missing | None) -> tuple[JudgedLists, Judgments]:
    """Return the lists and all judgments, after checking that these include the judged documents of the lists.

    If labels are real numbers, those of the lists and those of the judgments are numbered alike.
    """
    read = GradedLabels.read(as_flat(pair[0], "labels of judgments"), "labels of judgments", missing=missing)
    labels = as_labels(read.labels, "labels of judgments")
    offsets = offsets_of_judgments(pair[1], len(labels), len(lists.offsets) - 1)
    (listed, labels), grades = numbered_alike([(lists.labels, lists.grades), (labels, read.grades)])
    lists, judged = lists._replace(labels=listed, grades=grades), Judgments(labels, offsets, grades=grades)
    short = judged.short_of(lists.judgments)
    if short is not None:
        raise lacking_judgments(short)
    return lists, judged

"""The tie prevalence experiment: counts on small made-up runs, and known facts about real runs."""

import functools
import os
import threading

import numpy as np
import pytest
from support.trec_files import PUBLIC_IS_SLOW

import tieaware
from tieaware import InputError
from tieaware.experiments import tie_prevalence
from tieaware.inputs.runs.streamed import RunFile
from tieaware.statistics import count_ties

pytest.importorskip("scipy")
pytest.importorskip("matplotlib")

# Query q1 has tie groups of 1, 3 and 2 documents. The scores of q2 are distinct, but two of them tie as float32. q3 has
# one document.
RUN = {
    "q1": {"a": 5.0, "b": 4.0, "c": 4.0, "d": 4.0, "e": 1.0, "f": 1.0},
    "q2": {"a": 1.0, "b": 1.0 - 2**-40, "c": 0.5},
    "q3": {"a": 1.0},
}
QRELS = {"q1": {"b": 1, "f": 1}, "q2": {"c": 1}, "q3": {"z": 1}}


@functools.cache
def ties_of(collection):
    with pytest.warns(UserWarning, match="lists end inside a tie at the common length of their run"):
        return tie_prevalence(list(collection.runs), collection.qrels)


def test_counts_of_a_small_run():
    outcome = tie_prevalence(RUN, cutoffs=[1, 2, 3, 4, 5, 6])
    (ties,) = outcome.ties
    assert (ties.lists, ties.documents, ties.tied_lists, ties.tied_documents) == (3, 10, 1, 5)
    assert sorted(ties.sizes.tolist()) == [2, 3]
    assert ties.within == (0, 0, 1, 1, 1, 1)
    assert ties.across == (0, 1, 1, 0, 1, 0)
    assert (ties.float32_lists, ties.float32_documents) == (2, 7)
    assert (ties.unordered, ties.misranked, ties.repeated) == (0, None, None)
    assert outcome.table().rows == [("run", 3, 1 / 3, 10, 0.5, 2.5, 2.5, 3, 0.2, 0, None, None, None)]
    assert outcome.tables()["group-sizes"].rows == [("1", 5, 5, 0.5), ("2 … 3", 2, 5, 0.5)]
    assert "rules" not in outcome.tables()


def test_values_agree_with_evaluate_under_each_tie_rule():
    outcome = tie_prevalence({"one": RUN, "two": {"q1": {"b": 1.0, "a": 1.0}}}, QRELS, ["AP", "RR"])
    for i, rule in enumerate(outcome.rules):
        alone = tieaware.evaluate(QRELS, {"one": RUN, "two": {"q1": {"b": 1.0, "a": 1.0}}}, ["AP", "RR"], ties=rule)
        np.testing.assert_array_equal(outcome.values[i], alone.values)
    rules = {(row[0], row[1]): row for row in outcome.tables()["rules"].rows}
    # RR on q1: for run two, 1 in run order and 3/4 on average over all orders; for run one, 1/2 in run order, and on
    # average the mean of 1/2, 1/3 and 1/4.
    assert rules["RR", "run_order"][4] == pytest.approx(0.25)
    assert rules["RR", "run_order"][5] == "two, q1"
    assert rules["RR", "average"][3:8] == (0.0, 0.0, None, 0.0, None)
    # The bias of RR in run order, averaged over two runs and three queries.
    assert rules["RR", "run_order"][3] == pytest.approx((0.25 + 0.5 - (1 / 2 + 1 / 3 + 1 / 4) / 3) / 6)
    bias = {row[:2]: row[2:] for row in outcome.tables()["bias"].rows}
    one = np.array([1 / 2, 1 / 3, 1 / 4])
    expected = (one.mean() + 1 / 3) / 3, one.std() / 3, (1 / 4 + 1 / 3) / 3, (1 / 2 + 1 / 3) / 3
    assert bias["RR", "one"][:4] == pytest.approx(expected)
    np.testing.assert_array_equal(outcome.bias[0], 0.0)


def test_figures_of_many_runs_show_those_with_the_most_ties():
    runs = {f"run {i}": {"q1": {f"d{j}": float(max(i, j)) for j in range(70)}} for i in range(65)}
    drawings = tie_prevalence(runs, {"q1": {"d3": 1}}, ["RR"]).drawings()
    names = {tick.get_text().split("  ")[0] for tick in drawings["ties"].plot().get_yticklabels()}
    assert names == {f"run {i}" for i in range(5, 65)}
    assert len(drawings["ranges-RR"].plot().get_yticklabels()) == 60
    assert "Shown: the 60 of 65 runs with the most." in drawings["ties"].caption


def test_measures_without_a_spread_have_no_deviation():
    outcome = tie_prevalence(RUN, QRELS, ["infAP", "RR"])
    assert np.isnan(outcome.std[..., 0]).all()
    assert [row[3] is None for row in outcome.tables()["bias"].rows] == [True, False]


def test_lists_that_end_inside_a_tie_at_a_common_length_cause_a_warning():
    """The order of the input, ties before the end of a list, and ties in shorter lists cause no warning."""
    lists = {
        "cut": {"a": 1.0, "b": 2.0, "c": 1.0},
        "untied at its end": {"a": 3.0, "b": 3.0, "c": 1.0},
        "shorter": {"a": 1.0, "b": 1.0},
        "all": {"a": 1.0, "b": 1.0, "c": 1.0},
    }
    with pytest.warns(UserWarning, match="2 lists end inside a tie .*: 2 of run at 3. If they were cut there"):
        outcome = tie_prevalence(lists, {query: {"b": 1, "c": -1} for query in lists}, ["R@3", "R@2"])
    verdict = outcome.verdict()
    assert "changes no run's mean R@3, as far as the lists reach. It moves the mean R@2 by up to 0.167." in verdict
    assert (outcome.ties[0].common_length, outcome.ties[0].cut_lists) == (3, 2)
    assert outcome.table().rows[0][-1] == 2
    # The greatest length is a common length only if several lists have it, and these are at least a tenth of all lists.
    for n_long, n_short, expected in ((1, 1, None), (2, 18, 2), (2, 19, None)):
        sizes = [2] * n_long + [1] * n_short
        counted = count_ties(np.zeros(sum(sizes)), np.append(0, np.cumsum(sizes)))
        assert (counted.common_length, counted.cut_lists) == (expected, n_long if expected else 0)
    assert count_ties([], [0, 0, 0]).common_length is None


def test_ranks_and_file_order_that_contradict_the_scores_are_counted(tmp_path):
    files = {
        "good": ["a 1 3", "b 2 2", "c 3 2"],
        "again": ["a 1 3", "b 2 2", "c 2 2"],
        "again_wrong_order": ["a 1 3", "c 2 1", "b 2 2"],
        "reversed": ["a 3 3", "b 2 2", "c 1 1"],
        "shuffled": ["c 3 1", "a 1 3", "b 2 2"],
        "words": ["a 1st 3", "b 2nd 2", "c 3rd 1"],
    }
    for name, lines in files.items():
        text = "".join(f"{q} Q0 {d} {r} {s} t\n" for q in ("q1", "q2") for d, r, s in (line.split() for line in lines))
        (tmp_path / f"{name}.run").write_text(text)
    paths = [tmp_path / f"{name}.run" for name in files]
    with pytest.warns(UserWarning, match="4 lists end inside a tie .*: 2 of good at 3, 2 of again at 3"):
        outcome = tie_prevalence(paths)
    counted = zip(outcome.runs, outcome.ties, strict=True)
    found = {run: (ties.unordered, ties.misranked, ties.repeated) for run, ties in counted}
    assert found == {
        "good": (0, 0, 0),
        "again": (0, 0, 2),
        "again_wrong_order": (2, 0, 2),
        "reversed": (0, 2, 0),
        "shuffled": (2, 0, 0),
        "words": (0, None, None),
    }
    assert outcome.contradictions == ("again_wrong_order", "reversed", "shuffled")
    with pytest.warns(UserWarning, match="end inside a tie"):
        consistent = tie_prevalence(paths, consistent_only=True)
    assert (consistent.runs, consistent.left_out) == (("good", "again", "words"), outcome.contradictions)
    with pytest.raises(InputError, match="runs: no run is left: 1 run was left out, because its ranks"):
        tie_prevalence(paths[3], consistent_only=True)


def test_the_rank_column_of_a_large_compressed_file_is_read(tmp_path):
    import gzip

    lines = [f"q{i // 1000} Q0 document-{i} {i % 1000} {-i - 1}.5 t extra columns\n" for i in range(60_000)]
    (tmp_path / "a.gz").write_bytes(gzip.compress("".join(lines).encode().rstrip(b"\n")))
    column = RunFile(tmp_path / "a.gz").ranks()
    assert len(column.ranks) == 60_000
    np.testing.assert_array_equal(column.ranks, np.arange(60_000) % 1000)
    np.testing.assert_array_equal(column.scores, -np.arange(60_000) - 1.5)
    np.testing.assert_array_equal(column.queries, np.arange(60_000) // 1000)
    with open(tmp_path / "a.gz", "rb") as file:
        assert RunFile(file).ranks() is None


def test_the_rank_column_is_read_without_comments_and_empty_lines(tmp_path):
    """Like the reader of runs, the reader of ranks also skips the byte order mark of UTF-8."""
    lines = "q1 Q0 a 1 3 t\n# all of them\n\n  #\n \nq1 Q0 b 2 2 t\n#"
    (tmp_path / "a.run").write_bytes(b"\xef\xbb\xbf" + lines.encode())
    column = RunFile(tmp_path / "a.run").ranks()
    assert [each.tolist() for each in column] == [[0, 0], [1.0, 2.0], [3.0, 2.0]]


def test_pipes_and_standard_input_are_opened_only_once(tmp_path, monkeypatch):
    """Opening a named pipe again would block forever, and "-" is standard input, not a file of this name."""
    pipe = tmp_path / "pipe.run"
    os.mkfifo(pipe)
    outcomes = []
    reader = threading.Thread(target=lambda: outcomes.append(tie_prevalence(pipe)), daemon=True)
    reader.start()
    pipe.write_text("q1 Q0 a 1 3 t\nq1 Q0 b 2 3 t\n")
    reader.join(10)
    assert not reader.is_alive()
    assert outcomes[0].ties[0].tied_documents == 2
    assert outcomes[0].ties[0].misranked is None
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-").write_text("q1 Q0 a 1 3 t\n")
    assert RunFile("-").ranks() is None
    assert len(RunFile(tmp_path / "-").ranks().ranks) == 1


def test_runs_without_documents_have_no_ties():
    """The shares of tied documents and lists are 0; there is no division by zero."""
    outcome = tie_prevalence({"one": {"q1": {}}, "two": {"q2": {}}}, {"q1": {"a": 1}, "q2": {"a": 1}}, ["RR"])
    assert outcome.table().rows[0] == ("one", 1, 0.0, 0, 0.0, None, None, None, 0.0, 0, None, None, None)
    assert outcome.tables()["group-sizes"].rows == [("1", 0, 0, 0.0)]
    assert all(drawing.figure() for drawing in outcome.drawings().values())


def test_shares_of_ties_in_generated_runs(generated):
    """The generated scorers range from one without ties to one that gives all documents the same score."""
    found = ties_of(generated)
    shares = [ties.tied_documents / ties.documents for ties in found.ties]
    assert dict(zip(found.runs, shares, strict=True)) == pytest.approx(
        {"continuous": 0, "two-decimals": 0.4, "bfloat16": 0.9, "int8-dot": 0.6, "grader-0-10": 1, "constant": 1,
         "untied": 0}, abs=0.15,
    )  # fmt: skip
    by_run = dict(zip(found.runs, found.ties, strict=True))
    assert by_run["continuous"].tied_documents == by_run["untied"].tied_documents == 0
    assert by_run["constant"].sizes.tolist() == [250] * 40
    assert found.contradictions == ()


@pytest.mark.slow
def test_round_1_of_trec_covid(covid):
    """The counts of ties equal those in the README of the collection."""
    real = ties_of(covid)
    ties = dict(zip(real.runs, real.ties, strict=True))
    assert ties["BERT"].tied_documents == 0
    assert ties["BERT"].float32_lists > 0
    assert {"BRPHJ_NLP2", "ERST_NARRATIVE", "SFDC-23April-run2", "UB_NLP_RUN_1", "sheikh_bm25_all"} == set(
        real.contradictions
    )
    assert sum(t.repeated > 0 for t in real.ties) > 0
    assert sum(t.tied_documents == 0 for t in real.ties) == 11


@PUBLIC_IS_SLOW
def test_runs_without_ties_are_the_same_under_every_rule(collection):
    found = ties_of(collection)
    free = [i for i, ties in enumerate(found.ties) if not ties.tied_documents]
    assert free
    for values in found.values[1:]:
        np.testing.assert_array_equal(values[free], found.values[0][free])
    assert not found.std[free].any()
    assert (found.values[1:] != found.values[0]).any()


@PUBLIC_IS_SLOW
def test_values_under_all_rules_are_between_worst_and_best(collection):
    found = ties_of(collection)
    by_rule = dict(zip(found.rules, found.values, strict=True))
    for rule in ("average", "run_order", "trec_eval"):
        assert (by_rule[rule] <= by_rule["optimistic"] + 1e-12).all()
        assert (by_rule[rule] >= by_rule["pessimistic"] - 1e-12).all()


HINT = r"are judgments and runs swapped\? write tie_prevalence\(runs, qrels\)$"


def test_judgments_before_runs_are_noticed(tmp_path):
    """The other experiments take the judgments first. Files are refused, dicts of real numbers give a warning."""
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 0.5 a\n")
    with pytest.raises(InputError, match=HINT):
        tie_prevalence(tmp_path / "qrels.txt", tmp_path / "a.run", ["AP"])
    with pytest.warns(UserWarning, match=HINT):
        tie_prevalence(QRELS, {query: dict.fromkeys(scores, 1.25) for query, scores in RUN.items()}, ["AP"])


def test_labels_that_are_real_numbers_are_no_sign_of_a_mistake_alone():
    """A warning would be an error here."""
    tie_prevalence(RUN, RUN, ["AP"])


def test_runs_with_the_same_documents_and_scores_cannot_swap_places():
    qrels = {"q": {"a": 1}}
    tied, other = {"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 2.0, "b": 2.0}}
    outcome = tie_prevalence({"one": tied, "two": tied, "three": other}, qrels, ["RR"])
    assert outcome.identical == (("one", "two"),)
    assert "2 of 3 pairs of runs can swap places by RR" in outcome.verdict()
    note = "Runs with the same documents and scores: one and two. Their pairs do not count as changed by ties."
    assert outcome.tables()["ties"].notes[-1] == note
    # Without judgments, all queries count.
    assert tie_prevalence({"one": tied, "two": {**tied, "r": {"a": 1.0}}}).identical == ()


def test_cutoffs_that_are_asked_for_are_a_table_of_the_answer():
    assert tie_prevalence(RUN, QRELS, cutoffs=[2]).answers == ("ties", "cutoffs", "rules")
    assert tie_prevalence(RUN, QRELS).answers == ("ties", "rules")

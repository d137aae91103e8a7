"""Names of measures in other tools, and what the error says about texts that name no measure."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.errors import message_of

import tieaware
from tieaware import InputError, Results, evaluate, parse_measure
from tieaware.integrations import beir
from tieaware.measures import DEFINITIONS, listed_measures, named_measures, parse_measures
from tieaware.measures.spellings import SPELLINGS, families, key
from tieaware.measures.unknown_measures import LISTED

PAGE = Path(__file__).parents[2] / "docs" / "measures.md"
QRELS = {"q1": {"d1": 2, "d3": 1}, "q2": {"d2": 1}}
RUN = {"q1": {"d1": 1.0, "d2": 1.0, "d3": 0.5}, "q2": {"d1": 3.0, "d2": 2.0}}

NAMES = {
    # Any case, and any of the usual marks before the cut-off.
    "ndcg@10": "nDCG@10", "Ndcg@10": "nDCG@10", "NDCG_10": "nDCG@10", "ndcg_10": "nDCG@10", "ndcg-at-10": "nDCG@10",
    "ndcgAt10": "nDCG@10", " ndcg @ 10 ": "nDCG@10", "ndcg(dcg=exp-log2)@10": "nDCG(dcg='exp-log2')@10",
    "p@5": "P@5", "p_5": "P@5", "r@100": "R@100", "ap": "AP", "rr@10": "RR@10", "q@10": "Q@10", "f1@10": "F1@10",
    "f1_10": "F1@10", "f_1@5": "F1@5", "map@100": "AP@100", "mapk@7": "AP_cap@7", "mrr": "RR", "mrr@10": "RR@10",
    "recall@100": "R@100",
    "precision@1": "P@1", "success@1": "Success@1", "err@20": "ERR@20", "judged@10": "Judged@10",
    "esl(i=2)": "ESL(i=2)", "rprec": "Rprec", "infap": "infAP", "bpref": "Bpref", "BPREF": "Bpref", "iap_11": "IAP11",
    "gmap": "GMAP", "iprec@0.1": "IPrec@0.1", "IPrec(rel=2)@0.25": "IPrec(rel=2)@0.25", "IPrec@0.0": "IPrec@0.0",
    "setf(rel=2)": "SetF(rel=2)", "numrelret": "NumRelRet",
    "rbp(p=0.5)": "RBP(p=0.5)", "fallout@10": "FallOut@10", "fall_out@10": "FallOut@10", "patrel(i=2)": "PAtRel(i=2)",
    "specificity_at_5": "Specificity@5", "prr": "PRR", "sensitivity@3": "R@3", "true_negative_rate@3": "Specificity@3",
    "false_positive_rate@3": "FallOut@3",
    # F with a weight of recall
    "f0.5@10": "F(beta=0.5)@10", "F0.5": "F(beta=0.5)", "f_0.5@3": "F(beta=0.5)@3", "F2@10": "F(beta=2.0)@10",
    "f2": "F(beta=2.0)", "f_2_at_10": "F(beta=2.0)@10", "f2_10": "F(beta=2.0)@10", "f_beta(beta=3)@5": "F(beta=3.0)@5",
    "f@10": "F@10", "f_at_10": "F@10", "fbeta_score(beta=2)@3": "F(beta=2.0)@3", "f0.5_score@3": "F(beta=0.5)@3",
    "f_measure": "F", "f-score@5": "F@5", "f_max": "MaxF", "best_f1": "MaxF", "maxf(beta=2)": "MaxF(beta=2.0)",
    # Hits, under all of its names.
    "hits@10": "Hits@10", "hit@1": "Hits@1", "hit_rate@10": "Hits@10", "hitrate@10": "Hits@10", "hr@10": "Hits@10",
    "HR@10": "Hits@10", "hit_ratio@5": "Hits@5", "hits_at_10": "Hits@10", "hit": "Hits", "hit_rate": "Hits",
    # beir and mteb
    "NDCG@10": "nDCG@10", "MAP@100": "AP@100", "Recall@100": "R@100", "R_cap@10": "Recall_cap@10",
    "ndcg_at_10": "nDCG@10", "map_at_100": "AP@100", "mrr_at_10": "RR@10", "recall_at_5": "R@5",
    "precision_at_10": "P@10", "hit_rate_at_10": "Hits@10", "R_cap_at_10": "Recall_cap@10",
    # ranx
    "precision": "P", "recall": "R", "f1": "F1", "r-precision": "Rprec", "dcg@5": "DCG@5",
    "dcg_burges@5": "DCG(dcg='exp-log2')@5", "ndcg_burges@10": "nDCG(dcg='exp-log2')@10", "rbp.95": "RBP(p=0.95)",
    "rbp.8": "RBP", "map@100-l2": "AP(rel=2)@100", "mrr-l2": "RR(rel=2)", "rbp.95-l2": "RBP(p=0.95,rel=2)",
    # LightGBM, XGBoost and scikit-learn
    "ndcg@5": "nDCG@5", "ndcg@10-": "nDCG@10", "map@10-": "AP@10", "ndcg-": "nDCG", "pre@5": "P@5", "auc": "AUC",
    "average_precision": "AP", "mean_average_precision": "AP", "roc_auc": "AUC", "ndcg_score@10": "nDCG@10",
    "roc_auc_score": "AUC", "f1_score@3": "F1@3",
    # recommenders, RecBole, torchmetrics, PyKEEN and Spark
    "mean_average_precision_at_10": "AP@10", "hit@10": "Hits@10", "RetrievalMAP": "AP", "RetrievalMRR": "RR",
    "RetrievalNormalizedDCG@10": "nDCG@10", "retrieval_hit_rate@5": "Hits@5", "RetrievalRPrecision": "Rprec",
    "RetrievalAUROC": "AUC", "mean_reciprocal_rank": "RR", "meanAveragePrecision": "AP", "precisionAt5": "P@5",
    "RetrievalFallOut@5": "FallOut@5",
    # trec_eval, in the form of its output, of its option -m, and in any case
    "recip_rank": "RR", "reciprocal_rank": "RR", "ndcg_cut_10": "nDCG@10", "ndcg_cut.10": "nDCG@10", "P.5": "P@5",
    "recall.100": "R@100", "iprec_at_recall.0.10": "IPrec@0.1", "NDCG_CUT_10": "nDCG@10", "11PT_AVG": "IAP11",
    "IPREC_AT_RECALL_0.10": "IPrec@0.1", "Set_F": "SetF", "SetRelP": "SetP(relative=True)",
    # The output of trec_eval, aliases, and Accuracy, which has a capital in the notation alone.
    "map": "AP", "gm_map": "GMAP", "ndcg": "nDCG", "P_5": "P@5", "recall_1000": "R@1000", "map_cut_100": "AP@100",
    "success_1": "Success@1", "Rprec": "Rprec", "infAP": "infAP", "11pt_avg": "IAP11", "set_P": "SetP",
    "iprec_at_recall_0.10": "IPrec@0.1", "iprec_at_recall_1.00": "IPrec@1.0", "set_recall": "SetR", "set_F": "SetF",
    "set_map": "SetAP", "set_relative_P": "SetP(relative=True)", "num_ret": "NumRet", "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet", "num_q": "NumQ", "MRR@10": "RR@10", "NDCG@5": "nDCG@5", "BPref": "Bpref",
    "RPrec": "Rprec", "Precision@3": "P@3", "Recall": "R", "MAP(rel=2)": "AP(rel=2)", "InfAP": "infAP", "IAP": "IAP11",
    "HitRate@3": "Hits@3",
    " nDCG ( dcg = exp-log2 , judged_only = True ) @ 10 ": "nDCG(dcg='exp-log2',judged_only=True)@10",
    "Accuracy(docs=1000) @ 10": "Accuracy(docs=1000)@10", "Accuracy": "Accuracy",
}  # fmt: skip


@pytest.mark.parametrize(("name", "ours"), NAMES.items())
def test_names_of_other_tools(name, ours):
    measure = parse_measure(name)
    assert str(measure) == ours
    assert measure == parse_measure(ours)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_every_measure_is_known_in_any_case(name):
    definition = DEFINITIONS[name]
    own = (name, *definition.aliases, definition.trec_name, *definition.trec_names_with_parameters)
    for spelling in filter(None, own):
        for changed in (spelling.upper(), spelling.lower(), spelling.swapcase(), spelling.replace("_", "-")):
            if changed in ("HITS", "hits", "hITS") or (name == "Accuracy" and changed != name):
                continue
            assert parse_measure(changed).definition is definition, changed


def test_no_name_has_two_meanings_if_case_is_ignored():
    """A key that belongs to two measures would depend on the order in which the names are registered."""
    meanings = {}
    for definition in DEFINITIONS.values():
        own = (definition.name, *definition.aliases, definition.trec_name)
        for name in filter(None, own):
            meanings.setdefault(key(name), set()).add(definition.name)
    for notation, names in SPELLINGS.items():
        for name in names:
            meanings.setdefault(key(name), set()).add(notation)
    assert {name: found for name, found in meanings.items() if len(found) > 1} == {}
    assert meanings.keys() - families().keys() == {"accuracy"}


OTHER = f"; the measures are {LISTED}"
RANK = "expected a whole number of at least 1, found"
WRONG = {
    "": "measure: the name is empty; write a measure such as nDCG@10",
    "10": "measure: '10' is a number; write a cut-off after its measure, as in nDCG@10",
    # Names that are spelled like those of measures.
    "ndgc@10": "measure: unknown measure 'ndgc@10'; did you mean nDCG@10?",
    "ndgc(dcg=exp-log2)@10": "measure: unknown measure 'ndgc(dcg=exp-log2)@10'; did you mean nDCG(dcg=exp-log2)@10?",
    "reciprocal_rnk": "measure: unknown measure 'reciprocal_rnk'; did you mean RR?",
    "percision_at_10": "measure: unknown measure 'percision_at_10'; did you mean P@10?",
    "bpreff@10": "measure: unknown measure 'bpreff@10'; did you mean Bpref?",
    "Hit Rate@10": "measure: unknown measure 'Hit Rate@10'; did you mean Hits@10?",
    "P10": "measure: unknown measure 'P10'; did you mean P@10?",
    "coverage@10": f"measure: unknown measure 'coverage@10'{OTHER}",
    "@10": f"measure: unknown measure '@10'{OTHER}",
    "mae": f"measure: unknown measure 'mae'{OTHER}",
    # Several measures.
    "nDCG@10,AP": "measure: 'nDCG@10,AP' names 2 measures; pass a list: ['nDCG@10', 'AP']",
    "P@5,10": "measure: 'P@5,10' names 2 measures; pass a list: ['P@5', 'P@10']",
    "AP RR": "measure: 'AP RR' names 2 measures; pass a list: ['AP', 'RR']",
    # Cut-offs.
    "ndcg@ten": f"cut-off of measure 'ndcg@ten': {RANK} 'ten'; write for example nDCG@10",
    "P(rel=2)@1.5": f"cut-off of measure 'P(rel=2)@1.5': {RANK} '1.5'; write for example P(rel=2)@10",
    "Accuracy@0": f"cut-off of measure 'Accuracy@0': {RANK} '0'; write for example Accuracy@10",
    "IAP11@3": "IAP11: has no cut-off, so @3 has no meaning; write IAP11",
    "IPrec@1.5": "recall of IPrec: expected a number from 0 to 1, found 1.5",
    "IPrec@-1": "cut-off of measure 'IPrec@-1': expected a recall from 0 to 1, found '-1'; write for example IPrec@0.1",
    "iprec_at_recall_2.00": "recall of IPrec: expected a number from 0 to 1, found 2.0",
    "iprec@x": "cut-off of measure 'iprec@x': expected a recall from 0 to 1, found 'x'; write for example IPrec@0.1",
    "nDCG@": "measure: 'nDCG@' has nothing after the @; write for example nDCG@10",
    "map_cut": "measure: 'map_cut' needs a cut-off; write for example AP@10",
    "bpref@ten": "measure: Bpref has no cut-off; write Bpref instead of 'bpref@ten'",
    "r_precision_at_10": "Rprec: has no cut-off, so @10 has no meaning; write Rprec",
    # Parameters.
    "nDCG(k=10)": "nDCG: unknown parameter 'k'; write nDCG@10",
    "nDCG(10)": "measure 'nDCG(10)': '10' is not of the form parameter=value, as in AP(rel=2)@100",
    "AP(min_rel=2)@5": "AP: unknown parameter 'min_rel'; did you mean rel?",
    "SetF(beta=9)": "SetF: unknown parameter 'beta'; its parameters are rel, judged_only",
    "ndcg@10-l2": "nDCG: unknown parameter 'rel'; labels are grades here: pass 1 for labels of at least 2 "
    "and 0 for the others",
    # Names of other tools.
    "lambdarank": "measure: 'lambdarank' is a training objective, and no measure; write nDCG",
    "kendall": "measure: 'kendall' compares two rankings, and is no measure; write tieaware.statistics.kendall_tau",
    "rank": "measure: 'rank' is not computed; MeanRank is the rank of the first relevant document",
    "hits": "measure: 'hits' has two meanings; write NumRelRet for the number of hits, as in ranx, or Hits@k for the "
    "hit rate",
}


@pytest.mark.parametrize(("text", "message"), WRONG.items())
def test_the_error_says_what_to_write(text, message):
    assert message_of(parse_measure, text) == message
    suggested = re.search(r"did you mean (\S+)\?$|write (?:for example )?([A-Z]\S*@\S+)$", message)
    if suggested and "parameter" not in message:
        parse_measure(suggested[1] or suggested[2])


@pytest.mark.parametrize("text", ["_Prel(\n-all", "ESLQ(>=\nhits", "AP(rel=\n2", "(", "P(@(", "nDCG((10))"])
def test_a_text_that_its_own_suggestion_repeats_is_an_error(text):
    """The parser must not explain the errors of its suggestions, which would never end."""
    message_of(parse_measure, text)


def test_a_measure_object_has_no_number():
    with pytest.raises(KeyError, match=r"10 is not a parameter of AP; write AP\(rel=2\)@10 for a cut-off"):
        tieaware.AP(rel=2)[10]


PIECES = (
    *(
        "ndcg",
        "NDCG",
        "map_cut",
        "hits",
        "hit_rate",
        "P",
        "R_cap",
        "rbp",
        "iprec_at_recall",
        "accuracy",
        "top_",
        "ndgc",
    ),
    *(
        "@",
        "_at_",
        "_",
        "-",
        ".",
        ",",
        " ",
        "(",
        ")",
        "=",
        "'",
        "rel=2",
        "dcg='exp-log2'",
        "-l2",
        "1",
        "10",
        "0.1",
        "k",
    ),
)


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=7).map("".join))
def test_any_text_is_a_measure_or_an_error_of_one_line(text):
    try:
        measure = parse_measure(text)
    except InputError as error:
        message = str(error)
        assert "\n" not in message
        suggested = re.search(r"did you mean (.+)\?$", message)
        for each in suggested[1].split(" or ") if suggested else ():
            parse_measure(each)
    else:
        assert parse_measure(str(measure)) == measure
        other_case = text.swapcase().replace("REL=", "rel=").replace("DCG='EXP-LOG2'", "dcg='exp-log2'")
        assert parse_measure(other_case) == measure


def test_the_measure_object_accuracy_of_ir_measures_is_auc():
    """An object has one meaning, unlike the name."""
    tool = pytest.importorskip("ir_measures")
    assert str(parse_measure(tool.Accuracy(rel=2) @ 10)) == "AUC(rel=2)@10"


CONVERT = """
import sys
import tieaware
assert not any(name.startswith(("ir_measures", "tieaware.integrations")) for name in sys.modules)
from ir_measures import AP, nDCG
print(tieaware.parse_measure(AP(rel=2) @ 10), tieaware.Evaluator([1, 0], nDCG @ 5).measures)
"""


def test_a_measure_of_ir_measures_needs_no_import_of_the_integration():
    pytest.importorskip("ir_measures")
    done = subprocess.run([sys.executable, "-c", CONVERT], capture_output=True, text=True, check=True)
    assert done.stdout == "AP(rel=2)@10 (nDCG@5,)\n"


def test_no_further_measure_of_ir_measures_is_taken_for_another_one():
    """The objects that were converted before names were accepted in any case are still the only ones."""
    tool = pytest.importorskip("ir_measures")
    converted = set()
    for name, measure in tool.measures.registry.items():
        try:
            converted.add((name, parse_measure(measure(rel=1) if name == "RBP" else measure).name))
        except InputError:
            continue
    renamed = {("Accuracy", "AUC"), ("MAP", "AP"), ("MRR", "RR"), ("NDCG", "nDCG"), ("BPref", "Bpref"),
               ("RPrec", "Rprec"), ("Precision", "P"), ("Recall", "R"), ("SetRelP", "SetP"),
               ("MAP_IA", "AP_IA"), ("α_DCG", "alpha_DCG"), ("α_nDCG", "alpha_nDCG")}  # fmt: skip
    assert {pair for pair in converted if pair[0] != pair[1]} <= renamed


def test_results_name_measures_in_the_notation():
    """Names of the notation and of trec_eval are kept; all others are replaced by the notation."""
    asked = ["map", "ndcg@10", "P_5", "MRR@10", "hit_rate_at_3", "ndcg_cut.5", "R_cap@2", "AP(rel=2) @ 100"]
    named = ("map", "nDCG@10", "P_5", "MRR@10", "Hits@3", "ndcg_cut_5", "Recall_cap@2", "AP(rel=2) @ 100")
    assert named_measures(asked)[1] == named
    assert named_measures(["map", "AP", "MAP"])[1] == ("map", "AP", "MAP")
    result = evaluate(QRELS, {"a": RUN}, asked)
    assert result.names == named
    assert list(result.means().to_dict()) == ["run", *named]


def test_results_are_looked_up_under_any_name():
    result = evaluate(QRELS, {"a": RUN, "b": RUN}, "ndcg@10 map")
    assert isinstance(result, Results)
    for name in ("ndcg@10", "nDCG@10", "ndcg_at_10", "NDCG_10", "ndcg_cut_10", tieaware.nDCG @ 10):
        np.testing.assert_array_equal(result["a", name], result.values[0, :, 0])
        np.testing.assert_array_equal(result["a"][name], result.values[0, :, 0])
    assert result["b", "average_precision", "q2"] == 0.5
    with pytest.raises(KeyError, match="measure 'ndgc@10'; did you mean nDCG@10"):
        result["a", "ndgc@10"]


@pytest.mark.parametrize(
    ("measures", "message"),
    [
        (["ndcg@10", "nDCG@10"], "ndcg@10 and nDCG@10 are the same measure"),
        (["nDCG@10", "ndcg_at_10"], "nDCG@10 and ndcg_at_10 are the same measure"),
        (["mrr@10", "MRR@10"], "mrr@10 and MRR@10 are the same measure"),
        (["map", "average_precision"], "map and average_precision are the same measure"),
        (["P.5", "P_5"], "P.5 and P_5 are the same measure"),
        (["ndcg@10", "AP", "ndcg@10"], "ndcg@10 is given twice"),
        ("map map", "map is given twice"),
    ],
)
def test_a_measure_may_be_named_only_once(measures, message):
    assert message_of(evaluate, QRELS, RUN, measures) == f"measures: must be different, but {message}"


@pytest.mark.parametrize(
    ("text", "separate"),
    [
        ("ndcg@10 mrr", ("ndcg@10", "mrr")),
        ("ndcg_cut.5,10,20 map", ("ndcg_cut.5", "ndcg_cut.10", "ndcg_cut.20", "map")),
        ("P.5, 10", ("P.5", "P.10")),
        ("P@5,10,20", ("P@5", "P@10", "P@20")),
        ("AP(rel=2) @ 5, 10", ("AP(rel=2) @ 5", "AP(rel=2) @ 10")),
        ("IPrec@0.1,0.2", ("IPrec@0.1", "IPrec@0.2")),
        ("iprec_at_recall.0.10,0.20", ("iprec_at_recall.0.10", "iprec_at_recall.0.20")),
        ("P 10", ("P", "10")),
    ],
)
def test_a_text_may_list_several(text, separate):
    assert listed_measures(text) == separate


def test_the_command_line_prints_the_notation(tmp_path, printed, refused):
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 2.0 a\n")
    command = f"eval {tmp_path}/qrels.txt {tmp_path}/a.run -m"
    lines = printed(f"{command} ndcg@10 -m map -m P.5,10 -m mrr_at_10").splitlines()
    assert [line.split()[0] for line in lines] == ["nDCG@10", "map", "P_5", "P_10", "RR@10"]
    assert "-m: unknown measure 'ndgc@10'; did you mean nDCG@10?" in refused(f"{command} ndgc@10")


def test_names_are_parsed_once():
    """An optimiser may create an evaluator in each step."""
    from tieaware.measures import notation

    parse_measures(["ndcg@10", "mrr"])
    before = notation._parse_all.cache_info().hits
    assert parse_measures(["ndcg@10", "mrr"]) is parse_measures(["ndcg@10", "mrr"])
    assert notation._parse_all.cache_info().hits == before + 2


def rows(section):
    """Return the cells of the rows of a table in docs/measures.md."""
    text = PAGE.read_text(encoding="utf-8").partition(f"# {section}\n")[2].partition("\n#")[0]
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_page_lists_every_name():
    """Each name is in the block of its measure; with parameters, its notation follows."""
    blocks = dict(re.findall(r"^### (\w+)\n(.*?)(?=^###? |^<!--)", PAGE.read_text(encoding="utf-8"), re.M | re.S))
    for notation, names in SPELLINGS.items():
        block = blocks[notation.partition("(")[0]]
        assert all(f"`{name}`" in block for name in names)
        assert "(" not in notation or f"`{names[-1]}` for `{notation}`" in block


def test_the_page_says_which_names_have_another_definition():
    """All of these names are accepted, and what to write instead is in the notation."""
    different = rows("The same name with another definition")
    assert len(different) >= 8
    for name, _, ours in different:
        for text in re.findall(r"`([^`]+)`", name + ours):
            parse_measure(text)
        for text in re.findall(r"`([^`]+)`", ours):
            assert str(parse_measure(text)) == text


@pytest.mark.parametrize(
    "name",
    ["precision@3", "recall@2", "f1@2", "hit_rate@1", "r-precision", "mrr", "map@2", "map@3-l2", "dcg@3",
     "dcg_burges@3", "ndcg@3", "ndcg_burges@2", "bpref"],
)  # fmt: skip
@pytest.mark.slow  # ranx compiles for half a minute
@pytest.mark.filterwarnings("ignore:unsafe cast")  # of numba
def test_values_are_those_of_ranx(name):
    ranx = pytest.importorskip("ranx")
    qrels = {"q1": {"d1": 2, "d3": 1, "d4": 0}, "q2": {"d2": 2, "d1": 0}}
    run = {"q1": {"d4": 4.0, "d1": 3.0, "d2": 2.0, "d3": 1.0}, "q2": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}
    expected = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), name, threads=1)
    assert evaluate(qrels, run, name).mean().item() == pytest.approx(expected, abs=1e-12)


def test_the_keys_of_the_integration_of_beir_are_accepted():
    """evaluate_custom returns MRR@10, R_cap@10, Hole@10 and Accuracy@10; the last is another measure here."""
    accepted = dict.fromkeys(title for title, _ in beir._CUSTOM.values() if title != "Accuracy")
    assert [str(parse_measure(f"{title}@10")) for title in accepted] == ["RR@10", "Recall_cap@10", "Hole@10"]

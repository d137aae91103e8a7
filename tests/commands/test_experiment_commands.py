"""The commands of experiments: what they print and write, and the options that they refuse."""

import csv
import io
import json

import numpy as np
import pytest

from tieaware import AP, Results, retrieval, samples
from tieaware.commands.options import TABLES

pytest.importorskip("scipy")
pytest.importorskip("matplotlib")

MATRICES = {
    "pair.csv": "a,b\n0.5,0.25\n0.75,0.5\n",
    "three.csv": "a,b,c\n0.5,0.25,0.3\n0.75,0.5,0.55\n0.25,0.125,0.1\n",
    "equal.csv": "a,b,c,d\n" + "0.5,0.25,0.75,0.125\n" * 9,
    "priors.csv": "a,0.5\nb,1\nc,0.25\nd, 0\n",
    "sets.csv": "a,1.0,x\nb,0.5,x\nc,0.25, y\nd,0,y\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with judgments of 9 queries, four runs, matrices, earlier scores and a small collection."""
    folder = tmp_path_factory.mktemp("files")
    files = {
        **MATRICES,
        "qrels": "".join(f"q{i} 0 d{i % 3} 1\n" for i in range(9)),
        # Like the reader of runs, the reader of ranks skips comments, empty lines and the byte order mark of UTF-8.
        "marked.run": "\ufeffq1 Q0 a 1 3 t\n# all of them\n\n  #\n \nq1 Q0 b 2 2 t\n#",
        "tied.run": "q1 Q0 a 1 1 t\nq1 Q0 b 2 1 t\n",
        "_b $x$.run": "q1 Q0 a 1 1 t\nq1 Q0 b 2 0.5 t\n",
        "values.csv": "\n".join(",".join(row) for row in [
            [f"s{i}" for i in range(6)], *np.random.default_rng(1).random((9, 6)).astype(str).tolist()
        ]),
    }  # fmt: skip
    for r in range(4):
        files[f"{r}.run"] = "".join(f"q{i} Q0 d{d} 1 {(r * d + i) % 3} t\n" for i in range(9) for d in range(3))
    texts = samples.generate_texts(n_documents=100, n_topics=12)
    documents = ({"id": name, "contents": zones["body"]} for name, zones in texts.documents.items())
    files["documents.jsonl"] = "".join(f"{json.dumps(document)}\n" for document in documents)
    files["topics.tsv"] = "".join(f"{query}\t{text}\n" for query, text in texts.topics.items())
    files["judged"] = "".join(f"{q} 0 {d} {n}\n" for q, labels in texts.qrels.items() for d, n in labels.items())
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    retrieval.Index.build(retrieval.read_documents(folder / "documents.jsonl")).save(folder / "index")
    means = np.ones((4, 2, 1)) * np.arange(4.0)[:, None, None]
    Results(means, tuple("abcd"), ("1", "2"), (AP,)).save(folder / "earlier.npz")
    return folder


@pytest.fixture(autouse=True)
def _inside(folder, monkeypatch):
    monkeypatch.chdir(folder)


# The arguments, and parts of what is printed, in which any space stands for all spaces and line breaks.
PRINTED = (
    ("precision qrels 0.run -m RR --rho 2 --precision decimals:0", "bands:2", "decimals:0"),
    ("precision qrels 0.run -m RR --rho 2 --format csv --all", "measure,precision,mean loss,", "precision,mean,sd,",
     "precision,agree,appear,", "precision,run,against,", "precision,run,original,"),
    ("precision qrels 0.run 1.run --precision levels:1 --correction bh --baseline 0", "1 pair of a run and 0"),
    ("precision qrels 0.run 1.run -m RR --error 10%", "With scores known to ±10%, the order of runs by RR is certain ",
     "measure pairs same order same verdict undecided mean width bounds", "measure run mean least greatest"),
    ("precision qrels 0.run -m RR --error .5 --format csv", "measure,pairs,same order,", " RR,0,0,0,0,"),
    ("precision qrels 0.run 1.run -m RR --precision levels:1 --keep order",
     "The order of the runs stays the same with levels:1. No value of 0 changes with levels:1, so the answer rests on "
     "1 alone. With levels:1, RR loses 0 on average "),
    ("precision qrels 0.run -m RR --rho 3 --keep 50%", "is known to keep 50% ", " keep 50% ", " open "),
    ("precision qrels 0.run -m RR --find floats", "No value of RR changes with float32 to bfloat16, which says",
     " coarsest ", " 3 precisions tried ", "runs not known to keep 99%"),
    ("precision qrels 0.run 1.run -m RR --find decimals --keep order --format csv",
     "measure,coarsest,first that fails,pairs that change their order,of,why,at most 1 % RR,decimals:0,,0,1,no value"),
    ("precision qrels 0.run 1.run -m RR --find floats --format json", '"sentence": "No value of RR changes with floa'),
    ("precision qrels 0.run -m RR --rho 2 --format json", '"sentence": "', '"mean loss": '),
    ("compare qrels 0.run 1.run 2.run -m RR --format csv", ",95% from,95% to,", ",with ties from,with ties to,"),
    ("compare qrels 0.run 1.run -m RR", "1 pair of 2 runs, 9 queries, paired t-test, Holm-corrected"),
    ("compare --test sign qrels --baseline 1 0.run 1.run", "1 run against 1, 9 queries, sign test"),
    ("smooth qrels -m RR --topics 3 --repeats 20 0.run 1.run 2.run 3.run", "Ordering 4 systems"),
    ("compare --matrix pair.csv -m RR --format csv", " RR,a,b,0.25,"),
    ("compare --matrix three.csv --baseline b --test tukey", "2 runs against b, 3 queries, Tukey's HSD", "–: unknown."),
    ("compare --matrix three.csv --correction bh --test sign --format csv", ",p,BH,"),
    ("smooth --matrix values.csv --topics 3 --repeats 20 --sweep 3", "smoothed, alpha 0.5"),
    ("smooth qrels 0.run 1.run 2.run 3.run -m RR --topics 3 --repeats 20", "Ordering 4 systems"),
    ("smooth --matrix equal.csv --alpha 0.5 --priors priors.csv --format csv",
     "values,system,mean,prior,score 0.5,rank 0.5 raw,b,0.25,1.0,0.625,1 "),
    ("smooth --matrix equal.csv --alpha 0.5 --priors sets.csv --format csv",
     "values,system,set,mean,prior,score 0.5,rank 0.5 raw,c,y,0.75,0.5625,0.65625,1 raw,a,x,0.5,0.625,0.5625,2"),
    ("smooth --matrix equal.csv --alpha 0.5 --priors earlier.npz --format csv", " raw,d,0.125,3.0,"),
    ("smooth --matrix equal.csv --topics 2,3,4 --share 0.5 --repeats 5", "three disjoint sets of 2, 3 and 4 topics"),
    ("ties tied.run 0.run --qrels qrels -m RR", "Ties in 2 runs, 10 lists", "The effect of tie rules on the measures"),
    ("ties tied.run -k 1 --format json", '"documents tied": 1.0'),
    ("ties marked.run --format csv", " marked,1,0.0,2,0.0,,,,0.0,0,0,0,"),
    ("overhead -m P@5 --queries 20 --format csv", " P@5,"),
    ("overhead -m P@5 --queries 20", "in dense lists, ", "Dense lists, 20 × 120, 60 labelled: P@5", " whole numbers "),
    ("overhead -m RR,P@5 --run 0.run --qrels qrels", "breaking them in run order on your lists. One measure alone: ",
     "9 lists of 0, 27 of 27 documents tied", " all 2 together "),
    ("ties tied.run -k 1 --format json", '"sentence": "Report averages over ties: 1 of 1 list'),
    ("overhead -m RR --run a=1.run --qrels qrels --format json", ": 9 lists of a, "),
    ("curve qrels 0.run --kind precision-recall", "Precision–recall curves of 1 run, averaged over 9 queries"),
    ("curve qrels 0.run --kind interpolated", "Interpolated precision–recall curves of 1 run, averaged over 9 queries"),
    ("curve qrels 0.run --kind roc", "ROC curves of 1 run, averaged over 9 queries"),
    ("inexact documents.jsonl topics.tsv judged --method Champions(r=2) --weighting bm25 -k 10 -m RR --format csv",
     " Exact(weighting='bm25'),", ' "Champions(r=2, weighting=\'bm25\')",'),
)  # fmt: skip


@pytest.mark.filterwarnings("ignore:.* inside a tie at the common length:UserWarning")
@pytest.mark.parametrize("case", PRINTED, ids=lambda case: case[0])
def test_what_commands_print(case, printed):
    arguments, *parts = case
    text = " ".join(printed(arguments).split())
    assert [part for part in parts if part not in text] == [], text


@pytest.mark.parametrize(
    ("arguments", "written"),
    [
        ("precision qrels 0.run -m RR --rho 2", {"summary.csv", "runs.csv", "differences-RR.png"}),
        ("precision qrels 0.run 1.run -m RR --error 1", {"summary.csv", "runs.csv", "pairs.csv", "bounds-RR.svg"}),
        ("precision qrels 0.run 1.run -m RR --find floats", {"limits.csv", "runs.csv", "tried.csv", "failures.svg"}),
        ("compare qrels 0.run 1.run -m RR", {"pairs.csv", "wins.csv", "means-RR.svg"}),
        ("smooth --matrix values.csv --topics 3 --repeats 20", {"smoothing.csv", "smoothing.png", "smoothing.svg"}),
        ("curve qrels 0.run", {"curves.csv", "curves.png", "queries-1-0.svg"}),
        ("inexact index topics.tsv judged --method Champions(r=2)", {"methods.csv", "frontier-AP.png"}),
    ],
)
def test_commands_write_a_report_and_a_figure(arguments, written, tmp_path, printed):
    plot = tmp_path / "plot.svg"
    printed(*arguments.split(), "--out", tmp_path / "out", "--plot", plot)
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {"report.html", *written}
    assert plot.read_text(encoding="utf-8").startswith("<?xml")


def test_tables_of_ties_are_printed_and_written_for_any_names(tmp_path, printed):
    command = ["ties", "tied.run", "_b $x$.run", "--qrels", "qrels", "-m", "RR", "--format", "json"]
    for options, n_tables in ((["--out", str(tmp_path / "out")], 2), (["--all"], 7)):
        found = json.loads(printed(*command, *options))
        assert len(list(filter(None, found["tables"].values()))) == n_tables
    tables = {"ties.csv", "rules.csv", "orderings.csv", "runs.csv", "bias.csv"}
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {*tables, "group-sizes.png", "ranges-RR.svg"}


# For each command whose JSON has tables: options that make different ones. Together they make all.
TABLES_OF = {
    "curve": ("curve qrels 0.run", "curve qrels 0.run --kind roc"),
    "fuse": ("fuse qrels 0.run 1.run --folds 2", "fuse qrels 0.run 1.run --method rrf"),
    "inexact": ("inexact index topics.tsv judged --method Champions(r=2)",),
    "overhead": ("overhead -m RR --queries 20", "overhead -m RR --run 0.run --qrels qrels"),
    "precision": (
        "precision qrels 0.run 1.run -m RR --rho 2", "precision qrels 0.run 1.run -m RR --find floats",
        "precision qrels 0.run 1.run -m RR --error 1", "precision qrels 0.run 1.run -m RR --scale 2",
    ),
    "smooth": (
        "smooth --matrix values.csv --topics 3 --repeats 20", "smooth --matrix equal.csv --priors priors.csv",
    ),
    "ties": ("ties 0.run", "ties 0.run -k 2 --qrels qrels -m RR"),
    "worst-case": ("worst-case -m RR", "worst-case -m RR --gain"),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_json_has_the_same_keys_with_all_options(name, printed):
    """A table has a title, rows and notes, or is null if it was not asked for."""
    made = set()
    for arguments in TABLES_OF[name]:
        whole = [] if name == "worst-case" else [[*arguments.split(), "--all"]]
        for words in (arguments.split(), *whole):
            found = json.loads(printed(*words, "--format", "json"))
            assert (list(found), found["schema"]) == (["schema", "sentence", "title", "tables"], 1)
            assert list(found["tables"]) == list(TABLES[name])
            shown = {key: table for key, table in found["tables"].items() if table is not None}
            assert all(list(table) == ["title", "rows", "notes"] for table in shown.values())
            assert found["sentence"].endswith(".")
        made |= shown.keys()
    assert made == set(TABLES[name])


@pytest.mark.parametrize("line", ["smooth qrels {} -m RR --topics 3 --repeats 20", "compare qrels {} --format csv"])
def test_stored_values_are_read_by_commands_that_need_no_scores(line, printed):
    runs = "0.run 1.run 2.run 3.run"
    printed(f"eval qrels {runs} -m RR --spread --out stored")
    found = [printed(line.format(given)) for given in (runs, "stored", " ".join(f"stored/{r}.npz" for r in range(4)))]
    assert found[1] == found[2]
    assert line.startswith("compare") or found[0] == found[1]


def test_documents_and_their_index_give_the_same_table(printed):
    """All but the times, which differ from call to call."""
    rows = []
    for collection in ("documents.jsonl", "index"):
        text = printed(f"inexact {collection} topics.tsv judged --method Champions(r=2) --format csv")
        rows.append([{**row, "time": ""} for row in csv.DictReader(io.StringIO(text))])
    assert rows[0] == rows[1]


MATRIX, SMOOTH = "compare --matrix three.csv", "smooth --matrix values.csv --topics 3 --repeats 20"
REFUSED = (
    (f"{MATRIX} -m AP -m RR", "-m: expected a single measure, the one in --matrix, found "),
    (f"{MATRIX} --baseline bb", "--baseline: there is no run 'bb'; did you mean b? See tieaware compare --help"),
    (f"{MATRIX} --test none", "--test: expected one of t, wilcoxon, sign, permutation, tukey, randomised-tukey, found"),
    (f"{MATRIX} --correction fdr", "--correction: expected one of holm, bh, bonferroni, none, found 'fdr'"),
    (f"{MATRIX} --test tukey --correction bh", "--correction: the test 'tukey' corrects for the number of runs itself"),
    ("precision qrels 0.run 1.run --precision levels:1 --correction bhh", "--correction: "),
    ("precision qrels 0.run 1.run --precision levels:1 --baseline c", "--baseline: there is no run 'c'"),
    ("precision qrels 0.run --error x", "--error: expected a number, found 'x'"),
    ("precision qrels 0.run --error=-1", "--error: expected a number from 0 to inf, found -1.0"),
    ("precision qrels 0.run --error 1% --rho 2", "--rho cannot be combined with --error"),
    ("precision qrels 0.run --error 1% --keep .9", "--keep cannot be combined with --error"),
    ("precision qrels none.run --keep verdict", "--keep: expected 'verdicts', 'order' or a share such as 99% or 0.99"),
    ("precision qrels 0.run --keep order", "--keep: 'order' needs at least two runs; with one run, write a share such"),
    ("compare qrels none.run --baseline a --keep 99", "--keep: expected a share such as 99% or 0.99, found '99'; see "),
    ("precision qrels none.run --find band", "--find: expected one of bands, decimals, significant, levels, floats, "),
    ("precision qrels none.run --find bands --rho 2", "--find tries precisions of its own; leave out --rho and --pre"),
    ("precision qrels 0.run --precision float17", "--precision: unknown precision 'float17'; did you mean float16"),
    ("overhead --run 0.run", "--qrels: run is given without qrels; pass both or neither; see tieaware overhead --help"),
    ("overhead --qrels qrels", "--run: qrels is given without run; pass both or neither; see tieaware overhead --help"),
    ("overhead --run *.run --qrels qrels", "--run: must be one run; found "),
    ("overhead --run 0.run --qrels qrels --seed 1", "--seed: is for generated lists; leave it out"),
    ("overhead --run - --qrels -", "-: standard input can be read only once"),
    ("overhead --run none.run --qrels qrels", "none.run: there is no such file"),
    ("ties tied.run -k 0", "-k: expected a whole number of at least 1, found 0; see tieaware ties --help"),
    ("smooth --topics 3", "the following arguments are required: QRELS, RUN; see tieaware smooth --help"),
    (f"{SMOOTH} qrels", "--matrix cannot be combined with QRELS and RUN, such as qrels"),
    (f"{SMOOTH} --sweep 1", "--sweep: expected a whole number from 2 to 10,001, found 1"),
    (f"{SMOOTH} --sweep 99999999999999999999", "--sweep: expected a whole number from 2 to 10,001"),
    (f"{SMOOTH} --seed -1", "seed: expected a whole number of at least 0, found -1"),
    ("smooth --matrix values.csv --topics 3 --repeats 0", "--repeats: expected a whole number"),
    ("smooth qrels 0.run 1.run -m RR,AP", "-m: expected a single measure, because a system has one score"),
    ("smooth --matrix equal.csv --priors priors.csv --share 0.5", "--share cannot be combined with --priors"),
    ("smooth --matrix equal.csv --priors none.csv", "none.csv: there is no such file"),
)


@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_options_that_are_refused(arguments, message, refused):
    assert message in refused(arguments)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a", ":1: must have a name and a number, separated by a comma, and may have a set; has 1 cells"),
        ("a,1,x,y", ":1: must have a name and a number, separated by a comma, and may have a set; has 4 cells"),
        ("a,1,5\nb,2,5", ":1: the set must have a name that is no number, such as trec-8; found '5'. Decimals"),
        ("a,1,x\nb,1", ":2: must have a set if, and only if, the lines before it have one"),
        ("a,1\nb,1,x", ":2: must have a set if, and only if, the lines before it have one"),
        ("a,1,x\nb,1,", ":2: the set must have a name that is no number, such as trec-8; found ''"),
        ("a,x", ":1: expected a number after the name, found 'x'"),
        ("a,1\na,1", ":2: a second prior of 'a'"),
        ("a,1", "priors: there is no prior of run 'b'"),
    ],
)
def test_files_of_priors_that_are_refused(text, message, tmp_path, refused):
    (tmp_path / "wrong.csv").write_text(text)
    assert message in refused("smooth", "--matrix", "equal.csv", "--priors", tmp_path / "wrong.csv")

"""The commands ``tieaware index`` and ``tieaware search``: runs that are those of Python, and errors in one line."""

import gzip
import io
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from support.forged_index import save_forged

import tieaware
from tieaware import retrieval, samples
from tieaware.cli import main
from tieaware.errors import InputError
from tieaware.retrieval.method import known_methods
from tieaware.retrieval.weighting import EXPECTED, weighting_of


def is_weighting(name):
    try:
        return weighting_of(name) is not None
    except InputError:
        return False


PAGE = Path(__file__).parents[2] / "docs" / "tools" / "searching.md"
NAMES = sorted(name for name, method in known_methods().items() if method.__module__.startswith("tieaware."))
WEIGHTINGS = [
    word for word in re.findall(r"\w+\.\w+(?::[\w=.]*\w)?|[\w-]+(?::[\w.=,]*\w)*", EXPECTED) if is_weighting(word)
]
PARAMETERS = ("Champions(r=20)", "Tiers(quantiles=(0.9,))", "ImpactOrdered(postings=0.2)", "AtLeast(m=2)")


@pytest.fixture(scope="module")
def collection():
    return samples.generate_texts(n_documents=300, n_topics=12)


@pytest.fixture(scope="module")
def folder(collection, tmp_path_factory):
    """Write the collection as two files of documents in a folder, topics, judgments and qualities; index it."""
    folder = tmp_path_factory.mktemp("collection")
    lines = [
        json.dumps({"id": name, "title": zones["title"], "text": zones["body"]})
        for name, zones in documents(collection)
    ]
    (folder / "documents" / "more").mkdir(parents=True)
    (folder / "documents" / "1.jsonl").write_text("\n".join(lines[:200]))
    (folder / "documents" / "more" / "2.jsonl.gz").write_bytes(gzip.compress("\n".join(lines[200:]).encode()))
    (folder / "documents" / ".hidden").write_text("no document")
    (folder / "topics.tsv").write_text("".join(f"{query}\t{text}\n" for query, text in collection.topics.items()))
    (folder / "quality.tsv").write_text("".join(f"{name}\t{value!r}\n" for name, value in collection.quality.items()))
    judged = [(q, d, label) for q, labels in collection.qrels.items() for d, label in labels.items()]
    (folder / "qrels.txt").write_text("".join(f"{q} 0 {d} {label}\n" for q, d, label in judged))
    options = ["--quality", f"{folder}/quality.tsv", "--save", f"{folder}/index"]
    assert main(["index", f"{folder}/documents", *options]) == 0
    return folder


@pytest.fixture(scope="module")
def index(collection):
    return retrieval.Index.build(documents(collection), quality=collection.quality)


def documents(collection):
    return collection.documents.items()


@pytest.fixture
def search(command):
    """Return a function that runs the command `search`, and returns its status, its output and its errors."""
    return lambda *arguments: command("search", *arguments)


def same_bits(run, path):
    """Return whether a file has the queries with documents, the documents and the scores of a run."""
    read = tieaware.read_run(path)
    kept = [query for query, n in zip(run.queries, np.diff(run.offsets), strict=True) if n]
    assert run.scores.dtype == read.scores.dtype
    return (
        list(read.queries) == kept
        and list(read.documents) == list(run.documents)
        and read.scores.tobytes() == run.scores.tobytes()
    )


def test_the_index_is_that_of_python(folder, collection):
    built = retrieval.Index.build(documents(collection), quality=collection.quality)
    built.format = "jsonl"
    built.save(folder / "python.index")
    assert (folder / "index").read_bytes() == (folder / "python.index").read_bytes()


def test_there_are_several_weightings():
    assert len(WEIGHTINGS) > 4
    assert {"lnc.ltc", "bm25", "impact:8"} <= {*WEIGHTINGS}


@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize("name", [*NAMES, *PARAMETERS])
def test_every_method_finds_what_it_finds_in_python(folder, index, collection, search, name, weighting):
    """A method that cannot use a weighting says so in one line."""
    options = ["--method", name, "--weighting", weighting, "-k", 30, "--run", folder / "found.run"]
    status, _, err = search(folder / "index", folder / "topics.tsv", *options)
    found, refusal = searched(name, weighting, index, collection.topics)
    if found is None:
        assert (status, err) == (2, f"--{refusal}; see tieaware search --help\n")
    else:
        assert status == 0
        assert same_bits(found, folder / "found.run")


def searched(name, weighting, index, topics):
    """Return the run of a method and no error, or no run and the message of the error."""
    try:
        return retrieval.parse_method(name, weighting=weighting).search(index, topics, 30), ""
    except InputError as error:
        return None, f"{error}"


def test_the_tag_is_the_method_and_the_run_goes_to_standard_output(folder, search):
    status, out, err = search(folder / "index", "--query", "dudu", "--query", "leke sudi", "-k", "2")
    assert (status, err) == (0, "")
    rows = [line.split() for line in out.splitlines()]
    assert [(row[0], row[3], row[5]) for row in rows] == [(q, rank, "Exact()") for q in "12" for rank in "12"]


@pytest.mark.parametrize("method", ["Exact()", "Champions(r=10)", "WAND()"])
def test_filters(folder, index, collection, search, method):
    """Phrases, AND, OR and NOT filter as they do in Python; without the option, they are words."""
    words = collection.topics["t1"].split()
    texts = [f'"{words[0]} {words[1]}"', f"{words[0]} NOT {words[1]}", f"{words[0]} AND ({words[1]} OR {words[2]})"]
    given = [each for text in texts for each in ("--query", text)]
    options = ["--method", method, "--run", folder / "found.run"]
    queries = {str(i): text for i, text in enumerate(texts, 1)}
    for filters in (["--filters"], []):
        assert search(folder / "index", *given, *filters, *options)[0] == 0
        parsed = {name: retrieval.parse_query(index, text) for name, text in queries.items()}
        found = retrieval.parse_method(method).search(index, parsed if filters else queries)
        assert same_bits(found, folder / "found.run")


def test_inexact_reads_filters(folder, collection, printed):
    (folder / "filters.tsv").write_text(
        "".join(f"{name}\t{text.replace(' ', ' AND ', 1)}\n" for name, text in collection.topics.items())
    )
    files = folder / "index", folder / "filters.tsv", folder / "qrels.txt"
    options = ["--method", "MaxScore()", "-m", "NumRet", "--format", "json"]
    tables = [json.loads(printed("inexact", *files, *filters, *options)) for filters in (["--filters"], [])]
    assert tables[0] != tables[1]


def test_queries_that_find_nothing(folder, search):
    status, out, err = search(folder / "index", "--query", "the", "--query", "dudu", "--query", "xyz", "-k", "1")
    assert (status, err) == (0, "no document was found for 2 queries of 3\n")
    assert [line.split()[0] for line in out.splitlines()] == ["2"]


def test_whole_ties_and_threads(folder, printed):
    given = "search", folder / "index", folder / "topics.tsv", "--weighting", "bnn.bnn", "-k", "1"
    few = printed(*given, "--threads", "1")
    assert few == printed(*given, "--threads", "3")
    more = printed(*given, "--whole-ties")
    assert set(few.splitlines()) < set(more.splitlines())


@pytest.mark.parametrize("name", ["a.run.gz", "a.run.xz", "a.parquet"])
def test_the_ending_is_the_format(folder, collection, search, name):
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    found = search(folder / "index", folder / "topics.tsv", "--run", folder / name)
    index = retrieval.Index.load(folder / "index")
    run = retrieval.Exact().search(index, collection.topics)
    n = f"{len(run.documents):,} documents for {len(collection.topics)} queries"
    assert found == (0, "", f"wrote {folder}/{name}: Exact() found {n}\n")
    assert same_bits(run, folder / name)


def test_counts(folder, collection, search):
    status, out, err = search(folder / "index", folder / "topics.tsv", "--method", "AtLeast(m=2)", "--counts")
    assert status == 0
    assert len(out.splitlines()) > 20
    index = retrieval.Index.load(folder / "index")
    costs = retrieval.AtLeast(m=2).counted(index, collection.topics)[1]
    columns = costs.postings, costs.documents, costs.comparisons
    expected = [[name, *map(str, row)] for name, *row in zip(collection.topics, *columns, strict=True)]
    expected.append(["all", *(str(each.sum()) for each in columns)])
    assert [line.replace(",", "").split() for line in err.splitlines()[-13:]] == expected


def test_the_run_can_be_evaluated(folder, collection, printed):
    options = ["--method", "Champions(r=20)", "--weighting", "bm25"]
    (folder / "champions.run").write_text(printed("search", folder / "index", folder / "topics.tsv", *options))
    value = printed("eval", folder / "qrels.txt", folder / "champions.run", "-m", "AP", "--digits", "12").split()[-1]
    index = retrieval.Index.load(folder / "index")
    run = retrieval.Champions(r=20, weighting="bm25").search(index, collection.topics)
    assert float(value) == pytest.approx(float(tieaware.evaluate(collection.qrels, run, "AP")), abs=1e-12)
    assert float(value) > 0.3


def convert(name, folder, path):
    """Run the command of the page for users that converts a file of judgments, and write its output."""
    if shutil.which("awk") is None:
        pytest.skip("there is no awk to convert the judgments")
    (program,) = re.findall(rf"^awk '(.*)' {re.escape(name)} > qrels\.txt$", PAGE.read_text("utf-8"), re.MULTILINE)
    with open(path, "wb") as file:
        subprocess.run(["awk", program, folder / name], stdout=file, check=True)


@pytest.mark.parametrize(
    ("folder_name", "name", "form"),
    [("cranfield_raw", "cranqrel", "cranfield"), ("medline", "MED.REL", "smart"), ("cacm", "qrels.cacm.txt", "cacm")],
)
def test_the_commands_of_the_page_convert_judgments(data, tmp_path, folder_name, name, form):
    convert(name, data / folder_name, tmp_path / "qrels.txt")
    read = retrieval.read_judgments(data / folder_name / name, form)
    assert tieaware.read_qrels(tmp_path / "qrels.txt").to_dict() == read.to_dict()


@pytest.mark.parametrize("given", [[], ["--collection-format", "cranfield"]], ids=["recognised", "given"])
def test_cranfield_from_its_files_to_its_value(data, tmp_path, command, printed, given):
    """The index knows the format of the topics. The judgments are converted by the command of the page for users."""
    source = data / "cranfield_raw"
    found = command("index", source / "cran.all.1400", *given, "--save", tmp_path / "index")
    assert found == (0, "", f"wrote {tmp_path}/index: 1,400 documents, 4,726 terms, 95,278 postings\n")
    options = ["--weighting", "bm25", "--run", tmp_path / "bm25.run"]
    printed("search", tmp_path / "index", source / "cran.qry", *options)
    convert("cranqrel", source, tmp_path / "qrels.txt")
    # The value in the table of docs/retrieval.md.
    assert printed("eval", tmp_path / "qrels.txt", tmp_path / "bm25.run", "-m", "AP").split()[-1][:5] == "0.298"


@pytest.mark.parametrize(
    ("folder_name", "documents", "topics", "form", "numbers"),
    [
        ("medline", "MED.ALL", "MED.QRY", "smart", "1,033 documents"),
        ("cacm", "cacm.tar.gz", "topics.cacm.txt", "cacm", "3,204 documents"),
        ("vaswani_npl", "doc-text.trec", "query-text.trec", "trec", "11,429 documents"),
    ],
)
def test_public_collections_in_their_formats(data, tmp_path, command, folder_name, documents, topics, form, numbers):
    source, options = data / folder_name, ["--collection-format", form]
    _, _, err = command("index", source / documents, *options, "--stemmer", "none", "--save", tmp_path / "index")
    assert err.startswith(f"wrote {tmp_path}/index: {numbers}, ")
    found = ["-k", "20", "--weighting", "bm25", "--run", tmp_path / "bm25.run"]
    assert command("search", tmp_path / "index", source / topics, *options, *found)[0] == 0
    read = retrieval.read_documents(source / documents, form)
    index = retrieval.Index.build(read, analyzer=retrieval.Analyzer(stemmer=None))
    run = retrieval.Exact(weighting="bm25").search(index, retrieval.read_topics(source / topics, form), 20)
    assert same_bits(run, tmp_path / "bm25.run")


def test_a_smaller_index_without_zones_and_positions(folder, printed, refused):
    small = folder / "small.index"
    printed("index", folder / "documents", "--no-zones", "--no-positions", "--save", small)
    whole, part = retrieval.Index.load(folder / "index"), retrieval.Index.load(small)
    assert part.terms == whole.terms
    for name in ("starts", "documents", "frequencies", "lengths"):
        assert np.array_equal(getattr(part.postings, name), getattr(whole.postings, name))
    assert (part.zones, part.postings.positions, part.quality) == ({}, None, None)
    for option, given, lacks in (
        ("--method", "Proximity()", "positions"), ("--method", "WeightedZones()", "zones"),
        ("--method", "NetScore()", "static quality"), ("--filters", '--query="dudu sibe"', "positions"),
    ):  # fmt: skip
        found = refused("search", small, "--query", "dudu", option, given)
        assert found.startswith(f"{small}: has no {lacks}; build it ")
        assert found.endswith(" (see tieaware index --help)\n")


def test_the_analyzer_of_the_documents_is_that_of_the_queries(tmp_path, printed):
    (tmp_path / "d.tsv").write_text("d1\tthe layers\nd2\tlayer\n")
    for options, found in ((["--stemmer", "none", "--stop-words", "none"], ["d1"]), ([], ["d1", "d2"])):
        printed("index", tmp_path / "d.tsv", *options, "--save", tmp_path / "index")
        out = printed("search", tmp_path / "index", "--query", "the layers", "--weighting", "nnn.nnn")
        assert [line.split()[2] for line in out.splitlines()] == found


def test_stop_words_from_a_file(tmp_path, printed):
    """The index stores the words; a text in capitals has them too."""
    (tmp_path / "d.tsv").write_text("d1\tties are frequent\nd2\tTIES\n")
    (tmp_path / "stop.txt").write_text("Ties are\n\nrare\n")
    options = ["--stop-words", tmp_path / "stop.txt", "--stemmer", "none", "--save", tmp_path / "index"]
    printed("index", tmp_path / "d.tsv", *options)
    index = retrieval.Index.load(tmp_path / "index")
    assert (index.terms, index.analyzer.stop_words) == (["frequent"], ("ties", "are", "rare"))


def test_documents_and_topics_from_standard_input(tmp_path, printed, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"d1\ttie\nd2\trank\n")))
    printed("index", "-", "--save", tmp_path / "index")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"<top><num>7<title> ties<desc> rank</top>")))
    options = ["--topic-part", "description", "--topic-part", "title", "--weighting", "nnn.nnn"]
    out = printed("search", tmp_path / "index", "-", *options)
    assert [line.split()[0:3:2] for line in out.splitlines()] == [["7", "d1"], ["7", "d2"]]


def test_inexact_takes_the_index_of_the_command(folder, printed):
    options = ["--method", "NetScore()", "--method", "Champions(r=5)", "-k", "10", "-m", "AP", "--format", "csv"]
    tables = []
    for given in ([f"{folder}/documents", "--quality", f"{folder}/quality.tsv"], [f"{folder}/index"]):
        files = [given[0], f"{folder}/topics.tsv", f"{folder}/qrels.txt"]
        lines = [line.split(",") for line in printed("inexact", *files, *given[1:], *options).splitlines()]
        # The column of times differs from call to call.
        time = lines[0].index("time")
        tables.append([line[:time] + line[time + 1 :] for line in lines])
    assert tables[0] == tables[1]
    methods = ["Exact()", "ExactNetScore(quality_weight=1.0)", "NetScore(share=1.0)", "Champions(r=5)"]
    assert [line[0] for line in tables[0]] == ["method", *methods]


def test_list_methods_names_all_methods(printed):
    for command in ("search", "inexact"):
        out = printed(f"{command} --list-methods")
        assert set(re.findall(r"^(\w+)\(", out, re.MULTILINE)) >= set(NAMES)
        assert "Champions(r=100, " in out
        listed = " ".join(printed(f"{command} --help").split()).partition("Methods: ")[2]
        assert all(f"{name}(" in listed for name in NAMES)
        assert listed.endswith(f"Weightings: {retrieval.weighting.EXPECTED}.")


@pytest.fixture
def files(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "index").write_bytes((folder / "index").read_bytes())
    (tmp_path / "d.tsv").write_text("d1\ttie\nd2\trank\n")
    (tmp_path / "again.tsv").write_text("d3\ttie\nd1\trank\n")
    (tmp_path / "titled.jsonl").write_text('{"id": "d4", "title": "tie", "text": "rank"}\n')
    (tmp_path / "empty.trec").write_text("<p>no document</p>\n")
    (tmp_path / "q.tsv").write_text("d1 0.5\n")
    (tmp_path / "bad.tsv").write_text("d1 0.5\nd2 high\n")
    (tmp_path / "large.tsv").write_text("d1 0.5\nd2 inf\n")
    (tmp_path / "twice.tsv").write_text("d1 0.5\nd1 0.5\n")
    (tmp_path / "t.tsv").write_text("1\ttie\n")
    (tmp_path / "t.trec").write_text("<top><num>1</num><title>tie</title></top>")
    (tmp_path / "t").write_text("no format\n")
    (tmp_path / "and.tsv").write_text("1\ttie\n7\ttie AND\n")
    (tmp_path / "none").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("index d.tsv again.tsv --save x", "again.tsv:2: the document 'd1' appears twice"),
        ("index d.tsv titled.jsonl --save x", "titled.jsonl:1: the document 'd4' has a title, unlike the"),
        ("index titled.jsonl d.tsv --save x", "d.tsv:1: the document 'd1' has no title, unlike the documents before"),
        ("index empty.trec --save x", "empty.trec: the file has no documents"),
        ("index d.tsv --out x", "--out has another name here: write --save INDEX; see tieaware index --help"),
        ("search index t.tsv --out x", "--out has another name here: write --run FILE; see tieaware search --help"),
        ("index none --save x", "none: there are no files in this folder"),
        ("index nowhere --save x", "nowhere: there is no such file"),
        ("index d.tsv index --save x", "index: this is an index already; tieaware search searches it"),
        ("index t --save x", "t: the format cannot be detected; it must be given as one of trec, jsonl"),
        ("index d.tsv --save none", "none: this is a folder; the name of a file is required"),
        ("index d.tsv --save no/where", "no/where: the folder of this file does not exist"),
        ("index d.tsv --save d.tsv", "--save: would replace the input d.tsv; see tieaware index --help"),
        ("index d.tsv --save s3://b/x", "argument --save: "),
        ("index - - --save x", "-: standard input can be read only once, but is given 2 times"),
        ("index d.tsv --save x --quality q.tsv", "--quality: must have a number for each document; 'd2' has none"),
        ("index d.tsv --save x --quality bad.tsv", "bad.tsv:2: expected an id and a number of at least 0, found 'hig"),
        ("index d.tsv --save x --quality large.tsv", "large.tsv:2: expected an id and a number of at least 0, found"),
        ("index d.tsv --save x --quality twice.tsv", "twice.tsv:2: the document 'd1' appears twice"),
        ("index d.tsv --save x --stop-words many", "--stop-words: expected lucene, scikit-learn, none or the name of"),
        ("index d.tsv --save x --stemmer klingon", "--stemmer: expected one of "),
        ("search index", "either QUERIES or --query WORDS is required; see tieaware search --help"),
        ("search index t.tsv --query tie", "either QUERIES or --query WORDS is required"),
        ("search index --query tie --topic-part title", "--query has words, not a file of topics"),
        ("search index t.tsv --topic-part narrative", "t.tsv: topics in this format have no parts besides the title"),
        ("search index t.trec --topic-part narrative", "t.trec: no topic has a narrative"),
        ("search index empty.trec", "empty.trec: the file has no topics"),
        ("search d.tsv t.tsv", "d.tsv: not an index; tieaware index d.tsv --save INDEX makes one of documents"),
        ("search nowhere t.tsv", "nowhere: the file cannot be read: No such file or directory"),
        ("search index t.tsv --method Champion", "--method: unknown method 'Champion'; did you mean Champions or"),
        ("search index t.tsv --method Champions(r=0)", "--method: r of Champions(r=0): expected a whole number"),
        ("search index t.tsv --method Champions(r=1,r=2)", "--method: r is given 2 times in 'Champions(r=1,r=2)'"),
        ("search index t.tsv --method Champions(**3)", "--method: expected a name such as Champions(r=100), found"),
        ("search index t.tsv --method WeightedZones(weights=[1])", "--method: weights[0] of WeightedZones("),
        ("search index t.tsv --method WeightedZones(weights={'tite':1})", "--method: weights of WeightedZones("),
        ("search index --filters --query NOT", "--query: query 1, character 4: expected a word, a phrase, NOT or ("),
        ('search index --filters --query hot --query "hot', '--query: query 2, character 1: this " begins a phrase'),
        ("search index and.tsv --filters", "and.tsv: query 7, character 8: expected a word, a phrase, NOT or ("),
        ("search index t.tsv --method Exact --method MaxScore", "--method can be given only once: a run is made by"),
        ("search index t.tsv --method rocchio", "--method: rocchio is not a method: it makes queries from judgments"),
        ("search index t.tsv --weighting bm52", "--weighting: expected letters such as lnc.ltc"),
        ("search index t.tsv -k 0", "-k: expected a whole number of at least 1, found 0"),
        ("search index t.tsv --threads 0", "--threads: expected a whole number"),
        ("search index t.tsv --run index", "--run: would replace the input index; see tieaware search --help"),
        ("search index t.tsv --run t.tsv", "--run: would replace the input t.tsv; see tieaware search --help"),
        ("search index t.tsv --run no/where.run", "no/where.run: the folder of this file does not exist"),
        ("search index t.tsv --run x.csv", "x.csv: a run cannot be written as a .csv file"),
        ("inexact index t.tsv q --stemmer none", "--stemmer cannot be combined with an index, which has its own: "),
    ],
)  # fmt: skip
def test_errors_are_one_line_and_nothing_is_written(files, refused, arguments, message):
    if arguments.startswith("inexact"):
        (files / "q").write_text("1 0 T-000001 1\n")
    before = sorted(path.name for path in files.rglob("*"))
    assert refused(arguments).removeprefix(f"tieaware {arguments.split()[0]}: ").startswith(message)
    assert sorted(path.name for path in files.rglob("*")) == before


def test_an_interrupted_index_leaves_nothing(files, command, monkeypatch):
    def documents(text):
        yield "d1", "tie"
        raise KeyboardInterrupt

    monkeypatch.setitem(retrieval.collections.READERS, "tsv", documents)
    before = sorted(files.rglob("*"))
    assert command("index d.tsv --save x") == (130, "", "interrupted\n")
    assert sorted(files.rglob("*")) == before


def test_damaged_and_forged_indexes_are_refused(files, refused):
    intact = (files / "index").read_bytes()
    (files / "truncated").write_bytes(intact[:-100])
    (files / "changed").write_bytes(intact[:-7] + b"x" + intact[-6:])
    (files / "later").write_bytes(intact.replace(b'"version": 1', b'"version": 7'))
    save_forged(files / "forged", lambda arrays: arrays["/documents"].__setitem__(0, 2))
    for name in ("truncated", "changed", "later", "forged"):
        err = refused(f"search {name} t.tsv")
        assert err.startswith(f"{name}: ")
        assert "not a complete and undamaged file" in err or "version 7 of the format" in err


def test_an_index_without_an_analyzer_is_refused(files, refused):
    retrieval.Index.build([("d1", "tie")], analyzer=str.split).save(files / "split.index")
    message = "split.index: the index was built with an analyzer that it cannot store: "
    assert refused("search split.index t.tsv").startswith(message)

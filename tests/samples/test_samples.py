import lzma
import math
import subprocess
import sys
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tieaware import InputError, samples
from tieaware.samples.__main__ import main
from tieaware.samples.generator import _round_to_bfloat16

SCORERS = samples.RUN_NAMES[:-1]


@pytest.fixture(scope="module")
def collection():
    return samples.generate()


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_same_seed_gives_the_same_collection():
    assert samples.generate(7, 3, 20) == samples.generate(7, 3, 20)


def test_another_seed_gives_another_collection():
    assert samples.generate(7, 3, 20).runs != samples.generate(8, 3, 20).runs


def test_the_collection_has_the_size_asked_for():
    collection = samples.generate(n_queries=3, depth=7, n_documents=40, pool_depth=5)
    assert list(collection.topics) == list(collection.qrels) == ["q101", "q102", "q103"]
    assert tuple(collection.runs) == samples.RUN_NAMES
    for run in collection.runs.values():
        assert list(run) == ["q101", "q102", "q103"]
        assert {len(scores) for scores in run.values()} == {7}


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("continuous", 0.0, 0.0),
        ("two-decimals", 0.2, 0.4),
        ("int8-dot", 0.4, 0.6),
        ("bfloat16", 0.75, 0.95),
        ("grader-0-10", 0.97, 1.0),
        ("constant", 1.0, 1.0),
    ],
)
def test_coarser_scores_tie_more(collection, name, least, most):
    tied = total = 0
    for scores in collection.runs[name].values():
        sizes = Counter(scores.values()).values()
        tied += sum(size for size in sizes if size > 1)
        total += sum(sizes)
    assert least <= tied / total <= most


def test_each_scorer_reports_scores_of_its_precision(collection):
    def scores(name):
        return {score for run in collection.runs[name].values() for score in run.values()}

    assert all(score == float(f"{score:.2f}") for score in scores("two-decimals"))
    assert all(score == nearest_bfloat16(score) for score in scores("bfloat16"))
    assert all(score.is_integer() and abs(score) < 20 * 127**2 for score in scores("int8-dot"))
    assert scores("grader-0-10") == set(range(11))
    assert scores("constant") == {1}


@pytest.mark.parametrize("name", SCORERS[:-1])
def test_runs_are_sorted_and_ties_are_by_ascending_document(collection, name):
    for scores in collection.runs[name].values():
        assert list(scores) == sorted(scores, key=lambda document: (-scores[document], document))


def test_the_grader_reranks_and_keeps_the_order_of_equal_grades(collection):
    for query, grades in collection.runs["grader-0-10"].items():
        retrieved = collection.runs["continuous"][query]
        assert list(grades) == sorted(retrieved, key=lambda document: -grades[document])


@pytest.mark.parametrize("pool_depth", [1, 20])
def test_judgments_pool_the_top_of_every_scorer_and_a_manual_search(pool_depth):
    collection = samples.generate(n_queries=20, pool_depth=pool_depth)
    for query, labels in collection.qrels.items():
        tops = {doc for name in SCORERS for doc in list(collection.runs[name][query])[:pool_depth]}
        assert tops <= set(labels)
        assert len(set(labels) - tops) <= pool_depth


def test_labels_are_graded_and_a_few_are_missing(collection):
    labels = Counter(label for judged in collection.qrels.values() for label in judged.values())
    assert labels[0] > labels[1] > labels[2] > labels[3] > 0
    assert 0 < labels.pop(-1) < 0.03 * labels.total()
    assert set(labels) == {0, 1, 2, 3}


def test_some_relevant_documents_are_retrieved_by_no_scorer(collection):
    missed = [
        document
        for query, labels in collection.qrels.items()
        for document, label in labels.items()
        if label > 0 and not any(document in collection.runs[name][query] for name in SCORERS)
    ]
    assert missed


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_constant_scorer_lists_every_relevant_document_first(seed):
    collection = samples.generate(seed, n_queries=20)
    for query, scores in collection.runs["constant"].items():
        labels = collection.qrels[query]
        n_relevant = sum(label > 0 for label in labels.values())
        relevant = [labels.get(document, 0) > 0 for document in scores]
        assert n_relevant > 0
        assert relevant == [True] * n_relevant + [False] * (100 - n_relevant)


def test_effectiveness_is_that_of_real_runs(collection):
    def average_precision(query, ranking):
        labels = collection.qrels[query]
        ranks = [rank for rank, document in enumerate(ranking, 1) if labels.get(document, 0) > 0]
        precisions = [found / rank for found, rank in enumerate(ranks, 1)]
        return sum(precisions) / sum(label > 0 for label in labels.values())

    def mean(name):
        run = collection.runs[name]
        # The order inside a tie is by document: for these runs as good as random.
        rankings = {q: sorted(sorted(run[q]), key=lambda doc: -run[q][doc]) for q in run}
        return np.mean([average_precision(q, ranking) for q, ranking in rankings.items()])

    means = {name: mean(name) for name in samples.RUN_NAMES}
    assert 0.25 < means["continuous"] < 0.35
    assert max(means, key=means.get) == "continuous"
    assert means["two-decimals"] == pytest.approx(means["bfloat16"], abs=0.03)
    assert means["two-decimals"] > means["int8-dot"] > means["grader-0-10"] > means["constant"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seed": -1}, "seed: expected a whole number of at least 0, found -1"),
        ({"n_queries": 0}, "n_queries: expected a whole number from 1 to 1,000,000,000, found 0"),
        ({"depth": 0}, "depth: expected a whole number from 1 to 1,000,000,000, found 0"),
        ({"pool_depth": 0}, "pool_depth: expected a whole number from 1 to 1,000,000,000, found 0"),
        ({"n_documents": 99}, "n_documents: expected a whole number from 100 to 1,000,000,000, found 99"),
    ],
)
def test_generate_rejects(arguments, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        samples.generate(**arguments)


def nearest_bfloat16(value):
    """Round to 8 significant bits in exact arithmetic; `round` takes a fraction's tie to the even integer."""
    _, exponent = math.frexp(value)
    unit = Fraction(2) ** (exponent - 8)
    return float(round(Fraction(value) / unit) * unit)


halfway = st.builds(math.ldexp, st.integers(-(2**9), 2**9), st.integers(-100, 100))
normal = st.floats(-1e38, 1e38).filter(lambda value: value == 0 or abs(value) > 1e-37)


@given(halfway | normal)
def test_bfloat16_is_the_nearest(value):
    assert _round_to_bfloat16(np.array([value])).tolist() == [nearest_bfloat16(value)]


def test_write_makes_trec_files(tmp_path):
    collection = samples.Collection(
        {"q1": "Noise at sea"},
        {"q1": {"d1": 2, "d2": -1}},
        {"mine": {"q1": {"d3": 0.1 + 0.2, "d1": 5.0, "d2": 1e-7, "d4": -0.0}}},
    )
    samples.write(collection, tmp_path / "new" / "folder")
    assert contents(tmp_path / "new") == {
        "folder/topics.tsv": b"q1\tNoise at sea\n",
        "folder/qrels.txt": b"q1 0 d1 2\nq1 0 d2 -1\n",
        "folder/runs/mine.run": (
            b"q1 Q0 d3 1 0.30000000000000004 mine\nq1 Q0 d1 2 5 mine\n"
            b"q1 Q0 d2 3 1e-07 mine\nq1 Q0 d4 4 -0 mine\n"
        ),
    }


@pytest.mark.parametrize("compress", [False, True])
def test_what_was_written_reads_back_exactly(tmp_path, compress):
    generated = samples.generate(n_queries=5, depth=30)
    runs = {"zeta": generated.runs["constant"], "alpha": generated.runs["bfloat16"], **generated.runs}
    collection = samples.Collection(generated.topics, generated.qrels, runs)
    samples.write(collection, tmp_path / "sample", compress=compress)
    read = samples.load(tmp_path / "sample")
    assert read == collection
    assert list(read.runs) == [*samples.RUN_NAMES, "alpha", "zeta"]
    for name, run in runs.items():
        for query, scores in run.items():
            assert list(read.runs[name][query]) == list(scores)


def test_write_leaves_nothing_behind_when_it_fails(tmp_path):
    collection = samples.Collection({"q1": "Noise"}, {"q1": {"d1": 1}}, {"bad": {"q1": {"d1": "high"}}})
    with pytest.raises(ValueError, match="high"):
        samples.write(collection, tmp_path / "sample")
    assert list(tmp_path.iterdir()) == []


def test_write_does_not_touch_a_folder_that_exists(tmp_path):
    with pytest.raises(FileExistsError, match="the folder already exists"):
        samples.write(samples.Collection({}, {}, {}), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_load_names_the_file_that_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"topics\.tsv"):
        samples.load(tmp_path)


def test_the_embedded_sample_is_what_the_generator_makes(collection, tmp_path):
    samples.write(collection, tmp_path / "sample")
    shipped = contents(samples.sample_files())
    assert {name: lzma.decompress(data) for name, data in shipped.items()} == {
        name + ".xz": data for name, data in contents(tmp_path / "sample").items()
    }
    assert sum(map(len, shipped.values())) < 200_000
    assert samples.load() == collection


def test_the_command_writes_a_collection(tmp_path):
    out = tmp_path / "sample"
    arguments = ["--out", str(out), "--seed", "5", "--queries", "2", "--depth", "9", "--compress"]
    assert main(arguments) == 0
    assert samples.load(out) == samples.generate(5, 2, 9)
    assert all(name.endswith(".xz") for name in contents(out))


@pytest.mark.slow
def test_the_command_makes_the_same_bytes_each_time(tmp_path):
    for name in ("a", "b"):
        done = subprocess.run(
            [sys.executable, "-m", "tieaware.samples", "--queries", "2", "--compress", "--out", tmp_path / name],
            capture_output=True,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert samples.load(tmp_path / "a") == samples.generate(n_queries=2)


def test_the_command_reports_an_error_in_one_line(tmp_path, capsys):
    assert main(["--out", str(tmp_path / "sample"), "--queries", "0"]) == 2
    assert capsys.readouterr() == ("", "n_queries: expected a whole number from 1 to 1,000,000,000, found 0\n")
    assert main(["--out", str(tmp_path), "--queries", "1"]) == 2
    assert capsys.readouterr() == ("", f"{tmp_path}: the folder already exists\n")


def test_discrete_lists_are_like_in_degrees():
    scores, labels, offsets = samples.discrete_lists(2000, mean_length=200)
    assert (scores.dtype, labels.dtype, offsets.dtype) == (np.float64, np.int32, np.int64)
    assert len(scores) == len(labels) == offsets[-1]
    lengths = np.diff(offsets)
    assert len(lengths) == 2000
    assert lengths.min() == 100
    assert lengths.max() > 1000
    assert lengths.mean() == pytest.approx(200, rel=0.1)
    for score, share in enumerate([1 / 2, 1 / 6, 1 / 12]):
        assert np.mean(scores == score) == pytest.approx(share, rel=0.05)
    assert (scores == np.floor(scores)).all()
    assert (np.add.reduceat(labels, offsets[:-1]) > 0).all()
    assert set(labels) == {0, 1}
    assert labels.mean() == pytest.approx(0.02, rel=0.05)
    # Relevant documents score higher, and yet tie with the others.
    assert np.mean(scores[labels > 0] == 0) == pytest.approx(1 / 4, rel=0.1)


def test_discrete_lists_can_be_graded_and_depend_on_the_seed_alone():
    lists, again = (samples.discrete_lists(300, seed=5, grades=3) for _ in range(2))
    assert all(map(np.array_equal, lists, again))
    assert set(lists.labels) == {0, 1, 2, 3}
    assert not np.array_equal(lists.offsets, samples.discrete_lists(300, seed=6).offsets)


@pytest.mark.parametrize(("mean_length", "relevant"), [(1, 0), (1, 1), (50, 0)])
def test_discrete_lists_have_a_relevant_document_at_the_limits_too(mean_length, relevant):
    _, labels, offsets = samples.discrete_lists(100, mean_length=mean_length, relevant=relevant)
    assert np.diff(offsets).min() >= 1
    assert (np.add.reduceat(labels, offsets[:-1]) > 0).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_queries": 0}, "n_queries: expected a whole number from 1 to 2,147,483,647, found 0"),
        ({"seed": -1}, "seed: expected a whole number of at least 0, found -1"),
        ({"grades": 0}, "grades: expected a whole number from 1 to 2,147,483,647, found 0"),
        ({"mean_length": 0.5}, r"mean_length: expected a number from 1 to 1e\+15, found 0\.5"),
        ({"mean_length": math.inf}, r"mean_length: expected a number from 1 to 1e\+15, found inf"),
        ({"relevant": 1.5}, r"relevant: expected a number from 0 to 1, found 1\.5"),
        ({"relevant": math.nan}, "relevant: expected a number from 0 to 1, found nan"),
    ],
)
def test_discrete_lists_rejects(arguments, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        samples.discrete_lists(**arguments)

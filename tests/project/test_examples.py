"""The examples run on small inputs, and their output supports their claims."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import tieaware
from tieaware import Evaluator, samples

EXAMPLES = Path(__file__).parents[2] / "examples"


def run_small(name, capsys):
    results = runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"](["--small"])
    printed = capsys.readouterr()
    assert "run_order" in printed.out
    assert printed.err == ""
    return results


def assert_misled(aware, oblivious, margin):
    """Assert that the tie-oblivious objective reports a higher value than the tie-aware one, but averages lower."""
    assert aware.ties == "average"
    assert aware.objective == aware.average
    assert oblivious.ties == "run_order"
    assert oblivious.objective > aware.objective + margin
    assert oblivious.average < aware.average - margin
    assert oblivious.held_out < aware.held_out - margin


def test_tie_oblivious_tuning_turns_term_frequencies_off(capsys):
    aware, oblivious = run_small("tune_bm25", capsys)
    assert_misled(aware, oblivious, margin=0.1)
    assert aware.k1 > 0
    assert oblivious.k1 == 0


def test_tie_oblivious_optimisers_approach_a_constant_scorer(capsys):
    pytest.importorskip("cmaes", reason="cmaes is missing: pip install --group examples")
    *both, oblivious = run_small("combine_features", capsys)
    assert [r.optimiser for r in both] == ["exact lines", "CMA-ES"]
    for aware in both:
        assert_misled(aware, oblivious, margin=0.1)
        assert oblivious.distinct < aware.distinct - 1
    assert oblivious.objective == pytest.approx(1)
    assert oblivious.distinct < 1.5


def test_only_the_tie_oblivious_ranking_of_features_depends_on_the_order_of_documents(capsys):
    average, run_order = run_small("rank_features", capsys)
    assert (average.ties, run_order.ties) == ("average", "run_order")
    for other in (average.shuffled, average.relevant_last):
        np.testing.assert_array_equal(np.broadcast_to(average.relevant_first, other.shape), other)

    assert len(np.unique((-run_order.shuffled).argsort(axis=1), axis=0)) > 1
    *discrete, continuous = np.ptp(run_order.shuffled, axis=0)
    assert min(discrete[:3]) > 0.03
    assert continuous == 0
    # The average is the expectation over all orders, and each random order is a sample.
    error = run_order.shuffled.std(axis=0) / np.sqrt(len(run_order.shuffled))
    assert np.all(np.abs(run_order.shuffled.mean(axis=0) - average.relevant_first) <= 4 * error + 1e-12)

    assert run_order.relevant_first[0] == 1
    assert run_order.relevant_last[0] < 0.01


def test_only_a_metric_that_averages_over_ties_stops_at_the_same_round_for_any_order_of_rows(capsys):
    pytest.importorskip("lightgbm", reason="lightgbm is missing: pip install 'tieaware[lightgbm]'")
    results = run_small("early_stopping", capsys)
    own = {each.rows: each for each in results if each.metric == "LightGBM's"}
    average = {each.rows: each for each in results if each.metric == "average"}
    assert set(own) == set(average) == {"relevant first", "shuffled", "relevant last"}

    # For each order of the rows, training stops in the same round with the same bits.
    first = average["relevant first"]
    assert all(each == first._replace(rows=each.rows) for each in average.values())
    assert first.reported == first.validation

    flattered = own["relevant first"]
    assert flattered.best_round < 5 < first.best_round
    assert flattered.reported > first.reported + 0.1
    assert flattered.validation < flattered.reported - 0.3
    assert flattered.test < first.test - 0.1
    assert own["relevant last"].reported < own["relevant last"].validation


def test_windows_leave_less_open_than_zones(capsys):
    zones, windows, both = run_small("zone_scores", capsys)
    assert (zones.name, windows.name, both.name) == ("zones", "windows", "both")
    assert zones.distinct == 4
    assert both.distinct > windows.distinct > 4
    for scored in (zones, windows, both):
        assert (scored.min <= scored.run_order + 1e-12).all()
        assert (scored.run_order <= scored.max + 1e-12).all()
    assert (both.std.mean(axis=0) < zones.std.mean(axis=0)).all()
    assert both.mean[:, 0].mean() > zones.mean[:, 0].mean()


def test_the_textbooks_zone_weight_and_window():
    example = runpy.run_path(str(EXAMPLES / "zone_scores.py"))
    flags = [(1, 1, 1), (0, 1, 0), (0, 1, 1), (0, 0, 0), (1, 1, 1), (0, 1, 1), (1, 0, 0)]  # title, body, relevant
    training = [example["Example"](*map(bool, each)) for each in flags]
    weight = example["learn_weight"](training)
    assert weight == Fraction(1, 4)
    assert example["total_error"](weight, training) == Fraction(3, 4)
    assert all(example["total_error"](Fraction(i, 20), training) >= Fraction(3, 4) for i in range(21))

    smallest_window = example["smallest_window"]
    quality = ["the", "quality", "of", "mercy", "is", "not", "strained"]
    assert smallest_window(["strained", "mercy"], quality) == 4
    assert smallest_window(["mercy", "mercy"], quality) is None
    assert smallest_window(["a", "b"], ["a", "x", "b", "a"]) == 2


def test_tools_report_misleading_values_for_graders(capsys):
    """The documentation page shows the output of the example, and the claims on the page hold."""
    main = runpy.run_path(str(EXAMPLES / "graders.py"))["main"]
    logits, sigmoids, grades, verdicts = main([])
    printed = capsys.readouterr().out
    page = (EXAMPLES.parent / "docs" / "tools" / "graders.md").read_text(encoding="utf-8")
    # The page shows the rows of nDCG@10.
    rows = printed.partition("\nnDCG@10")[2].partition("\n\n")[0]
    assert rows.strip() in page

    for values in (*logits.reported.values(), logits.min, logits.max):
        np.testing.assert_allclose(values, logits.average, rtol=0, atol=1e-12)
    assert not logits.std.any()
    # In run order, coarse scores seem better than the logits from which they are rounded. Averaged, they are worse.
    assert sigmoids.reported["run_order"][0] > logits.average[0] + 0.01
    assert logits.average[0] > sigmoids.average[0] + 0.05
    previous = logits
    for each in (sigmoids, grades, verdicts):
        assert each.distinct < previous.distinct
        assert (each.average < previous.average).all()
        assert (each.max - each.min > previous.max - previous.min).all()
        for values in each.reported.values():
            assert ((each.min - 1e-12 <= values) & (values <= each.max + 1e-12)).all()
        # Document ids are independent of relevance, so their order is one random sample of all orders.
        for rule in ("trec_eval", "docid_ascending"):
            assert (abs(each.reported[rule] - each.average) <= 4 * each.std).all()
        assert (each.reported["run_order"] > each.average + 10 * each.std).all()
        previous = each


def test_sampled_negatives_and_sorted_ties_mislead_about_recommenders(capsys):
    """The documentation page shows the numbers of the example, up to rounding differences between platforms."""
    pytest.importorskip("implicit", reason="implicit is missing: pip install --group examples")
    results = run_small("recommender", capsys)
    factors, neighbours, popularity, binned, constant = results
    assert (neighbours.mean > factors.mean).all()
    assert (neighbours.sampled < factors.sampled)[:2].all()
    for each in results:
        assert (each.sampled > 1.4 * each.mean).all()
        for sorted_ties in (each.run_order, each.reversed, each.partitioned):
            assert (each.min <= sorted_ties + 1e-12).all()
            assert (sorted_ties <= each.max + 1e-12).all()
    assert np.ptp([factors.min, factors.mean, factors.max, factors.run_order, factors.reversed], axis=0).max() < 1e-3
    for each in (binned, constant):
        assert (each.reversed < each.mean).all()
        assert (each.mean < each.run_order).all()
    assert constant.run_order[0] > 1.5 * constant.mean[0]
    assert (constant.min == 0).all()
    assert popularity.mean[0] > binned.mean[0] > constant.mean[0]

    page = (EXAMPLES.parent / "docs" / "tools" / "recommenders.md").read_text(encoding="utf-8")
    page = page.partition("\n## Why not sample items")[2]
    for each in results:
        of_all, by_order = re.findall(rf"^{each.name}  .*$", page, re.MULTILINE)
        shown = [float(number) for number in re.findall(r"\d\.\d{4}", of_all)]
        assert shown == pytest.approx([*each.mean, *each.sampled], abs=0.03)
        shown = [float(number) for number in re.findall(r"\d\.\d{4}", by_order)]
        ordered = each.run_order, each.reversed, each.partitioned, each.mean, each.min, each.max
        assert shown == pytest.approx([values[0] for values in ordered], abs=0.03)


def test_run_order_of_a_catalogue_is_a_stable_sort():
    """A stable sort that moves excluded items to the end gives the values of the tie rule run_order."""
    sp = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(0)
    scores, drawn = rng.integers(0, 4, (50, 60)).astype(np.float32), rng.random((50, 60))
    relevant, seen = drawn < 0.1, drawn > 0.8
    evaluator = Evaluator.from_sparse(sp.csr_array(relevant), "AP", exclude=sp.csr_array(seen), ties="run_order")
    order = np.argsort(np.where(seen, np.inf, -scores), axis=1, kind="stable")
    ranked = np.take_along_axis(np.where(seen, -1, relevant), order, axis=1)
    np.testing.assert_array_equal(evaluator(scores), Evaluator(ranked, "AP")(-np.arange(3000.0).reshape(50, 60)))


def test_lambdas_train_linear_models(capsys):
    """PyTorch's models, where it is installed, have the same values as NumPy's."""
    results = runpy.run_path(str(EXAMPLES / "train_with_lambdas.py"))["main"](["--small"])
    assert capsys.readouterr().err == ""
    values = {(each.learner, each.measure): each.after for each in results}
    assert {learner for learner, _ in values} >= {"NumPy"}
    for each in results:
        assert each.after > each.before + 0.2
        assert each.after == pytest.approx(values["NumPy", each.measure], abs=1e-6)


def test_the_gate_fails_few_harmless_builds_and_finds_losses(covid, capsys):
    """Six pairs of public runs: docs/ci.md has the table of 4,000 builds each."""
    files = [str(path) for path in (covid.qrels, *covid.runs[:12])]
    rows = runpy.run_path(str(EXAMPLES / "gate_rules.py"))["main"]([*files, "--repeats", "600"])
    assert len(rows) == 6 == len(re.findall(r"^\| \w", capsys.readouterr().out, re.MULTILINE)) - 1
    for row in rows:
        fell, fell_far, gate = row.harmless
        # A share of 600 has a standard error of at most 0.02; that of a share near 0.05 is 0.009.
        assert abs(fell - 0.5) < 0.08
        assert fell_far > 0.15 > 0.05 + 3 * 0.009 > gate
        assert abs(row.harmful[2] - 0.8) < 0.09


def test_the_script_searches_a_collection_without_python(tmp_path):
    """It writes the runs of several methods, and prints the table of their values, which are those of `evaluate`."""
    if shutil.which("sh") is None:
        pytest.skip("there is no sh to run the script")
    texts = samples.generate_texts(n_documents=300, n_topics=12)
    documents = [{"id": name, "title": each["title"], "text": each["body"]} for name, each in texts.documents.items()]
    judged = [(query, name, label) for query, labels in texts.qrels.items() for name, label in labels.items()]
    (tmp_path / "documents.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in documents))
    (tmp_path / "topics.tsv").write_text("".join(f"{query}\t{text}\n" for query, text in texts.topics.items()))
    (tmp_path / "qrels.txt").write_text("".join(f"{query} 0 {name} {label}\n" for query, name, label in judged))
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = ["sh", str(EXAMPLES / "search_collection.sh"), "documents.jsonl", "topics.tsv", "qrels.txt", "out"]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, encoding="utf-8", check=True
    )
    runs = {file.stem: tieaware.read_run(file) for file in (tmp_path / "out" / "runs").iterdir()}
    assert runs["exact"].to_dict() == runs["maxscore"].to_dict()
    means = tieaware.evaluate(texts.qrels, runs, ["AP", "nDCG@10"]).means()
    rows = {line.split()[0]: re.findall(r"\d\.\d{3}", line) for line in done.stdout.splitlines() if line.strip()}
    for name in runs:
        assert rows[name][0] == f"{means[name, 'AP']:.3f}"
        assert (tmp_path / "out" / f"{name}.counts").exists()
    assert (tmp_path / "out" / "ties.csv").read_text("utf-8").startswith("run,")
    compared = (tmp_path / "out" / "compare.csv").read_text("utf-8").splitlines()
    assert sorted(line.split(",")[1] for line in compared[1:]) == sorted(set(runs) - {"exact"})

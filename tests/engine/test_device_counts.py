"""Scores on a device are counted there, and the values have the bits of those for the same scores on the host.

Without a device, the same code counts tensors in the memory of the host. TIEAWARE_DEVICE=cuda runs it on a GPU.
"""

import os
import random
import subprocess
import sys

import numpy as np
import pytest
from support import queries
from support.matrices import sparse

from tieaware import Evaluator, InputError, parse_measure
from tieaware.checks import device_tensors
from tieaware.engine import device_counts
from tieaware.precision import parse_precision
from tieaware.ties import RULES

DEVICE = os.environ.get("TIEAWARE_DEVICE", "cpu")
BY_SCORE = [name for name, rule in RULES.items() if rule.by_score_alone]
PRECISIONS = [None, "decimals:0", "significant:1", "float16", "bfloat16"]


def in_torch(values, dtype="float64"):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    return torch.tensor(np.asarray(values), device=DEVICE).to(getattr(torch, dtype))


def in_strict(values, dtype="float64"):
    strict = pytest.importorskip("array_api_strict", reason="array_api_strict is not installed")
    return strict.asarray(np.asarray(values, dtype))


LIBRARIES = {"torch": in_torch, "array_api_strict": in_strict}


@pytest.fixture(autouse=True)
def forced(monkeypatch):
    """Count tensors in the memory of the host, too, even if that does not pay, and allow only small blocks."""
    monkeypatch.setattr(device_tensors, "FORCED", True)
    monkeypatch.setattr(device_counts, "_BLOCK", 400)
    monkeypatch.setattr(device_counts, "_LEAST_DOCUMENTS", 0)


@pytest.fixture
def on_device_only():
    """Fail if scores are read on the host, until this is undone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Evaluator, "_flat", None)
        yield patch


def made(seed, longest=7, n=25, ties="average", **options):
    rng = random.Random(seed)
    some = [queries.random_query(rng, longest) for _ in range(n)]
    measures = queries.MEASURES
    if RULES[ties].extreme is not None:
        measures = [each for each in measures if not parse_measure(each).definition.own_extremes(parse_measure(each))]
    return queries.evaluator(some, measures, ties=ties, **options), queries.scores_of(some)


def assert_same(evaluator, tensor, scores):
    """Assert that every method returns the bits that it returns on the host."""
    methods = [evaluator, evaluator.mean, lambda each: evaluator.results({"device": each}).values]
    if "ties: average" in repr(evaluator):
        methods.append(lambda each: np.stack(evaluator.spread(each)))
    expected = [method(scores).tobytes() for method in methods]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Evaluator, "_flat", None)
        assert [method(tensor).tobytes() for method in methods] == expected


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("ties", BY_SCORE)
@pytest.mark.parametrize("library", LIBRARIES)
def test_lists_of_different_lengths(library, ties, precision):
    for seed, dtype in enumerate(("float64", "float32")):
        evaluator, scores = made(seed, ties=ties, precision=precision)
        assert_same(evaluator, LIBRARIES[library](scores, dtype), scores.astype(dtype))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("library", LIBRARIES)
def test_lists_in_rows_with_many_weighted_documents(library, threads):
    """With 50 relevant documents per list, the groups are found by another function of the engine than with a few."""
    rng = np.random.default_rng(5)
    labels, scores = rng.integers(-1, 4, (9, 60)), rng.integers(0, 20, (9, 60)) / 4
    evaluator = Evaluator(labels, ["AP", "nDCG@10", "Bpref", "ERR", "R@5"], threads=threads)
    tensor = LIBRARIES[library](scores)
    assert_same(evaluator, tensor, scores)
    assert_same(evaluator, LIBRARIES[library](scores.ravel()), scores)
    assert_same(evaluator.rows(2, 7), tensor[2:7, :], scores[2:7])
    candidates = rng.integers(0, 20, (4, 9, 60)) / 4
    expected = evaluator.many(candidates)
    assert evaluator.many(LIBRARIES[library](candidates)).tobytes() == expected.tobytes()
    assert evaluator.many(LIBRARIES[library](candidates.reshape(4, -1))).tobytes() == expected.tobytes()


@pytest.mark.parametrize("precision", [None, "decimals:0"])
@pytest.mark.parametrize("ties", BY_SCORE)
@pytest.mark.parametrize("library", LIBRARIES)
def test_excluded_items_are_subtracted(library, ties, precision):
    """The scores of excluded items may be anything, even NaN."""
    rng = np.random.default_rng(8)
    shape = 12, 40
    labels, scores = rng.integers(0, 3, shape), rng.choice(queries.SCORES, shape)
    judged, excluded = rng.random(shape) < 0.2, rng.random(shape) < 0.3
    excluded &= ~(judged & (labels > 0))
    scores[excluded & (rng.random(shape) < 0.3)] = np.nan
    evaluator = Evaluator.from_sparse(
        sparse(judged, labels), ["AP", "nDCG@3", "RR", "Judged@5"], exclude=sparse(excluded, labels), ties=ties,
        precision=precision,
    )  # fmt: skip
    assert_same(evaluator, LIBRARIES[library](scores, "float32"), scores.astype(np.float32))
    assert_same(evaluator.rows(3, 9), LIBRARIES[library](scores[3:9]), scores[3:9])
    query, document = map(int, np.argwhere(~excluded)[7])
    scores[query, document] = np.nan
    with pytest.raises(InputError, match=f"^scores: .* NaN for document {document} of query {query}$"):
        evaluator(LIBRARIES[library](scores))


@pytest.mark.parametrize(
    "dtype", ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "int8", "uint8", "int16", "bool"]
)
def test_small_types_are_compared_exactly(dtype, on_device_only):
    evaluator = Evaluator(np.arange(48).reshape(4, 12) % 3, ["AP", "nDCG@5"])
    numbers = np.random.default_rng(3).integers(0, 5, (4, 12))
    tensor = in_torch(numbers, dtype)
    values = evaluator(tensor)
    on_device_only.undo()
    assert values.tobytes() == evaluator(tensor.cpu().float().numpy()).tobytes()


def test_views_need_no_copy():
    rng = np.random.default_rng(4)
    scores = rng.integers(0, 6, (8, 10)) / 8
    evaluator = Evaluator(rng.integers(0, 2, (8, 10)), ["AP", "RR"])
    tensor = in_torch(scores)
    for view in (
        in_torch(scores.T.copy()).T, in_torch(np.repeat(scores, 2, axis=1))[:, ::2], tensor.flip(0).flip(0),
        tensor.clone().requires_grad_().detach(),
    ):  # fmt: skip
        assert_same(evaluator, view, scores)
    assert_same(evaluator, in_torch(np.repeat(scores, 3))[::3], scores)


@pytest.mark.parametrize("library", LIBRARIES)
def test_counts_are_those_of_every_list(library):
    """The engine would hide counts that are too large: it confines groups to their list."""
    rng = np.random.default_rng(9)
    sizes = rng.integers(0, 30, 20)
    scores = rng.choice([-np.inf, -1.0, 0.0, 2.0, np.inf], sizes.sum())
    evaluator = Evaluator(rng.random(sizes.sum()) < 0.2, ["AP"], group=sizes)
    engine = evaluator._prepared.engine
    tensor = device_tensors.DeviceScores(LIBRARIES[library](scores), "scores")
    (above, equal), failed = device_counts.counted(tensor, evaluator._prepared)
    assert failed == -1
    lists = np.split(scores, np.cumsum(sizes)[:-1])
    for query, (first, last) in enumerate(zip(engine.weighted_offsets, engine.weighted_offsets[1:], strict=False)):
        own = lists[query][engine.weighted_positions[first:last], None]
        assert above[first:last].tolist() == (lists[query] > own).sum(1).tolist()
        assert equal[first:last].tolist() == (lists[query] == own).sum(1).tolist()


@pytest.mark.parametrize("place", [0, 555, 999])
def test_a_nan_is_found_in_every_part_of_a_long_list(place):
    """A list that does not fit into a block is counted in parts."""
    scores = np.arange(1000.0)
    scores[place] = np.nan
    with pytest.raises(InputError, match=f"^scores: .* NaN for document {place} of query 0$"):
        Evaluator(np.arange(1000) % 500 == 3, ["AP"])(in_strict(scores))


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_first_nan_is_named(library):
    evaluator = Evaluator([0, 1, 1, 0, 1], ["AP"], group=[2, 3])
    for scores, document, query in (([1, 2, 3, np.nan, np.nan], 1, 1), ([1, np.nan, 3, 1, np.nan], 1, 0)):
        with pytest.raises(InputError, match=f"^scores: .* NaN for document {document} of query {query}$"):
            evaluator(LIBRARIES[library](scores))
        with pytest.raises(InputError, match=rf"^candidates\[1\]: .* NaN for document {document} of query {query}$"):
            evaluator.many(LIBRARIES[library]([[1, 2, 3, 4, 5], scores]))


@pytest.mark.parametrize(
    "options", [{"ties": "run_order"}, {"precision": "levels:3"}, {"precision": "gap:0.3"}, {"precision": "bands:2"}]
)
def test_what_counts_cannot_express_is_read_on_the_host(options):
    evaluator = Evaluator([[0, 1, 1], [1, 0, 0]], ["AP"], **options)
    scores = [[2.0, 2.0, 1.0], [1.0, 1.5, 2.0]]
    assert device_tensors.on_device(in_torch(scores))
    assert not device_counts.countable(evaluator._prepared)
    assert evaluator(in_torch(scores)).tolist() == evaluator(scores).tolist()


@pytest.mark.parametrize(("least", "length", "most"), [(0, 200, 64), (5, 200, 40), (5, 1000, 64)])
def test_lists_with_many_weighted_documents_are_read_on_the_host(monkeypatch, least, length, most):
    """Comparing every score with many thresholds, or moving many counts, takes longer than copying the scores."""
    monkeypatch.setattr(device_counts, "_LEAST_DOCUMENTS", least)
    for n, countable in (most, True), (most + 1, False):
        labels = np.zeros((3, length), int)
        labels[:, :n] = 1
        evaluator = Evaluator(labels, ["AP"])
        assert device_counts.countable(evaluator._prepared) == countable
        scores = np.random.default_rng(n).integers(0, 5, labels.shape) / 2
        assert evaluator(in_strict(scores)).tobytes() == evaluator(scores).tobytes()


def test_empty_lists():
    evaluator = Evaluator([], ["AP"], offsets=[0, 0, 0])
    assert evaluator(in_torch([])).tolist() == [[0.0], [0.0]]
    assert Evaluator(np.zeros((0, 3), int), ["AP"])(in_torch(np.zeros((0, 3)))).shape == (0, 1)
    evaluator = Evaluator([0, 1, 0], ["AP"], group=[0, 3, 0])
    assert evaluator(in_torch([1, 1, 1])).tolist() == evaluator([1, 1, 1]).tolist()


@pytest.mark.parametrize("shape", [(3,), (2, 3, 1), (4, 3), ()])
def test_a_wrong_shape_is_the_error_of_the_host(shape):
    evaluator = Evaluator([[0, 1, 1], [1, 0, 0]], ["AP"])
    with pytest.raises(InputError, match=r"^scores: expected shape \(6,\) or \(2, 3\), found shape"):
        evaluator(in_torch(np.zeros(shape)))


def test_a_tensor_that_cannot_be_read_is_an_error_of_one_line():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    evaluator = Evaluator([[0, 1, 1], [1, 0, 0]], ["AP"])
    unreadable = torch.zeros((2, 3), device="meta"), torch.eye(2, 3).to_sparse(), torch.ones((2, 3)) * 1j
    for tensor in unreadable:
        with pytest.raises(InputError, match=r"^scores") as caught:
            evaluator(tensor)
        assert "\n" not in str(caught.value)


def test_tensors_that_require_gradients_are_refused():
    """So are those that are copied to the host, and labels."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    evaluator = Evaluator([[0, 1, 1], [1, 0, 0]], ["AP"])
    leaf = in_torch(np.ones((2, 3))).requires_grad_()
    for tensor in leaf, 2 * leaf, torch.nn.Parameter(leaf.detach()):
        for call, name in (
            (evaluator, "scores"), (evaluator.mean, "scores"), (evaluator.spread, "scores"),
            (lambda each: evaluator.many(each[None]), "candidates"), (lambda each: Evaluator(each, ["AP"]), "labels"),
            (Evaluator([[0, 1, 1], [1, 0, 0]], ["AP"], ties="run_order"), "scores"),
        ):  # fmt: skip
            with pytest.raises(InputError, match=rf"^{name}: a tensor must not require gradients, .* pass its detach"):
                call(tensor)
        with torch.no_grad():
            assert evaluator(2 * leaf).shape == (2, 1)


def test_arrays_of_jax_on_several_devices_are_refused():
    """In another process, because JAX reads the number of devices only when it starts."""
    pytest.importorskip("jax", reason="jax is not installed")
    code = """if True:
        import jax, numpy as np
        from jax.sharding import Mesh, NamedSharding, PartitionSpec
        from tieaware import Evaluator, InputError
        from tieaware.checks import device_tensors
        mesh = Mesh(np.array(jax.devices()), ("x",))
        scores = np.array([[1.0, 1.0, 0.5], [2.0, 1.0, 1.0]])
        evaluator = Evaluator([[0, 1, 1], [1, 0, 0]], ["AP"])
        for device_tensors.FORCED in (False, True):
            for spec in PartitionSpec("x"), PartitionSpec():
                sharded = jax.device_put(scores, NamedSharding(mesh, spec))
                for call in evaluator, evaluator.mean, evaluator.spread, lambda each: evaluator.many(each[None]):
                    try:
                        print(call(sharded))
                    except InputError as error:
                        assert str(error).endswith(": a tensor must be on one device, and this one is on 2: copy it to "
                                                   "one, as jax.device_put does"), error
                one = jax.device_put(sharded, jax.devices()[1])
                assert evaluator(one).tolist() == evaluator(scores).tolist()
        """
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("precision", [each for each in PRECISIONS if each])
def test_the_ends_of_intervals_are_the_last_floats_that_tie(precision, dtype):
    coarsening = parse_precision(precision)
    rng = np.random.default_rng(6)
    drawn = rng.normal(0, 100, 60), -(2.0 ** rng.integers(-140, 120, 20))
    scores = np.concatenate([queries.SCORES, *drawn]).astype(dtype)

    def coarse(values):
        return coarsening.coarsen(values, np.array([0, len(values)]))

    low, high = device_counts.intervals(scores, coarsening)
    assert low.dtype == high.dtype == dtype
    for ends, beyond in (low, -np.inf), (high, np.inf):
        assert (coarse(ends) == coarse(scores)).all()
        with np.errstate(over="ignore"):
            outside = np.nextafter(ends, dtype(beyond))
        assert ((outside == ends) | (coarse(outside) != coarse(scores))).all()
    assert (low <= scores).all()
    assert (scores <= high).all()

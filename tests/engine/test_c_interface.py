"""The C interface gives the bits of Evaluator, and a code for each error; the examples compile and run."""

import ctypes
import gc
import os
import random
import shutil
import subprocess
import sys
import sysconfig
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest
from support import c_functions as c
from support import queries
from support.threads import in_threads

import tieaware
from tieaware import Evaluator, InputError
from tieaware.ties import RULES

ROOT = Path(__file__).parents[2]
CC = shutil.which(os.environ.get("CC", "cc"))
PYTHON_H = Path(sysconfig.get_path("include")) / "Python.h"
F = c.FUNCTIONS


def made(seed=1, measures=queries.MEASURES, **options):
    """Return an evaluator of random queries, and its scores."""
    rng = random.Random(seed)
    some = [queries.random_query(rng, 7) for _ in range(30)]
    docids = [f"{7919 * i % 1000003:x}" for i in range(sum(len(each.labels) for each in some))]
    by_document = RULES[options.get("ties", "average")].by_document
    evaluator = queries.evaluator(some, measures, docids=docids if by_document else None, **options)
    return evaluator, queries.scores_of(some)


def prepared(evaluator, options=0):
    handle = F.prepare(evaluator, options)
    assert handle
    return handle


def assert_bits(name, handle, scores, expected):
    """Assert that a call succeeds, and returns the bits of these values."""
    code, values = c.called(name, handle, scores, expected.shape)
    assert (code, values.tobytes()) == (c.OK, expected.tobytes())


@pytest.mark.parametrize("precision", [None, "decimals:1", "float16", "significant:1"])
@pytest.mark.parametrize("ties", RULES)
def test_values_have_the_bits_of_the_evaluator(ties, precision):
    evaluator, scores = made(ties=ties, precision=precision)
    shape = evaluator.n_queries, len(evaluator.measures)
    averages = RULES[ties].averages
    handle = prepared(evaluator, c.WITH_SPREAD if averages else 0)
    sizes = c.Sizes()
    assert F.sizes(handle, ctypes.byref(sizes)) == c.OK
    assert (sizes.n_queries, sizes.n_docs, sizes.n_measures) == (shape[0], evaluator.n_docs, shape[1])
    for dtype in np.float64, np.float32:
        same = scores.astype(dtype)
        assert_bits("evaluate", handle, same, evaluator(same))
        assert_bits("mean", handle, same, evaluator.mean(same))
        if averages:
            assert_bits("spread", handle, same, np.stack(evaluator.spread(same)))
        else:
            assert c.called("spread", handle, same, (4, *shape))[0] == c.NO_SPREAD
    assert F.release(handle) == c.OK


@pytest.mark.parametrize("ties", ["optimistic", "pessimistic"])
def test_extremes_that_sorting_does_not_find(ties):
    """For these measures, the best order of tied documents is not that of their labels."""
    rng = np.random.default_rng(2)
    labels, scores = rng.integers(0, 2, (20, 6, 3)), rng.integers(0, 3, 120) / 2
    evaluator = Evaluator(labels, ["alpha_nDCG@3", "AP", "StRecall@2", "RR", "P_IA@2"], subtopics=True, ties=ties)
    assert not evaluator._prepared.in_kernel
    handle, shape = prepared(evaluator), (20, 5)
    for _ in range(2):
        assert_bits("evaluate", handle, scores, evaluator(scores))
        assert_bits("mean", handle, scores, evaluator.mean(scores))
    scores[7] = np.nan
    assert c.called("evaluate", handle, scores, shape)[0] == c.called("mean", handle, scores, (5,))[0] == c.NAN
    assert F.release(handle) == c.OK


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scores_may_have_any_stride_and_alignment(dtype):
    evaluator, scores = made(measures=["AP", "nDCG@3", "RR"])
    expected, handle = evaluator(scores), prepared(evaluator)
    matrix = np.zeros((len(scores), 3), dtype)
    matrix[:, 1] = scores
    packed = np.zeros(len(scores), [("flag", np.int8), ("score", dtype)])
    packed["score"] = scores
    backwards = scores[::-1].astype(dtype)[::-1]
    for each in matrix[:, 1], packed["score"], backwards:
        assert each.strides[0] != each.itemsize
        assert_bits("evaluate", handle, each, expected)
    shared = np.array([2.0], dtype)
    described = c.Scores(shared.ctypes.data, len(scores), 0, c.TYPES[shared.dtype])
    assert_bits("evaluate", handle, described, evaluator(np.full(len(scores), 2.0)))
    F.release(handle)


def test_every_mistake_has_a_code_and_a_message():
    evaluator, scores = made(measures=["AP", "RR"])
    shape, handle = (evaluator.n_queries, 2), prepared(evaluator)
    good, values = c.scores_of(scores), np.zeros(shape)
    out, n = values.ctypes.data, values.size

    def code(handle=handle, scores=good, out=out, n=n, name="evaluate"):
        return getattr(F, name)(handle, ctypes.byref(scores) if scores else None, out, n)

    data, size = scores.ctypes.data, len(scores)
    mistakes = [
        ({}, c.OK), ({"scores": None}, c.NULL_POINTER), ({"out": None}, c.NULL_POINTER),
        ({"scores": c.Scores(None, size, 8, 0)}, c.NULL_POINTER),
        *(({"scores": c.Scores(data, wrong, 8, 0)}, c.WRONG_SIZE) for wrong in (-1, 0, size - 1, size + 1, 2**62)),
        *(({"n": wrong}, c.WRONG_SIZE) for wrong in (-1, 0, n - 1, n + 1, 2**62)),
        ({"name": "mean"}, c.WRONG_SIZE), ({"scores": c.Scores(data, size, 8, 2)}, c.WRONG_TYPE),
        ({"out": out + 1}, c.UNALIGNED), ({"name": "spread", "n": 4 * n}, c.NO_SPREAD),
    ]  # fmt: skip
    for changed, expected in mistakes:
        assert code(**changed) == expected, changed
    assert F.sizes(handle, None) == c.NULL_POINTER
    for dtype in np.float64, np.float32:
        with_nan = scores.astype(dtype)
        with_nan[-1] = np.nan
        assert c.called("evaluate", handle, with_nan, shape)[0] == c.NAN
        assert c.called("mean", handle, with_nan, (2,))[0] == c.NAN
    assert code() == c.OK
    assert F.release(handle) == c.OK
    assert code() == F.release(handle) == F.sizes(handle, None) == c.NO_EVALUATOR
    for other in 0, 1, handle + 1, handle + 2**32, 2**64 - 1, 2**63, 1 << 32 | 0xFFFFFFFF:
        assert code(handle=other) == F.release(other) == c.NO_EVALUATOR
    messages = [F.message(number).decode() for number in range(-1, c.NO_MEMORY + 2)]
    assert messages[0] == messages[-1] == "unknown code"
    assert len(set(messages)) == c.NO_MEMORY + 2


def test_empty_lists_have_values_and_no_mean():
    evaluator = Evaluator([], ["AP"], offsets=[0, 0])
    handle, nothing = prepared(evaluator), c.Scores(None, 0, 8, 0)
    assert c.called("evaluate", handle, nothing, (1, 1)) == (c.OK, [[0.0]])
    F.release(handle)
    handle = prepared(Evaluator([], ["AP"], offsets=[0]), c.WITH_SPREAD)
    assert c.called("evaluate", handle, nothing, (0, 1))[0] == c.OK
    assert c.called("spread", handle, nothing, (4, 0, 1))[0] == c.OK
    assert c.called("mean", handle, nothing, (1,))[0] == c.NO_QUERIES
    F.release(handle)


def test_a_handle_is_never_used_again():
    """The slot of a released evaluator serves later ones, under other handles."""
    evaluator = Evaluator([0, 1], ["RR"])
    handles = []
    for _ in range(1000):
        handles.append(prepared(evaluator))
        assert F.release(handles[-1]) == c.OK
    assert len(set(handles)) == 1000
    live = [prepared(evaluator) for _ in range(600)]
    assert not set(live) & set(handles)
    scores = np.array([1.0, 1.0])
    assert {c.called("mean", handle, scores, (1,))[0] for handle in handles} == {c.NO_EVALUATOR}
    assert {c.called("mean", handle, scores, (1,))[1].item() for handle in live} == {0.75}
    assert {F.release(handle) for handle in live} == {c.OK}


def test_a_prepared_evaluator_lives_until_it_is_released():
    evaluator, scores = made(measures=["AP"])
    expected = evaluator(scores)
    engine = evaluator._prepared.engine
    assert sys.getrefcount(engine) == 3
    handle = prepared(evaluator)
    assert sys.getrefcount(engine) == 4
    gone = weakref.ref(evaluator)
    del evaluator
    gc.collect()
    assert gone() is None
    assert_bits("evaluate", handle, scores, expected)
    before = sys.getrefcount(engine)
    F.release(handle)
    assert sys.getrefcount(engine) == before - 1


@pytest.mark.parametrize(
    ("wrong", "options", "error", "message"),
    [
        (None, 0, TypeError, "expected a tieaware.Evaluator, found NoneType"),
        (Evaluator([0, 1], "RR", precision="bands:2"), 0, InputError, "Evaluator: cannot be called from compiled code"),
        (Evaluator([0, 1], "RR", ties="run_order"), c.WITH_SPREAD, InputError, "a spread requires 'average'"),
        (Evaluator([0, 1], "RR"), 6, ValueError, "unknown options 6; this version of tieaware knows TIEAWARE_WITH_SPR"),
    ],
)
def test_what_cannot_be_prepared_raises(wrong, options, error, message):
    with pytest.raises(error, match=message):
        F.prepare(wrong, options)


def test_threads_share_an_evaluator_while_others_are_released():
    """Every call gives the right bits, or says that the evaluator was released."""
    evaluator, scores = made(measures=["AP", "nDCG@3", "ERR"])
    shape, expected = (evaluator.n_queries, 3), evaluator(scores).tobytes()
    kept, replaced, stop = prepared(evaluator), [prepared(evaluator)], threading.Event()
    outcomes, wanted = set(), {(True, c.OK, True), (False, c.OK, True)}

    def work():
        while not stop.is_set():
            for handle in kept, replaced[0]:
                code, values = c.called("evaluate", handle, scores, shape)
                outcomes.add((handle == kept, code, code != c.OK or values.tobytes() == expected))

    def replace():
        try:
            # On a busy machine, it takes a while until the threads have begun.
            for i in range(100_000):
                old, replaced[0] = replaced[0], prepared(evaluator)
                F.release(old)
                if i >= 300 and wanted <= outcomes:
                    break
        finally:
            stop.set()

    in_threads(*[work] * 4, replace)
    assert wanted <= outcomes <= {*wanted, (False, c.NO_EVALUATOR, True)}
    assert F.release(kept) == F.release(replaced[0]) == c.OK


def test_the_public_folder_has_the_header_and_the_declarations():
    folder = Path(tieaware.get_include())
    assert sorted(path.name for path in folder.iterdir()) == ["tieaware.h", "tieaware.pxd"]
    header, declared = ((folder / name).read_text(encoding="utf-8") for name in ("tieaware.h", "tieaware.pxd"))
    codes = header.partition("enum tieaware_code {")[2].partition("}")[0].replace("= 0", "").replace(",", "").split()
    assert len(codes) == c.NO_MEMORY + 1
    assert [code for code in codes if f"        {code}\n" not in declared] == []
    assert (F.version, F.size) == (1, ctypes.sizeof(c.Functions))


def compiled(folder, source, *options):
    """Compile an extension module from C."""
    name = folder / f"{Path(source).stem}{sysconfig.get_config_var('EXT_SUFFIX')}"
    command = [CC, "-std=c11", "-O2", "-shared", "-fPIC", *options, f"-I{tieaware.get_include()}"]
    if sys.platform == "darwin":
        command += ["-undefined", "dynamic_lookup"]
    subprocess.run([*command, f"-I{PYTHON_H.parent}", source, "-o", name], check=True, timeout=120)


needs_compiler = pytest.mark.skipif(
    CC is None or os.name == "nt" or not PYTHON_H.exists(), reason="there is no C compiler, or no Python.h"
)

STRICT = ("-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wno-missing-field-initializers")
SEARCH = """
import numpy as np, tieaware, {name} as mixture
labels, a, b = [[0, 1, 0, 1], [1, 0, 0, 0]], *np.array([[2, 1, 2, 0, 1, 1, 1, 1], [0, 2, 1, 1, 3, 0, 1, 2]], float)
for ties in "average", "optimistic", "pessimistic":
    evaluator = tieaware.Evaluator(labels, ["nDCG@3", "AP"], ties=ties)
    tried = [(evaluator.mean((1 - t) * a + t * b)[0], -t) for t in np.arange(9) / 8]
    assert mixture.best(evaluator, a, b, 8) == (-max(tried)[1], max(tried)[0])
for wrong in (a[1:], b), (a, b[1:]), (a * np.nan, b):
    try:
        mixture.best(evaluator, *wrong, 8)
        print("no error")
    except ValueError as error:
        print(error)
"""
PRINTED = 2 * "the number of scores or of values is not that of the evaluator\n" + "a score is NaN\n"


def run(folder, code):
    options = {"capture_output": True, "text": True, "timeout": 120}
    return subprocess.run([sys.executable, "-c", code], cwd=folder, env={**os.environ, "PYTHONPATH": "."}, **options)


@needs_compiler
@pytest.mark.parametrize("name", ["mixture", "cymixture"])
def test_the_examples_run(tmp_path, name):
    source, options = ROOT / f"examples/compiled/{name}.c", STRICT
    if name == "cymixture":
        pytest.importorskip("Cython", reason="Cython is not installed")
        source, options = tmp_path / f"{name}.c", ()
        command = [sys.executable, "-m", "cython", "-3", f"-I{tieaware.get_include()}", "-o", source]
        subprocess.run([*command, ROOT / f"examples/compiled/{name}.pyx"], check=True, timeout=120, capture_output=True)
    compiled(tmp_path, source, *options)
    done = run(tmp_path, SEARCH.format(name=name))
    assert (done.stdout, done.stderr) == (PRINTED, "")


AFTER_THE_END = """
import after_the_end, numpy as np, tieaware
for precision in None, "decimals:17", "significant:16", "levels:3":
    evaluator = tieaware.Evaluator([[0, 1, 1], [1, 0, 0]], ["AP", "RR"], precision=precision)
    for function, n_values in enumerate((4, 2, 16)):
        for size in 8, 4:
            scores = [np.inf] * 3 + [1, 2, 3] if precision == "levels:3" else [0.3, 0.1 + 0.2, 0.7, 1e-37, 1e37, 0.1]
            data = np.array(scores, f"f{size}").tobytes()
            print(after_the_end.add(evaluator, function, n_values, data, size))
"""


@needs_compiler
def test_calls_after_python_has_ended(tmp_path):
    """Every precision that compiled code may use. Without Python, rare scores cannot be rounded to digits."""
    compiled(tmp_path, Path(__file__).parent / "after_the_end.c", "-Wall", "-Wextra", "-Werror")
    done = run(tmp_path, AFTER_THE_END)
    before = f"{c.OK}\n" * 18 + f"{c.REFUSED}\n" * 6
    after = f"{c.OK} 1\n" * 6 + f"{c.REFUSED} 1\n" * 18
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{before}Python has ended\n{after}released\n"


@needs_compiler
def test_a_module_for_another_version_is_not_imported(tmp_path):
    header = (Path(tieaware.get_include()) / "tieaware.h").read_text(encoding="utf-8")
    newer = header.replace("#define TIEAWARE_ABI_VERSION 1", "#define TIEAWARE_ABI_VERSION 2")
    assert newer != header
    (tmp_path / "tieaware.h").write_text(newer, encoding="utf-8")
    shutil.copy(ROOT / "examples/compiled/mixture.c", tmp_path)
    compiled(tmp_path, tmp_path / "mixture.c", f"-I{tmp_path}")
    done = run(tmp_path, "import mixture")
    message = "ImportError: the installed tieaware has version 1 (64 bytes) of the C interface; this module was"
    assert message in done.stderr


@needs_compiler
def test_the_code_of_the_page_compiles(tmp_path):
    page = (ROOT / "docs/c_interface.md").read_text(encoding="utf-8")
    (tmp_path / "page.c").write_text(page.partition("```c\n")[2].partition("```")[0], encoding="utf-8")
    compiled(tmp_path, tmp_path / "page.c", "-Wall", "-Wextra", "-Werror")


@needs_compiler
def test_handles_survive_threads_that_release_and_replace_them(tmp_path):
    """With the thread sanitizer, where the compiler has it."""
    program, source = tmp_path / "handles", Path(__file__).parent / "handles.c"
    command = [CC, "-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", f"-I{ROOT / 'ext'}", source]
    command += ["-o", program, "-pthread"]
    for options in ["-O2"], ["-O1", "-g", "-fsanitize=thread"]:
        built = subprocess.run([*command, *options], timeout=120, capture_output=True)
        if built.returncode and "-O1" in options:
            return
        # One sanitizer cannot run inside another.
        environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        done = subprocess.run([program], timeout=120, capture_output=True, text=True, env=environment)
        if "FATAL: ThreadSanitizer" in done.stderr:
            # The kernel randomises addresses in a way that this sanitizer does not know.
            return
        assert (done.stdout, done.stderr) == ("1 1 1\n", "")


@needs_compiler
def test_the_header_compiles_as_cpp(tmp_path):
    cpp = shutil.which(os.environ.get("CXX", "c++")) or pytest.skip("there is no C++ compiler")
    source = tmp_path / "some.cpp"
    source.write_text("#include <tieaware.h>\nconst tieaware_functions *f() { return tieaware_import(); }\n")
    command = [cpp, "-std=c++11", "-Wall", "-Werror", "-Wno-unused-function", "-fsyntax-only"]
    subprocess.run([*command, f"-I{tieaware.get_include()}", f"-I{PYTHON_H.parent}", source], check=True, timeout=120)

"""The compiler-specific functions of the kernels and their replacements in plain C, compared with Python's integers."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CC = shutil.which(os.environ.get("CC", "cc"))
BLANKS = b" \t\n\v\f\r"


def check_product(a: int, b: int, high: int, low: int) -> None:
    assert high << 64 | low == a * b


def check_quotient(a: int, b: int, quotient: int) -> None:
    assert quotient == (a << 62) // b


def check_bits(word: int, zeros: int, lowest: int) -> None:
    assert (zeros, lowest) == (64 - word.bit_length(), (word & -word).bit_length() - 1)


def check_rank(*pairs: str) -> None:
    scores = [float(pair.split(":")[0]) for pair in pairs]
    assert [int(pair.split(":")[1]) for pair in pairs] == [sum(other > score for other in scores) for score in scores]


def check_masks(text: str, blanks: str, ends: str) -> None:
    found = bytes.fromhex(text)
    for mask, of in ((blanks, BLANKS), (ends, b"\n\r")):
        assert int(mask) == sum((byte in of) << i for i, byte in enumerate(found))


def check_lanes(least: int, has: int, added: int, j: int, *numbers: int) -> None:
    before, marks, after = numbers[:16], numbers[16], numbers[17:]
    assert marks == sum((number >= least) << i for i, number in enumerate(before))
    sums = [(number + (has >> i & 1) * added) % 2**16 for i, number in enumerate(before)]
    sums[j] = min(sums[j] + added, 2**16 - 1)
    assert list(after) == sums


CHECKS = {
    "product": check_product, "quotient": check_quotient, "bits": check_bits, "rank": check_rank, "masks": check_masks,
    "lanes": check_lanes,
}  # fmt: skip


@pytest.mark.skipif(CC is None, reason="there is no compiler")
@pytest.mark.parametrize("options", [["-O3"], ["-O3", "-DTIEAWARE_PLAIN_C"]], ids=["native", "plain"])
def test_replacements_in_plain_c_have_the_same_bits(options, tmp_path):
    program = tmp_path / "portable"
    warnings = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]
    source = [f"-I{ROOT / 'ext'}", Path(__file__).parent / "portable.c"]
    subprocess.run([CC, "-std=c11", *warnings, *options, *source, "-o", program], check=True)
    lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    checked = set()
    for line in lines:
        what, *numbers = line.split()
        CHECKS[what](*(numbers if what in ("rank", "masks") else map(int, numbers)))
        checked.add(what)
    assert checked == CHECKS.keys()

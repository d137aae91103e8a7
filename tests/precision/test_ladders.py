"""Families of precisions: their grids, the numbers between, and the order in which their precisions stand."""

from itertools import pairwise

import pytest

from tieaware.precision import Bands, Decimals, Gap, parse_precision
from tieaware.precision.ladders import FAMILIES


@pytest.mark.parametrize("name", FAMILIES)
def test_grids_go_from_fine_to_coarse(name):
    """The order of the grid is that of the rungs, by which an experiment sorts precisions."""
    family = FAMILIES[name]
    rungs = [family.precision(n).rung for n in family.grid]
    assert {rung[0] for rung in rungs} == {name}
    assert all(fine < coarse for (_, fine), (_, coarse) in pairwise(rungs))


@pytest.mark.parametrize("name", FAMILIES)
def test_repeated_refinement_reaches_neighbours(name):
    """Between the last number that keeps everything and the first that does not, no number is left in the end."""
    family = FAMILIES[name]
    sign = 1 if family.grid[-1] > family.grid[0] else -1
    for fine, coarse in pairwise(family.grid):
        for limit in {fine, coarse - sign, fine + sign * (abs(coarse - fine) // 2)} - {coarse}:
            low, high, rounds = fine, coarse, 0
            while between := family.between(low, high):
                assert len(between) <= 9
                assert [sign * n for n in between] == sorted(sign * n for n in between)
                kept = [n for n in between if sign * n <= sign * limit]
                low, high = [low, *kept][-1], [*between, high][len(kept)]
                rounds += 1
            assert (low, high) == (limit, limit + sign)
            assert rounds <= 3


def test_numbers_of_families():
    bands = FAMILIES["bands"]
    tried = [str(bands.precision(n)) for n in bands.grid]
    assert (tried[0], tried[-1]) == ("bands:1.0001", "bands:10.9")
    assert {"bands:1.0099", "bands:1.01", "bands:1.1", "bands:1.11", "bands:2", "bands:2.1"} <= set(tried)
    assert bands.between(11_000, 11_100) == [11_000 + 10 * i for i in range(1, 10)]
    assert [str(FAMILIES["floats"].precision(n)) for n in range(3)] == ["float32", "float16", "bfloat16"]
    assert FAMILIES["decimals"].between(3, 2) == []


def test_precisions_of_other_kinds_are_in_families_of_their_own():
    """Gaps with one relative tolerance have an order; those with different ones have none."""
    assert Gap(0.1).rung[0] == Gap(0.2).rung[0] != Gap(0.1, 0.5).rung[0]
    assert Gap(0.1).rung < Gap(0.2).rung
    assert len({parse_precision(each).rung[0] for each in ("bands:2", "decimals:2", "significant:2", "levels:2")}) == 4
    assert (Bands(1.5).rung < Bands(2).rung, Decimals(3).rung < Decimals(2).rung) == (True, True)

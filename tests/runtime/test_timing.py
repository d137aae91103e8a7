"""Timing in turns: the order of the calls, and the two ratios."""

from tieaware.runtime.timing import ratio, ratio_of_least, seconds, take_turns


def test_seconds_are_those_of_one_call():
    calls = []
    assert 0 <= seconds(lambda: calls.append(0), repeats=3) < 1
    assert len(calls) == 3


def test_calls_take_turns():
    order = []
    times = take_turns([lambda: order.append("a"), lambda: order.append("b")], rounds=3)
    assert order == ["a", "b"] * 3
    assert [len(spent) for spent in times] == [3, 3]
    assert min(map(min, times)) >= 0


def test_ratio_is_the_median_over_rounds():
    assert ratio([2.0, 4.0, 9.0], [5.0, 4.0, 16.0]) == 0.5625
    assert ratio_of_least([2.0, 4.0, 9.0], [5.0, 4.0, 16.0]) == 0.5

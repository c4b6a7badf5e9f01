"""Task 2: each topic separately, in runs."""

import pytest

from kafka_lite.consumer.assignors.range_assignor import RangeAssignor


@pytest.fixture
def share(text):
    """``share({"t": 7}, subscriptions)``: the assignment as text."""
    return lambda counts, wishes: text(RangeAssignor().assign_partitions(counts, wishes))


@pytest.mark.points(6, task=2)
def test_eight_partitions_for_three_members(share, wish):
    """8 partitions, 3 members"""
    got = share({"t": 8}, wish(c="t", a="t", b="t"))
    sizes = sorted(len(each.split()) for each in got.values())
    assert sizes[-1] - sizes[0] <= 1, f"8 = 3 + 3 + 2: the numbers differ by at most one; yours are {sizes}"
    wanted = {"a": "t-0 t-1 t-2", "b": "t-3 t-4 t-5", "c": "t-6 t-7"}
    assert got == wanted, f"consecutive numbers; the first 8 % 3 members get one more: {wanted}, not {got}"


@pytest.mark.points(5, task=2)
def test_more_members_than_partitions(share, wish):
    """2 partitions, 3 members"""
    got = share({"t": 2}, wish(a="t", b="t", c="t"))
    assert got == {"a": "t-0", "b": "t-1", "c": ""}, f"a and b have one each, c an empty list; not {got}"


@pytest.mark.points(7, task=2)
def test_two_topics(share, wish):
    """Two topics of 3 partitions each, 2 members"""
    got = share({"t": 3, "u": 3}, wish(a="t u", b="t u"))
    wanted = {"a": "t-0 t-1 u-0 u-1", "b": "t-2 u-2"}
    assert got == wanted, (
        f"each topic separately, so that the same member gets t-n and u-n (and a has four): {wanted}, not {got}"
    )


@pytest.mark.points(7, task=2)
def test_different_subscriptions(share, wish):
    """b subscribes only to u"""
    got = share({"t": 4, "u": 4}, wish(a="t u", b="u", c="t u"))
    assert "t-" not in got.get("b", ""), f"b gets partitions of t, but has not subscribed to it: {got}"
    wanted = {"a": "t-0 t-1 u-0 u-1", "b": "u-2", "c": "t-2 t-3 u-3"}
    assert got == wanted, f"t is for a and c, u for all three: {wanted}, not {got}"


@pytest.mark.points(3, task=2)
def test_static_members_and_one_without_topics(share, wish):
    """The order is that of task 1"""
    got = share({"t": 3}, wish(instances={"m9": "z"}, m1="t", m9="t", m2="gone"))
    wanted = {"m9": "t-0 t-1", "m1": "t-2", "m2": ""}
    assert got == wanted, (
        f"m9 is static, so it comes first; m2 reads no topic that there is, and has an empty list: {wanted}, not {got}"
    )


@pytest.mark.points(2, task=2)
def test_a_second_assignment(text, wish):
    """The same assignor, twice"""
    assignor = RangeAssignor()
    first = text(assignor.assign_partitions({"t": 3}, wish(a="t", b="t")))
    again = text(assignor.assign_partitions({"t": 3}, wish(a="t", b="t")))
    assert again == first, f"an assignment is a function of its input: again {first}, not {again}"

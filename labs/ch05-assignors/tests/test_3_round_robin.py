"""Task 3: all partitions of all topics, in turn."""

import pytest

from kafka_lite.consumer.assignors.round_robin_assignor import RoundRobinAssignor


@pytest.fixture
def share(text):
    """``share({"t": 7}, subscriptions)``: the assignment as text."""
    return lambda counts, wishes: text(RoundRobinAssignor().assign_partitions(counts, wishes))


@pytest.mark.points(5, task=3)
def test_in_turn(share, wish):
    """5 partitions, 2 members"""
    got = share({"t": 5}, wish(b="t", a="t"))
    assert got == {"a": "t-0 t-2 t-4", "b": "t-1 t-3"}, f"a, b, a, b, a; not {got}"


@pytest.mark.points(7, task=3)
def test_two_topics(share, wish):
    """Two topics of 3 partitions each, 2 members"""
    got = share({"t": 3, "u": 3}, wish(a="t u", b="t u"))
    wanted = {"a": "t-0 t-2 u-1", "b": "t-1 u-0 u-2"}
    assert got == wanted, (
        f"t ends with a, so u starts with b, for the next topic continues where the last one ended: {wanted}, not {got}"
    )


@pytest.mark.points(7, task=3)
def test_different_subscriptions(share, wish):
    """a subscribes to t, b to t and u, c to all: topics of one, two and three partitions"""
    got = share({"t": 1, "u": 2, "v": 3}, wish(a="t", b="t u", c="t u v"))
    foreign = "u-" in got["a"] or "v-" in got["a"] or "v-" in got["b"]
    assert not foreign, f"a member gets partitions of a topic, but has not subscribed to it: {got}"
    wanted = {"a": "t-0", "b": "u-0", "c": "u-1 v-0 v-1 v-2"}
    assert got == wanted, f"a member that is skipped has missed its turn, so c has four: {wanted}, not {got}"


@pytest.mark.points(5, task=3)
def test_a_member_without_partitions(share, wish):
    """1 partition, 2 members"""
    got = share({"t": 1}, wish(a="t", b="t"))
    assert got == {"a": "t-0", "b": ""}, f"b is in the result, with an empty list; not {got}"


@pytest.mark.points(4, task=3)
def test_the_order_of_the_turns(share, wish):
    """A member that missed its turn, and a static one"""
    got = share({"t": 1, "u": 3}, wish(a="u", b="t u", c="u"))
    wanted = {"a": "u-1", "b": "t-0 u-2", "c": "u-0"}
    assert got == wanted, f"a does not read t and misses its turn; after b it is c's: {wanted}, not {got}"
    got = share({"t": 2}, wish(instances={"m9": "z"}, m1="t", m9="t"))
    assert got == {"m9": "t-0", "m1": "t-1"}, f"m9 is static, so it comes first, as in task 1; not {got}"


@pytest.mark.points(2, task=3)
def test_a_second_assignment(text, wish):
    """The same assignor, twice"""
    assignor = RoundRobinAssignor()
    first = text(assignor.assign_partitions({"t": 3}, wish(a="t", b="t")))
    again = text(assignor.assign_partitions({"t": 3}, wish(a="t", b="t")))
    assert again == first, f"an assignment is a function of its input: again {first}, not {again}"

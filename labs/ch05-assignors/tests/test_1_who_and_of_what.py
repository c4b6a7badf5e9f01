"""Task 1: the members in an order on which all agree, and the partitions."""

from types import SimpleNamespace

import pytest

from kafka_lite.consumer.assignors.partition_assignor import AbstractPartitionAssignor, members_of, ordered_members


class Notes(AbstractPartitionAssignor):
    """Records what it is given, and returns a prescribed result."""

    name = "notes"

    def __init__(self, shares):
        self.shares, self.counts = shares, None

    def assign_partitions(self, partition_counts, subscriptions):  # noqa: ARG002
        self.counts = dict(partition_counts)
        return self.shares


@pytest.mark.points(4, task=1)
def test_by_their_ids(wish):
    """Three members, in the order of JoinGroup's response"""
    order = ordered_members(wish(c="t", a="t", b="t"))
    assert order == ["a", "b", "c"], f"sorted, so that every leader gets the same result: a, b, c, not {order}"


@pytest.mark.points(6, task=1)
def test_static_members_first(wish):
    """Two static members: m9 is instance z1, m5 is instance z2"""
    order = ordered_members(wish(instances={"m9": "z1", "m5": "z2"}, m1="t", m5="t", m9="t", m0="t"))
    assert order == ["m9", "m5", "m0", "m1"], (
        "static members first, by their instance ids: a static member keeps its place, though its "
        f"member id changes with every restart. m9 m5 m0 m1, not {' '.join(order)}"
    )


@pytest.mark.points(3, task=1)
def test_members_of_a_topic(wish):
    """Three members, two of them subscribe to u"""
    members = members_of("u", wish(c="u", b="t", a="t u"))
    assert members == ["a", "c"], f"a and c subscribe to u, in this order; you return {members}"
    assert members_of("v", wish(a="t")) == [], "no member subscribes to v: an empty list"
    members = members_of("t", wish(a="tt", b="t"))
    assert members == ["b"], f"a subscribes to tt, which is not t: only b, not {members}"


@pytest.mark.points(6, task=1)
def test_partition_counts(wish, cluster_of):
    """Topics of all members that have partitions; in the order of their names"""
    assignor = Notes({})
    assignor.assign(cluster_of(u=2, t=3, w=9), wish(b="u gone", a="t u"))
    assert assignor.counts is not None, "assign_partitions is not called"
    assert "gone" not in assignor.counts, "the topic gone has no partitions, possibly not yet: leave it out"
    assert "w" not in assignor.counts, "no member subscribes to w"
    assert list(assignor.counts.items()) == [("t", 3), ("u", 2)], (
        f"t has 3, u has 2, sorted by name, for the order of a set differs between processes; yours {assignor.counts}"
    )
    names = [f"t{number}" for number in range(9)]
    assignor.assign(cluster_of(**dict.fromkeys(names, 1)), wish(a=" ".join(reversed(names))))
    assert list(assignor.counts) == names, f"sorted by name, whatever the order of a set is: {list(assignor.counts)}"
    assignor.assign(SimpleNamespace(partition_count_for_topic={"t": 0, "u": 1}.get), wish(a="t u"))
    assert assignor.counts == {"u": 1}, f"a topic with 0 partitions is left out, too; yours: {assignor.counts}"


@pytest.mark.points(6, task=1)
def test_every_member_gets_an_assignment(wish, cluster_of):
    """One of two members gets no partition"""
    result = Notes({"a": [("t", 0)], "b": []}).assign(cluster_of(t=1), wish(a="t", b="t"))
    assert set(result) == {"a", "b"}, (
        f"b gets no partition, but waits for a response nevertheless; you returned {set(result)}"
    )
    assert result["a"].partitions == (("t", 0),), f"a gets t-0; you returned {result['a'].partitions}"
    assert result["b"].partitions == (), f"b gets nothing; you returned {result['b'].partitions}"
    result = Notes({"a": [("t", 0)]}).assign(cluster_of(t=1), wish(a="t", b="t"))
    assert set(result) == {"a", "b"}, f"b is not among the shares, but is a member: a and b, not {sorted(result)}"

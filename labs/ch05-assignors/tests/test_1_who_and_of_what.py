"""Task 1: the members in an order that all agree on, and the partitions that there are."""

import pytest

from kafka_lite.consumer.assignors.partition_assignor import AbstractPartitionAssignor, members_of, ordered_members


class Notes(AbstractPartitionAssignor):
    """Notes what there is to share, and gives the share that it was made with."""

    name = "notes"

    def __init__(self, shares):
        self.shares, self.counts = shares, None

    def assign_partitions(self, partition_counts, subscriptions):  # noqa: ARG002
        self.counts = dict(partition_counts)
        return self.shares


@pytest.mark.points(4, task=1)
def test_by_their_ids(wish):
    """Three members, as JoinGroup's answer has them"""
    order = ordered_members(wish(c="t", a="t", b="t"))
    assert order == ["a", "b", "c"], f"sorted, so that whoever leads finds the same: a, b, c, not {order}"


@pytest.mark.points(6, task=1)
def test_static_members_first(wish):
    """Two static members: m9 is instance i1, m5 is instance i2"""
    order = ordered_members(wish(instances={"m9": "i1", "m5": "i2"}, m1="t", m5="t", m9="t", m0="t"))
    assert order == ["m9", "m5", "m0", "m1"], (
        "static members first, by their instance ids: a static member keeps its place, though its id is another after "
        f"every restart. m9 m5 m0 m1, not {' '.join(order)}"
    )


@pytest.mark.points(3, task=1)
def test_who_wants_a_topic(wish):
    """Three members, two of them read u"""
    members = members_of("u", wish(c="u", b="t", a="t u"))
    assert members == ["a", "c"], f"a and c read u, in this order; you say {members}"
    assert members_of("v", wish(a="t")) == [], "nobody reads v: nobody"


@pytest.mark.points(6, task=1)
def test_what_there_is(wish, cluster_of):
    """Topics of any member that have partitions; in the order of their names"""
    assignor = Notes({})
    assignor.assign(cluster_of(u=2, t=3, w=9), wish(b="u gone", a="t u"))
    assert assignor.counts is not None, "assign_partitions is not called"
    assert "gone" not in assignor.counts, "the topic gone has no partitions, perhaps not yet: leave it out"
    assert "w" not in assignor.counts, "nobody reads w"
    assert list(assignor.counts.items()) == [("t", 3), ("u", 2)], (
        f"t has 3, u has 2, by name, for a set has another order in every process; yours {assignor.counts}"
    )


@pytest.mark.points(6, task=1)
def test_everybody_is_told(wish, cluster_of):
    """One of two has nothing to do"""
    result = Notes({"a": [("t", 0)], "b": []}).assign(cluster_of(t=1), wish(a="t", b="t"))
    assert set(result) == {"a", "b"}, (
        f"b has nothing to read, and waits for an answer all the same; you told {set(result)}"
    )
    assert result["a"].partitions == (("t", 0),), f"a reads t-0; you told it {result['a'].partitions}"
    assert result["b"].partitions == (), f"b reads nothing; you told it {result['b'].partitions}"

"""Task 3: znodes record the owners."""

import pytest


@pytest.mark.points(3, task=3)
def test_a_claim(group):
    """No partition has an owner"""
    a = group.member("a")
    done = a.listener._reflect_partition_ownership_decision(a.wants(0, 1))
    assert done is True, "all partitions are free, so a gets all: True"
    owners = group.owners()
    assert owners == ["g_a-0", "g_a-0", None, None], f"an owner is a thread, and a-0 has 0 and 1; the znodes: {owners}"
    assert a.listener._reflect_partition_ownership_decision({}) is True, (
        "a member that needs nothing has all of it: True"
    )


@pytest.mark.points(6, task=3)
def test_all_or_nothing(group):
    """a wants all four, and b has one of them"""
    a, b = group.member("a"), group.member("b")
    b.owns({2: 0})
    done = a.listener._reflect_partition_ownership_decision(a.wants(0, 1, 2, 3))
    owners = group.owners()
    assert owners[2] == "g_b-0", f"2 belongs to b, and only b may release it; now its owner is {owners[2]}"
    assert done is False, "2 belongs to b: this attempt fails, False"
    assert owners == [None, None, "g_b-0", None], (
        f"all or nothing: a releases what it has claimed, or it waits for b, and b for a; the znodes: {owners}"
    )


@pytest.mark.points(6, task=3)
def test_releasing(group):
    """a has 0 and 1, b has 2"""
    a, b = group.member("a").owns({0: 10, 1: 11}), group.member("b").owns({2: 0})
    a.listener._release_partition_ownership()
    owners = group.owners()
    assert owners == [None, None, "g_b-0", None], f"0 and 1 are free again, 2 belongs to b; the znodes: {owners}"
    assert a.infos == {}, (
        f"a owns nothing any more, and must not commit for the next owner; but it still owns {sorted(a.infos)}"
    )
    b.listener._release_partition_ownership()
    b.listener._release_partition_ownership()
    assert group.owners() == [None] * 4, "b has released 2; a member that owns nothing releases nothing"


@pytest.mark.points(2, task=3)
def test_what_the_users_listener_gets(group, listener_class):
    """Two topics, and a listener that changes what it is given"""
    a = group.member("a").owns({0: 10, 3: 13})
    registry = a.listener.topic_registry
    registry["u"] = {}
    told = a.listener.consumer_rebalance_listener = listener_class(group)
    before = told.before_releasing_partitions

    def look_and_clear(partition_ownership):
        before(partition_ownership)
        partition_ownership["t"].clear()

    told.before_releasing_partitions = look_and_clear
    a.listener._release_partition_ownership()
    assert told.released == [{"t": {0, 3}, "u": set()}], (
        f"the listener gets all topics, t with 0 and 3, and u, of which a has none; it got {told.released}"
    )
    owners = group.owners()
    assert owners == [None] * 4, (
        f"the listener gets sets of its own: it may change them, and 0 and 3 are released all the same; {owners}"
    )


@pytest.mark.points(3, task=3)
def test_the_users_listener(group, listener_class):
    """The user's listener is called before anything happens: it may want to commit"""
    a = group.member("a").owns({0: 10, 3: 13})
    told = a.listener.consumer_rebalance_listener = listener_class(group)
    a.listener._release_partition_ownership()
    assert told.released == [{"t": {0, 3}}], f"0 and 3 of t will be released; the listener got {told.released}"
    assert told.owners == [["g_a-0", None, None, "g_a-0"]], (
        f"the listener is called before the release, when a still owns all; the znodes were {told.owners[0]}"
    )

"""Task 6: old consumers with a real broker; your code forms the group in its ZooKeeper."""

import pytest

from kafka_learn.labs.clients import create_topic, publish
from kafka_learn.labs.groups import OldMember, poll_until, settle, together
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.zookeeper.consumer_groups import ConsumerGroups
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

COUNT = 40


@pytest.fixture
def join(broker, zookeeper_port):
    """``join(group, name, topics, …)``: an old consumer; all leave after the test."""
    members = []

    def make(*args, **settings):
        assert broker.is_running, broker.log_tail()
        members.append(OldMember(f"127.0.0.1:{zookeeper_port}", *args, **settings))
        return members[-1]

    yield make
    with together(*members):
        pass


@pytest.fixture
def owners(zookeeper_port):
    """``owners(group, topic, count)``: the members that own the partitions, according to the znodes."""
    zk = KafkaZkClient(f"127.0.0.1:{zookeeper_port}")
    zk.start()

    def ask(group, topic, count):
        groups = ConsumerGroups(zk)
        found = [groups.get_owner(group, TopicPartition(topic, number)) for number in range(count)]
        return [owner and owner.removeprefix(f"{group}_") for owner in found]

    yield ask
    zk.close()


def shares_of(topic, *shares):
    return [[f"{topic}-{partition}" for partition in share] for share in shares]


@pytest.mark.points(5, task=6)
def test_members_join_and_leave(broker, join, owners):
    """Three join one after the other, one leaves; every message is read once"""
    create_topic(broker, "come", partitions=4)
    members, everybody, published = [], [], 0

    def goes_on(*shares):
        nonlocal published
        settle(members, shares_of("come", *shares))
        publish(broker, published, COUNT, topic="come")
        published += COUNT
        poll_until(members, lambda: sum(len(each.read) for each in everybody) >= published, f"{published} are read")
        read = [each for member in everybody for each in member.read]
        assert len(read) == len(set(read)), (
            f"every message is read once, but {len(read) - len(set(read))} were read twice"
        )
        # The next owner reads the offsets before it claims, possibly before those of a rebalance are committed.
        for member in members:
            member.commit()

    for name, shares in (("a", [range(4)]), ("b", [[0, 1], [2, 3]]), ("c", [[0, 1], [2], [3]])):
        members.append(join("come", name, {"come": 1}))
        everybody.append(members[-1])
        goes_on(*shares)
    found = owners("come", "come", 4)
    assert found == ["a-0", "a-0", "b-0", "c-0"], f"the owners according to the znodes: {found}"
    members.pop(0).close()
    goes_on([0, 1], [2, 3])


@pytest.mark.points(5, task=6)
def test_a_member_dies(broker, join, owners):
    """Messages that it has read and not committed are read again"""
    create_topic(broker, "dies", partitions=4)
    a, b = join("dies", "a", {"dies": 1}), join("dies", "b", {"dies": 1})
    settle([a, b], shares_of("dies", [0, 1], [2, 3]))
    publish(broker, 0, COUNT, topic="dies")
    poll_until([a, b], lambda: len({*a.read, *b.read}) == COUNT, f"all {COUNT} are read")
    b.die()
    settle([a], shares_of("dies", range(4)))
    poll_until([a], lambda: len(set(a.read)) == COUNT, "a reads again what b had read and not committed")
    found = owners("dies", "dies", 4)
    assert found == ["a-0"] * 4, f"a owns everything: {found}"


@pytest.mark.points(5, task=6)
def test_round_robin(broker, join):
    """Two topics of three partitions: with range, one member would have four of the six"""
    for topic in ("left", "right"):
        create_topic(broker, topic, partitions=3)
    topics, strategy = {"left": 1, "right": 1}, {"partition.assignment.strategy": "roundrobin"}
    members = [join("fair", name, topics, **strategy) for name in "ab"]
    poll_until(members, lambda: [len(each.owns) for each in members] == [3, 3], "each has three of the six")
    for topic in topics:
        publish(broker, 0, COUNT, topic=topic)
    poll_until(members, lambda: sum(len(set(each.read)) for each in members) == 2 * COUNT, f"all {2 * COUNT} are read")

"""Task 5: a share group of a real broker with your code."""

import time

import pytest

from kafka_learn.labs.clients import TIMEOUT_S, create_topic, publish
from kafka_lite.consumer import AcknowledgeType, KafkaShareConsumer
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages import api_44_incremental_alter_configs as alter

GROUP = 32
"""The type of a group's configuration."""
RECORDS = 3
ACCEPT, RELEASE = AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE


@pytest.fixture
def members(broker, request):
    """``members(count)``: members of a new share group of a new topic with three records, in batches of their own."""
    name, made = request.node.name, []

    def make(count):
        create_topic(broker, name)
        for number in range(RECORDS):
            publish(broker, number, 1, topic=name)
        begin_at_the_first_record(broker, name)
        for _ in range(count):
            configs = {"bootstrap.servers": broker.bootstrap_servers, "group.id": name, "max.poll.records": 1}
            made.append(KafkaShareConsumer({**configs, "share.acknowledgement.mode": "explicit"}))
            made[-1].subscribe([name])
        return made

    yield make
    for each in made:
        each.close()


def begin_at_the_first_record(broker, group):
    """Without this a share group begins at the end."""
    config = alter.AlterableConfig(name="share.auto.offset.reset", config_operation=0, value="earliest")
    resource = alter.AlterConfigsResource(resource_type=GROUP, resource_name=group, configs=[config])
    host, _, port = broker.bootstrap_servers.rpartition(":")
    with BlockingChannel(host, int(port)) as channel:
        channel.exchange(alter.IncrementalAlterConfigsRequest(resources=[resource]), 1)


def poll(broker, member):
    """The next record that the broker delivers to this member."""
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        for record in member.poll(100):
            return record
    raise AssertionError(f"no record within {TIMEOUT_S} s\n{broker.log_tail()}")


def say(member, record, word):
    member.acknowledge(record, word)
    member.commit_sync()


def told(record):
    return (record.offset, record.delivery_count)


@pytest.mark.points(5, task=5)
def test_a_record_is_released(broker, members):
    """Two members of one partition: one accepts, the other one releases"""
    ann, bob = members(2)
    first, second = poll(broker, ann), poll(broker, bob)
    offsets = {first.offset, second.offset}
    assert offsets == {0, 1}, f"two members, two records of one partition at the same time: 0 and 1, not {offsets}"
    say(bob, second, RELEASE)
    say(ann, first, ACCEPT)
    again = poll(broker, ann)
    assert told(again) == (second.offset, 2), f"{second.offset} was released: its second delivery; yours {told(again)}"
    say(ann, again, ACCEPT)
    third = poll(broker, ann)
    assert told(third) == (2, 1), f"0 and 1 are accepted, so 2 comes, for the first time; yours {told(third)}"
    say(ann, third, ACCEPT)


@pytest.mark.points(5, task=5)
def test_a_lock_expires(broker, members):
    """A member that says nothing for more than a second"""
    ann, bob = members(2)
    held = poll(broker, ann)
    found = []
    while held.offset not in [offset for offset, _ in found]:
        record = poll(broker, bob)
        found.append(told(record))
        say(bob, record, ACCEPT)
    assert found[-1] == (held.offset, 2), (
        f"after its time {held.offset} is delivered to the other member, for the second time; yours {found}"
    )


@pytest.mark.points(5, task=5)
def test_a_record_that_nobody_accepts(broker, members):
    """Released twice, where the limit is two"""
    (ann,) = members(1)
    found = []
    for word in (RELEASE, RELEASE, ACCEPT, ACCEPT):
        record = poll(broker, ann)
        found.append(told(record))
        say(ann, record, word)
    expected = [(0, 1), (0, 2), (1, 1), (2, 1)]
    assert found == expected, f"0 is given up after two deliveries: {expected}, not {found}"

"""Task 2: {broker: {partition: [messages in order]}}."""

import pytest

from kafka_lite.common.errors import ApiError, Errors, KafkaError


@pytest.mark.points(8, task=2)
def test_by_broker_and_by_partition(new_handler, numbers):
    """Eight messages, four partitions, two brokers"""
    handler = new_handler({"t": [0, 1, 0, 1]})
    got = numbers(handler.partition_and_collate(handler.messages(*range(8))))
    wanted = {0: {"t-0": [0, 4], "t-2": [2, 6]}, 1: {"t-1": [1, 5], "t-3": [3, 7]}}
    assert set(got) == {0, 1}, f"the outer keys are the leaders 0 and 1, not {sorted(got)}"
    assert got == wanted, f"{wanted} is right, you return {got}"


@pytest.mark.points(5, task=2)
def test_two_topics(new_handler, numbers):
    """Partition 0 of two topics, led by the same broker"""
    handler = new_handler({"t": [0], "u": [0]})
    got = numbers(handler.partition_and_collate(handler.messages(5) + handler.messages(7, 7, topic="u")))
    assert got == {0: {"t-0": [0], "u-0": [0, 1]}}, f"t-0 and u-0 are two partitions of one broker; you return {got}"


@pytest.mark.points(6, task=2)
def test_a_partition_without_a_leader(new_handler, numbers):
    """The other partitions are not affected"""
    handler = new_handler({"t": [0, -1]})
    collated = handler.partition_and_collate(handler.messages(0, 1, 2))
    assert collated is not None, "one partition has no leader: this must not delay the others"
    got = numbers(collated)
    assert got == {0: {"t-0": [0, 2]}, -1: {"t-1": [1]}}, (
        f"messages of t-1, which has no leader, belong to the key -1; you return {got}"
    )


@pytest.mark.points(6, task=2)
def test_a_message_that_cannot_be_partitioned(new_handler):
    """A key that the partitioner cannot handle"""
    handler = new_handler({"t": [0, 0]})
    try:
        collated = handler.partition_and_collate(handler.messages(1, object(), 2))
    except TypeError:
        pytest.fail(
            "the partitioner raised TypeError: nothing has been sent yet, so return None, and everything is tried again"
        )
    assert collated is None, (
        f"one message has no partition: return None, so that everything is tried again, not {collated}"
    )
    for error in (KafkaError("no broker"), Errors.LEADER_NOT_AVAILABLE.exception("no metadata")):
        handler.metadata.get_broker_partition_info = raising(error)
        try:
            collated = handler.partition_and_collate(handler.messages(1))
        except (KafkaError, ApiError):
            pytest.fail(f"there is no metadata ({error!r}): nothing has been sent yet, so return None")
        assert collated is None, f"there is no metadata ({error!r}): return None, not {collated}"


def raising(error):
    def fail(_topic):
        raise error

    return fail

"""Task 3: one request per broker; only what failed is returned."""

import pytest


def left_of(handler, messages):
    return [int(message.value) for message in handler._dispatch_serialized_data(messages)]


@pytest.mark.points(6, task=3)
def test_one_request_for_each_broker(new_handler):
    """Four partitions, two brokers"""
    handler = new_handler({"t": [0, 1, 0, 1]})
    left = left_of(handler, handler.messages(*range(8)))
    assert left == [], f"everything succeeded: nothing is left, but you return {left}"
    brokers = [broker for broker, _ in handler.sent]
    assert sorted(brokers) == [0, 1], (
        f"one request to broker 0 and one to broker 1, with two partitions each; yours: {brokers}"
    )


@pytest.mark.points(8, task=3)
def test_only_failed_messages_are_returned(new_handler):
    """t-2 of broker 0 fails"""
    handler = new_handler({"t": [0, 1, 0, 1]})
    handler.fails = [{"t-2"}]
    left = left_of(handler, handler.messages(*range(8)))
    brokers = [broker for broker, _ in handler.sent]
    assert sorted(brokers) == [0, 1], (
        f"a partition of broker 0 failed: broker 1 gets its request all the same; {brokers}"
    )
    assert left == [2, 6], (
        f"t-2 failed, so 2 and 6 are left; not {left}: otherwise messages that the broker has are sent twice"
    )
    handler = new_handler({"t": [0, 1, 0, 1]})
    handler.fails = [{"t-0", "t-2"}, {"t-3"}]
    left = left_of(handler, handler.messages(*range(8)))
    assert sorted(left) == [0, 2, 3, 4, 6, 7], (
        f"t-0 and t-2 failed at broker 0, t-3 at broker 1: the messages of all three are left, not only {sorted(left)}"
    )


@pytest.mark.points(6, task=3)
def test_failed_collation(new_handler):
    """Collation fails"""
    handler = new_handler({"t": [-1]})
    left = left_of(handler, handler.messages(None, None))
    assert left == [0, 1], f"collation failed (None), so nothing was sent: all messages are left, but you return {left}"

"""Task 4: as often as allowed, with fresh metadata each time."""

import pytest

from kafka_lite.old_producer import KeyedMessage
from kafka_lite.old_producer.default_event_handler import FailedToSendMessageError


def keyed(*keys, topic="t"):
    return [KeyedMessage(topic, b"%d" % n, part_key=key) for n, key in enumerate(keys)]


@pytest.mark.points(3, task=4)
def test_one_attempt_is_enough(new_handler):
    """Everything succeeds"""
    handler = new_handler({"t": [0]})
    handler.handle(keyed(1, 2))
    assert handler.sent == [(0, {"t-0": [0, 1]})], f"one request with both messages, not {handler.sent}"
    assert handler.time.hi_res_ms() == 0, "nothing failed: there is no reason to wait"


@pytest.mark.points(5, task=4)
def test_a_leader_has_moved(new_handler):
    """The second attempt goes to the new leader, after the backoff"""
    handler = new_handler({"t": [0]}, retry_backoff_ms=70)
    handler.fails = [{"t-0"}]
    update = handler.metadata.update_info

    def moved(topics):
        update(topics)
        if handler.sent:
            handler.metadata.leaders = {"t": [1]}

    handler.metadata.update_info = moved
    handler.handle(keyed(1))
    brokers = [broker for broker, _ in handler.sent]
    assert brokers == [0, 1], (
        f"the leader moved from 0 to 1: fetch metadata before the second attempt; brokers: {brokers}"
    )
    waited_ms = handler.time.hi_res_ms()
    assert waited_ms == 70, f"the pause between two attempts is retry.backoff.ms, 70 ms, not {waited_ms}"


@pytest.mark.points(5, task=4)
def test_all_attempts_fail(new_handler, error_of):
    """message.send.max.retries=2"""
    handler = new_handler({"t": [0]}, message_send_max_retries=2)
    handler.fails = [{"t-0"}] * 9
    error = error_of(lambda: handler.handle(keyed(1)))
    assert len(handler.sent) == 3, f"two retries make three attempts, but you made {len(handler.sent)}"
    told = isinstance(error, FailedToSendMessageError)
    assert told, f"the message was not sent, but the caller believes it was: FailedToSendMessageError, not {error!r}"


@pytest.mark.points(2, task=4)
def test_the_others_are_sent_once(new_handler, error_of):
    """t-1 has no leader"""
    handler = new_handler({"t": [0, -1]}, message_send_max_retries=1)
    error_of(lambda: handler.handle(keyed(0, 1)))
    count = sum(broker == 0 for broker, _ in handler.sent)
    assert count == 1, f"t-0 succeeded in the first attempt, but was sent {count} times: retry only what failed"

"""Task 4: as often as allowed, with fresh metadata each time."""

import pytest

from kafka_lite.old_producer import KeyedMessage
from kafka_lite.old_producer.default_event_handler import FailedToSendMessageError


def keyed(*keys, topic="t"):
    return [KeyedMessage(topic, b"%d" % n, part_key=key) for n, key in enumerate(keys)]


@pytest.mark.points(2, task=4)
def test_one_attempt_is_enough(new_handler):
    """Everything succeeds"""
    handler = new_handler({"t": [0]})
    handler.handle(keyed(1, 2))
    assert handler.sent == [(0, {"t-0": [0, 1]})], f"one request with both messages, not {handler.sent}"
    assert handler.time.hi_res_ms() == 0, "nothing failed: there is no reason to wait"
    found = handler.metadata.updates
    assert found == [["t"]], (
        f"before each attempt, _maybe_refresh_metadata fetches metadata that is old: once, here; you fetched {found}"
    )
    handler.time.sleep(601_000)
    handler.handle(keyed(1))
    assert handler.metadata.updates == [["t"]] * 2, "ten minutes later it is old again: fetch it before the attempt"


@pytest.mark.points(2, task=4)
def test_a_leader_has_moved(new_handler):
    """The second attempt goes to the new leader, after the backoff"""
    handler = new_handler({"t": [0]}, retry_backoff_ms=70)
    handler.fails = [{"t-0"}]
    update = handler.metadata.update_info

    fetched = []

    def moved(topics):
        update(topics)
        if handler.sent:
            fetched.append(handler.time.hi_res_ms())
            handler.metadata.leaders = {"t": [1]}

    handler.metadata.update_info = moved
    handler.handle(keyed(1))
    brokers = [broker for broker, _ in handler.sent]
    assert brokers == [0, 1], (
        f"the leader moved from 0 to 1: fetch metadata before the second attempt; brokers: {brokers}"
    )
    assert fetched == [70], f"first the pause, then the metadata, or it is 70 ms old when it is used; at {fetched} ms"
    waited_ms = handler.time.hi_res_ms()
    assert waited_ms == 70, f"the pause between two attempts is retry.backoff.ms, 70 ms, not {waited_ms}"


@pytest.mark.points(2, task=4)
def test_fresh_metadata(new_handler, error_of):
    """Topic u fails, t does not; and messages without a key, whose partition has lost its leader"""
    handler = new_handler({"t": [0], "u": [0]})
    handler.fails = [{"u-0"}]
    handler.handle(keyed(1) + keyed(1, topic="u"))
    found = handler.metadata.updates[1:]
    assert found == [["u"]], f"only u has failed, so only its metadata is fetched again; you fetched {found}"
    handler = new_handler({"t": [0], "u": [0], "v": [0]})
    handler.fails = [{"u-0", "v-0"}]
    handler.handle(keyed(1) + keyed(1, topic="u") + keyed(1, topic="v"))
    found = handler.metadata.updates[1:]
    assert found == [["u", "v"]], f"u and v have failed: the metadata of both is fetched again, not that of {found}"
    handler = new_handler({"t": [-1, 1]})
    handler._maybe_refresh_metadata = lambda _outstanding: None
    handler._send_partition_per_topic_cache = {"t": 0}
    error_of(lambda: handler.handle(keyed(None)))
    assert handler.sent[-1] == (1, {"t-1": [0]}), (
        f"the metadata was fetched again (_refresh), so a message without a key goes elsewhere: t-1; {handler.sent}"
    )


@pytest.mark.points(3, task=4)
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_no_retries(new_handler, error_of, kind):
    """message.send.max.retries=0"""
    handler = new_handler({"t": [0]}, message_send_max_retries=0, producer_type=kind)
    handler.fails = [{"t-0"}] * 9
    error = error_of(lambda: handler.handle(keyed(1)))
    assert len(handler.sent) == 1, f"no retry: one attempt, not {len(handler.sent)}"
    told = isinstance(error, FailedToSendMessageError)
    assert told, f"producer.type={kind}: the message was not sent: FailedToSendMessageError, not {error!r}"


@pytest.mark.points(2, task=4)
def test_all_attempts_fail(new_handler, error_of):
    """message.send.max.retries=2"""
    handler = new_handler({"t": [0]}, message_send_max_retries=2)
    handler.fails = [{"t-0"}] * 9
    error = error_of(lambda: handler.handle(keyed(1)))
    assert len(handler.sent) == 3, f"two retries make three attempts, but you made {len(handler.sent)}"
    told = isinstance(error, FailedToSendMessageError)
    assert told, f"the message was not sent, but the caller believes it was: FailedToSendMessageError, not {error!r}"


@pytest.mark.points(1, task=4)
def test_the_others_are_sent_once(new_handler, error_of):
    """t-1 has no leader"""
    handler = new_handler({"t": [0, -1]}, message_send_max_retries=1)
    error_of(lambda: handler.handle(keyed(0, 1)))
    count = sum(broker == 0 for broker, _ in handler.sent)
    assert count == 1, f"t-0 succeeded in the first attempt, but was sent {count} times: retry only what failed"

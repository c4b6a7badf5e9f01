"""Task 3: the offset after the last record that is sent."""

import pytest

from kafka_lite.mirror.ureplicator.worker.record_in_hand import RecordInHand


@pytest.mark.points(6, task=3)
def test_nothing_in_hand(stream):
    """Record 7 is sent, then the partition is given up"""
    hand = RecordInHand()
    taken = hand.take(stream)
    assert taken == 7, f"take returns the record that the iterator has found: 7, not {taken}"
    hand.sent()
    found = hand.give_up(stream.next_topic_info)
    assert found == 8, f"7 is sent, so 8 is the offset to commit; yours: {found}"


@pytest.mark.points(8, task=3)
def test_a_record_in_hand(stream, giving_up):
    """Record 7 is being sent while the partition is given up"""
    hand = RecordInHand()
    hand.take(stream)
    helix = giving_up(hand, stream.next_topic_info)
    with hand._changed:
        hand._changed.notify_all()  # a wait may return without a reason
    early = helix.result(wait_s=0.1)
    assert early is None, f"record 7 is not sent yet, and give_up has returned {early}: wait for it"
    hand.sent()
    found = helix.result()
    assert found == 8, f"7 is sent now, so 8 is the offset to commit; yours: {found}"


@pytest.mark.points(6, task=3)
def test_a_record_too_late(stream):
    """The iterator has found record 7, and the partition is given up before it is taken"""
    hand = RecordInHand()
    found = hand.give_up(stream.next_topic_info)
    assert found == 7, f"nothing is sent yet, so 7 is the offset to commit; yours: {found}"
    taken = hand.take(stream)
    assert taken is None, f"another worker copies record 7 by now, and take returns {taken}: it must drop it"


@pytest.mark.points(5, task=3)
def test_a_thread_that_has_ended(stream, giving_up):
    """Record 7 is in hand when the worker's thread ends"""
    hand = RecordInHand()
    hand.take(stream)
    helix = giving_up(hand, stream.next_topic_info)
    hand.end()
    found = helix.result()
    assert found == -1, f"record 7 will never be sent, so no offset is known: INVALID_OFFSET; yours: {found}"

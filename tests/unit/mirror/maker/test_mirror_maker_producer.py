"""A record that cannot be sent ends the mirror, or is counted and left out."""

from __future__ import annotations

import logging

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.mirror.maker.mirror_maker_producer import MirrorMakerProducer
from kafka_lite.mirror.maker.mirror_maker_state import MirrorMakerState
from kafka_lite.producer.producer_record import ProducerRecord
from tests.support.mirrors import FakeProducer

TOO_LARGE = Errors.MESSAGE_TOO_LARGE.exception("too large")


def parts(*, abort: bool = True, sync: bool = False) -> tuple[MirrorMakerProducer, FakeProducer, MirrorMakerState]:
    fake, state = FakeProducer([]), MirrorMakerState()
    return MirrorMakerProducer(fake, state, sync=sync, abort_on_send_failure=abort), fake, state


def test_records_are_acknowledged_by_the_flush() -> None:
    producer, fake, state = parts()
    for value in (b"1", b"2"):
        producer.send(ProducerRecord("t", value))
    assert state.acknowledged == 0
    producer.flush()
    assert (state.acknowledged, state.num_dropped_messages, state.exiting_on_send_failure) == (2, 0, False)
    producer.close()
    assert fake.closed_after_ms is None


def test_a_lost_record_ends_the_mirror_at_once(caplog: pytest.LogCaptureFixture) -> None:
    producer, fake, state = parts()
    fake.failures = {b"2": TOO_LARGE, b"3": TOO_LARGE}
    for value in (b"1", b"2", b"3"):
        producer.send(ProducerRecord("t", value, b"key"))
    with caplog.at_level(logging.ERROR):
        producer.flush()
    assert state.exiting_on_send_failure
    assert fake.closed_after_ms == 0
    assert fake.calls.count("close producer") == 1
    assert state.num_dropped_messages == 2
    assert [record.getMessage() for record in caplog.records] == [
        "Error when sending message to topic t with key: 3 bytes, value: 1 bytes with error: too large",
        "Closing producer due to send failure. No further offset is committed.",
    ]


def test_without_abort_a_lost_record_is_logged_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    producer, fake, state = parts(abort=False)
    fake.failures = {b"2": TOO_LARGE}
    for value in (b"1", b"2", b"3"):
        producer.send(ProducerRecord("t", value))
    producer.flush()
    assert (state.acknowledged, state.num_dropped_messages) == (2, 1)
    assert not state.exiting_on_send_failure
    assert fake.closed_after_ms == "open"
    assert "key: null, value: 1 bytes" in caplog.text


def test_sync_waits_for_each_record() -> None:
    producer, fake, state = parts(sync=True)
    producer.send(ProducerRecord("t", b"1"))
    assert state.acknowledged == 1
    fake.failures = {b"2": TOO_LARGE}
    with pytest.raises(ApiError, match="too large"):
        producer.send(ProducerRecord("t", b"2"))

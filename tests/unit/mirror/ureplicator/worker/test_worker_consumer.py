"""The worker's consumer: records of partitions that come and go, for the loop of MirrorMaker."""

from __future__ import annotations

import threading

import pytest

from kafka_lite.mirror.ureplicator.worker.worker_consumer import WorkerConsumer
from kafka_lite.old_consumer.consumer_iterator import ConsumerTimeoutError
from tests.support.eventually import eventually
from tests.support.worker_source import T0, T1, WorkerSource


def test_it_returns_the_records_of_the_connector(source: WorkerSource) -> None:
    connector = source.connector()
    consumer = WorkerConsumer(connector)
    consumer.init()
    connector.add_topic_partition(T0)
    assert consumer.has_data
    record = consumer.receive()
    assert (record.topic_partition, record.offset, record.key, record.value) == (T0, 0, b"k", b"0")
    assert not consumer.commit_requested
    consumer.commit()
    assert source.committed() == [1, None]
    assert [(each.topic_partition, each.position) for each in consumer.progress()] == [(T0, 1)]


def test_without_records_it_times_out_and_may_be_asked_again(source: WorkerSource) -> None:
    connector = source.connector(consumer_timeout_ms=1)
    consumer = WorkerConsumer(connector)
    consumer.init()
    with pytest.raises(ConsumerTimeoutError):
        assert consumer.has_data
    connector.add_topic_partition(T1)
    while True:
        try:
            assert consumer.has_data
        except ConsumerTimeoutError:
            continue
        break
    assert consumer.receive().topic_partition == T1


def test_a_partition_is_deleted_after_the_record_that_is_being_sent(source: WorkerSource) -> None:
    connector = source.connector()
    consumer = WorkerConsumer(connector)
    consumer.init()
    connector.add_topic_partition(T0)
    assert consumer.has_data
    consumer.receive()
    deleting = threading.Thread(target=connector.delete_topic_partition, args=(T0,), daemon=True)
    deleting.start()
    eventually(lambda: not connector.progress())
    assert (source.calls, source.committed()) == ([], [None, None]), "the record is not sent yet"
    consumer.stop()
    ended = not consumer.has_data
    deleting.join()
    assert ended
    assert (source.calls, source.committed()) == (["flush"], [1, None])


def test_a_stop_ends_the_wait(source: WorkerSource) -> None:
    consumer = WorkerConsumer(source.connector())
    consumer.init()
    found: list[bool] = []
    waiting = threading.Thread(target=lambda: found.append(consumer.has_data), daemon=True)
    waiting.start()
    consumer.stop()
    waiting.join()
    assert found == [False]


def test_a_stop_without_zookeeper_does_not_wait_for_it(source: WorkerSource) -> None:
    consumer = WorkerConsumer(source.connector())
    consumer.init()
    source.sessions[0].is_connected = False
    consumer.stop()
    assert source.sessions[0].is_closed


def test_cleaning_up_ends_the_wait_for_a_record_that_nobody_sends(source: WorkerSource) -> None:
    connector = source.connector()
    consumer = WorkerConsumer(connector)
    consumer.init()
    connector.add_topic_partition(T0)
    assert consumer.has_data
    source.state.exiting_on_send_failure = True  # its handler has failed
    deleting = threading.Thread(target=connector.delete_topic_partition, args=(T0,), daemon=True)
    deleting.start()
    eventually(lambda: not connector.progress())
    consumer.cleanup()
    deleting.join()
    assert source.committed() == [None, None]

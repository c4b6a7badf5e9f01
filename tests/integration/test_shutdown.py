"""A clean shutdown: prompt, whatever requests are in progress, and without an error in the log."""

from __future__ import annotations

import logging
import threading

import pytest
from confluent_kafka import Producer

from kafka_lite.admin.admin_utils import AdminUtils
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log import Log
from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually


def test_no_background_task_accesses_a_closed_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with Cluster() as cluster:
        cluster.create_topic("orders", partitions=5)
        scheduler, close = cluster.server.scheduler, Log.close
        closed: list[Log] = []

        def close_and_let_time_pass(log: Log) -> None:
            close(log)
            if not closed:
                cluster.time.advance(minutes=10)  # retention, flushes and checkpoints are due
                eventually(lambda: scheduler.is_idle)
            closed.append(log)

        monkeypatch.setattr(Log, "close", close_and_let_time_pass)
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []


def test_shutdown_does_not_wait_for_all_topics_that_a_request_auto_creates(monkeypatch: pytest.MonkeyPatch) -> None:
    create = AdminUtils.create_topic_with_assignment
    created: list[str] = []
    has_begun, goes_on = threading.Event(), threading.Event()

    def create_slowly(admin: AdminUtils, topic: str, *arguments: object) -> None:
        created.append(topic)
        has_begun.set()
        goes_on.wait()
        create(admin, topic, *arguments)  # type: ignore[arg-type]

    with Cluster() as cluster:
        monkeypatch.setattr(AdminUtils, "create_topic_with_assignment", create_slowly)
        producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "message.timeout.ms": 60_000})
        for number in range(100):
            producer.produce(f"topic-{number}", b"")
        has_begun.wait()
        server = cluster.server
        stopping = threading.Thread(target=cluster.stop_broker)
        stopping.start()
        eventually(lambda: not server.replica_state_changes.takes_orders)
        goes_on.set()
        stopping.join()
        assert len(created) <= 8, "each of the four handlers may have started one more"
        producer.purge()


def test_shutdown_does_not_wait_for_all_logs_of_a_leader_and_isr_request(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[TopicPartition] = []
    has_begun, goes_on = threading.Event(), threading.Event()
    with Cluster({"num.partitions": 50}) as cluster:
        server = cluster.server
        make = server.log_manager.get_or_create_log

        def make_slowly(topic_partition: TopicPartition, *arguments: object) -> Log:
            made.append(topic_partition)
            has_begun.set()
            goes_on.wait()
            return make(topic_partition, *arguments)  # type: ignore[arg-type]

        monkeypatch.setattr(server.log_manager, "get_or_create_log", make_slowly)
        server.admin_manager.auto_create_topic("one")
        has_begun.wait()
        stopping = threading.Thread(target=cluster.stop_broker)
        stopping.start()
        eventually(lambda: not server.replica_state_changes.takes_orders)
        goes_on.set()
        stopping.join()
        assert len(made) == 1

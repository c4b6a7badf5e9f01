"""MirrorMaker between two clusters: nothing lost, the order of each key kept, and what bad input does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.common.properties import dump_properties
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import KafkaConsumer
from kafka_lite.mirror.maker.mirror_maker import MirrorMaker
from kafka_lite.mirror.maker.mirror_maker_config import MirrorMakerConfig
from kafka_lite.testing.cluster import Cluster
from kafka_lite.testing.cluster_client import StoredRecord
from tests.support.eventually import eventually
from tests.support.mirrored_records import KEYS, check_complete, new_consumer, old_consumer, publish
from tests.support.patience import patient_s


@pytest.fixture(scope="module")
def source() -> Iterator[Cluster]:
    with Cluster({"group.initial.rebalance.delay.ms": 0, "group.min.session.timeout.ms": 100}) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def target() -> Iterator[Cluster]:
    with Cluster() as cluster:
        yield cluster


@contextmanager
def mirroring(consumer: dict[str, str], target: Cluster, **flags: Any) -> Iterator[MirrorMaker]:
    """A mirror that runs in this process, and is stopped cleanly."""
    config = MirrorMakerConfig(consumer, {"bootstrap.servers": target.bootstrap_servers}, **flags)
    config.check()
    mirror = MirrorMaker.create(config)
    mirror.start()
    try:
        yield mirror
    finally:
        mirror.initiate_shutdown()
        assert mirror.await_shutdown()


def arrived(target: Cluster, topic: str, count: int) -> list[StoredRecord]:
    """All records of a topic of the target, once there are ``count``."""
    return target.wait_for_records(topic, count, patient_s(60))


def committed(source: Cluster, group: str, topic: str) -> list[int | None]:
    with KafkaConsumer({"bootstrap.servers": source.bootstrap_servers, "group.id": group}) as consumer:
        partitions = [TopicPartition(topic, number) for number in range(source.topics[topic])]
        found = consumer.committed(partitions)
    return [None if (each := found[of]) is None else each.offset for of in partitions]


KILLS_ITSELF = """
import os, signal
from kafka_lite.mirror.maker.mirror_maker_message_handler import DefaultMirrorMakerMessageHandler

class KillsItself(DefaultMirrorMakerMessageHandler):
    def __init__(self, after):
        self.left = int(after)

    def handle(self, record):
        self.left -= 1
        if self.left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().handle(record)
"""


@pytest.mark.soak
def test_a_killed_mirror_loses_nothing_and_keeps_the_order_of_each_key(
    source: Cluster, target: Cluster, tmp_path: Path
) -> None:
    source.create_topic("killed", partitions=3)
    target.create_topic("killed", partitions=2)
    publish(source, "killed", range(600))
    consumer = new_consumer(source, "killed") | {"session.timeout.ms": "3000", "heartbeat.interval.ms": "500"}
    (tmp_path / "consumer").write_text(dump_properties(consumer))
    (tmp_path / "producer").write_text(dump_properties({"bootstrap.servers": target.bootstrap_servers}))
    (tmp_path / "kills_itself.py").write_text(KILLS_ITSELF)
    command = [
        *(sys.executable, "-m", "kafka_lite.tools.main", "mirror-maker", "--whitelist", "killed"),
        *("--consumer.config", str(tmp_path / "consumer"), "--producer.config", str(tmp_path / "producer")),
        *("--offset.commit.interval.ms", "5", "--num.streams", "2"),
        *("--message.handler", "kills_itself.KillsItself", "--message.handler.args", "250"),
    ]
    ended = subprocess.run(command, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, timeout=patient_s(60))
    assert ended.returncode == -9, ended.stderr
    with mirroring(consumer, target, whitelist="killed", num_streams=2):
        eventually(lambda: len({record.value for record in target.records("killed")}) == 600)
    check_complete(target.records("killed"), 600)
    assert sum(offset or 0 for offset in committed(source, "killed", "killed")) == 600


@pytest.mark.parametrize("kind", [new_consumer, old_consumer])
def test_a_second_mirror_joins_and_leaves_and_nothing_comes_twice(source: Cluster, target: Cluster, kind: Any) -> None:
    topic = group = kind.__name__
    source.create_topic(topic, partitions=2)
    target.create_topic(topic, partitions=3)
    with mirroring(kind(source, group), target, whitelist=topic) as first:
        publish(source, topic, range(100))
        arrived(target, topic, 100)
        with mirroring(kind(source, group), target, whitelist=topic) as second:
            published = 100
            while not (second.progress() and len(first.progress()) < 2):
                publish(source, topic, range(published, published + KEYS))
                published += KEYS
            arrived(target, topic, published)
        publish(source, topic, range(published, published + 50))
        arrived(target, topic, published + 50)
    assert check_complete(target.records(topic), published + 50) == 0


def test_clusters_that_are_down_at_the_start_are_waited_for() -> None:
    with Cluster({"group.initial.rebalance.delay.ms": 0}) as source, Cluster() as target:
        source.create_topic("t")
        publish(source, "t", range(10))
        source.stop_broker()
        target.stop_broker()
        with mirroring(new_consumer(source, "g"), target, whitelist="t") as mirror:
            source.start_broker()
            eventually(lambda: bool(mirror.progress()))
            target.start_broker()
            assert check_complete(arrived(target, "t", 10), 10) == 0


def test_a_target_with_fewer_partitions_has_everything(source: Cluster, target: Cluster) -> None:
    source.create_topic("fewer", partitions=3)
    target.create_topic("fewer", partitions=1)
    publish(source, "fewer", range(40))
    with mirroring(new_consumer(source, "fewer"), target, whitelist="fewer"):
        assert check_complete(arrived(target, "fewer", 40), 40) == 0


def test_a_record_too_large_for_the_target_ends_the_mirror_or_is_left_out(source: Cluster, target: Cluster) -> None:
    source.create_topic("large")
    target.create_topic("large", configs={"max.message.bytes": "2000"})
    source.produce("large", b"a" * 100, b"b" * 5000, b"c" * 101)
    with mirroring(new_consumer(source, "large"), target, whitelist="large") as mirror:
        assert mirror.await_end(patient_s(60))
    assert mirror.state.exiting_on_send_failure
    assert committed(source, "large", "large") == [None]
    with mirroring(new_consumer(source, "large"), target, whitelist="large", abort_on_send_failure=False) as mirror:
        eventually(lambda: mirror.state.num_dropped_messages == 1)
    assert not mirror.state.exiting_on_send_failure
    assert committed(source, "large", "large") == [3]
    assert {len(value or b"") for value in target.values("large")} == {100, 101}


def test_a_deleted_topic_of_the_source_does_not_keep_the_others(source: Cluster, target: Cluster) -> None:
    for topic in ("deleted", "kept"):
        source.create_topic(topic)
        publish(source, topic, range(5))
    with mirroring(new_consumer(source, "deleting"), target, whitelist="deleted,kept"):
        for topic in ("deleted", "kept"):
            arrived(target, topic, 5)
        source.delete_topic("deleted")
        publish(source, "kept", range(5, 8))
        assert check_complete(arrived(target, "kept", 8), 8) == 0
    assert committed(source, "deleting", "kept") == [8]
    assert "deleted" not in source.topics


@pytest.mark.parametrize("creates_topics", [True, False])
def test_a_deleted_topic_of_the_target_gets_what_comes_later(source: Cluster, creates_topics: bool) -> None:
    topic = f"deleted-there-{creates_topics}"
    source.create_topic(topic, partitions=2)
    with Cluster({"auto.create.topics.enable": creates_topics, "num.partitions": 2}) as target:
        target.create_topic(topic, partitions=2)
        publish(source, topic, range(20))
        with mirroring(new_consumer(source, topic), target, whitelist=topic, offset_commit_interval_ms=200) as mirror:
            arrived(target, topic, 20)
            eventually(lambda: sum(offset or 0 for offset in committed(source, topic, topic)) == 20)
            target.delete_topic(topic)
            publish(source, topic, range(20, 50))
            if not creates_topics:
                assert not mirror.await_end(1), "it waits for the topic"
                assert sum(offset or 0 for offset in committed(source, topic, topic)) == 20
                target.create_topic(topic, partitions=2)
            numbers = {b"%d" % number for number in range(20, 50)}
            eventually(lambda: topic in target.topics)
            eventually(lambda: {record.value for record in target.records(topic)} >= numbers)
            assert not mirror.state.exiting_on_send_failure
        assert sum(offset or 0 for offset in committed(source, topic, topic)) == 50


@pytest.mark.soak
def test_leaders_die_on_both_sides_and_nothing_is_lost() -> None:
    settings = {"group.initial.rebalance.delay.ms": 0, "min.insync.replicas": 2}
    with Cluster(settings, brokers=3) as source, Cluster(settings, brokers=3) as target:
        for cluster in (source, target):
            cluster.create_topic("t", partitions=2)
        with mirroring(new_consumer(source, "g"), target, whitelist="t", num_streams=2):
            publish(source, "t", range(200))
            arrived(target, "t", 200)
            target.leader_of("t", 0).kill()
            publish(source, "t", range(200, 400))
            source.leader_of("t", 1).kill()
            publish(source, "t", range(400, 600))
            eventually(lambda: len({record.value for record in target.records("t")}) == 600)
        check_complete(target.records("t"), 600)

"""A compacted topic of a real broker, as an unmodified client sees it."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewTopic, ResourceType

from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition as Partition
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_01_fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from kafka_lite.record.record import Record
from kafka_lite.record.records import batches
from kafka_lite.testing.cluster import Cluster
from tests.support.compaction import all_batches, clean, contents
from tests.support.eventually import eventually
from tests.support.patience import patient_s

TOPIC = "compacted"
PARTITION = Partition(TOPIC, 0)
BROKER = {"log.cleaner.backoff.ms": "20", "log.cleaner.dedupe.buffer.size": "2000000", "log.cleaner.threads": "1"}
SMALL = {"segment.bytes": "20000", "min.cleanable.dirty.ratio": "0.01", "file.delete.delay.ms": "100"}
KEYS = 50
MESSAGES = 4_000


def create(cluster: Cluster, **config: str) -> AdminClient:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    topic = NewTopic(TOPIC, 1, 1, config={**SMALL, **{key.replace("_", "."): value for key, value in config.items()}})
    admin.create_topics([topic])[TOPIC].result(patient_s(60))
    return admin


def produce(cluster: Cluster, numbers: range, *, codec: str = "none", idempotent: bool = False) -> None:
    """Key n % KEYS, value n; the last message of every 7th key is a tombstone."""
    producer = Producer({
        "bootstrap.servers": cluster.bootstrap_servers, "compression.type": codec, "batch.num.messages": 20,
        "enable.idempotence": idempotent,
    })  # fmt: skip
    failed: list[KafkaError] = []

    def on_delivery(error: KafkaError | None, _: Message) -> None:
        if error is not None:
            failed.append(error)

    for n in numbers:
        is_tombstone = n >= numbers.stop - KEYS and n % KEYS % 7 == 0
        value = None if is_tombstone else b"%d" % n
        producer.produce(TOPIC, value, b"%d" % (n % KEYS), partition=0, on_delivery=on_delivery)
        producer.poll(0)
    assert producer.flush(patient_s(60)) == 0
    assert failed == []


def consume(cluster: Cluster) -> list[Message]:
    """Everything from beginning to end."""
    consumer = Consumer({
        "bootstrap.servers": cluster.bootstrap_servers, "group.id": "reader", "enable.auto.commit": False,
        "auto.offset.reset": "error", "enable.partition.eof": True,
    })  # fmt: skip
    consumer.assign([TopicPartition(TOPIC, 0, 0)])
    found: list[Message] = []
    try:
        while True:
            message = consumer.poll(patient_s(60))
            assert message is not None
            error = message.error()
            if error is not None:
                assert error.code() == KafkaError._PARTITION_EOF, error
                return found
            found.append(message)
    finally:
        consumer.close()


def first_dirty_offset(data_dir: Path) -> int:
    file = data_dir / "logs" / "cleaner-offset-checkpoint"
    lines = file.read_text().splitlines()[2:] if file.exists() else []
    return next((int(line.split()[2]) for line in lines if line.startswith(TOPIC)), 0)


def last_segment(data_dir: Path) -> int:
    return max(int(file.stem) for file in (data_dir / "logs" / f"{TOPIC}-0").glob("*.log"))


def must_be_compacted(messages: list[Message], total: int) -> None:
    """The newest value of every key is at its original offset, and little else is left."""
    offsets = [message.offset() for message in messages]
    assert offsets == sorted(set(offsets))
    newest = {message.key(): (message.offset(), message.value()) for message in messages}
    for n in range(total - KEYS, total):
        assert newest[b"%d" % (n % KEYS)] == (n, None if n % KEYS % 7 == 0 else b"%d" % n)
    assert len(messages) < total // 2


@pytest.mark.parametrize(
    ("message_format", "codec"), [("3.0", "none"), ("3.0", "zstd"), ("0.10.2", "lz4"), ("0.10.2", "none")]
)
def test_a_topic_is_compacted(tmp_path: Path, message_format: str, codec: str) -> None:
    with Cluster({**BROKER, "log.message.format.version": message_format}, tmp_path) as cluster:
        create(cluster, cleanup_policy="compact")
        produce(cluster, range(MESSAGES), codec=codec, idempotent=message_format == "3.0")
        eventually(lambda: first_dirty_offset(tmp_path) == last_segment(tmp_path) > 0)
        must_be_compacted(consume(cluster), MESSAGES)
    with Cluster({**BROKER, "log.message.format.version": message_format}, tmp_path) as cluster:
        must_be_compacted(consume(cluster), MESSAGES)
        produce(cluster, range(MESSAGES, 2 * MESSAGES), codec=codec)
        eventually(lambda: first_dirty_offset(tmp_path) == last_segment(tmp_path) > MESSAGES)
        must_be_compacted(consume(cluster), 2 * MESSAGES)


def test_messages_without_a_key_are_rejected(tmp_path: Path) -> None:
    with Cluster(BROKER, tmp_path) as cluster:
        create(cluster, cleanup_policy="compact")
        refused: list[KafkaError] = []
        producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
        producer.produce(TOPIC, b"v", partition=0, on_delivery=lambda error, _: refused.append(error))
        assert producer.flush(patient_s(60)) == 0
        assert [error.code() for error in refused] == [KafkaError.INVALID_RECORD]


def test_the_cleanup_policy_can_be_changed_to_compact_and_back(tmp_path: Path) -> None:
    with Cluster(BROKER, tmp_path) as cluster:
        admin = create(cluster, cleanup_policy="delete")
        produce(cluster, range(MESSAGES))
        assert len(consume(cluster)) == MESSAGES
        set_policy(admin, "compact")
        eventually(lambda: first_dirty_offset(tmp_path) == last_segment(tmp_path))
        must_be_compacted(consume(cluster), MESSAGES)
        set_policy(admin, "delete")
        produce(cluster, range(MESSAGES, 2 * MESSAGES))
        assert len(consume(cluster)) > MESSAGES


def set_policy(admin: AdminClient, policy: str) -> None:
    entry = ConfigEntry("cleanup.policy", policy, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, TOPIC, incremental_configs=[entry])
    admin.incremental_alter_configs([resource])[resource].result(patient_s(60))


def test_a_topic_is_deleted_and_recreated_while_the_cleaner_runs(tmp_path: Path) -> None:
    with Cluster(BROKER, tmp_path) as cluster:
        for round_number in range(3):
            admin = create(cluster, cleanup_policy="compact")
            produce(cluster, range(1_000 + round_number))
            admin.delete_topics([TOPIC], operation_timeout=30)[TOPIC].result(patient_s(60))
            assert first_dirty_offset(tmp_path) == 0
        create(cluster, cleanup_policy="compact")
        produce(cluster, range(MESSAGES))
        eventually(lambda: first_dirty_offset(tmp_path) == last_segment(tmp_path) > 0)
        must_be_compacted(consume(cluster), MESSAGES)


def test_conflicting_compaction_lags_are_rejected(tmp_path: Path) -> None:
    with Cluster(BROKER, tmp_path) as cluster, pytest.raises(KafkaException) as refused:
        create(cluster, cleanup_policy="compact", min_compaction_lag_ms="100", max_compaction_lag_ms="50")
    assert refused.value.args[0].code() == KafkaError.INVALID_CONFIG


@pytest.mark.parametrize("version", [0, 2, 3])
def test_an_old_consumer_gets_past_offsets_removed_by_compaction(tmp_path: Path, version: int) -> None:
    """It fetches the offset after its last message, and there may be no message up to the end of the segment."""
    overrides = {**BROKER, "log.cleaner.enable": "false"}
    with Cluster(overrides, tmp_path) as cluster:
        create(cluster, cleanup_policy="compact")
        log = cluster.server.log_manager.get_log(PARTITION)
        assert log is not None
        producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "linger.ms": 1_000})
        for keys, value in ((b"abc", b"1"), (b"bc", b"2")):  # one batch per message
            for key in keys:
                producer.produce(TOPIC, value, bytes([key]), partition=0)
            assert producer.flush(patient_s(60)) == 0
            log.roll()
        log.config.values["segment.bytes"] = log.config.segment_bytes = 1  # so that segments are not merged
        clean(log, MockTime())
        assert [(batch.base_offset, batch.last_offset) for batch in all_batches(log)] == [(0, 2), (3, 4)]
        assert contents(log) == [(0, b"a", b"1"), (3, b"b", b"2"), (4, b"c", b"2")]
        found, offset = [], 0
        with BlockingChannel("127.0.0.1", int(cluster.bootstrap_servers.rpartition(":")[2])) as channel:
            while offset < 5:
                records = fetch(channel, version, offset)
                assert records, f"a consumer at offset {offset} gets nothing, and never would"
                found += [(record.offset, record.key, record.value) for record in records]
                offset = records[-1].offset + 1
        assert found == contents(log)


def fetch(channel: BlockingChannel, version: int, offset: int) -> list[Record]:
    asked = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=10_000)
    request = FetchRequest(max_wait_ms=0, min_bytes=0, topics=[FetchTopic(topic=TOPIC, partitions=[asked])])
    answer = cast(FetchResponse, channel.exchange(request, version)).responses[0].partitions[0]
    assert answer.error_code == 0
    return [record for batch in batches(answer.records or b"") for record in batch.records() if record.offset >= offset]

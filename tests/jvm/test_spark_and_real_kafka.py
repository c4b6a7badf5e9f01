"""Our data source beside Spark's own connector, on topics of a real broker: the same rows, the same checkpoint."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType
from confluent_kafka.cimpl import NewTopic
from pyspark.sql import DataFrame, SparkSession

from bench.spark.spark_sources import CONNECTOR_JARS, beside_pyspark
from kafka_lite.spark.session import session
from tests.support.eventually import eventually
from tests.support.jvm import classpath
from tests.support.patience import patient_s
from tests.support.patient_clients import answer, flush
from tests.support.spark_jvm import SharedSession, end_jvm

pytestmark = [pytest.mark.jvm, pytest.mark.spark, pytest.mark.timeout(600)]

EPOCH_MS = 1_500_000_000_000
OURS, CONNECTOR = "kafka_lite", "kafka"
_names = itertools.count()


@pytest.fixture(scope="module")
def shared_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedSession]:
    config = {
        "spark.jars": ",".join(map(str, beside_pyspark(classpath(*CONNECTOR_JARS)))),
        "spark.sql.shuffle.partitions": "2",
    }
    end_jvm()  # it would lack the connector's jars
    log_file = tmp_path_factory.mktemp("spark") / "spark.log"
    with SharedSession(lambda: session("tests", log_file=log_file, config=config)) as shared:
        yield shared
    end_jvm()


@pytest.fixture
def spark(shared_session: SharedSession) -> SparkSession:
    return shared_session.get()


@pytest.fixture
def servers(real_kafka_3_9: str) -> str:
    return real_kafka_3_9


@pytest.fixture
def topic() -> str:
    return f"spark-{next(_names)}"


def create(servers: str, topic: str, **config: str) -> None:
    config = {name.replace("_", "."): value for name, value in {"retention_ms": "-1", **config}.items()}
    admin = AdminClient({"bootstrap.servers": servers})
    answer(admin.create_topics([NewTopic(topic, 1, 1, config=config)])[topic])


def stop_compaction(servers: str, topic: str) -> None:
    """Leave the log as it is: its retention is unlimited."""
    admin = AdminClient({"bootstrap.servers": servers})
    change = ConfigEntry("cleanup.policy", "delete", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[change])
    answer(admin.incremental_alter_configs([resource])[resource])


def produce(servers: str, topic: str, *values: bytes | None, **settings: str) -> None:
    producer = Producer(
        {"bootstrap.servers": servers, **{name.replace("_", "."): value for name, value in settings.items()}}
    )
    for number, value in enumerate(values):
        headers = [("a", b"1"), ("a", None), ("b", b"")] if number % 2 else None
        producer.produce(
            topic, value, b"k%d" % number if number % 3 else None, timestamp=EPOCH_MS + number, headers=headers
        )
    flush(producer)


def read(spark: SparkSession, source: str, servers: str, topic: str, **options: str) -> DataFrame:
    given = {"kafka.bootstrap.servers": servers, "subscribe": topic, "includeHeaders": "true", **options}
    return spark.read.format(source).options(**given).load()


def rows(spark: SparkSession, source: str, servers: str, topic: str, **options: str) -> list[dict[str, Any]]:
    frame = read(spark, source, servers, topic, **options).orderBy("partition", "offset")
    return [row.asDict(recursive=True) for row in frame.collect()]


def same_rows(spark: SparkSession, servers: str, topic: str, **options: str) -> list[dict[str, Any]]:
    """The rows, which are the same from either source."""
    ours = rows(spark, OURS, servers, topic, **options)
    assert ours == rows(spark, CONNECTOR, servers, topic, **options)
    return ours


@pytest.mark.parametrize("timestamp_type", ["CreateTime", "LogAppendTime"])
def test_every_column_is_the_same(spark: SparkSession, servers: str, topic: str, timestamp_type: str) -> None:
    create(servers, topic, message_timestamp_type=timestamp_type)
    produce(servers, topic, b"v", None, b"", b"\x00\xff", compression_type="zstd")
    produce(servers, topic, b"w", b"x")
    assert read(spark, OURS, servers, topic).schema == read(spark, CONNECTOR, servers, topic).schema
    found = same_rows(spark, servers, topic)
    assert [row["value"] for row in found] == [b"v", None, b"", b"\x00\xff", b"w", b"x"]
    assert found[1]["headers"] == [{"key": "a", "value": b"1"}, {"key": "a", "value": None}, {"key": "b", "value": b""}]
    assert found[0]["headers"] is None


def test_transactions(spark: SparkSession, servers: str, topic: str) -> None:
    create(servers, topic)
    producer = Producer({"bootstrap.servers": servers, "transactional.id": topic})
    producer.init_transactions(patient_s(60))
    for outcome in ("commit", "abort", "abort", "commit"):
        producer.begin_transaction()
        for number in range(3):
            producer.produce(topic, f"{outcome}-{number}".encode())
        flush(producer)
        produce(servers, topic, b"beside")
        getattr(producer, f"{outcome}_transaction")(patient_s(60))
    producer.begin_transaction()
    producer.produce(topic, b"open")
    flush(producer)

    committed = same_rows(spark, servers, topic, **{"kafka.isolation.level": "read_committed"})
    expected = [*(f"commit-{n}".encode() for n in range(3)), b"beside"]
    assert [row["value"] for row in committed] == [*expected, b"beside", b"beside", *expected]
    every = same_rows(spark, servers, topic)
    assert len(every) == 4 * 4 + 1
    assert max(row["offset"] for row in every) == 4 * 5  # four markers lie between
    # A task may begin in the middle of a transaction: the broker still says that it was aborted.
    split = read(spark, OURS, servers, topic, minPartitions="10", **{"kafka.isolation.level": "read_committed"})
    assert split.rdd.getNumPartitions() >= 9
    assert sorted(row.value for row in split.collect()) == sorted(row["value"] for row in committed)
    producer.abort_transaction(patient_s(60))


def test_a_compacted_log_with_holes(spark: SparkSession, servers: str, topic: str) -> None:
    compact = {
        "cleanup_policy": "compact",
        "segment_ms": "100",
        "min_cleanable_dirty_ratio": "0.01",
        "delete_retention_ms": "0",
    }
    create(servers, topic, **compact)
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 0})
    for number in range(60):
        producer.produce(topic, b"%d" % number if number % 10 else None, b"k%d" % (number % 7))
        flush(producer)

    def is_cleaned() -> bool:
        producer.produce(topic, b"new", b"last")  # rolls the segment
        flush(producer)
        return read(spark, OURS, servers, topic).count() < 40

    eventually(is_cleaned, "compaction", timeout_s=120)
    stop_compaction(servers, topic)  # otherwise, the cleaner may come again between two reads
    end = read(spark, OURS, servers, topic).groupBy().max("offset").collect()[0][0]
    until = f'{{"{topic}": {{"0": {end}}}}}'
    found = same_rows(spark, servers, topic, endingOffsets=until)
    assert {row["key"] for row in found} >= {b"k1", b"k3"}
    pieces = rows(spark, OURS, servers, topic, endingOffsets=until, maxRecordsPerPartition="7")
    assert pieces == rows(spark, OURS, servers, topic, endingOffsets=until)


@pytest.mark.parametrize(("first", "second"), [(CONNECTOR, OURS), (OURS, CONNECTOR)])
def test_a_stream_goes_on_with_the_other_source_from_the_same_checkpoint(
    spark: SparkSession, servers: str, topic: str, first: str, second: str, tmp_path: Path
) -> None:
    create(servers, topic)

    def run(source: str) -> None:
        options = {"kafka.bootstrap.servers": servers, "subscribe": topic, "startingOffsets": "earliest"}
        query = (
            spark.readStream.format(source).options(**options).load()
            .writeStream.format("parquet").option("path", str(tmp_path / "out"))
            .option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start()
        )  # fmt: skip
        try:
            assert query.awaitTermination(120)
        finally:
            query.stop()

    produce(servers, topic, b"a", b"b")
    run(first)
    produce(servers, topic, b"c")
    run(second)
    written = spark.read.parquet(str(tmp_path / "out")).orderBy("offset")
    assert [row.value for row in written.collect()] == [b"a", b"b", b"c"]

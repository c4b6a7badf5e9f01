"""The data source in a real Spark session against a real broker, both on this machine.

The broker is the in-process one. ``KAFKA_LITE_SPARK_TEST_BOOTSTRAP=host:port`` runs the same tests against any other,
such as Kafka itself.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions
from confluent_kafka.cimpl import NewTopic
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from kafka_lite.spark.session import session
from kafka_lite.testing.cluster import Cluster

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]

EPOCH_MS = 1_500_000_000_000
NOBODY = {"kafka.bootstrap.servers": "127.0.0.1:1"}
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    spark = session(
        "tests", log_file=tmp_path_factory.mktemp("spark") / "spark.log", config={"spark.sql.shuffle.partitions": "2"}
    )
    yield spark
    spark.stop()


@pytest.fixture(scope="module")
def bootstrap() -> Iterator[str]:
    if external := os.environ.get("KAFKA_LITE_SPARK_TEST_BOOTSTRAP"):
        yield external
        return
    with Cluster() as cluster:
        yield cluster.bootstrap_servers


@pytest.fixture(scope="module")
def admin(bootstrap: str) -> AdminClient:
    return AdminClient({"bootstrap.servers": bootstrap})


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    """A name of the test's own."""
    return "".join(letter if letter.isalnum() else "-" for letter in request.node.name)[:80]


Create = Callable[..., None]


@pytest.fixture
def create(admin: AdminClient) -> Iterator[Create]:
    """Creates topics, and deletes them after the test."""
    created: list[str] = []

    def create(topic: str, partitions: int = 1, **config: str) -> None:
        config = {name.replace("_", "."): value for name, value in {"retention_ms": "-1", **config}.items()}
        admin.create_topics([NewTopic(topic, partitions, 1, config=config)])[topic].result(30)
        created.append(topic)

    yield create
    for topic, future in (admin.delete_topics(created) if created else {}).items():
        assert future.exception(30) is None, topic


def produce(bootstrap: str, topic: str, count: int, first: int = 0, codec: str = "none", partition: int = 0) -> None:
    """Values ``v<first>`` and so on, a millisecond apart."""
    producer = Producer({"bootstrap.servers": bootstrap, "compression.type": codec})
    for number in range(first, first + count):
        producer.produce(topic, b"v%d" % number, b"k%d" % number, partition=partition, timestamp=EPOCH_MS + number)
    assert producer.flush(30) == 0


@pytest.fixture
def load(spark: SparkSession, bootstrap: str) -> Callable[..., DataFrame]:
    def load(topic: str | None = None, **options: str) -> DataFrame:
        given = {"kafka.bootstrap.servers": bootstrap, **({"subscribe": topic} if topic else {}), **options}
        return spark.read.format("kafka_lite").options(**given).load()

    return load


Load = Callable[..., DataFrame]


def values(frame: DataFrame) -> list[str]:
    rows = frame.select(F.col("value").cast("string").alias("v"), "topic", "partition", "offset").collect()
    return [row.v for row in sorted(rows, key=lambda row: (row.topic, row.partition, row.offset))]


def numbered(begin: int, end: int) -> list[str]:
    return [f"v{number}" for number in range(begin, end)]


def offsets(topic: str, *of_partitions: int) -> str:
    return json.dumps({topic: {str(number): offset for number, offset in enumerate(of_partitions)}})


# --- batch, reading ---


def test_every_codec_is_read_in_one_query(load: Load, create: Create, bootstrap: str) -> None:
    for codec in CODECS:
        create(f"codec-{codec}")
        produce(bootstrap, f"codec-{codec}", 300, codec=codec)
    frame = load(subscribePattern="codec-.*").groupBy("topic")
    counts = frame.agg(
        F.count("*").alias("n"), F.countDistinct("value").alias("d"), F.max("offset").alias("o")
    ).collect()
    assert {row.topic: (row.n, row.d, row.o) for row in counts} == {
        f"codec-{codec}": (300, 300, 299) for codec in CODECS
    }


def test_all_columns_of_a_record(load: Load, create: Create, bootstrap: str, topic: str) -> None:
    create(topic, 2)
    producer = Producer({"bootstrap.servers": bootstrap})
    producer.produce(topic, b"\x00\xff", b"k", partition=1, timestamp=EPOCH_MS + 7, headers=[("a", b"1"), ("a", None)])
    producer.produce(topic, None, None, partition=1, timestamp=EPOCH_MS)
    producer.flush(30)
    first, second = load(topic, includeHeaders="true").orderBy("offset").collect()
    instant = datetime.fromtimestamp(EPOCH_MS / 1000, UTC).replace(tzinfo=None)
    assert tuple(first)[:7] == (
        b"\x00\xff"[:0] or b"k",
        b"\x00\xff",
        topic,
        1,
        0,
        instant + timedelta(milliseconds=7),
        0,
    )
    assert [tuple(header) for header in first.headers] == [("a", b"1"), ("a", None)]
    assert tuple(second) == (None, None, topic, 1, 1, instant, 0, None)
    assert load(topic).columns == ["key", "value", "topic", "partition", "offset", "timestamp", "timestampType"]


def test_log_append_time(load: Load, create: Create, bootstrap: str, topic: str) -> None:
    create(topic, message_timestamp_type="LogAppendTime")
    produce(bootstrap, topic, 3)
    rows = load(topic).select("timestampType", F.col("timestamp").cast("double").alias("s")).collect()
    assert {row.timestampType for row in rows} == {1}
    assert all(row.s > EPOCH_MS / 1000 + 1e8 for row in rows)


def test_offsets_select_a_part(load: Load, create: Create, bootstrap: str, topic: str) -> None:
    create(topic, 2)
    produce(bootstrap, topic, 100)
    produce(bootstrap, topic, 50, first=100, partition=1)
    part = load(topic, startingOffsets=offsets(topic, 10, -2), endingOffsets=offsets(topic, 20, 3))
    assert values(part) == numbered(10, 20) + numbered(100, 103)
    assert values(load(topic, startingOffsets=offsets(topic, 98, 45))) == numbered(98, 100) + numbered(145, 150)
    assert values(load(assign=json.dumps({topic: [1]}), endingOffsets=json.dumps({topic: {"1": 2}}))) == [
        "v100",
        "v101",
    ]


def test_timestamps_select_a_part(load: Load, create: Create, bootstrap: str, topic: str) -> None:
    create(topic)
    produce(bootstrap, topic, 100)
    part = load(topic, startingTimestamp=str(EPOCH_MS + 40), endingTimestamp=str(EPOCH_MS + 45))
    assert values(part) == numbered(40, 45)
    by_partition = {"startingOffsetsByTimestamp": offsets(topic, EPOCH_MS + 97), "endingTimestamp": str(EPOCH_MS + 500)}
    assert values(load(topic, **by_partition)) == numbered(97, 100)
    beyond = {"startingTimestamp": str(EPOCH_MS + 500)}
    with pytest.raises(PySparkException, match="startingOffsetsByTimestampStrategy"):
        load(topic, **beyond).collect()
    assert load(topic, **beyond, startingOffsetsByTimestampStrategy="latest").collect() == []


def test_min_partitions_and_max_records_cut_the_work(load: Load, create: Create, bootstrap: str, topic: str) -> None:
    create(topic)
    produce(bootstrap, topic, 1000)
    four = load(topic, minPartitions="4")
    assert four.rdd.getNumPartitions() == 4
    assert values(four) == numbered(0, 1000)
    assert load(topic, maxRecordsPerPartition="300").rdd.getNumPartitions() == 4


def test_an_empty_topic_has_no_rows(load: Load, create: Create, topic: str) -> None:
    create(topic, 3)
    assert load(topic).collect() == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"subscribe": "there-is-no-such-topic", "fetchOffset.retryIntervalMs": "1"}, "not host the topic"),
        ({"subscribe": "t", "startingOfsets": "earliest"}, "did you mean 'startingOffsets'"),
        ({"subscribe": "t", "startingOffsets": "latest"}, "starting offset can't be latest"),
        ({"subscribe": "t", "fetchOffset.numRetries": "1", **NOBODY}, "no Kafka broker answers"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(load: Load, options: dict[str, str], message: str) -> None:
    with pytest.raises(PySparkException, match=message):
        load(**options).collect()


def test_records_that_are_gone(load: Load, create: Create, bootstrap: str, admin: AdminClient, topic: str) -> None:
    create(topic)
    produce(bootstrap, topic, 100)
    admin.delete_records([TopicPartition(topic, 0, 60)])[TopicPartition(topic, 0, 60)].result(30)
    assert values(load(topic)) == numbered(60, 100)
    old = {"startingOffsets": offsets(topic, 50)}
    with pytest.raises(PySparkException, match=r"offsets from 50 to 60 .* are gone"):
        load(topic, **old).collect()
    assert values(load(topic, **old, failOnDataLoss="false")) == numbered(60, 100)
    beyond = {"endingOffsets": offsets(topic, 200)}
    with pytest.raises(PySparkException, match=r"ending offset 200 .* lies beyond its end 100"):
        load(topic, **beyond).collect()
    assert values(load(topic, **beyond, failOnDataLoss="false")) == numbered(60, 100)


# --- batch, writing ---


def test_what_is_written_is_read_back(
    spark: SparkSession, load: Load, create: Create, bootstrap: str, topic: str
) -> None:
    create(topic, 3)
    rows = spark.range(1000).selectExpr(
        "CAST(id AS string) AS key",
        "IF(id = 5, NULL, CAST(concat('v', id) AS binary)) AS value",
        "IF(id < 10, 2, NULL) AS partition",
        "timestamp_millis(1500000000000 + id) AS timestamp",
        "IF(id = 7, array(struct('h' AS key, CAST('x' AS binary) AS value)), NULL) AS headers",
    )
    options = {"kafka.bootstrap.servers": bootstrap, "kafka.compression.type": "zstd"}
    rows.write.format("kafka_lite").mode("append").options(**options, topic=topic).save()
    read = (
        load(topic, includeHeaders="true")
        .withColumn("id", F.col("key").cast("string").cast("int"))
        .orderBy("id")
        .collect()
    )
    assert [row.id for row in read] == list(range(1000))
    assert {row.partition for row in read[:10]} == {2}
    assert {row.partition for row in read[10:]} == {0, 1, 2}
    assert (read[5].value, read[6].value) == (None, b"v6")
    assert (read[6].headers, [tuple(header) for header in read[7].headers]) == (None, [("h", b"x")])
    assert read[8].timestamp == datetime.fromtimestamp((EPOCH_MS + 8) / 1000, UTC).replace(tzinfo=None)


def test_each_row_may_name_its_topic(
    spark: SparkSession, load: Load, create: Create, bootstrap: str, topic: str
) -> None:
    for name in ("even", "odd"):
        create(f"{topic}-{name}")
    rows = spark.range(10).selectExpr(
        f"concat('{topic}-', IF(id % 2 = 0, 'even', 'odd')) AS topic", "concat('v', id) AS value"
    )
    rows.coalesce(1).write.format("kafka_lite").mode("append").option("kafka.bootstrap.servers", bootstrap).save()
    assert values(load(f"{topic}-even")) == ["v0", "v2", "v4", "v6", "v8"]
    assert values(load(f"{topic}-odd")) == ["v1", "v3", "v5", "v7", "v9"]


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (["'v' AS value"], {}, "topic option required"),
        (["'k' AS key"], {"topic": "t"}, "Required attribute 'value' not found"),
        (["1 AS value"], {"topic": "t"}, "value attribute unsupported type int"),
        (["'v' AS value", "'0' AS partition"], {"topic": "t"}, "partition attribute unsupported type string"),
        (["'v' AS value", "CAST(NULL AS string) AS topic"], {}, "null topic present in the data"),
        (["'v' AS value", "-1 AS partition"], {"topic": "t"}, "partition number should not be negative"),
        (["'v' AS value"], {"topic": "t", "kafka.lingre.ms": "1"}, "lingre.ms"),
        (["'v' AS value"], {"topic": "t", "kafka.acks": "some"}, "acks"),
        (["'v' AS value"], {"topic": "t", **NOBODY, "kafka.delivery.timeout.ms": "300"}, "timed out"),
    ],
)  # fmt: skip
def test_what_cannot_be_written_is_refused(
    spark: SparkSession, bootstrap: str, columns: list[str], options: dict[str, str], message: str
) -> None:
    writer = spark.range(1).selectExpr(*columns).write.format("kafka_lite").mode("append")
    with pytest.raises(PySparkException, match=message):
        writer.options(**{"kafka.bootstrap.servers": bootstrap, **options}).save()


# --- streaming ---


class Stream:
    """A query over a topic whose checkpoint and output outlive its runs."""

    def __init__(self, spark: SparkSession, folder: Path, bootstrap: str, topic: str) -> None:
        self._spark = spark
        self._folder = folder
        self._options = {"kafka.bootstrap.servers": bootstrap, "subscribe": topic}

    def run(self, **options: str) -> list[dict[str, Any]]:
        """Everything that is there now; returns the progress of each batch that read something."""
        frame = self._spark.readStream.format("kafka_lite").options(**self._options, **options).load()
        query = (
            frame.writeStream.format("parquet")
            .option("path", str(self._folder / "out"))
            .option("checkpointLocation", str(self._folder / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(120)
        return [progress for progress in query.recentProgress if progress["numInputRows"]]

    def values(self) -> list[str]:
        return values(self._spark.read.parquet(str(self._folder / "out")))

    def checkpoint(self) -> dict[str, dict[str, int]]:
        """The offsets that the newest planned batch ends at, as Spark keeps them."""
        newest = max((self._folder / "checkpoint" / "offsets").glob("[0-9]*"), key=lambda path: int(path.name))
        offsets: dict[str, dict[str, int]] = json.loads(newest.read_text().splitlines()[2])
        return offsets


@pytest.fixture
def stream(spark: SparkSession, tmp_path: Path, bootstrap: str, topic: str) -> Stream:
    return Stream(spark, tmp_path, bootstrap, topic)


def test_a_stream_goes_on_from_its_checkpoint_and_finds_new_partitions(
    stream: Stream, create: Create, admin: AdminClient, bootstrap: str, topic: str
) -> None:
    create(topic, 1)
    produce(bootstrap, topic, 100)
    batches = stream.run(startingOffsets="earliest", maxOffsetsPerTrigger="40")
    assert [batch["numInputRows"] for batch in batches] == [40, 40, 20]
    assert stream.checkpoint() == {topic: {"0": 100}}
    assert stream.values() == numbered(0, 100)

    admin.create_partitions([NewPartitions(topic, 2)])[topic].result(30)
    produce(bootstrap, topic, 30, first=100)
    produce(bootstrap, topic, 50, first=130, partition=1)
    stream.run(startingOffsets="latest")  # is for queries without a checkpoint
    assert stream.checkpoint() == {topic: {"0": 130, "1": 50}}
    assert stream.values() == numbered(0, 180)

    assert stream.run() == []


def test_a_stream_whose_records_are_gone(
    stream: Stream, create: Create, admin: AdminClient, bootstrap: str, topic: str
) -> None:
    create(topic, 1)
    produce(bootstrap, topic, 10)
    stream.run(startingOffsets="earliest")
    produce(bootstrap, topic, 90, first=10)
    admin.delete_records([TopicPartition(topic, 0, 60)])[TopicPartition(topic, 0, 60)].result(30)
    with pytest.raises(PySparkException, match=r"offsets from 10 to 60 .* are gone"):
        stream.run()
    stream.run(failOnDataLoss="false")
    assert stream.values() == numbered(0, 10) + numbered(60, 100)


def test_a_stream_that_begins_now_writes_to_another_topic(
    spark: SparkSession, load: Load, create: Create, bootstrap: str, topic: str, tmp_path: Path
) -> None:
    create(topic)
    create(f"{topic}-out")
    produce(bootstrap, topic, 5)
    servers = {"kafka.bootstrap.servers": bootstrap}
    frame = spark.readStream.format("kafka_lite").options(**servers, subscribe=topic).load()
    query = (
        frame.selectExpr("key", "upper(CAST(value AS string)) AS value")
        .writeStream.format("kafka_lite")
        .options(**servers, topic=f"{topic}-out", checkpointLocation=str(tmp_path))
        .start()
    )
    try:
        query.processAllAvailable()
        produce(bootstrap, topic, 5, first=5)
        query.processAllAvailable()
        assert json.loads(query.lastProgress["sources"][0]["endOffset"]) == {topic: {"0": 10}}
    finally:
        query.stop()
    assert values(load(f"{topic}-out")) == ["V5", "V6", "V7", "V8", "V9"]

"""The data source in a real Spark session with a real broker, both on this machine.

The broker runs in this process. ``KAFKA_LITE_SPARK_TEST_BOOTSTRAP=host:port`` runs the same tests with any other, such
as Kafka itself.
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

from kafka_lite.common.topic_partition import TopicPartition as Partition
from kafka_lite.spark.progress_metrics import offsets_behind_latest, progress_metrics
from kafka_lite.spark.session import session
from kafka_lite.testing.cluster import Cluster
from tests.support.patience import patient_s
from tests.support.spark_jvm import SharedSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]

EPOCH_MS = 1_500_000_000_000
NOBODY = {"kafka.bootstrap.servers": "127.0.0.1:1"}
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


@pytest.fixture(scope="module")
def shared_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedSession]:
    log_file = tmp_path_factory.mktemp("spark") / "spark.log"
    config = {"spark.sql.shuffle.partitions": "2"}
    with SharedSession(lambda: session("tests", log_file=log_file, config=config)) as shared:
        yield shared


@pytest.fixture
def spark(shared_session: SharedSession) -> SparkSession:
    return shared_session.get()


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
    """A topic name for one test."""
    return "".join(letter if letter.isalnum() else "-" for letter in request.node.name)[:80]


Create = Callable[..., None]


@pytest.fixture
def create(admin: AdminClient) -> Iterator[Create]:
    """Creates topics, and deletes them after the test."""
    created: list[str] = []

    def create(topic: str, partitions: int = 1, **config: str) -> None:
        config = {name.replace("_", "."): value for name, value in {"retention_ms": "-1", **config}.items()}
        admin.create_topics([NewTopic(topic, partitions, 1, config=config)])[topic].result(patient_s(30))
        created.append(topic)

    yield create
    for topic, future in (admin.delete_topics(created) if created else {}).items():
        assert future.exception(patient_s(30)) is None, topic


def produce(bootstrap: str, topic: str, count: int, first: int = 0, codec: str = "none", partition: int = 0) -> None:
    """Values ``v<first>`` and so on, a millisecond apart."""
    producer = Producer({"bootstrap.servers": bootstrap, "compression.type": codec})
    for number in range(first, first + count):
        producer.produce(topic, b"v%d" % number, b"k%d" % number, partition=partition, timestamp=EPOCH_MS + number)
    assert producer.flush(patient_s(30)) == 0


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


@pytest.mark.soak
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
    producer.flush(patient_s(30))
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


@pytest.mark.soak
def test_log_append_time_is_the_timestamp_column(load: Load, create: Create, bootstrap: str, topic: str) -> None:
    create(topic, message_timestamp_type="LogAppendTime")
    produce(bootstrap, topic, 3)
    rows = load(topic).select("timestampType", F.col("timestamp").cast("double").alias("s")).collect()
    assert {row.timestampType for row in rows} == {1}
    assert all(row.s > EPOCH_MS / 1000 + 1e8 for row in rows)


def test_offsets_select_a_range(load: Load, create: Create, bootstrap: str, topic: str) -> None:
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


@pytest.mark.soak
def test_timestamps_select_a_range(load: Load, create: Create, bootstrap: str, topic: str) -> None:
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


@pytest.mark.soak
def test_min_partitions_and_max_records_split_the_work(load: Load, create: Create, bootstrap: str, topic: str) -> None:
    create(topic)
    produce(bootstrap, topic, 1000)
    four = load(topic, minPartitions="4")
    assert four.rdd.getNumPartitions() == 4
    assert values(four) == numbered(0, 1000)
    assert load(topic, maxRecordsPerPartition="300").rdd.getNumPartitions() == 4


@pytest.mark.soak
def test_max_bytes_cuts_the_work_by_the_size_of_the_log(load: Load, create: Create, bootstrap: str, topic: str) -> None:
    create(topic, 2)
    produce(bootstrap, topic, 1000)
    produce(bootstrap, topic, 10, first=1000, partition=1)
    whole = load(topic, maxBytesPerPartition=str(1 << 20))
    assert whole.rdd.getNumPartitions() == 2
    cut = load(topic, maxBytesPerPartition="4000")
    assert 5 < cut.rdd.getNumPartitions() < 40  # some 10 to 90 bytes a record, as the batches came out
    assert values(cut) == numbered(0, 1010)


def test_an_empty_topic_has_no_rows(load: Load, create: Create, topic: str) -> None:
    create(topic, 3)
    assert load(topic).collect() == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"subscribe": "there-is-no-such-topic", "fetchOffset.retryIntervalMs": "1"}, "not host the topic"),
        ({"subscribe": "t", "startingOfsets": "earliest"}, "did you mean 'startingOffsets'"),
        ({"subscribe": "t", "startingOffsets": "latest"}, "starting offset can't be latest"),
        ({"subscribe": "t", "fetchOffset.numRetries": "1", **NOBODY}, "no Kafka broker responds"),
    ],
)  # fmt: skip
def test_errors_are_explained(load: Load, options: dict[str, str], message: str) -> None:
    with pytest.raises(PySparkException, match=message):
        load(**options).collect()


@pytest.mark.soak
def test_deleted_records_fail_the_query_or_are_skipped(
    load: Load, create: Create, bootstrap: str, admin: AdminClient, topic: str
) -> None:
    create(topic)
    produce(bootstrap, topic, 100)
    admin.delete_records([TopicPartition(topic, 0, 60)])[TopicPartition(topic, 0, 60)].result(patient_s(30))
    assert values(load(topic)) == numbered(60, 100)
    old = {"startingOffsets": offsets(topic, 50)}
    with pytest.raises(PySparkException, match=r"offsets from 50 to 60 .* are no longer available"):
        load(topic, **old).collect()
    assert values(load(topic, **old, failOnDataLoss="false")) == numbered(60, 100)
    beyond = {"endingOffsets": offsets(topic, 200)}
    with pytest.raises(PySparkException, match=r"ending offset 200 .* is beyond its end 100"):
        load(topic, **beyond).collect()
    assert values(load(topic, **beyond, failOnDataLoss="false")) == numbered(60, 100)


# --- batch, writing ---


def test_written_rows_are_read_back(
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


@pytest.mark.soak
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
        (["'v' AS value", "TIMESTAMP '1970-01-01 00:00:00Z' AS timestamp"], {"topic": "t"}, "current time.*value='v'"),
        (["'v' AS value", "CAST('NaN' AS double) AS timestamp"], {"topic": "t"}, "not a time.*timestamp=nan"),
        (["'v' AS value"], {"topic": "t", "kafka.lingre.ms": "1"}, "lingre.ms"),
        (["'v' AS value"], {"topic": "t", "kafka.acks": "some"}, "acks"),
        (["'v' AS value"], {"topic": "t", **NOBODY, "kafka.delivery.timeout.ms": "300"}, "timed out"),
    ],
)  # fmt: skip
def test_invalid_rows_are_rejected(
    spark: SparkSession, bootstrap: str, columns: list[str], options: dict[str, str], message: str
) -> None:
    writer = spark.range(1).selectExpr(*columns).write.format("kafka_lite").mode("append")
    with pytest.raises(PySparkException, match=message):
        writer.options(**{"kafka.bootstrap.servers": bootstrap, **options}).save()


# --- streaming ---


class Stream:
    """A query over a topic; its checkpoint and output outlive its runs."""

    def __init__(self, spark: SparkSession, folder: Path, bootstrap: str, topic: str) -> None:
        self._spark = spark
        self._folder = folder
        self._options = {"kafka.bootstrap.servers": bootstrap, "subscribe": topic}

    def run(self, **options: str) -> list[dict[str, Any]]:
        """Process everything available; returns the progress of each batch that read something."""
        frame = self._spark.readStream.format("kafka_lite").options(**self._options, **options).load()
        query = (
            frame.writeStream.format("parquet")
            .option("path", str(self._folder / "out"))
            .option("checkpointLocation", str(self._folder / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        try:
            assert query.awaitTermination(120)
        finally:
            query.stop()
        return [progress for progress in query.recentProgress if progress["numInputRows"]]

    def forget_last_batch(self) -> None:
        """As if the driver had died when the last batch was planned: the query and its sink know nothing of its end."""
        for log in (self._folder / "checkpoint" / "commits", self._folder / "out" / "_spark_metadata"):
            newest = max(log.glob("[0-9]*"), key=lambda path: int(path.name))
            newest.with_name(f".{newest.name}.crc").unlink()
            newest.unlink()

    def values(self) -> list[str]:
        return values(self._spark.read.parquet(str(self._folder / "out")))

    def checkpoint(self) -> dict[str, dict[str, int]]:
        """The end offsets of the newest planned batch, in Spark's format."""
        newest = max((self._folder / "checkpoint" / "offsets").glob("[0-9]*"), key=lambda path: int(path.name))
        offsets: dict[str, dict[str, int]] = json.loads(newest.read_text().splitlines()[2])
        return offsets


@pytest.fixture
def stream(spark: SparkSession, tmp_path: Path, bootstrap: str, topic: str) -> Stream:
    return Stream(spark, tmp_path, bootstrap, topic)


@pytest.mark.soak
def test_a_stream_resumes_from_its_checkpoint_and_finds_new_partitions(
    stream: Stream, create: Create, admin: AdminClient, bootstrap: str, topic: str
) -> None:
    create(topic, 1)
    produce(bootstrap, topic, 100)
    batches = stream.run(startingOffsets="earliest", maxOffsetsPerTrigger="40")
    assert [batch["numInputRows"] for batch in batches] == [40, 40, 20]
    assert stream.checkpoint() == {topic: {"0": 100}}
    assert stream.values() == numbered(0, 100)

    admin.create_partitions([NewPartitions(topic, 2)])[topic].result(patient_s(30))
    produce(bootstrap, topic, 30, first=100)
    produce(bootstrap, topic, 50, first=130, partition=1)
    stream.run(startingOffsets="latest")  # applies only to queries without a checkpoint
    assert stream.checkpoint() == {topic: {"0": 130, "1": 50}}
    assert stream.values() == numbered(0, 180)

    assert stream.run() == []


@pytest.mark.soak
def test_a_stream_whose_records_were_deleted_fails_unless_data_loss_is_accepted(
    stream: Stream, create: Create, admin: AdminClient, bootstrap: str, topic: str
) -> None:
    create(topic, 1)
    produce(bootstrap, topic, 10)
    stream.run(startingOffsets="earliest")
    produce(bootstrap, topic, 90, first=10)
    admin.delete_records([TopicPartition(topic, 0, 60)])[TopicPartition(topic, 0, 60)].result(patient_s(30))
    with pytest.raises(PySparkException, match=r"offsets from 10 to 60 .* are no longer available"):
        stream.run()
    stream.run(failOnDataLoss="false")
    assert stream.values() == numbered(0, 10) + numbered(60, 100)


@pytest.mark.soak
def test_a_batch_that_was_not_finished_is_repeated_with_the_same_offsets(
    stream: Stream, create: Create, bootstrap: str, topic: str
) -> None:
    create(topic, 1)
    produce(bootstrap, topic, 20)
    stream.run(startingOffsets="earliest")
    produce(bootstrap, topic, 10, first=20)
    stream.run()
    stream.forget_last_batch()
    produce(bootstrap, topic, 5, first=30)
    batches = stream.run()
    assert [(batch["batchId"], batch["numInputRows"]) for batch in batches] == [(1, 10), (2, 5)]
    assert stream.values() == numbered(0, 35)


@pytest.mark.soak
def test_a_stream_whose_topic_is_gone(
    stream: Stream, create: Create, admin: AdminClient, bootstrap: str, topic: str
) -> None:
    create(topic, 1)
    produce(bootstrap, topic, 10)
    stream.run(startingOffsets="earliest")
    admin.delete_topics([topic])[topic].result(patient_s(30))
    with pytest.raises(PySparkException, match=f"{topic}-0 no longer exist"):
        stream.run()
    stream.run(failOnDataLoss="false")
    assert stream.checkpoint() == {}
    admin.create_topics([NewTopic(topic, 1, 1, config={"retention.ms": "-1"})])[topic].result(patient_s(30))
    produce(bootstrap, topic, 3, first=100)
    stream.run()  # to it, the partition is a new one
    assert stream.checkpoint() == {topic: {"0": 3}}
    assert sorted(stream.values()) == sorted(numbered(0, 10) + numbered(100, 103))


@pytest.mark.soak
def test_a_stream_whose_topic_was_deleted_and_created_again(
    stream: Stream, create: Create, admin: AdminClient, bootstrap: str, topic: str
) -> None:
    create(topic, 1)
    produce(bootstrap, topic, 10)
    stream.run(startingOffsets="earliest")
    admin.delete_topics([topic])[topic].result(patient_s(30))
    admin.create_topics([NewTopic(topic, 1, 1, config={"retention.ms": "-1"})])[topic].result(patient_s(30))
    produce(bootstrap, topic, 3, first=100)
    with pytest.raises(PySparkException, match=f"the offset of {topic}-0 went back from 10 to 3"):
        stream.run()
    stream.run(failOnDataLoss="false")
    assert stream.checkpoint() == {topic: {"0": 3}}
    produce(bootstrap, topic, 2, first=103)
    stream.run()
    assert sorted(stream.values()) == sorted(numbered(0, 10) + numbered(103, 105))


@pytest.mark.soak
def test_the_progress_tells_how_far_a_stream_is_behind(
    stream: Stream, create: Create, bootstrap: str, topic: str
) -> None:
    create(topic, 2)
    produce(bootstrap, topic, 30)
    produce(bootstrap, topic, 10, partition=1)
    first, second = stream.run(startingOffsets="earliest", maxOffsetsPerTrigger="20")
    assert offsets_behind_latest(first) == {Partition(topic, 0): 15, Partition(topic, 1): 5}
    assert progress_metrics(first) == {
        "minOffsetsBehindLatest": "5",
        "maxOffsetsBehindLatest": "15",
        "avgOffsetsBehindLatest": "10.0",
    }
    assert set(progress_metrics(second).values()) == {"0", "0.0"}


@pytest.mark.soak
def test_a_stream_that_starts_at_the_latest_offset_writes_to_another_topic(
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


# --- transactions ---


@pytest.mark.soak
def test_read_committed_hides_aborted_and_open_transactions_from_queries_and_streams(
    spark: SparkSession, load: Load, create: Create, bootstrap: str, topic: str, tmp_path: Path
) -> None:
    create(topic)
    patient = {"transaction.timeout.ms": 900_000}  # the broker would abort the open transaction of a slow test
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": topic, **patient})
    producer.init_transactions(60)

    def begin(*sent: bytes) -> None:
        producer.begin_transaction()
        for value in sent:
            producer.produce(topic, value)
        producer.flush(patient_s(60))

    begin(b"v0", b"v1")
    producer.commit_transaction(60)
    begin(b"aborted")
    producer.abort_transaction(60)
    begin(b"v2")
    produce(bootstrap, topic, 1, first=3)  # behind the open transaction, and in none

    committed = {"kafka.isolation.level": "read_committed"}
    source = {"kafka.bootstrap.servers": bootstrap, "subscribe": topic, "startingOffsets": "earliest", **committed}
    seen: list[str] = []
    query = (
        spark.readStream.format("kafka_lite").options(**source).load()
        .writeStream.foreachBatch(lambda rows, _: seen.extend(values(rows)))
        .option("checkpointLocation", str(tmp_path)).start()
    )  # fmt: skip
    try:
        query.processAllAvailable()
        assert seen == values(load(topic, **committed)) == numbered(0, 2)
        assert values(load(topic)) == ["v0", "v1", "aborted", "v2", "v3"]
        producer.commit_transaction(60)
        query.processAllAvailable()
        assert seen == values(load(topic, **committed)) == numbered(0, 4)
    finally:
        query.stop()

from __future__ import annotations

import pickle

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.spark.offsets import Extreme, GlobalTimestamp, SpecificOffsets, SpecificTimestamps
from kafka_lite.spark.options import (
    AssignStrategy,
    SubscribePatternStrategy,
    SubscribeStrategy,
    batch_options,
    includes_headers,
    parse_time_ms,
    stream_options,
    write_options,
)

BASE = {"kafka.bootstrap.servers": "a:1,b:2", "subscribe": "t"}
T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
SERVERS = {"kafka.bootstrap.servers": "a:1"}


def test_a_batch_query_reads_from_earliest_to_latest_and_fails_on_data_loss() -> None:
    options = batch_options(BASE)
    assert options.strategy == SubscribeStrategy(("t",))
    assert (options.starting, options.ending) == (Extreme.EARLIEST, Extreme.LATEST)
    assert options.fail_on_data_loss
    assert not options.include_headers
    assert options.min_partitions is None
    assert options.consumer["bootstrap.servers"] == ["a:1", "b:2"]
    assert options.consumer["isolation.level"] == "read_uncommitted"
    assert pickle.loads(pickle.dumps(options)) == options


def test_a_stream_starts_at_the_latest_offsets() -> None:
    options = stream_options(BASE)
    assert options.starting is Extreme.LATEST
    assert options.max_trigger_delay_ms == 15 * 60_000


def test_option_names_are_case_insensitive() -> None:
    options = batch_options({"KAFKA.Bootstrap.Servers": "a:1", "SUBSCRIBE": "t", "FAILONDATALOSS": "FALSE"})
    assert not options.fail_on_data_loss
    assert includes_headers({"INCLUDEHEADERS": "True"})
    assert not includes_headers({})


@pytest.mark.parametrize(
    ("given", "strategy"),
    [
        ({"subscribe": " a , b,,a "}, SubscribeStrategy(("a", "b"))),
        ({"subscribePattern": " a.*|b "}, SubscribePatternStrategy("a.*|b")),
        (
            {"assign": '{"a":[0,2],"b":[1]}'},
            AssignStrategy(frozenset({TopicPartition("a", 0), TopicPartition("a", 2), TopicPartition("b", 1)})),
        ),
    ],
)
def test_options_that_select_topics_and_partitions(given: dict[str, str], strategy: object) -> None:
    assert batch_options(SERVERS | given).strategy == strategy


@pytest.mark.parametrize(
    ("given", "starting"),
    [
        ({"startingOffsets": "Earliest"}, Extreme.EARLIEST),
        ({"startingOffsets": ' {"t":{"0":23,"1":-2}} '}, SpecificOffsets({T0: 23, T1: -2})),
        ({"startingTimestamp": "5"}, GlobalTimestamp(5)),
        ({"startingOffsetsByTimestamp": '{"t":{"0":7}}'}, SpecificTimestamps({T0: 7})),
        # Spark's order of preference.
        ({"startingTimestamp": "5", "startingOffsetsByTimestamp": '{"t":{"0":7}}'}, GlobalTimestamp(5)),
        ({"startingOffsets": "latest", "startingOffsetsByTimestamp": '{"t":{"0":7}}'}, SpecificTimestamps({T0: 7})),
    ],
)  # fmt: skip
def test_options_that_select_offsets(given: dict[str, str], starting: object) -> None:
    assert batch_options(BASE | given).starting == starting
    assert stream_options(BASE | given).starting == starting


@pytest.mark.parametrize(
    "given",
    [
        {"startingOffsets": '{"t":{"0":5}}', "endingOffsets": '{"t":{"0":5}}'},
        {"startingOffsets": '{"t":{"0":5}}', "endingOffsets": '{"t":{"0":-1}}'},
        {"startingTimestamp": "5", "endingTimestamp": "5"},
    ],
)
def test_an_end_at_the_start_or_at_latest_is_not_before_the_start(given: dict[str, str]) -> None:
    batch_options(BASE | given)


def test_the_least_of_a_trigger_can_equal_the_most() -> None:
    options = stream_options(BASE | {"minOffsetsPerTrigger": "5", "maxOffsetsPerTrigger": "5"})
    assert (options.min_offsets_per_trigger, options.max_offsets_per_trigger) == (5, 5)


BATCH_REFUSALS = [
    ({"endingOffsetsByTimestamp": '{"t":{"0":-1}}'}, "the timestamp -1 is before 1970"),
    ({"endingTimestamp": "-86400000"}, "the timestamp -86400000 is before 1970"),
    ({"startingOffsets": "latest"}, "starting offset can't be latest for batch"),
    ({"startingOffsets": '{"t":{"0":-1}}'}, "starting offset can't be latest for batch"),
    ({"endingOffsets": "earliest"}, "ending offset can't be earliest for batch"),
    ({"endingOffsets": '{"t":{"0":-2}}'}, "ending offset can't be earliest for batch"),
    (
        {"startingOffsets": '{"t":{"0":5}}', "endingOffsets": '{"t":{"0":4}}'},
        "t-0 is beyond its ending offset 4",
    ),
    ({"startingOffsets": '{"t":{"0":5}}', "endingOffsets": '{"t":{"1":9}}'}, "must name the same partitions"),
    ({"startingTimestamp": "5", "endingTimestamp": "4"}, "timestamp 5 is after"),
    ({"maxOffsetsPerTrigger": "4"}, "a batch query does not support it"),
]
STREAM_REFUSALS = [
    ({"endingOffsets": "latest"}, "not valid in streaming"),
    ({"endingTimestamp": "4"}, "not valid in streaming"),
    ({"endingOffsetsByTimestamp": '{"t":{"0":4}}'}, "not valid in streaming"),
    ({"minOffsetsPerTrigger": "5", "maxOffsetsPerTrigger": "4"}, r"\(5\) is higher than maxOffsetsPerTrigger \(4\)"),
    ({"maxTriggerDelay": "a while"}, "maxTriggerDelay"),
]
REFUSALS = [
    ({"assign": '{"t":[0]}'}, "Only one of the following options must be specified"),
    ({"startingOffsets": "soon"}, "Expected e.g."),
    ({"startingOffsets": '{"t":{"0":-3}}'}, "Expected e.g."),
    ({"startingOffsets": '{"t":{"zero":1}}'}, "Expected e.g."),
    ({"startingOffsets": '{"t":[1]}'}, "Expected e.g."),
    ({"startingOffsets": '{"t":{"0":true}}'}, "Expected e.g."),
    ({"startingTimestamp": "yesterday"}, "startingTimestamp"),
    ({"startingTimestamp": "-1"}, "the timestamp -1 is before 1970.*set startingOffsets"),
    ({"startingOffsetsByTimestamp": '{"t":{"0":-2}}'}, "the timestamp -2 is before 1970"),
    ({"startingOffsetsByTimestampStrategy": "hope"}, "error, latest"),
    ({"failOnDataLoss": "perhaps"}, "either true or false"),
    ({"minPartitions": "0"}, "at least 1"),
    ({"minPartitions": "many"}, "minPartitions"),
    ({"maxRecordsPerPartition": "0"}, "at least 1"),
    ({"startingOfsets": "earliest"}, "did you mean 'startingOffsets'"),
    ({"bootstrap.servers": "a:1"}, "did you mean 'kafka.bootstrap.servers'"),
    ({"colour": "blue"}, "unknown option 'colour' for kafka_lite$"),
    ({"kafka.auto.offset.reset": "earliest"}, "startingOffsets"),
    ({"kafka.key.deserializer": "x"}, "not supported"),
    ({"kafka.value.deserializer": "x"}, "not supported"),
    ({"kafka.enable.auto.commit": "true"}, "not supported"),
    ({"kafka.interceptor.classes": "x"}, "not supported"),
    ({"kafka.security.protocol": "TLS"}, "SASL_SSL"),
    ({"kafka.isolation.level": "serializable"}, "read_committed"),
    ({"kafka.max.poll.records": "7"}, "'kafka.max.poll.records' is not supported"),
    ({"kafka.fetch.max.wait.ms": "soon"}, "fetch.max.wait.ms"),
]


@pytest.mark.parametrize(("given", "message"), REFUSALS + BATCH_REFUSALS)
def test_invalid_batch_options_are_rejected(given: dict[str, str], message: str) -> None:
    with pytest.raises(KafkaError, match=message):
        batch_options(BASE | given)


@pytest.mark.parametrize(("given", "message"), REFUSALS + STREAM_REFUSALS)
def test_invalid_stream_options_are_rejected(given: dict[str, str], message: str) -> None:
    with pytest.raises(KafkaError, match=message):
        stream_options(BASE | given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (SERVERS, "One of the following options must be specified"),
        ({"subscribe": "t"}, "'kafka.bootstrap.servers' must be specified"),
        (SERVERS | {"subscribe": " , "}, "nothing to read"),
        (SERVERS | {"subscribePattern": "("}, "not a valid regular expression"),
        (SERVERS | {"subscribePattern": "  "}, "nothing to read"),
        (SERVERS | {"assign": "t"}, "Expected e.g."),
        (SERVERS | {"assign": "{}"}, "nothing to read"),
        (SERVERS | {"assign": '{"t":["0"]}'}, "Expected e.g."),
    ],
)
def test_missing_options_are_reported(given: dict[str, str], message: str) -> None:
    with pytest.raises(KafkaError, match=message):
        batch_options(given)


def test_options_of_spark_itself_are_ignored() -> None:
    assert stream_options(BASE | {"checkpointLocation": "/x", "queryName": "q"}).strategy == SubscribeStrategy(("t",))


@pytest.mark.parametrize(
    ("text", "ms"),
    [("15m", 900_000), ("3min", 180_000), ("1h", 3_600_000), ("2d", 172_800_000), ("30 S", 30_000), ("7", 7)],
)
def test_durations_are_parsed(text: str, ms: int) -> None:
    assert parse_time_ms("maxTriggerDelay", text) == ms


def test_write_options_become_those_of_librdkafka() -> None:
    options = write_options(SERVERS | {"topic": " out ", "kafka.acks": "all", "kafka.max.request.size": "5000000"})
    assert options.topic == "out"
    assert options.producer["message.max.bytes"] == "5000000"
    assert options.producer["partitioner"] == "murmur2_random"
    assert write_options(SERVERS | {"kafka.partitioner": "random"}).producer["partitioner"] == "random"
    assert (
        write_options(SERVERS | {"kafka.buffer.memory": "33554432"}).producer["queue.buffering.max.kbytes"] == "32768"
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"topic": "t"}, "'kafka.bootstrap.servers' must be specified"),
        (SERVERS | {"topik": "t"}, "did you mean 'topic'"),
        (SERVERS | {"kafka.key.serializer": "x"}, "not supported"),
        (SERVERS | {"kafka.transactional.id": "x"}, "at least once"),
        (SERVERS | {"startingOffsets": "earliest"}, "unknown option"),
    ],
)
def test_invalid_write_options_are_rejected(given: dict[str, str], message: str) -> None:
    with pytest.raises(KafkaError, match=message):
        write_options(given)

"""Parses and validates the data source's options, which are those of Spark's own Kafka source.

Spark 4.2: connector/kafka-0-10-sql/.../KafkaSourceProvider.scala · book 4.1.1
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kafka_lite.common.config_def import ConfigDef, ConfigError
from kafka_lite.common.errors import KafkaError
from kafka_lite.common.java.java_pattern import JavaPatternError, java_pattern
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.spark.librdkafka_configs import librdkafka_configs
from kafka_lite.spark.offsets import (
    EARLIEST,
    LATEST,
    Extreme,
    GlobalTimestamp,
    OffsetLimit,
    SparkOptionError,
    SpecificOffsets,
    SpecificTimestamps,
    checked_timestamp,
    parse_offsets,
    parse_partitions,
    parse_timestamps,
)
from kafka_lite.spark.option_table import CONSUMER_CONFIGS, KAFKA_PREFIX, READ_OPTIONS, WRITE_OPTIONS

# Spark passes every option of a query to the source. These are Spark's own and not for the source.
_OF_SPARK_ITSELF = {"checkpointlocation", "queryname", "batchid"}

_REFUSED_CONSUMER_CONFIGS = {
    "auto.offset.reset": "use 'startingOffsets' for the first start; later starts continue at the checkpoint",
    "key.deserializer": "keys are read as bytes; cast or decode them in the DataFrame",
    "value.deserializer": "values are read as bytes; cast or decode them in the DataFrame",
    "enable.auto.commit": "offsets are kept in the checkpoint and not committed to Kafka",
    "interceptor.classes": "interceptors could change what is read",
}

_REFUSED_PRODUCER_CONFIGS = {
    "key.serializer": "keys are written as raw bytes",
    "value.serializer": "values are written as raw bytes",
    "transactional.id": "a query writes at least once and cannot be a transaction",
    "partitioner.class": "use the column partition, or 'kafka.partitioner' with one of librdkafka's partitioners",
}

_TIME_UNITS_MS = {"us": 0.001, "ms": 1, "": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}


@dataclass(frozen=True)
class SubscribeStrategy:
    """All partitions of these topics."""

    topics: tuple[str, ...]


@dataclass(frozen=True)
class SubscribePatternStrategy:
    """All partitions of all topics, present and future, whose whole name matches the pattern."""

    pattern: str


@dataclass(frozen=True)
class AssignStrategy:
    """Only these partitions."""

    partitions: frozenset[TopicPartition]


ConsumerStrategy = SubscribeStrategy | SubscribePatternStrategy | AssignStrategy


@dataclass(frozen=True)
class ReadOptions:
    """The validated options of a query that reads. Picklable: sent to the tasks."""

    strategy: ConsumerStrategy
    starting: OffsetLimit
    ending: OffsetLimit
    no_match_begins_at_end: bool
    fail_on_data_loss: bool
    include_headers: bool
    min_partitions: int | None
    max_records_per_partition: int | None
    max_bytes_per_partition: int | None
    max_offsets_per_trigger: int | None
    min_offsets_per_trigger: int | None
    max_trigger_delay_ms: float
    group_id_prefix: str | None
    offset_attempts: int
    offset_retry_interval_ms: int
    poll_timeout_ms: int
    consumer: dict[str, Any]
    """The ``kafka.`` options without the prefix, typed and with defaults: see CONSUMER_CONFIGS."""


@dataclass(frozen=True)
class WriteOptions:
    """The validated options of a query that writes. Picklable: sent to the tasks."""

    topic: str | None
    producer: dict[str, str]
    """The configuration of librdkafka's producer."""


def write_options(options: Mapping[str, str]) -> WriteOptions:
    """Parse the options of a query that writes. Raises KafkaError."""
    topic = _parse(WRITE_OPTIONS, options)["topic"]
    given = kafka_options(options)
    _refuse(given, _REFUSED_PRODUCER_CONFIGS)
    if "bootstrap.servers" not in given:
        raise SparkOptionError("Option 'kafka.bootstrap.servers' must be specified for configuring Kafka producer")
    return WriteOptions(topic, librdkafka_configs(given))


def batch_options(options: Mapping[str, str]) -> ReadOptions:
    """Parse the options of a batch query; the default is from earliest to latest. Raises KafkaError."""
    values = _parse(READ_OPTIONS, options)
    starting = _limit(values, "starting", Extreme.EARLIEST)
    ending = _limit(values, "ending", Extreme.LATEST)
    _refuse_wrong_end(starting, Extreme.LATEST, "starting offset can't be latest for batch queries on Kafka")
    _refuse_wrong_end(ending, Extreme.EARLIEST, "ending offset can't be earliest for batch queries on Kafka")
    _check_both_name_the_same(starting, ending)
    for name in ("maxOffsetsPerTrigger", "minOffsetsPerTrigger"):
        if values[name] is not None:
            raise SparkOptionError(f"{name} limits the batches of a stream; a batch query does not support it")
    return _read_options(values, starting, ending, options)


def stream_options(options: Mapping[str, str]) -> ReadOptions:
    """Parse the options of a streaming query; the default is to start at latest. Raises KafkaError."""
    values = _parse(READ_OPTIONS, options)
    for name in ("endingOffsets", "endingTimestamp", "endingOffsetsByTimestamp"):
        if values[name] is not None:
            raise SparkOptionError(f"{name} is not valid in streaming queries: a stream has no end")
    least, most = values["minOffsetsPerTrigger"], values["maxOffsetsPerTrigger"]
    if least is not None and most is not None and least > most:
        raise SparkOptionError(f"minOffsetsPerTrigger ({least}) is higher than maxOffsetsPerTrigger ({most})")
    return _read_options(values, _limit(values, "starting", Extreme.LATEST), Extreme.LATEST, options)


def includes_headers(options: Mapping[str, str]) -> bool:
    """Whether the schema has a headers column; the only option needed before Spark chooses batch or stream."""
    return bool(READ_OPTIONS.keys["includeHeaders"].parse(_lower(options).get("includeheaders", "false")))


def kafka_options(options: Mapping[str, str]) -> dict[str, str]:
    """The options for Kafka's client, without the prefix."""
    named = {name: value for name, value in _lower(options).items() if name.startswith(KAFKA_PREFIX)}
    return {name.removeprefix(KAFKA_PREFIX): value for name, value in named.items()}


def refuse_unknown(options: Mapping[str, str], known: Iterable[str]) -> None:
    """Raise SparkOptionError for an unknown option, suggesting a similar known one.

    Spark's own source ignores unknown options, so a typo in ``endingOffsets`` would read the whole topic.
    """
    by_lower_case = {name.lower(): name for name in known}
    for name in _lower(options):
        if name in by_lower_case or name in _OF_SPARK_ITSELF or name.startswith(KAFKA_PREFIX):
            continue
        alike = difflib.get_close_matches(name, [*by_lower_case, "kafka.bootstrap.servers"], n=1, cutoff=0.7)
        hint = f": did you mean '{by_lower_case.get(alike[0], alike[0])}'?" if alike else ""
        raise SparkOptionError(f"unknown option '{name}' for kafka_lite{hint}")


def parse_time_ms(name: str, text: str) -> float:
    """Parse a duration in Spark's format (``15m``, ``30s``, ``500ms``; a bare number is ms) into ms."""
    match = re.fullmatch(r"\s*(\d+)\s*([a-z]*)\s*", text.lower())
    if match is None or match[2] not in _TIME_UNITS_MS:
        raise ConfigError(name, text, f"must be a number and one of {', '.join(filter(None, _TIME_UNITS_MS))}")
    return int(match[1]) * _TIME_UNITS_MS[match[2]]


def _lower(options: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in options.items()}


def _parse(definition: ConfigDef, options: Mapping[str, str]) -> dict[str, Any]:
    refuse_unknown(options, definition.keys)
    lower = _lower(options)
    given: dict[str, object] = {name: lower[name.lower()] for name in definition.keys if name.lower() in lower}
    if "startingOffsetsByTimestampStrategy" in given:
        given["startingOffsetsByTimestampStrategy"] = str(given["startingOffsetsByTimestampStrategy"]).lower()
    return definition.parse(given)


def _read_options(
    values: Mapping[str, Any], starting: OffsetLimit, ending: OffsetLimit, options: Mapping[str, str]
) -> ReadOptions:
    return ReadOptions(
        strategy=_strategy(values),
        starting=starting,
        ending=ending,
        no_match_begins_at_end=values["startingOffsetsByTimestampStrategy"] == "latest",
        fail_on_data_loss=values["failOnDataLoss"],
        include_headers=values["includeHeaders"],
        min_partitions=values["minPartitions"],
        max_records_per_partition=values["maxRecordsPerPartition"],
        max_bytes_per_partition=values["maxBytesPerPartition"],
        max_offsets_per_trigger=values["maxOffsetsPerTrigger"],
        min_offsets_per_trigger=values["minOffsetsPerTrigger"],
        max_trigger_delay_ms=parse_time_ms("maxTriggerDelay", values["maxTriggerDelay"]),
        group_id_prefix=values["groupIdPrefix"],
        offset_attempts=values["fetchOffset.numRetries"],
        offset_retry_interval_ms=values["fetchOffset.retryIntervalMs"],
        poll_timeout_ms=values["kafkaConsumer.pollTimeoutMs"],
        consumer=_consumer_configs(options),
    )


def _consumer_configs(options: Mapping[str, str]) -> dict[str, Any]:
    given = kafka_options(options)
    _refuse(given, _REFUSED_CONSUMER_CONFIGS)
    if unknown := CONSUMER_CONFIGS.unused(given):
        known = ", ".join(KAFKA_PREFIX + name for name in CONSUMER_CONFIGS.keys)
        raise SparkOptionError(
            f"option '{KAFKA_PREFIX}{unknown[0]}' is not supported for reading; supported options: {known}"
        )
    try:
        return CONSUMER_CONFIGS.parse(given)
    except KafkaError as error:
        if "bootstrap.servers" in given:
            raise
        message = "Option 'kafka.bootstrap.servers' must be specified for configuring Kafka consumer"
        raise SparkOptionError(message) from error


def _refuse(given: Mapping[str, str], refused: Mapping[str, str]) -> None:
    for name, advice in refused.items():
        if name in given:
            raise SparkOptionError(f"Kafka option '{name}' is not supported: {advice}")


def _strategy(values: Mapping[str, Any]) -> ConsumerStrategy:
    names = ("subscribe", "subscribePattern", "assign")
    given = [name for name in names if values[name] is not None]
    if len(given) != 1:
        quantity = "One" if not given else "Only one"
        raise SparkOptionError(
            f"{quantity} of the following options must be specified for Kafka source: {', '.join(names)}"
        )
    text = values[given[0]].strip()
    match given[0]:
        case "subscribe":
            topics = tuple(dict.fromkeys(topic.strip() for topic in text.split(",") if topic.strip()))
            return SubscribeStrategy(_not_empty(topics, given[0], text))
        case "subscribePattern":
            return SubscribePatternStrategy(_not_empty(_checked_pattern(text), given[0], text))
        case _:
            return AssignStrategy(_not_empty(parse_partitions(text), given[0], text))


def _not_empty(value: Any, name: str, text: str) -> Any:
    if not value:
        raise SparkOptionError(f"nothing to read, as the value of option '{name}' is '{text}'")
    return value


def _checked_pattern(text: str) -> str:
    try:
        java_pattern(text)
    except JavaPatternError as error:
        raise SparkOptionError(f"'subscribePattern' is not a valid regular expression ({error}): {text}") from error
    return text


def _limit(values: Mapping[str, Any], end: str, default: Extreme) -> OffsetLimit:
    """The limit, in Spark's order of precedence: a global timestamp, timestamps by partition, offsets."""
    if (timestamp := values[f"{end}Timestamp"]) is not None:
        return GlobalTimestamp(checked_timestamp(timestamp))
    if (by_partition := values[f"{end}OffsetsByTimestamp"]) is not None:
        return SpecificTimestamps(parse_timestamps(by_partition))
    text = values[f"{end}Offsets"]
    if text is None:
        return default
    if text.lower() in ("earliest", "latest"):
        return Extreme[text.upper()]
    return SpecificOffsets(parse_offsets(text))


def _refuse_wrong_end(limit: OffsetLimit, wrong: Extreme, message: str) -> None:
    if limit is wrong:
        raise SparkOptionError(message)
    if isinstance(limit, SpecificOffsets):
        for partition, offset in limit.offsets.items():
            if offset == wrong.value:
                raise SparkOptionError(f"{message} (it is, for {partition})")


def _check_both_name_the_same(starting: OffsetLimit, ending: OffsetLimit) -> None:
    match starting, ending:
        case SpecificOffsets(begin), SpecificOffsets(end):
            _check_pairs(begin, end, "offset")
        case SpecificTimestamps(begin), SpecificTimestamps(end):
            _check_pairs(begin, end, "timestamp")
        case GlobalTimestamp(begin_ms), GlobalTimestamp(end_ms) if begin_ms > end_ms:
            raise SparkOptionError(f"the starting timestamp {begin_ms} is after the ending timestamp {end_ms}")


def _check_pairs(begin: dict[TopicPartition, int], end: dict[TopicPartition, int], what: str) -> None:
    if begin.keys() != end.keys():
        raise SparkOptionError(f"starting and ending {what}s must name the same partitions")
    for partition, value in begin.items():
        until = end[partition]
        if value > until and value not in (EARLIEST, LATEST) and until not in (EARLIEST, LATEST):
            raise SparkOptionError(f"the starting {what} {value} of {partition} is beyond its ending {what} {until}")

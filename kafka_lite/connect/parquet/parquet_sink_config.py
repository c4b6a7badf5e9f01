"""The configuration keys of the Parquet sink · book 8.3.2"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from kafka_lite.common.config_def import NO_DEFAULT, ConfigDef, ConfigError, Importance, Range, Type, ValidString
from kafka_lite.common.config_value import Width

HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
STORE_URL, TOPICS_DIR, PARQUET_CODEC = "store.url", "topics.dir", "parquet.codec"
FLUSH_SIZE, ROTATE_INTERVAL_MS, ON_NULL = "flush.size", "rotate.interval.ms", "behavior.on.null.values"
PARTITIONER, FIELD_NAMES = "partitioner.class", "partition.field.name"
PATH_FORMAT, TIMEZONE, TIMESTAMP_FIELD = "path.format", "timezone", "timestamp.field"
DEFAULT, BY_FIELD, BY_TIME = "DefaultPartitioner", "FieldPartitioner", "TimeBasedPartitioner"
DEFAULT_PATH_FORMAT = "'year'=yyyy/'month'=MM/'day'=dd"
FILES_GROUP, PARTITIONER_GROUP = "Files", "Partitioner"


def parquet_sink_config_def() -> ConfigDef:
    """The keys of the connector."""
    return _partitioner_keys(_file_keys(ConfigDef()))


def _file_keys(definition: ConfigDef) -> ConfigDef:
    return (
        definition
        .define(STORE_URL, Type.STRING, NO_DEFAULT, HIGH, "The folder that gets the files: a path, or file:///a/path.",
                group=FILES_GROUP, order_in_group=1, width=Width.LONG, display_name="Store URL")
        .define(TOPICS_DIR, Type.STRING, "topics", HIGH, "The folder in it that has one folder per topic.",
                group=FILES_GROUP, order_in_group=2, width=Width.LONG, display_name="Topics directory")
        .define(FLUSH_SIZE, Type.INT, 10_000, HIGH,
                "The most records of a partition that are kept in memory: then they are written.", Range.at_least(1),
                group=FILES_GROUP, order_in_group=3, width=Width.LONG, display_name="Flush Size")
        .define(ROTATE_INTERVAL_MS, Type.LONG, 60_000, HIGH,
                "How long after the first of them they are written at the latest, ms; -1: only flush.size counts.",
                group=FILES_GROUP, order_in_group=4, width=Width.MEDIUM, display_name="Rotate Interval (ms)")
        .define(PARQUET_CODEC, Type.STRING, "snappy", LOW, "The compression: none, snappy, gzip, brotli, lz4 or zstd.",
                ValidString.in_("none", "snappy", "gzip", "brotli", "lz4", "zstd"),
                group=FILES_GROUP, order_in_group=5, width=Width.SHORT, display_name="Parquet Compression Codec")
        .define(ON_NULL, Type.STRING, "fail", LOW, "Records without a value: fail the task, or ignore them.",
                ValidString.in_("fail", "ignore"),
                group=FILES_GROUP, order_in_group=6, width=Width.SHORT, display_name="Behavior for null-valued records")
    )  # fmt: skip


def _partitioner_keys(definition: ConfigDef) -> ConfigDef:
    return (
        definition
        .define(PARTITIONER, Type.CLASS, DEFAULT, HIGH,
                "The folders of a topic: DefaultPartitioner (partition=0), FieldPartitioner (country=DE) or "
                "TimeBasedPartitioner (year=2026/month=01/day=02). A package before the name is allowed.",
                group=PARTITIONER_GROUP, order_in_group=1, width=Width.LONG, display_name="Partitioner Class",
                dependents=[FIELD_NAMES, PATH_FORMAT, TIMEZONE])
        .define(FIELD_NAMES, Type.LIST, "", MEDIUM, "The fields of FieldPartitioner.",
                group=PARTITIONER_GROUP, order_in_group=2, width=Width.MEDIUM, display_name="Partition Field Name")
        .define(PATH_FORMAT, Type.STRING, DEFAULT_PATH_FORMAT, MEDIUM,
                "The folders of TimeBasedPartitioner, as Java's SimpleDateFormat has them.",
                group=PARTITIONER_GROUP, order_in_group=3, width=Width.LONG, display_name="Path Format")
        .define(TIMEZONE, Type.STRING, "UTC", MEDIUM, "The time zone of these folders, such as Europe/Berlin.",
                group=PARTITIONER_GROUP, order_in_group=4, width=Width.MEDIUM, display_name="Timezone")
        .define(TIMESTAMP_FIELD, Type.STRING, "", MEDIUM,
                "The field that has their time; by default it is the record's own.",
                group=PARTITIONER_GROUP, order_in_group=5, width=Width.MEDIUM, display_name="Timestamp Field")
    )  # fmt: skip


def store_folder(values: Mapping[str, Any]) -> Path:
    """The folder of ``store.url``. Raises ConfigError for another kind of URL."""
    text: str = values[STORE_URL]
    url = urlsplit(text)
    if url.scheme not in ("", "file") or url.netloc not in ("", "localhost"):
        raise ConfigError(STORE_URL, text, "only folders of this machine are supported")
    return Path(unquote(url.path) if url.scheme else text)

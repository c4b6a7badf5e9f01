"""The table of the data source's options: names, types, defaults and what they do.

Spark 4.2: connector/kafka-0-10-sql/.../KafkaSourceProvider.scala · book 4.1.1
"""

from __future__ import annotations

from kafka_lite.common.config_def import NO_DEFAULT, ConfigDef, Importance, Range, Type, ValidString
from kafka_lite.security.channel_builders import CLIENT_SECURITY_CONFIG

KAFKA_PREFIX = "kafka."

_HIGH, _MEDIUM, _LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW

READ_OPTIONS = (
    ConfigDef()
    .define("subscribe", Type.STRING, None, _HIGH, "Topics to read, comma separated.")
    .define("subscribePattern", Type.STRING, None, _HIGH, "A regular expression that whole topic names match.")
    .define("assign", Type.STRING, None, _HIGH, 'Partitions to read: {"topicA":[0,1],"topicB":[2]}.')
    .define("startingOffsets", Type.STRING, None, _HIGH, "Where to start: earliest, latest or JSON.")
    .define("endingOffsets", Type.STRING, None, _HIGH, "Where a batch query ends: latest or JSON.")
    .define(
        "startingTimestamp",
        Type.LONG,
        None,
        _MEDIUM,
        "Start at the first record with this timestamp (ms) or a later one.",
    )
    .define(
        "endingTimestamp",
        Type.LONG,
        None,
        _MEDIUM,
        "End before the first record with this timestamp (ms) or a later one.",
    )
    .define("startingOffsetsByTimestamp", Type.STRING, None, _MEDIUM, "startingTimestamp for each partition, as JSON.")
    .define("endingOffsetsByTimestamp", Type.STRING, None, _MEDIUM, "endingTimestamp for each partition, as JSON.")
    .define(
        "startingOffsetsByTimestampStrategy",
        Type.STRING,
        "error",
        _LOW,
        "What to do if no record is as late as the starting timestamp: fail, or start at the end.",
        ValidString.in_("error", "latest"),
    )
    .define(
        "failOnDataLoss",
        Type.BOOLEAN,
        True,
        _HIGH,
        "Whether to fail, instead of logging a warning, if records were deleted before they were read.",
    )
    .define("includeHeaders", Type.BOOLEAN, False, _MEDIUM, "Whether to add a column with the headers.")
    .define("minPartitions", Type.INT, None, _MEDIUM, "The approximate minimum number of tasks.", Range.at_least(1))
    .define(
        "maxRecordsPerPartition", Type.LONG, None, _MEDIUM, "The maximum number of offsets per task.", Range.at_least(1)
    )
    .define(
        "maxBytesPerPartition",
        Type.LONG,
        None,
        _MEDIUM,
        "At most about so many bytes a task, estimated from the size of the partition's log on disk.",
        Range.at_least(1),
    )
    .define(
        "maxOffsetsPerTrigger", Type.LONG, None, _MEDIUM, "The maximum number of offsets per batch.", Range.at_least(1)
    )
    .define(
        "minOffsetsPerTrigger",
        Type.LONG,
        None,
        _MEDIUM,
        "Start a batch only once this many offsets are available.",
        Range.at_least(1),
    )
    .define("maxTriggerDelay", Type.STRING, "15m", _LOW, "The maximum time to wait for minOffsetsPerTrigger.")
    .define("groupIdPrefix", Type.STRING, None, _LOW, "The prefix of the query's client id in the broker's logs.")
    .define(
        "fetchOffset.numRetries", Type.INT, 3, _LOW, "How often a request for offsets is retried.", Range.at_least(1)
    )
    .define(
        "fetchOffset.retryIntervalMs",
        Type.LONG,
        1000,
        _LOW,
        "How long to wait before a request for offsets is retried.",
        Range.at_least(0),
    )
    .define(
        "kafkaConsumer.pollTimeoutMs",
        Type.LONG,
        120_000,
        _LOW,
        "How long a task waits for records.",
        Range.at_least(1),
    )
)
"""All read options except those of Kafka's clients, which begin with ``kafka.``."""

CONSUMER_CONFIGS = (
    ConfigDef()
    .define(
        "bootstrap.servers", Type.LIST, NO_DEFAULT, _HIGH, "Brokers to connect to first: host:port, comma separated."
    )
    .define("client.id", Type.STRING, "", _LOW, "The reader's name in the brokers' logs and quotas.")
    .define(
        "group.id", Type.STRING, None, _LOW, "Used as the client id; the reader joins no group and commits nothing."
    )
    .define(
        "isolation.level",
        Type.STRING,
        "read_uncommitted",
        _HIGH,
        "Whether records of open and aborted transactions are read.",
        ValidString.in_("read_uncommitted", "read_committed"),
    )
    .define(
        "fetch.min.bytes",
        Type.INT,
        1,
        _LOW,
        "How many bytes the broker collects before it responds, within fetch.max.wait.ms.",
        Range.at_least(0),
    )
    .define(
        "fetch.max.wait.ms", Type.INT, 500, _LOW, "How long the broker waits for fetch.min.bytes.", Range.at_least(0)
    )
    .define(
        "fetch.max.bytes", Type.INT, 50 * 1024 * 1024, _LOW, "The maximum size of a fetch response.", Range.at_least(0)
    )
    .define(
        "max.partition.fetch.bytes",
        Type.INT,
        1024 * 1024,
        _LOW,
        "The maximum bytes of a partition in a fetch response.",
        Range.at_least(0),
    )
    .define("check.crcs", Type.BOOLEAN, True, _LOW, "Whether to verify the checksum of every batch.")
    .define("request.timeout.ms", Type.INT, 30_000, _LOW, "How long to wait for a response.", Range.at_least(1))
    .define(
        "default.api.timeout.ms",
        Type.INT,
        60_000,
        _LOW,
        "How long the driver asks for offsets again while brokers restart or leaders are elected, in each attempt.",
        Range.at_least(0),
    )
    .include(CLIENT_SECURITY_CONFIG)
)
"""The ``kafka.`` options that the reader's client supports."""

WRITE_OPTIONS = (
    ConfigDef()
    .define("topic", Type.STRING, None, _HIGH, "The topic of all rows. Not set: the column topic has each row's topic.")
    .define("includeHeaders", Type.BOOLEAN, True, _LOW, "No effect: headers are written if there is such a column.")
)
"""All write options except those of Kafka's producer, which begin with ``kafka.``."""

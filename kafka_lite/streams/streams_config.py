"""The configuration keys of an application.

``processing.guarantee`` is Kafka 0.11's, the exception handlers are Kafka 1.0's and 1.1's. The serdes inside windowed
ones (``….serde.inner``) are Kafka 2.0's. ``default.dsl.store`` is Kafka 3.2's, where the default is rocksDB; 0.10.2
leaves no choice. The prefix ``admin.`` is Kafka 1.1's.

Kafka 0.10.2: streams/.../streams/StreamsConfig.java · book 9.1.1
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from kafka_lite.clients.admin_client import ADMIN_CONFIG
from kafka_lite.common.config_def import (
    NO_DEFAULT,
    NON_EMPTY,
    Check,
    ConfigDef,
    ConfigError,
    Importance,
    Range,
    Type,
    ValidString,
    configs_of,
)
from kafka_lite.common.new_instance import new_instance
from kafka_lite.common.serdes import Serde
from kafka_lite.consumer import consumer_config
from kafka_lite.metrics.metrics_reporter import MetricsReporter
from kafka_lite.producer import producer_config
from kafka_lite.streams.assignment.stream_partition_assignor import (
    STREAM_THREAD_INSTANCE,
    StreamPartitionAssignor,
    StreamsAssignorContext,
)
from kafka_lite.streams.errors import TaskAssignmentError
from kafka_lite.streams.exception_handlers import DeserializationExceptionHandler, ProductionExceptionHandler
from kafka_lite.streams.kstream.windowed_inner import (
    INNER_CLASS_KEYS,
    WINDOWED_KEY_SERDE_INNER,
    WINDOWED_VALUE_SERDE_INNER,
)
from kafka_lite.streams.processor.partition_grouper import PartitionGrouper
from kafka_lite.streams.processor.state_store import IN_MEMORY, ROCKS_DB
from kafka_lite.streams.processor.timestamp_extractor import TimestampExtractor
from kafka_lite.streams.state.host_info import HostInfo
from kafka_lite.streams.state.rocksdb.database import is_available
from kafka_lite.streams.state.rocksdb.rocksdb_config_setter import CONFIG_SETTER, RocksDBConfigSetter
from kafka_lite.streams.task_id import TaskId

logger = logging.getLogger(__name__)


def is_end_point(text: str) -> bool:
    """Whether a text is ``host:port``, or empty."""
    try:
        HostInfo.parse(text)
    except TaskAssignmentError:
        return False
    return True


HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
CONSUMER_PREFIX, PRODUCER_PREFIX, ADMIN_PREFIX = "consumer.", "producer.", "admin."
AT_LEAST_ONCE, EXACTLY_ONCE, EXACTLY_ONCE_V2 = "at_least_once", "exactly_once", "exactly_once_v2"
EOS_COMMIT_INTERVAL_MS = 100
"""The default of ``commit.interval.ms`` with exactly_once: readers wait for the end of the transaction."""

CONFIG = (
    ConfigDef()
    .define("application.id", Type.STRING, NO_DEFAULT, HIGH,
            "The name of the application: its group, the beginning of its internal topics and of its clients' ids.",
            NON_EMPTY)
    .define("bootstrap.servers", Type.LIST, NO_DEFAULT, HIGH,
            "Brokers that are asked for the cluster's metadata first, host:port each; a few of them are enough.")
    .define("client.id", Type.STRING, "", HIGH,
            "The beginning of the ids of all clients; by default the application.id and a number of the instance.")
    .define("state.dir", Type.STRING, f"{tempfile.gettempdir()}/kafka-streams", MEDIUM,
            "The directory with a directory for each task. Instances on one machine may share it, unless they have "
            "standby tasks or global stores on disk.", NON_EMPTY)
    .define("replication.factor", Type.INT, 1, MEDIUM,
            "The number of replicas of the topics that the application creates.", Range.between(1, 0x7FFF))
    .define("timestamp.extractor", Type.CLASS,
            "kafka_lite.streams.processor.timestamp_extractor.FailOnInvalidTimestamp", MEDIUM,
            "The class that determines the times of records.")
    .define("default.dsl.store", Type.STRING, IN_MEMORY, LOW,
            "Where the DSL keeps its stores: in_memory, or on disk in rocksDB, which the extra kafka-lite[streams] "
            "installs.", ValidString.in_(IN_MEMORY, ROCKS_DB))
    .define("partition.grouper", Type.CLASS, "kafka_lite.streams.processor.partition_grouper.DefaultPartitionGrouper",
            MEDIUM, "The class that divides partitions into tasks.")
    .define("key.serde", Type.CLASS, "kafka_lite.common.serdes.ByteArraySerde", MEDIUM,
            "The default serde of keys.")
    .define("value.serde", Type.CLASS, "kafka_lite.common.serdes.ByteArraySerde", MEDIUM,
            "The default serde of values.")
    .define(WINDOWED_KEY_SERDE_INNER, Type.CLASS, "", MEDIUM,
            "If the default serde of keys is a windowed one: the serde of the keys inside it.")
    .define(WINDOWED_VALUE_SERDE_INNER, Type.CLASS, "", MEDIUM,
            "If the default serde of values is a windowed one: the serde inside it.")
    .define("default.deserialization.exception.handler", Type.CLASS,
            "kafka_lite.streams.exception_handlers.LogAndFailExceptionHandler", MEDIUM,
            "The class that decides about records that cannot be deserialized.")
    .define("default.production.exception.handler", Type.CLASS,
            "kafka_lite.streams.exception_handlers.DefaultProductionExceptionHandler", MEDIUM,
            "The class that decides about records that cannot be stored.")
    .define("application.server", Type.STRING, "", LOW,
            "host:port at which this instance answers queries of its stores; the application has to serve it. All "
            "instances learn it.", Check(is_end_point, "host:port"))
    .define("num.stream.threads", Type.INT, 1, LOW, "The number of threads of the instance.", Range.at_least(1))
    .define("num.standby.replicas", Type.INT, 0, LOW,
            "How many other instances keep a copy of each store, if there are so many. A task that moves to one of "
            "them restores only what the copy does not have yet.", Range.at_least(0))
    .define("buffered.records.per.partition", Type.INT, 1000, LOW,
            "How many records of a partition are buffered; above that, its fetching pauses.", Range.at_least(1))
    .define("cache.max.bytes.buffering", Type.LONG, 10 * 1024 * 1024, MEDIUM,
            "How many bytes the record caches of all threads together may have. With 0, every change of a table is "
            "stored, logged and passed on; otherwise only the last one before a commit.", Range.at_least(0))
    .define("max.task.idle.ms", Type.LONG, 0, MEDIUM,
            "How long a task that has records of some of its partitions waits for new records of the others, so that "
            "it processes them in the order of their times. It always waits for records that the brokers are known to "
            "have. With -1 it never waits.", Range.at_least(-1))
    .define("commit.interval.ms", Type.LONG, 30_000, LOW,
            "How often what is processed is committed; never, if negative.")
    .define("processing.guarantee", Type.STRING, AT_LEAST_ONCE, MEDIUM,
            "How often a record takes effect if the application fails: with exactly_once its results, the changes of "
            "stores and its offset are committed in one transaction, of its task; with exactly_once_v2, which needs "
            "brokers of Kafka 2.5 or later, in one of its thread.",
            ValidString.in_(AT_LEAST_ONCE, EXACTLY_ONCE, EXACTLY_ONCE_V2))
    .define("poll.ms", Type.LONG, 100, LOW, "How long to wait for records if none are buffered.", Range.at_least(0))
    .define(CONFIG_SETTER, Type.CLASS, "", LOW,
            "A class that changes the options of RocksDB for the stores on disk: a RocksDBConfigSetter.")
    .define("state.cleanup.delay.ms", Type.LONG, 60_000, LOW,
            "How long after a rebalance the directories of tasks that have moved are deleted.", Range.at_least(0))
    .define("metric.reporters", Type.LIST, "", LOW,
            "Reporter classes (MetricsReporter), notified of the metrics of the threads. The clients get them, too.")
    .define("metrics.num.samples", Type.INT, 2, LOW, "The number of a metric's windows.", Range.at_least(1))
    .define("metrics.sample.window.ms", Type.LONG, 30_000, LOW, "The length of such a window.", Range.at_least(0))
    .define("metrics.recording.level", Type.STRING, "INFO", LOW,
            "The highest recording level of sensors. With DEBUG nodes, stores and tasks are measured, too.",
            ValidString.in_("INFO", "DEBUG"))
    .define("windowstore.changelog.additional.retention.ms", Type.LONG, 24 * 60 * 60 * 1000, LOW,
            "How much longer than a window store its changelog keeps entries, since clocks differ.", Range.at_least(0))
)  # fmt: skip

METRICS_KEYS = frozenset(
    {"metric.reporters", "metrics.num.samples", "metrics.sample.window.ms", "metrics.recording.level"}
)
"""Keys of the application that its clients get, too."""

CONSUMER_OVERRIDES: dict[str, object] = {
    "max.poll.records": 1000,
    "auto.offset.reset": "earliest",
    "internal.leave.group.on.close": False,
    "max.poll.interval.ms": 0x7FFFFFFF,
}
"""Defaults of the consumers that differ from a consumer's. A restarted instance gets its tasks back, because it does
not leave the group; how long others wait for it is ``session.timeout.ms``."""

EOS_CLIENT_KEYS = (
    ("isolation.level", CONSUMER_PREFIX, "consumers read committed data only"),
    ("enable.idempotence", PRODUCER_PREFIX, "producers are always idempotent"),
    ("transactional.id", PRODUCER_PREFIX, "the producer of a task or thread has its own"),
)
"""The keys of clients that exactly_once sets: key, whose it is, and why."""

THREAD_PRODUCER_OVERRIDES: dict[str, object] = {"transaction.timeout.ms": 10_000}
"""Defaults with exactly_once_v2: so long a new owner may have to wait for the transaction of a killed process."""

PRODUCER_OVERRIDES: dict[str, object] = {"linger.ms": 100}
"""Defaults of the producer that differ from a producer's. (0.10.2: ``retries`` 10, too.)"""


class StreamsConfig:
    """The checked configuration of an application.

    A key of the consumers, the producer or the admin client is passed to them; with the prefix ``consumer.``,
    ``producer.`` or ``admin.`` only to these. Serdes, extractor and grouper may be names of classes, or classes. Raises
    ConfigError. Logs a warning for unknown keys.
    """

    def __init__(self, configs: Mapping[str, object]) -> None:
        named = {key: _class_name(value) for key, value in configs_of("KafkaStreams", configs).items()}
        self.originals = named
        if named.get("processing.guarantee") in (EXACTLY_ONCE, EXACTLY_ONCE_V2):
            named = {"commit.interval.ms": EOS_COMMIT_INTERVAL_MS, **named}
        self._values = CONFIG.parse(named)
        self._clients = {key: value for key, value in named.items() if key in METRICS_KEYS or key not in CONFIG}
        if "enable.auto.commit" in {key.removeprefix(CONSUMER_PREFIX) for key in self._clients}:
            raise ConfigError(
                "enable.auto.commit",
                self._clients.get("enable.auto.commit"),
                "Unexpected user-specified consumer config, as the streams client will always turn off auto committing",
            )
        if self["default.dsl.store"] == ROCKS_DB and not is_available():
            raise ConfigError("default.dsl.store", ROCKS_DB, "needs RocksDB: pip install 'kafka-lite[streams]'")
        if self.is_exactly_once:
            self._refuse_of_exactly_once()
        if self.is_exactly_once_v2:
            self._check_transaction_timeout()
        for make in (
            self.key_serde,
            self.value_serde,
            self.timestamp_extractor,
            self.partition_grouper,
            self.deserialization_exception_handler,
            self.production_exception_handler,
            self.rocksdb_config_setter,
        ):
            make()  # to raise here instead of in a stream thread
        for key in self._clients:
            if not self._is_known(key):
                text = "The configuration '%s' was supplied but isn't a known config of Streams.%s"
                logger.warning(text, key, CONFIG.meant_by(key))

    def _refuse_of_exactly_once(self) -> None:
        """Raise ConfigError for keys of the clients that exactly_once sets."""
        for key, of, what in EOS_CLIENT_KEYS:
            for name in (key, f"{of}{key}"):
                if name in self._clients:
                    raise ConfigError(
                        name,
                        self._clients[name],
                        f"Unexpected user-specified {of.rstrip('.')} config, because processing.guarantee is set to "
                        f"'{self['processing.guarantee']}': {what}",
                    )

    def _check_transaction_timeout(self) -> None:
        """Raise ConfigError if every transaction would be aborted before it is committed."""
        key, interval_ms = "transaction.timeout.ms", self["commit.interval.ms"]
        timeout_ms = int(str(self._thread_producer_defaults()[key]))
        if timeout_ms < interval_ms:
            raise ConfigError(key, timeout_ms, f"Transaction timeout is less than commit.interval.ms {interval_ms}")

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    @property
    def application_id(self) -> str:
        """``application.id``."""
        return str(self["application.id"])

    @property
    def is_exactly_once(self) -> bool:
        """Whether ``processing.guarantee`` is ``exactly_once`` or ``exactly_once_v2``."""
        return bool(self["processing.guarantee"] != AT_LEAST_ONCE)

    @property
    def is_exactly_once_v2(self) -> bool:
        """Whether ``processing.guarantee`` is ``exactly_once_v2``."""
        return bool(self["processing.guarantee"] == EXACTLY_ONCE_V2)

    @property
    def auto_offset_reset(self) -> str:
        """Where a source begins without a committed offset, unless it says so itself."""
        return str(self._common_consumer_configs()["auto.offset.reset"])

    # ── what the keys name ────────────────────────────────────────────────────────────────────────────────────────

    def key_serde(self) -> Serde[Any]:
        """A new default serde of keys."""
        return self._serde("key.serde", is_key=True)

    def value_serde(self) -> Serde[Any]:
        """A new default serde of values."""
        return self._serde("value.serde", is_key=False)

    def timestamp_extractor(self) -> TimestampExtractor:
        """A new timestamp extractor."""
        extractor: TimestampExtractor = new_instance(
            "timestamp.extractor", TimestampExtractor, self["timestamp.extractor"]
        )
        return extractor

    def partition_grouper(self) -> PartitionGrouper:
        """A new partition grouper."""
        grouper: PartitionGrouper = new_instance("partition.grouper", PartitionGrouper, self["partition.grouper"])
        return grouper

    def metric_reporters(self) -> list[MetricsReporter]:
        """New reporters of metrics."""
        reporters: list[MetricsReporter] = []
        for name in self["metric.reporters"]:
            reporter: MetricsReporter = new_instance("metric.reporters", MetricsReporter, name)
            reporter.configure(self.originals)
            reporters.append(reporter)
        return reporters

    def deserialization_exception_handler(self) -> DeserializationExceptionHandler:
        """A new handler of records that cannot be deserialized."""
        key = "default.deserialization.exception.handler"
        handler: DeserializationExceptionHandler = new_instance(key, DeserializationExceptionHandler, self[key])
        handler.configure(self.originals)
        return handler

    def production_exception_handler(self) -> ProductionExceptionHandler:
        """A new handler of records that cannot be stored."""
        key = "default.production.exception.handler"
        handler: ProductionExceptionHandler = new_instance(key, ProductionExceptionHandler, self[key])
        handler.configure(self.originals)
        return handler

    def rocksdb_config_setter(self) -> RocksDBConfigSetter | None:
        """A new object that changes the options of RocksDB, if there is such a class."""
        name = self[CONFIG_SETTER]
        return new_instance(CONFIG_SETTER, RocksDBConfigSetter, name) if name else None

    def _serde(self, key: str, is_key: bool) -> Serde[Any]:
        serde: Serde[Any] = new_instance(key, Serde, self[key])
        serde.serializer.configure(self.originals, is_key)
        serde.deserializer.configure(self.originals, is_key)
        return serde

    # ── the clients ───────────────────────────────────────────────────────────────────────────────────────────────

    def consumer_configs(
        self, thread_client_id: str, context: StreamsAssignorContext, has_resets: bool
    ) -> dict[str, object]:
        """For the consumer of the group. If sources have resets of their own, the thread resets offsets by itself."""
        return {
            **self._common_consumer_configs(),
            **({"auto.offset.reset": "none"} if has_resets else {}),
            "group.id": self.application_id,
            "client.id": f"{thread_client_id}-consumer",
            "partition.assignment.strategy": _class_name(StreamPartitionAssignor),
            STREAM_THREAD_INSTANCE: context,
            "internal.throw.on.fetch.stable.offset.unsupported": self.is_exactly_once_v2,
        }

    def restore_consumer_configs(self, thread_client_id: str) -> dict[str, object]:
        """For the consumer that restores stores. It has no group.

        It never skips records in silence: an offset that its topic does not have raises InvalidOffsetError.
        """
        configs = self._common_consumer_configs()
        configs.pop("group.id", None)
        configs.pop("group.instance.id", None)
        return {**configs, "client.id": f"{thread_client_id}-restore-consumer", "auto.offset.reset": "none"}

    def ends_consumer_configs(self, thread_client_id: str) -> dict[str, object]:
        """For the consumer that asks for the ends of changelogs, open transactions included."""
        configs = self.restore_consumer_configs(thread_client_id)
        return {**configs, "client.id": f"{thread_client_id}-ends-consumer", "isolation.level": "read_uncommitted"}

    def producer_configs(self, thread_client_id: str) -> dict[str, object]:
        """For the producer."""
        return {
            **PRODUCER_OVERRIDES,
            **self._of_client(producer_config.CONFIG, PRODUCER_PREFIX),
            "bootstrap.servers": self["bootstrap.servers"],
            "client.id": f"{thread_client_id}-producer",
        }

    def task_producer_configs(self, thread_client_id: str, task_id: TaskId) -> dict[str, object]:
        """For the producer of a task with exactly_once."""
        return {
            **self.producer_configs(thread_client_id),
            "client.id": f"{thread_client_id}-{task_id}-producer",
            "transactional.id": f"{self.application_id}-{task_id}",
            "enable.idempotence": True,
        }

    def thread_producer_configs(self, thread_client_id: str, process_id: UUID, thread: str) -> dict[str, object]:
        """For the producer of a thread with exactly_once_v2."""
        return {
            **self._thread_producer_defaults(),
            **self.producer_configs(thread_client_id),
            "transactional.id": f"{self.application_id}-{process_id}-{thread.rpartition('-')[2]}",
            "enable.idempotence": True,
        }

    def admin_configs(self, client_id: str) -> dict[str, object]:
        """For the client that asks for topics and creates them."""
        own = self._of_client(ADMIN_CONFIG, ADMIN_PREFIX)
        return {**own, "bootstrap.servers": self["bootstrap.servers"], "client.id": client_id}

    def _thread_producer_defaults(self) -> dict[str, object]:
        return {**THREAD_PRODUCER_OVERRIDES, **self._of_client(producer_config.CONFIG, PRODUCER_PREFIX)}

    def _common_consumer_configs(self) -> dict[str, object]:
        return {
            **CONSUMER_OVERRIDES,
            **self._of_client(consumer_config.CONFIG, CONSUMER_PREFIX),
            "bootstrap.servers": self["bootstrap.servers"],
            "enable.auto.commit": False,
            **({"isolation.level": "read_committed"} if self.is_exactly_once else {}),
        }

    def _of_client(self, definition: ConfigDef, prefix: str) -> dict[str, object]:
        """The keys that a client knows, and those with its prefix."""
        own = {key.removeprefix(prefix): value for key, value in self._clients.items() if key.startswith(prefix)}
        return {**{key: value for key, value in self._clients.items() if key in definition}, **own}

    @staticmethod
    def _is_known(key: str) -> bool:
        return (
            key in consumer_config.CONFIG
            or key in producer_config.CONFIG
            or key in INNER_CLASS_KEYS
            or key.removeprefix(CONSUMER_PREFIX) in consumer_config.CONFIG
            or key.removeprefix(PRODUCER_PREFIX) in producer_config.CONFIG
            or key.removeprefix(ADMIN_PREFIX) in ADMIN_CONFIG
        )


def _class_name(value: object) -> object:
    """The full name of a class; any other value as it is."""
    return f"{value.__module__}.{value.__qualname__}" if isinstance(value, type) else value

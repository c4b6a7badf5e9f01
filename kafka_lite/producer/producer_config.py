"""The producer's configuration keys.

Kafka 0.10.2: clients/.../producer/ProducerConfig.java, clients/.../clients/CommonClientConfigs.java · book 2.1.1
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Mapping
from typing import Any

from kafka_lite.common.config_def import (
    NO_DEFAULT,
    ConfigDef,
    ConfigError,
    Importance,
    Range,
    Type,
    ValidString,
    configs_of,
)
from kafka_lite.security.channel_builders import CLIENT_SECURITY_CONFIG

logger = logging.getLogger(__name__)

HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
MAX_INT = 0x7FFFFFFF
MAX_CLIENT_ID_BYTES = 0x7FFF
_client_numbers = itertools.count(1)

CONFIG = (
    ConfigDef()
    .define("bootstrap.servers", Type.LIST, NO_DEFAULT, HIGH,
            "Brokers that are asked for the cluster's metadata first, host:port each; a few of them are enough.")
    .define("client.id", Type.STRING, "", MEDIUM,
            "The client's name in the brokers' logs and quotas; by default producer-1, producer-2, …")
    .define("key.serializer", Type.CLASS, "", HIGH,
            "The class that serializes keys. By default keys are bytes.")
    .define("value.serializer", Type.CLASS, "", HIGH,
            "The class that serializes values. By default values are bytes.")
    .define("acks", Type.STRING, "all", HIGH,
            "Replicas that must have a record before it is acknowledged: 0 none, 1 the leader, all (-1) those in sync.",
            ValidString.in_("all", "-1", "0", "1"))
    .define("enable.idempotence", Type.BOOLEAN, True, LOW,
            "Whether batches are numbered, so that a broker recognizes duplicates. Needs acks=all, retries, and at "
            "most 5 requests in flight. Unless set explicitly, it is disabled where these, or the brokers, forbid it.")
    .define("transactional.id", Type.STRING, "", LOW,
            "The producer's name for its transactions. A newer producer with the same id fences this one. Without an "
            "id there are no transactions. Needs enable.idempotence.")
    .define("transaction.timeout.ms", Type.INT, 60_000, LOW,
            "How long a transaction may be open before the coordinator aborts it; at most the brokers' "
            "transaction.max.timeout.ms.", Range.at_least(1))
    .define("buffer.memory", Type.LONG, 32 * 1024 * 1024, HIGH,
            "Bytes for records that are not sent yet; when they are exhausted, send blocks for max.block.ms.",
            Range.at_least(0))
    .define("compression.type", Type.STRING, "none", HIGH, "How batches are compressed.",
            ValidString.in_("none", "gzip", "snappy", "lz4", "zstd"))
    .define("batch.size", Type.INT, 16384, MEDIUM,
            "Bytes of a batch, before compression; a larger record is sent alone.", Range.at_least(0))
    .define("linger.ms", Type.LONG, 0, MEDIUM,
            "How long an incomplete batch waits for more records.", Range.at_least(0))
    .define("retries", Type.INT, MAX_INT, HIGH,
            "How often a batch is retried after a retriable error; delivery.timeout.ms is a limit as well.",
            Range.between(0, MAX_INT))
    .define("delivery.timeout.ms", Type.INT, 120_000, MEDIUM,
            "How long after send a record is given up; at least linger.ms + request.timeout.ms.", Range.at_least(0))
    .define("request.timeout.ms", Type.INT, 30_000, MEDIUM,
            "How long to wait for a response before the connection is closed.", Range.at_least(0))
    .define("retry.backoff.ms", Type.LONG, 100, LOW,
            "How long to wait before a batch is retried.", Range.at_least(0))
    .define("max.block.ms", Type.LONG, 60_000, MEDIUM,
            "How long send may block, for metadata and memory together.", Range.at_least(0))
    .define("max.request.size", Type.INT, 1024 * 1024, MEDIUM,
            "The largest size of a request and of a record, bytes.", Range.at_least(0))
    .define("max.in.flight.requests.per.connection", Type.INT, 5, LOW,
            "The most requests without a response per broker. With more than one, retries may change the order of "
            "records unless enable.idempotence is on.", Range.at_least(1))
    .define("partitioner.class", Type.CLASS, "kafka_lite.producer.partitioner.DefaultPartitioner", MEDIUM,
            "The class that chooses partitions.")
    .define("interceptor.classes", Type.LIST, "", LOW, "Interceptor classes, called for every record.")
    .define("metadata.max.age.ms", Type.LONG, 300_000, LOW,
            "The age at which metadata is refreshed even without a known change.", Range.at_least(0))
    .define("reconnect.backoff.ms", Type.LONG, 50, LOW,
            "How long to wait before reconnecting to a broker; doubles with each failure.", Range.at_least(0))
    .define("reconnect.backoff.max.ms", Type.LONG, 1000, LOW, "The upper limit of that.", Range.at_least(0))
    .define("socket.connection.setup.timeout.ms", Type.LONG, 10_000, MEDIUM,
            "How long to wait for a connection.", Range.at_least(0))
    .define("metric.reporters", Type.LIST, "", LOW,
            "Reporter classes (MetricsReporter), notified of every metric.")
    .define("metrics.num.samples", Type.INT, 2, LOW,
            "The number of windows over which rates, averages and maxima are computed.", Range.at_least(1))
    .define("metrics.sample.window.ms", Type.LONG, 30_000, LOW, "The length of such a window.", Range.at_least(0))
    .define("metrics.recording.level", Type.STRING, "INFO", LOW, "The highest recording level of sensors.",
            ValidString.in_("INFO", "DEBUG"))
    .define("connections.max.idle.ms", Type.LONG, 540_000, MEDIUM, "How long an idle connection is kept open.")
    .define("send.buffer.bytes", Type.INT, 131_072, MEDIUM, "SO_SNDBUF; -1 leaves it to the system.",
            Range.at_least(-1))
    .define("receive.buffer.bytes", Type.INT, 32_768, MEDIUM, "SO_RCVBUF; -1 leaves it to the system.",
            Range.at_least(-1))
)  # fmt: skip
CONFIG.include(CLIENT_SECURITY_CONFIG)
"""0.10.2 had acks=1, retries=0 and no idempotence. These defaults are today's: they neither lose nor duplicate
records."""


class ProducerConfig:
    """The checked configuration of one producer. ``config["linger.ms"]`` has the type of its key.

    Raises ConfigError for invalid and for contradictory values. Logs a warning for unknown keys, unless they are meant
    for the user's own serializers, partitioner and interceptors, which get ``originals``.
    """

    def __init__(self, configs: Mapping[str, object]) -> None:
        self.originals = configs_of("KafkaProducer", configs)
        for key in CONFIG.keys & configs.keys():
            if configs[key] is None:
                raise ConfigError(key, None, "it has no value; leave it out to get the default")
        self._values = CONFIG.parse(configs)
        self.transactional_id: str | None = self["transactional.id"] or None
        if "transactional.id" in configs and self.transactional_id is None:
            raise ConfigError("transactional.id", "", "it must not be empty; leave it out to do without transactions")
        if not self._values["client.id"]:
            self._values["client.id"] = f"producer-{self.transactional_id or next(_client_numbers)}"
        self._check_client_id()
        self.acks = -1 if self["acks"] == "all" else int(self["acks"])
        self.idempotence = self._decide_idempotence()
        self.idempotence_is_explicit = self.idempotence and self._idempotence_is_needed
        self._check_delivery_timeout()
        for key in CONFIG.unused(configs):
            text = "The configuration '%s' was supplied but isn't a known config of the producer.%s"
            logger.warning(text, key, CONFIG.meant_by(key))

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def _check_client_id(self) -> None:
        """It is part of every request, so an id that cannot be encoded would block all of them."""
        size = len(self["client.id"].encode(errors="replace"))
        if size > MAX_CLIENT_ID_BYTES or any("\ud800" <= letter <= "\udfff" for letter in self["client.id"]):
            raise ConfigError(
                "client.id", self["client.id"][:50], f"it must be valid unicode of at most {MAX_CLIENT_ID_BYTES} bytes"
            )

    @property
    def _idempotence_is_needed(self) -> bool:
        return "enable.idempotence" in self.originals or self.transactional_id is not None

    def _decide_idempotence(self) -> bool:
        """Whether batches are numbered: unless that is disabled, or another setting forbids it.

        Numbers need acks=all, retries above 0, and at most 5 requests in flight. Without one of these, idempotence is
        off, and a line in the log says why. Raises ConfigError instead if it is needed: if it was enabled explicitly,
        or if there is a transactional.id. The error names the first of these keys (``acks``, ``retries``,
        ``max.in.flight.requests.per.connection``) that forbids it; if it is disabled beside a transactional.id,
        ``enable.idempotence``.
        """
        if not self["enable.idempotence"]:
            if self.transactional_id is not None:
                raise ConfigError("enable.idempotence", False, "a transactional.id needs enable.idempotence")
            return False
        explicit = self._idempotence_is_needed
        in_flight = "max.in.flight.requests.per.connection"
        reasons = [
            (key, self[key], f"enable.idempotence needs {needs}")
            for key, needs, holds in (
                ("acks", "acks=all", self.acks == -1),
                ("retries", "retries above 0", self["retries"] > 0),
                (in_flight, f"{in_flight} of at most 5", self[in_flight] <= 5),
            )
            if not holds
        ]
        if reasons and explicit:
            raise ConfigError(*reasons[0])
        if reasons:
            logger.info("Idempotence is disabled, because %s is %s", reasons[0][0], reasons[0][1])
        return not reasons

    def _check_delivery_timeout(self) -> None:
        least = min(self["linger.ms"] + self["request.timeout.ms"], MAX_INT)
        if self["delivery.timeout.ms"] >= least:
            return
        if "delivery.timeout.ms" in self.originals:
            raise ConfigError(
                "delivery.timeout.ms", self["delivery.timeout.ms"],
                f"should be equal to or larger than linger.ms + request.timeout.ms, which is {least}",
            )  # fmt: skip
        self._values["delivery.timeout.ms"] = least

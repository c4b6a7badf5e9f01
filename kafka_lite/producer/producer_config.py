"""The producer's configuration keys.

Kafka 0.10.2: clients/.../producer/ProducerConfig.java, clients/.../clients/CommonClientConfigs.java · book 2.1.1
"""

from __future__ import annotations

import difflib
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

logger = logging.getLogger(__name__)

HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
MAX_INT = 0x7FFFFFFF
MAX_CLIENT_ID_BYTES = 0x7FFF
_client_numbers = itertools.count(1)

CONFIG = (
    ConfigDef()
    .define("bootstrap.servers", Type.LIST, NO_DEFAULT, HIGH,
            "Brokers to ask for the rest of the cluster, host:port each; a few of them are enough.")
    .define("client.id", Type.STRING, "", MEDIUM,
            "Name of the client in the logs and quotas of the brokers; producer-1, producer-2, … if there is none.")
    .define("key.serializer", Type.CLASS, "", HIGH,
            "Name of the class that makes bytes of keys; without one keys are bytes.")
    .define("value.serializer", Type.CLASS, "", HIGH,
            "Name of the class that makes bytes of values; without one values are bytes.")
    .define("acks", Type.STRING, "all", HIGH,
            "Who must have a record before it counts as sent: 0 nobody, 1 the leader, all (-1) every replica in sync.",
            ValidString.in_("all", "-1", "0", "1"))
    .define("enable.idempotence", Type.BOOLEAN, True, LOW,
            "Number the batches, so that a broker knows one that is sent again. Needs acks=all, retries, and at most 5 "
            "requests in flight; unless set explicitly it is left out where these, or the brokers, forbid it.")
    .define("buffer.memory", Type.LONG, 32 * 1024 * 1024, HIGH,
            "Bytes for records that wait to be sent; when they are used up, send blocks for max.block.ms.",
            Range.at_least(0))
    .define("compression.type", Type.STRING, "none", HIGH, "How batches are compressed.",
            ValidString.in_("none", "gzip", "snappy", "lz4", "zstd"))
    .define("batch.size", Type.INT, 16384, MEDIUM,
            "Bytes of a batch, before compression; a record that is larger goes alone.", Range.at_least(0))
    .define("linger.ms", Type.LONG, 0, MEDIUM,
            "How long a batch that is not full waits for more records.", Range.at_least(0))
    .define("retries", Type.INT, MAX_INT, HIGH,
            "How often a batch is sent again after an error that may pass; delivery.timeout.ms is the other limit.",
            Range.between(0, MAX_INT))
    .define("delivery.timeout.ms", Type.INT, 120_000, MEDIUM,
            "How long after send a record is given up; at least linger.ms + request.timeout.ms.", Range.at_least(0))
    .define("request.timeout.ms", Type.INT, 30_000, MEDIUM,
            "How long to wait for the answer to a request; then the connection is closed.", Range.at_least(0))
    .define("retry.backoff.ms", Type.LONG, 100, LOW,
            "How long to wait before a batch is sent again.", Range.at_least(0))
    .define("max.block.ms", Type.LONG, 60_000, MEDIUM,
            "How long send may block, for metadata and for memory together.", Range.at_least(0))
    .define("max.request.size", Type.INT, 1024 * 1024, MEDIUM,
            "Bytes of a request, and of a record, at most.", Range.at_least(0))
    .define("max.in.flight.requests.per.connection", Type.INT, 5, LOW,
            "Requests without an answer per broker. More than one may change the order when one of them is sent again, "
            "unless enable.idempotence is on.", Range.at_least(1))
    .define("partitioner.class", Type.CLASS, "kafka_lite.producer.partitioner.DefaultPartitioner", MEDIUM,
            "Name of the class that chooses partitions.")
    .define("interceptor.classes", Type.LIST, "", LOW, "Names of classes that see every record.")
    .define("metadata.max.age.ms", Type.LONG, 300_000, LOW,
            "After how long metadata is fetched anew even if nothing has changed.", Range.at_least(0))
    .define("reconnect.backoff.ms", Type.LONG, 50, LOW,
            "How long a broker is left alone after a lost connection; doubles with each failure.", Range.at_least(0))
    .define("reconnect.backoff.max.ms", Type.LONG, 1000, LOW, "Up to this.", Range.at_least(0))
    .define("socket.connection.setup.timeout.ms", Type.LONG, 10_000, MEDIUM,
            "How long to wait for a connection.", Range.at_least(0))
    .define("metric.reporters", Type.LIST, "", LOW,
            "Names of classes (MetricsReporter) that are told of every metric.")
    .define("metrics.num.samples", Type.INT, 2, LOW,
            "How many windows the rates, averages and maxima are taken over.", Range.at_least(1))
    .define("metrics.sample.window.ms", Type.LONG, 30_000, LOW, "Length of such a window.", Range.at_least(0))
    .define("metrics.recording.level", Type.STRING, "INFO", LOW, "How much is recorded.",
            ValidString.in_("INFO", "DEBUG"))
    .define("connections.max.idle.ms", Type.LONG, 540_000, MEDIUM, "After how long an unused connection is closed.")
    .define("send.buffer.bytes", Type.INT, 131_072, MEDIUM, "SO_SNDBUF; -1 leaves it to the system.",
            Range.at_least(-1))
    .define("receive.buffer.bytes", Type.INT, 32_768, MEDIUM, "SO_RCVBUF; -1 leaves it to the system.",
            Range.at_least(-1))
)  # fmt: skip
"""0.10.2 had acks=1, retries=0 and no idempotence; these defaults are today's, and lose and double nothing."""


class ProducerConfig:
    """Configuration of one producer, checked. ``config["linger.ms"]`` is the value, in the type of the key.

    Raises ConfigError for a value that is not valid, and for values that contradict each other. Unknown keys are warned
    of, unless they are for the user's own serializers, partitioner and interceptors, which get ``originals``.
    """

    def __init__(self, configs: Mapping[str, object]) -> None:
        self.originals = configs_of("KafkaProducer", configs)
        for key in CONFIG.keys & configs.keys():
            if configs[key] is None:
                raise ConfigError(key, None, "it has no value; leave it out to get the default")
        self._values = CONFIG.parse(configs)
        if not self._values["client.id"]:
            self._values["client.id"] = f"producer-{next(_client_numbers)}"
        self._check_client_id()
        self.acks = -1 if self["acks"] == "all" else int(self["acks"])
        self.idempotence = self._decide_idempotence()
        self.idempotence_is_explicit = bool(self["enable.idempotence"]) and "enable.idempotence" in configs
        self._check_delivery_timeout()
        for key in CONFIG.unused(configs):
            close = difflib.get_close_matches(key, CONFIG.keys, n=1)
            logger.warning(
                "The configuration '%s' was supplied but isn't a known config of the producer.%s",
                key, f" Did you mean '{close[0]}'?" if close else "",
            )  # fmt: skip

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def _check_client_id(self) -> None:
        """It is in every request: were it one that cannot be encoded, none would ever leave."""
        size = len(self["client.id"].encode(errors="replace"))
        if size > MAX_CLIENT_ID_BYTES or any("\ud800" <= letter <= "\udfff" for letter in self["client.id"]):
            raise ConfigError(
                "client.id", self["client.id"][:50], f"it must be valid unicode of at most {MAX_CLIENT_ID_BYTES} bytes"
            )

    def _decide_idempotence(self) -> bool:
        """On, unless something else that was set forbids it; an error when idempotence was set as well."""
        if not self["enable.idempotence"]:
            return False
        explicit = "enable.idempotence" in self.originals
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
            logger.info("Idempotence is off, since %s is %s", reasons[0][0], reasons[0][1])
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

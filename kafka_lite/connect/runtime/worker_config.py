"""The configuration keys of a worker, in both modes.

Kafka 0.10.2: connect/runtime/.../connect/runtime/WorkerConfig.java · book 8.3.5
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_lite.common.config_def import NO_DEFAULT, ConfigDef, Importance, Range, Type, ValidString, configs_of
from kafka_lite.connect.runtime.topic_admin import TOPIC_ADMIN_CONFIG
from kafka_lite.connect.runtime.worker_config_transformer import CONFIG_PROVIDERS, WorkerConfigTransformer
from kafka_lite.consumer import consumer_config
from kafka_lite.producer import producer_config

HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
METRICS_HTTP_OFF = -1
REST_PORT_DEFAULT = 8083
PLUGIN_PATH = "plugin.path"
TOPIC_TRACKING_ENABLE, TOPIC_TRACKING_ALLOW_RESET = "topic.tracking.enable", "topic.tracking.allow.reset"
MAX_INT, MAX_LONG = 0x7FFFFFFF, 0x7FFFFFFFFFFFFFFF


def base_config_def() -> ConfigDef:
    """The keys that standalone and distributed workers have in common."""
    return _define_later_keys(
        ConfigDef()
        .define("bootstrap.servers", Type.LIST, "localhost:9092", HIGH,
                "Brokers that are asked for the cluster's metadata first, host:port each.")
        .define("key.converter", Type.CLASS, NO_DEFAULT, HIGH,
                "The class that converts the keys of records, unless a connector has its own.")
        .define("value.converter", Type.CLASS, NO_DEFAULT, HIGH,
                "The class that converts the values of records, unless a connector has its own.")
        .define("header.converter", Type.CLASS, "org.apache.kafka.connect.storage.SimpleHeaderConverter", LOW,
                "The class that converts the values of headers, unless a connector has its own. (Since 1.1.)")
        .define("internal.key.converter", Type.CLASS, NO_DEFAULT, LOW,
                "The class that converts the keys of source offsets.")
        .define("internal.value.converter", Type.CLASS, NO_DEFAULT, LOW,
                "The class that converts what the worker stores: offsets, configurations, statuses.")
        .define("task.shutdown.graceful.timeout.ms", Type.LONG, 5000, LOW,
                "How long to wait for tasks that are to stop, all together. What takes longer is abandoned.")
        .define("offset.flush.interval.ms", Type.LONG, 60_000, LOW, "How often the offsets of tasks are committed.")
        .define("offset.flush.timeout.ms", Type.LONG, 5000, LOW,
                "How long such a commit may take. One that takes longer is given up; the next one has its offsets.")
        .define("rest.host.name", Type.STRING, None, LOW,
                "The address that the REST interface listens at; by default 127.0.0.1.")
        .define("rest.port", Type.INT, REST_PORT_DEFAULT, LOW, "The port of the REST interface.",
                Range.between(0, 65535))
        .define("rest.advertised.host.name", Type.STRING, None, LOW,
                "The host at which other workers reach the REST interface; by default rest.host.name.")
        .define("rest.advertised.port", Type.INT, None, LOW,
                "The port at which other workers reach the REST interface; by default rest.port.")
        .define("metrics.http.port", Type.INT, METRICS_HTTP_OFF, LOW,
                "The HTTP port that serves the worker's metrics: /metrics for Prometheus, /jmx as JSON. 0: any free "
                "port; -1: no HTTP. (Kafka has JMX instead.)",
                Range.between(METRICS_HTTP_OFF, 65535))
        .define("metrics.http.host", Type.STRING, "127.0.0.1", LOW,
                "The address of metrics.http.port. Every client that can connect to it can read the metrics.")
        .define("metrics.http.security.protocol", Type.STRING, "PLAINTEXT", LOW,
                "SSL: metrics.http.port has TLS, with the ssl. keys of the worker, or its own, which begin with "
                "metrics.http.; metrics.http.ssl.client.auth=required admits only clients with a certificate.",
                ValidString.in_("PLAINTEXT", "SSL"))
        .define("access.control.allow.origin", Type.STRING, "", LOW,
                "The origin, or *, from which browsers may use the REST interface; by default only its own.")
        .define("access.control.allow.methods", Type.STRING, "", LOW,
                "The methods that browsers may use from another origin; by default GET, POST and HEAD.")
    )  # fmt: skip


def _define_later_keys(definition: ConfigDef) -> ConfigDef:
    """Add those that 0.10.2 does not have."""
    return (
        definition
        .define(PLUGIN_PATH, Type.LIST, "", LOW,
                "The folders, separated by commas, in which modules with connectors, converters and transformations "
                "are found, besides all that is installed. (Since 0.11.)")
        .define(TOPIC_TRACKING_ENABLE, Type.BOOLEAN, True, LOW,
                "Whether the worker keeps which topics each connector uses, as records of the status topic. (Since "
                "2.5. Workers of 0.10.2 in the group log a warning for each of them.)")
        .define(TOPIC_TRACKING_ALLOW_RESET, Type.BOOLEAN, True, LOW,
                "Whether a request may make it forget them. (Since 2.5.)")
        .define(CONFIG_PROVIDERS, Type.LIST, "", LOW,
                "The names of config providers, whose classes are in config.providers.NAME.class. The worker and its "
                "connectors may then have values such as ${NAME:path:key}.")
    )  # fmt: skip


class WorkerConfig:
    """The values of a worker's keys; ``config["rest.port"]``. Unknown keys stay in ``originals``, for plug-ins."""

    def __init__(self, definition: ConfigDef, props: Mapping[str, str]) -> None:
        """Raises ConfigError."""
        given = {key: str(value) for key, value in configs_of("A worker", props).items()}
        self.transformer = WorkerConfigTransformer(given)
        self.originals: dict[str, str] = self.transformer.transform(given)
        self._values = definition.parse(self.originals)

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def originals_with_prefix(self, prefix: str) -> dict[str, str]:
        """The given keys that begin with a prefix, without it."""
        return {key.removeprefix(prefix): self.originals[key] for key in self.originals if key.startswith(prefix)}

    # ── The clients ───────────────────────────────────────────────────────────────────────────────────────────────

    def source_task_producer(self) -> dict[str, object]:
        """The configuration of the producers of source tasks. With these settings no record is lost or overtaken;
        ``producer.*`` of the worker may override them."""
        return {
            "bootstrap.servers": ",".join(self["bootstrap.servers"]),
            "request.timeout.ms": MAX_INT,
            "delivery.timeout.ms": MAX_INT,
            "retries": MAX_INT,
            "max.block.ms": MAX_LONG,
            "acks": "all",
            "max.in.flight.requests.per.connection": 1,
            "enable.idempotence": "false",  # brokers of the book's version do not know it
            **self.originals_with_prefix("producer."),
        }

    def sink_task_consumer(self, connector: str) -> dict[str, object]:
        """The configuration of the consumers of a sink connector's tasks, which are one group. ``consumer.*`` of the
        worker may override it."""
        return {
            "group.id": sink_group_id(connector),
            "bootstrap.servers": ",".join(self["bootstrap.servers"]),
            "enable.auto.commit": "false",
            "auto.offset.reset": "earliest",
            **self.originals_with_prefix("consumer."),
        }

    def admin(self, client_id: str) -> dict[str, object]:
        """The configuration of an admin client: the worker's own keys, as far as it knows them; ``admin.*`` of the
        worker may override them."""
        return {**self.internal_admin(), "client.id": client_id, **self.originals_with_prefix("admin.")}

    def internal_admin(self) -> dict[str, object]:
        """The configuration of the admin client of the internal topics: the worker's own keys alone."""
        known = {key: self.originals[key] for key in self.originals if key in TOPIC_ADMIN_CONFIG}
        return {**known, "bootstrap.servers": ",".join(self["bootstrap.servers"])}

    def internal_producer(self, retries: int = MAX_INT) -> dict[str, object]:
        """The configuration of an internal topic's producer: the worker's own keys, as far as producers know them."""
        known = {key: self.originals[key] for key in self.originals if key in producer_config.CONFIG}
        return {**known, "bootstrap.servers": ",".join(self["bootstrap.servers"]), "retries": retries}

    def internal_consumer(self) -> dict[str, object]:
        """The configuration of an internal topic's consumer. It has no group: every worker reads all records."""
        known = {key: self.originals[key] for key in self.originals if key in consumer_config.CONFIG}
        known.pop("group.id", None)
        return {**known, "bootstrap.servers": ",".join(self["bootstrap.servers"])}


def sink_group_id(connector: str) -> str:
    """The consumer group of a sink connector. Kafka: SinkUtils.consumerGroupId."""
    return f"connect-{connector}"

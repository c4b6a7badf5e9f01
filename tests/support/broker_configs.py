"""Alters and describes configurations of a running broker with unmodified clients."""

from __future__ import annotations

import argparse
import warnings

from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    ResourceType,
)

from kafka_lite.testing.cluster import Cluster
from kafka_lite.tools.admin import configs
from tests.support.patient_clients import answer


class BrokerAdmin:
    """Configs of broker 0, and of topics."""

    def __init__(self, cluster: Cluster) -> None:
        self._client = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})

    def alter(self, key: str, value: str | None, topic: str | None = None) -> None:
        """Set a config of the broker or of a topic, or delete it (None)."""
        operation = AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET
        entry = ConfigEntry(key, value, incremental_operation=operation)
        resource = _resource(topic, incremental_configs=[entry])
        answer(self._client.incremental_alter_configs([resource])[resource])

    def replace(self, key: str, value: str) -> None:
        """Replace all overrides by this one, as old clients do."""
        resource = ConfigResource(ResourceType.BROKER, "0", set_config={key: value})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            answer(self._client.alter_configs([resource])[resource])

    def entry(self, key: str, topic: str | None = None) -> ConfigEntry:
        """The description of a key of the broker or of a topic."""
        resource = _resource(topic)
        return answer(self._client.describe_configs([resource])[resource])[key]

    def describe(self, key: str, topic: str | None = None) -> tuple[str | None, ConfigSource]:
        """The effective value and its source."""
        entry = self.entry(key, topic)
        assert not entry.is_read_only
        return entry.value, ConfigSource(entry.source)


def _resource(topic: str | None, **changes: object) -> ConfigResource:
    kind, name = (ResourceType.BROKER, "0") if topic is None else (ResourceType.TOPIC, topic)
    return ConfigResource(kind, name, **changes)


def alter_all_brokers(cluster: Cluster, *arguments: str) -> int:
    """Alter with a tool, since librdkafka rejects the empty name that stands for all brokers; returns the exit code.

    ``arguments``: ``--add-config key=value`` or ``--delete-config key``.
    """
    parser = argparse.ArgumentParser()
    configs.add_arguments(parser)
    where = ["--bootstrap-server", cluster.bootstrap_servers, "--alter", "--broker-defaults"]
    return configs.run(parser.parse_args([*where, *arguments]))

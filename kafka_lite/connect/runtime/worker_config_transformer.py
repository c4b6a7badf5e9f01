"""Keeps secrets out of what a worker stores and answers: only connectors and tasks see the values of references.

Kafka 2.0: connect/runtime/.../connect/runtime/WorkerConfigTransformer.java · book 8.3.5
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka_lite.common.config_def import ConfigError, Password, Type, parse_value
from kafka_lite.common.config_providers.config_provider import ConfigProvider
from kafka_lite.common.config_providers.config_transformer import ConfigTransformer
from kafka_lite.common.config_value import ConfigValue
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.runtime.plugin_discovery import load_class, new_plugin

CONFIG_PROVIDERS = "config.providers"


class WorkerConfigTransformer:
    """``config.providers=file`` of a worker, with ``config.providers.file.class``, lets the configurations of its
    connectors, and its own, have values such as ``${file:/etc/secrets.properties:password}``::

        REST ──▶ raw: stored, listed, compared ──▶ transform ──▶ connector, tasks
                          ▲                                           │
                          └── restore ◀── configurations of tasks ◀───┘
    """

    def __init__(self, worker_props: Mapping[str, str]) -> None:
        """Raises ConfigError for a provider that cannot be created."""
        names = parse_value(CONFIG_PROVIDERS, Type.LIST, worker_props.get(CONFIG_PROVIDERS)) or []
        self._transformer = ConfigTransformer({name: _provider(name, worker_props) for name in names})

    def transform(self, config: Mapping[str, str]) -> dict[str, str]:
        """The configuration with values in place of references. Raises ConfigError, which names what is missing."""
        return self._transformer.transform(config)

    def restore(self, connector: Mapping[str, str], tasks: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
        """Put the references of the connector's configuration back into those of its tasks, for storing them.

        (Kafka: AbstractHerder.reverseTransform.)
        """
        referring = {key: value for key, value in connector.items() if self._transformer.has_references(value)}
        return [{key: referring.get(key, value) for key, value in task.items()} for task in tasks]

    def hide(self, connector: Mapping[str, str], values: Sequence[ConfigValue]) -> None:
        """Put the references back into a validated configuration, and into its errors. (Kafka shows the secrets.)"""
        for value in values:
            raw = connector.get(value.name, "")
            if self._transformer.has_references(raw):
                secret = self._transformer.transform({value.name: raw})[value.name]
                value.error_messages = [message.replace(secret, raw) for message in value.error_messages]
                value.value = value.value if isinstance(value.value, Password) else raw


def _provider(name: str, props: Mapping[str, str]) -> ConfigProvider:
    prefix, key = f"{CONFIG_PROVIDERS}.{name}.param.", f"{CONFIG_PROVIDERS}.{name}.class"
    try:
        provider: ConfigProvider = new_plugin(load_class(props.get(key, "")), ConfigProvider)
    except ConnectError as error:
        raise ConfigError(key, props.get(key), str(error)) from error
    provider.configure({each.removeprefix(prefix): props[each] for each in props if each.startswith(prefix)})
    return provider

"""Watches ZooKeeper for changed configurations and applies them.

Kafka 0.10.2: core/.../server/DynamicConfigManager.scala · book 6.1.5
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.server.dynamic.config_handler import ConfigHandler
from kafka_lite.zookeeper import paths
from kafka_lite.zookeeper.data import ConfigChange
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.zk_errors import ZkConnectionError
from kafka_lite.zookeeper.zk_node_change_notification_listener import ZkNodeChangeNotificationListener

logger = logging.getLogger(__name__)


class DynamicConfigManager:
    """Follows /config/changes.

    A configuration is changed by writing the new values to /config/<type>/<name> first, and then a notification that
    only names the entity. A broker that handles a notification late, or twice, therefore still reads the current
    values.
    """

    def __init__(
        self,
        zk_client: KafkaZkClient,
        handlers: Mapping[str, ConfigHandler],
        time: Time = SYSTEM_TIME,
    ) -> None:
        """``handlers``: entity type -> handler of its changes; changes of other types are ignored.

        The types are ``topics``, ``brokers``, ``clients``, ``users``, ``ips``, ``client-metrics`` and ``groups``.
        """
        self._zk_client = zk_client
        self._handlers = dict(handlers)
        self._notifications = ZkNodeChangeNotificationListener(
            zk_client.zookeeper, paths.CONFIG_CHANGES, self._process, time
        )

    def startup(self) -> None:
        """Read all overrides but those of topics, then follow the changes, starting with existing notifications.

        The overrides of a topic are read when its logs are opened.
        """
        for entity_path in list(self._existing_entities()):
            self._apply(entity_path)
        self._notifications.startup()

    def _existing_entities(self) -> Iterator[str]:
        for entity_type in ("brokers", "clients", "users", "ips", "client-metrics", "groups"):
            if entity_type not in self._handlers:
                continue
            for name in self._zk_client.get_entities(entity_type):
                yield f"{entity_type}/{name}"
                if entity_type == "users":
                    clients = f"users/{name}/clients"
                    yield from (f"{clients}/{client_id}" for client_id in self._zk_client.get_entities(clients))

    def process_changes(self) -> None:
        """Handle all new notifications. Raises ZkConnectionError."""
        self._notifications.process_notifications()

    def _process(self, data: bytes) -> None:
        self._apply(ConfigChange.decode(data).entity_path)

    def _apply(self, entity_path: str) -> None:
        entity_type, _, entity_name = entity_path.partition("/")
        handler = self._handlers.get(entity_type)
        if handler is None or not entity_name:
            logger.debug("No handler for changes of %s", entity_path)
            return
        try:
            handler.process_config_changes(entity_name, self._zk_client.get_entity_config(entity_path))
        except ZkConnectionError:
            raise
        except Exception:
            # One bad value, or a handler that fails, must not keep the other changes from being applied.
            logger.exception("Cannot apply the configuration of %s", entity_path)

"""Watches ZooKeeper for changed configurations and applies them.

Kafka 0.10.2: core/.../server/DynamicConfigManager.scala, common/ZkNodeChangeNotificationListener.scala · book 6.1.5
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.server.dynamic.config_handler import ConfigHandler
from kafka_lite.zookeeper import paths
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

logger = logging.getLogger(__name__)

CHANGE_EXPIRATION_MS = 15 * 60 * 1000


class DynamicConfigManager:
    """Follows /config/changes.

    A configuration is changed by writing the new values to /config/<type>/<name> first, and then a notification that
    only names the entity. A broker that handles a notification late, or twice, therefore still reads the current
    values. Each broker remembers the number of the last notification that it has handled; any broker deletes those that
    are older than 15 minutes.
    """

    def __init__(
        self,
        zk_client: KafkaZkClient,
        handlers: Mapping[str, ConfigHandler],
        time: Time = SYSTEM_TIME,
        change_expiration_ms: int = CHANGE_EXPIRATION_MS,
    ) -> None:
        """``handlers``: entity type -> handler of its changes; changes of other types are ignored.

        The types are ``topics``, ``brokers``, ``clients``, ``users`` and ``ips``.
        """
        self._zk_client = zk_client
        self._handlers = dict(handlers)
        self._time = time
        self._change_expiration_ms = change_expiration_ms
        self._last_executed_change = -1
        self._lock = threading.Lock()

    def startup(self) -> None:
        """Read all overrides but those of topics, then follow the changes, starting with existing notifications.

        The overrides of a topic are read when its logs are opened.
        """
        for entity_path in list(self._existing_entities()):
            self._apply(entity_path)
        self._zk_client.watch_config_changes(self.process_changes)
        self.process_changes()

    def _existing_entities(self) -> Iterator[str]:
        for entity_type in ("brokers", "clients", "users", "ips"):
            if entity_type not in self._handlers:
                continue
            for name in self._zk_client.get_entities(entity_type):
                yield f"{entity_type}/{name}"
                if entity_type == "users":
                    clients = f"users/{name}/clients"
                    yield from (f"{clients}/{client_id}" for client_id in self._zk_client.get_entities(clients))

    def process_changes(self) -> None:
        """Handle all new notifications."""
        with self._lock:
            names = self._zk_client.get_config_changes()
            for name in names:
                number = paths.sequence_number(name)
                if number > self._last_executed_change:
                    self._process(name)
                    self._last_executed_change = number
            self._purge_obsolete(names)

    def _process(self, name: str) -> None:
        try:
            found = self._zk_client.get_config_change(name)
        except KafkaError as error:
            logger.error("Ignoring the notification %s: %s", name, error)
            return
        if found is not None:
            self._apply(found[0].entity_path)

    def _apply(self, entity_path: str) -> None:
        entity_type, _, entity_name = entity_path.partition("/")
        handler = self._handlers.get(entity_type)
        if handler is None or not entity_name:
            logger.debug("No handler for changes of %s", entity_path)
            return
        try:
            handler.process_config_changes(entity_name, self._zk_client.get_entity_config(entity_path))
        except Exception:
            # One bad value, or a handler that fails, must not keep the other changes from being applied.
            logger.exception("Cannot apply the configuration of %s", entity_path)

    def _purge_obsolete(self, names: list[str]) -> None:
        """Delete obsolete notifications. ``names`` is sorted by age: the first one that is not old ends the search."""
        now_ms = self._time.milliseconds()
        for name in names:
            created_ms = self._created_ms(name)
            if created_ms is None:
                continue  # another broker was faster
            if now_ms - created_ms <= self._change_expiration_ms:
                return
            self._zk_client.delete_config_change(name)

    def _created_ms(self, name: str) -> int | None:
        stat = self._zk_client.zookeeper.exists(f"{paths.CONFIG_CHANGES}/{name}")
        return None if stat is None else stat.created_ms

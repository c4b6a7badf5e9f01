"""A request to restart a connector with its tasks, and its record in the config topic.

Kafka 3.0, KIP-745: connect/runtime/.../connect/runtime/RestartRequest.java,
connect/storage/KafkaConfigBackingStore.java (RESTART_REQUEST_V0, recordToRestartRequest) · book 8.3.4
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.data.schema_builder import SchemaBuilder

logger = logging.getLogger(__name__)

RESTART_PREFIX = "restart-connector-"
INCLUDE_TASKS, ONLY_FAILED = "include-tasks", "only-failed"
RESTART_REQUEST_V0 = (
    SchemaBuilder.struct().field(INCLUDE_TASKS, Schema.BOOLEAN_SCHEMA).field(ONLY_FAILED, Schema.BOOLEAN_SCHEMA).build()
)


@dataclass(frozen=True)
class RestartRequest:
    """The connector, and how much of it is to be restarted."""

    connector: str
    only_failed: bool = False
    """Leave what has not failed alone."""
    include_tasks: bool = False
    """Restart the tasks, too."""

    @property
    def is_plain(self) -> bool:
        """Whether it means the connector alone, whatever its state: the request that 0.10.2 has, too."""
        return not self.only_failed and not self.include_tasks

    @property
    def impact(self) -> int:
        """The higher, the more is probably restarted. Of several requests that wait, a worker serves the highest."""
        return 2 * (not self.only_failed) + self.include_tasks

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of its record in the config topic."""
        return {INCLUDE_TASKS: self.include_tasks, ONLY_FAILED: self.only_failed}


def restart_key(connector: str) -> str:
    """The key of a request's record."""
    return RESTART_PREFIX + connector


def restart_request_of(connector: str, value: object) -> RestartRequest | None:
    """The request in a record's value. A flag that is missing or wrong is false; None, logged, without flags at all."""
    if not isinstance(value, dict):
        logger.error("Ignoring restart request for connector %s: wrong format %r", connector, value)
        return None
    flags = {name: value.get(name) for name in (INCLUDE_TASKS, ONLY_FAILED)}
    for name, flag in flags.items():
        if not isinstance(flag, bool):
            logger.warning("Restart request for connector %s: %s is %r, taken for false", connector, name, flag)
    return RestartRequest(connector, flags[ONLY_FAILED] is True, flags[INCLUDE_TASKS] is True)

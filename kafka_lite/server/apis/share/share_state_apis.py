"""Requests to the share coordinator: InitializeShareGroupState, ReadShareGroupState, WriteShareGroupState,
DeleteShareGroupState, ReadShareGroupStateSummary.

Kafka 4.1: core/.../server/KafkaApis.scala (handleWriteShareGroupStateRequest and its kin) · book 10.3
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.coordinator.share.share_coordinator import ShareCoordinator
from kafka_lite.network.request import Request
from kafka_lite.protocol.schema import Request as RequestMessage
from kafka_lite.server.apis.api_handler import Respond
from kafka_lite.server.share.persister.state_messages import (
    DELETE,
    INITIALIZE,
    READ,
    READ_SUMMARY,
    WRITE,
    StateMessages,
)

logger = logging.getLogger(__name__)

Method = Callable[[str, Any, Callable[[Mapping[TopicIdPartition, Any]], None]], None]
"""A method of the coordinator: group id, partitions with their data, and what takes the results."""


class ShareStateApis:
    """Handlers that translate between the wire and the coordinator. Only brokers send these requests."""

    def __init__(self, coordinator: ShareCoordinator) -> None:
        self._coordinator = coordinator

    def handle_initialize(self, _request: Request, body: RequestMessage, respond: Respond) -> None:
        """Begin the state of partitions; the response is sent once the log has it."""
        self._ask(INITIALIZE, self._coordinator.initialize_state, body, respond)

    def handle_read(self, _request: Request, body: RequestMessage, respond: Respond) -> None:
        """Read the state of partitions for their leader, and fence the leaders before."""
        self._ask(READ, self._coordinator.read_state, body, respond)

    def handle_write(self, _request: Request, body: RequestMessage, respond: Respond) -> None:
        """Change the state of partitions; the response is sent once the log has it."""
        self._ask(WRITE, self._coordinator.write_state, body, respond)

    def handle_delete(self, _request: Request, body: RequestMessage, respond: Respond) -> None:
        """Forget the state of partitions."""
        self._ask(DELETE, self._coordinator.delete_state, body, respond)

    def handle_read_summary(self, _request: Request, body: RequestMessage, respond: Respond) -> None:
        """Read where a group is in partitions."""
        self._ask(READ_SUMMARY, self._coordinator.read_summary, body, respond)

    def _ask(self, messages: StateMessages[Any, Any], method: Method, body: Any, respond: Respond) -> None:
        if not body.group_id or not body.topics or not all(topic.partitions for topic in body.topics):
            logger.error("Cannot %s: the request lacks a group, a topic or a partition", messages.name)
            respond(messages.to_response({}))  # as Kafka does
            return
        partitions = messages.from_request(body)
        method(body.group_id, partitions, lambda results: respond(messages.to_response(results)))

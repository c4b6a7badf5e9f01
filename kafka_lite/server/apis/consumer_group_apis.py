"""Requests about groups of KIP-848: ConsumerGroupHeartbeat, ConsumerGroupDescribe.

Kafka 4.1: core/.../server/KafkaApis.scala (handleConsumerGroupHeartbeat, handleConsumerGroupDescribe) · book 5.2.1
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.modern.consumer_group_coordinator import ConsumerGroupCoordinator
from kafka_lite.coordinator.group.modern.consumer_group_heartbeat import HeartbeatClient
from kafka_lite.network.request import Request
from kafka_lite.protocol.messages import api_68_consumer_group_heartbeat as heartbeat
from kafka_lite.protocol.messages import api_69_consumer_group_describe as describe
from kafka_lite.server.apis.api_handler import Respond
from kafka_lite.server.apis.group_apis import GROUP_OPERATIONS

VisibleTo = Callable[[Request, Iterable[str]], frozenset[str]]
"""Leaves the topics that the sender of the request may describe."""


class ConsumerGroupApis:
    """Handlers that translate between the wire and the coordinator. None of them blocks."""

    def __init__(self, coordinator: ConsumerGroupCoordinator, visible_to: VisibleTo | None) -> None:
        """``visible_to`` is None if there is no authorizer."""
        self._coordinator = coordinator
        self._visible_to = visible_to

    def handle_heartbeat(
        self, request: Request, body: heartbeat.ConsumerGroupHeartbeatRequest, respond: Respond
    ) -> None:
        """A member joins, stays or leaves; the response is sent once the log has what it tells."""
        visible_to = self._visible_to
        client = HeartbeatClient(request.header.client_id or "", f"/{request.client_address}")
        if visible_to is not None:
            client = HeartbeatClient(client.client_id, client.client_host, lambda topics: visible_to(request, topics))
        self._coordinator.handle_heartbeat(body, request.header.api_version, client, respond)

    def handle_describe(self, _request: Request, body: describe.ConsumerGroupDescribeRequest, respond: Respond) -> None:
        """State, epochs and members of groups."""
        if not self._coordinator.config.is_enabled:
            error = Errors.UNSUPPORTED_VERSION
            groups = [
                describe.DescribedGroup(group_id=group_id, error_code=error.code, error_message=error.message)
                for group_id in body.group_ids
            ]
        else:
            groups = [self._coordinator.handle_describe(group_id) for group_id in body.group_ids]
        for group in groups:
            if body.include_authorized_operations and not group.error_code:
                group.authorized_operations = GROUP_OPERATIONS
        respond(describe.ConsumerGroupDescribeResponse(groups=groups))

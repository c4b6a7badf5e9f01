"""Requests about share groups and their members: ShareGroupHeartbeat, ShareGroupDescribe.

Kafka 4.1: core/.../server/KafkaApis.scala (handleShareGroupHeartbeat, handleShareGroupDescribe) · book 5.2.1
"""

from __future__ import annotations

from kafka_lite.coordinator.group.modern.consumer_group_heartbeat import HeartbeatClient
from kafka_lite.coordinator.group.modern.share.share_group_coordinator import ShareGroupCoordinator
from kafka_lite.network.request import Request
from kafka_lite.protocol.messages import api_76_share_group_heartbeat as heartbeat
from kafka_lite.protocol.messages import api_77_share_group_describe as describe
from kafka_lite.server.apis.api_handler import Respond
from kafka_lite.server.apis.group_apis import GROUP_OPERATIONS


class ShareGroupApis:
    """Handlers that translate between the wire and the coordinator. None of them blocks."""

    def __init__(self, coordinator: ShareGroupCoordinator) -> None:
        self._coordinator = coordinator

    def handle_heartbeat(self, request: Request, body: heartbeat.ShareGroupHeartbeatRequest, respond: Respond) -> None:
        """A member joins, stays or leaves; the response is sent once the log has what it tells."""
        client = HeartbeatClient(request.header.client_id or "", f"/{request.client_address}")
        self._coordinator.handle_heartbeat(body, client, respond)

    def handle_describe(self, _request: Request, body: describe.ShareGroupDescribeRequest, respond: Respond) -> None:
        """State, epochs and members of groups."""
        groups = [self._coordinator.handle_describe(group_id) for group_id in body.group_ids]
        for group in groups:
            if body.include_authorized_operations and not group.error_code:
                group.authorized_operations = GROUP_OPERATIONS
        respond(describe.ShareGroupDescribeResponse(groups=groups))

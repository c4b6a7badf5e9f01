"""Requests about the offsets of share groups: DescribeShareGroupOffsets, AlterShareGroupOffsets,
DeleteShareGroupOffsets.

Kafka 4.1: core/.../server/KafkaApis.scala (handleDescribeShareGroupOffsetsRequest and its kin) · book 3.5.3
"""

from __future__ import annotations

import threading

from kafka_lite.coordinator.group.modern.share.share_group_offsets import ShareGroupOffsets
from kafka_lite.network.request import Request
from kafka_lite.protocol.messages import api_90_describe_share_group_offsets as describe
from kafka_lite.protocol.messages import api_91_alter_share_group_offsets as alter
from kafka_lite.protocol.messages import api_92_delete_share_group_offsets as delete
from kafka_lite.server.apis.api_handler import Respond


class ShareGroupOffsetApis:
    """Handlers in front of the group coordinator. None of them blocks."""

    def __init__(self, offsets: ShareGroupOffsets) -> None:
        self._offsets = offsets

    def handle_describe(
        self, _request: Request, body: describe.DescribeShareGroupOffsetsRequest, respond: Respond
    ) -> None:
        """Where groups are in their partitions; the response is sent when all groups have been described."""
        lock = threading.Lock()
        described: dict[int, describe.DescribeShareGroupOffsetsResponseGroup] = {}
        count = len(body.groups)
        if not count:
            respond(describe.DescribeShareGroupOffsetsResponse())

        def add(position: int, group: describe.DescribeShareGroupOffsetsResponseGroup) -> None:
            with lock:
                described[position] = group
                is_last = len(described) == count
            if is_last:
                groups = [described[each] for each in range(count)]
                respond(describe.DescribeShareGroupOffsetsResponse(groups=groups))

        for position, asked in enumerate(body.groups):
            self._offsets.describe(asked, lambda group, at=position: add(at, group))  # type: ignore[misc]

    def handle_alter(self, _request: Request, body: alter.AlterShareGroupOffsetsRequest, respond: Respond) -> None:
        """Let an empty group begin at other offsets."""
        self._offsets.alter(body, respond)

    def handle_delete(self, _request: Request, body: delete.DeleteShareGroupOffsetsRequest, respond: Respond) -> None:
        """Let an empty group forget topics."""
        self._offsets.delete(body, respond)

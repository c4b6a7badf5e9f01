"""What the coordinator answers when it refuses, and what it tells of groups.

Kafka 0.10.2: core/.../coordinator/GroupCoordinator.scala (JoinGroupResult), GroupMetadata.scala (GroupSummary)
· book 5.2.4
"""

from __future__ import annotations

from kafka_lite.common.errors import Errors
from kafka_lite.protocol.messages.api_11_join_group import JoinGroupResponse
from kafka_lite.protocol.messages.api_14_sync_group import SyncGroupResponse

UNKNOWN_MEMBER_ID = ""
"""The member id of who has none yet."""
NO_GENERATION = -1


def join_error(member_id: str, error: Errors) -> JoinGroupResponse:
    """A JoinGroup that is refused."""
    return JoinGroupResponse(
        error_code=error.code, generation_id=NO_GENERATION, protocol_name=None, leader="", member_id=member_id
    )


def sync_error(error: Errors) -> SyncGroupResponse:
    """A SyncGroup that is refused."""
    return SyncGroupResponse(error_code=error.code, assignment=b"")

"""Checks of ConsumerGroupHeartbeat that need no group.

Kafka 4.1: group-coordinator/.../group/GroupCoordinatorService.java (throwIfConsumerGroupHeartbeatRequestIsInvalid)
· book 5.2.1
"""

from __future__ import annotations

from collections.abc import Collection

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.member_metadata import MAX_INSTANCE_ID
from kafka_lite.coordinator.group.modern.consumer_group_member import (
    JOIN_GROUP_MEMBER_EPOCH,
    LEAVE_GROUP_MEMBER_EPOCH,
    LEAVE_GROUP_STATIC_MEMBER_EPOCH,
)
from kafka_lite.protocol.messages.api_68_consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from kafka_lite.protocol.wire_types import MAX_STRING_BYTES

FIRST_VERSION_WITH_MEMBER_ID_OF_CLIENT = 1


def check_heartbeat(request: ConsumerGroupHeartbeatRequest, version: int, assignors: Collection[str]) -> None:
    """Raise INVALID_REQUEST or UNSUPPORTED_ASSIGNOR, with Kafka's message."""
    if version >= FIRST_VERSION_WITH_MEMBER_ID_OF_CLIENT or request.member_epoch != JOIN_GROUP_MEMBER_EPOCH:
        _refuse_if(not request.member_id, "MemberId can't be empty.")
    _refuse_if(not request.group_id, "GroupId can't be empty.")
    _refuse_if(request.instance_id == "", "InstanceId can't be empty.")
    _refuse_if(len(request.instance_id or "") > MAX_INSTANCE_ID, "InstanceId is too long.")
    _refuse_if(request.rack_id == "", "RackId can't be empty.")
    names = (request.group_id, request.member_id, request.subscribed_topic_regex or "")
    _refuse_if(any(map(_is_too_long, names)), "A name is too long.")
    if request.member_epoch == JOIN_GROUP_MEMBER_EPOCH:
        _check_first(request)
    elif request.member_epoch == LEAVE_GROUP_STATIC_MEMBER_EPOCH:
        _refuse_if(request.instance_id is None, "InstanceId can't be null.")
    elif request.member_epoch < LEAVE_GROUP_MEMBER_EPOCH:
        _refuse_if(True, "MemberEpoch is invalid.")
    if request.server_assignor is not None and request.server_assignor not in assignors:
        supported = ", ".join(assignors)
        raise Errors.UNSUPPORTED_ASSIGNOR.exception(
            f"ServerAssignor {request.server_assignor} is not supported. Supported assignors: {supported}."
        )


def _check_first(request: ConsumerGroupHeartbeatRequest) -> None:
    _refuse_if(request.rebalance_timeout_ms == -1, "RebalanceTimeoutMs must be provided in first request.")
    _refuse_if(
        request.topic_partitions is None or bool(request.topic_partitions),
        "TopicPartitions must be empty when (re-)joining.",
    )
    _refuse_if(
        request.subscribed_topic_names is None and request.subscribed_topic_regex is None,
        "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.",
    )


def says_nothing(request: ConsumerGroupHeartbeatRequest) -> bool:
    """Whether all fields are null or -1 that describe the member, as in almost all heartbeats."""
    return (
        request.rebalance_timeout_ms == -1
        and request.subscribed_topic_names is None
        and request.subscribed_topic_regex is None
        and request.instance_id is None
        and request.rack_id is None
        and request.server_assignor is None
    )


def _is_too_long(name: str) -> bool:
    return len(name) > MAX_STRING_BYTES // 4 and len(name.encode()) > MAX_STRING_BYTES


def _refuse_if(is_wrong: bool, message: str) -> None:
    if is_wrong:
        raise Errors.INVALID_REQUEST.exception(message)

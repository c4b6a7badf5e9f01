"""Heartbeats that are wrong by themselves."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.coordinator.group.member_metadata import MAX_INSTANCE_ID
from kafka_lite.coordinator.group.modern.heartbeat_checks import check_heartbeat
from kafka_lite.protocol.messages.api_68_consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, TopicPartitions
from tests.support.groups import error_of
from tests.support.modern_groups import ModernGroups

FIRST = {"member_id": "m", "rebalance_timeout_ms": 1000, "subscribed_topic_names": ["t"], "topic_partitions": []}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"group_id": ""}, "GroupId can't be empty."),
        ({"member_id": ""}, "MemberId can't be empty."),
        ({"instance_id": ""}, "InstanceId can't be empty."),
        ({"instance_id": "x" * (MAX_INSTANCE_ID + 1)}, "InstanceId is too long."),
        ({"rack_id": ""}, "RackId can't be empty."),
        ({"rebalance_timeout_ms": -1}, "RebalanceTimeoutMs must be provided in first request."),
        ({"topic_partitions": None}, "TopicPartitions must be empty when (re-)joining."),
        ({"topic_partitions": [TopicPartitions()]}, "TopicPartitions must be empty when (re-)joining."),
        ({"subscribed_topic_names": None}, "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when"),
        ({"member_epoch": -3}, "MemberEpoch is invalid."),
        ({"member_epoch": -2}, "InstanceId can't be null."),
        ({"group_id": "g" * 40_000}, "A name is too long."),
    ],
)
def test_a_wrong_request_is_refused_with_kafkas_message(fields: dict[str, Any], message: str) -> None:
    response = ModernGroups().send(**(FIRST | fields))
    assert response is not None
    assert response.error_code == Errors.INVALID_REQUEST.code
    assert (response.error_message or "").startswith(message)


def test_an_assignor_must_be_known() -> None:
    response = ModernGroups().send(**(FIRST | {"server_assignor": "sticky"}))
    assert response is not None
    assert error_of(response.error_code) is Errors.UNSUPPORTED_ASSIGNOR
    assert "uniform, range" in (response.error_message or "")


def test_a_client_of_version_0_is_given_its_member_id() -> None:
    response = ModernGroups().send(0, **(FIRST | {"member_id": ""}))
    assert response is not None
    assert (error_of(response.error_code), len(response.member_id or "")) == (Errors.NONE, 22)


def test_a_member_of_an_unknown_group_is_told_so() -> None:
    response = ModernGroups().send(member_id="m", member_epoch=3)
    assert response is not None
    assert error_of(response.error_code) is Errors.GROUP_ID_NOT_FOUND


@pytest.mark.parametrize("name", ["x" * 8192, "é" * 16_384, "x" * 32_767])
def test_a_name_is_measured_in_bytes(name: str) -> None:
    check_heartbeat(ConsumerGroupHeartbeatRequest(group_id="g", member_id=name[:-1], member_epoch=1), 1, ())
    too_long = "é" + name + "x" * (32_766 - len(name.encode()))
    with pytest.raises(ApiError, match="too long"):
        check_heartbeat(ConsumerGroupHeartbeatRequest(group_id="g", member_id=too_long, member_epoch=1), 1, ())


def test_an_instance_id_may_be_as_long_as_kafkas_clients_allow() -> None:
    response = ModernGroups().send(**(FIRST | {"instance_id": "x" * MAX_INSTANCE_ID}))
    assert response is not None
    assert error_of(response.error_code) is Errors.NONE

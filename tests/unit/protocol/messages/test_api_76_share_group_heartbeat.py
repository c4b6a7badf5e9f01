"""ShareGroupHeartbeat: null says that nothing has changed, which is not the same as an empty list."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_lite.protocol.messages import api_76_share_group_heartbeat as heartbeat
from kafka_lite.protocol.schema_error import SchemaError

TOPIC_ID = UUID("00010203-0405-0607-0809-0a0b0c0d0e0f")


@pytest.mark.parametrize(("names", "golden"), [(None, "00"), ([], "01"), (["t"], "02 02 74")])
def test_a_subscription_that_has_not_changed_is_null(names: list[str] | None, golden: str) -> None:
    request = heartbeat.ShareGroupHeartbeatRequest(
        group_id="g", member_id="m", member_epoch=3, subscribed_topic_names=names
    )
    assert request.encode(1) == bytes.fromhex(f"02 67 02 6d 00000003 00 {golden} 00")
    assert heartbeat.ShareGroupHeartbeatRequest.decode(request.encode(1), 1) == request


@pytest.mark.parametrize(
    ("assignment", "golden"),
    [
        (None, "ff"),
        (heartbeat.Assignment(), "01 01 00"),
        (
            heartbeat.Assignment(topic_partitions=[heartbeat.TopicPartitions(topic_id=TOPIC_ID, partitions=[1])]),
            "01 02 000102030405060708090a0b0c0d0e0f 02 00000001 00 00",
        ),
    ],
)
def test_no_new_assignment_is_not_an_assignment_of_nothing(
    assignment: heartbeat.Assignment | None, golden: str
) -> None:
    response = heartbeat.ShareGroupHeartbeatResponse(
        member_id="m", member_epoch=3, heartbeat_interval_ms=5000, assignment=assignment
    )
    encoded = bytes.fromhex(f"00000000 0000 00 02 6d 00000003 00001388 {golden} 00")
    assert response.encode(1) == encoded
    assert heartbeat.ShareGroupHeartbeatResponse.decode(encoded, 1) == response


def test_the_early_version_of_kafka_4_0_is_unknown() -> None:
    with pytest.raises(SchemaError):
        heartbeat.ShareGroupHeartbeatRequest().encode(0)

"""ConsumerGroupHeartbeat: null says that nothing has changed, which is not the same as an empty list."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_lite.protocol.messages import api_68_consumer_group_heartbeat as heartbeat

TOPIC_ID = UUID("00010203-0405-0607-0809-0a0b0c0d0e0f")


@pytest.mark.parametrize(("version", "regex"), [(0, ""), (1, "00")])
def test_a_member_that_has_nothing_new_to_say_sends_nulls(version: int, regex: str) -> None:
    request = heartbeat.ConsumerGroupHeartbeatRequest(group_id="g", member_id="m", member_epoch=3)
    assert request.encode(version) == bytes.fromhex(f"02 67 02 6d 00000003 00 00 ffffffff 00 {regex} 00 00 00")


def test_a_member_that_owns_no_partition_sends_an_empty_list() -> None:
    request = heartbeat.ConsumerGroupHeartbeatRequest(group_id="g", member_id="m", member_epoch=3, topic_partitions=[])
    assert request.encode(1) == bytes.fromhex("02 67 02 6d 00000003 00 00 ffffffff 00 00 00 01 00")


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
    response = heartbeat.ConsumerGroupHeartbeatResponse(
        member_id="m", member_epoch=3, heartbeat_interval_ms=5000, assignment=assignment
    )
    encoded = bytes.fromhex(f"00000000 0000 00 02 6d 00000003 00001388 {golden} 00")
    assert response.encode(1) == encoded
    assert heartbeat.ConsumerGroupHeartbeatResponse.decode(encoded, 1) == response

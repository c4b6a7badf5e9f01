"""ShareAcknowledge: the bytes of its only version."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_lite.protocol.messages import api_79_share_acknowledge as acknowledge
from kafka_lite.protocol.schema_error import SchemaError

TOPIC_ID = UUID("00010203-0405-0607-0809-0a0b0c0d0e0f")
ID = TOPIC_ID.hex


def test_a_request_says_what_has_become_of_records() -> None:
    batch = acknowledge.AcknowledgementBatch(first_offset=5, last_offset=6, acknowledge_types=[3])
    partition = acknowledge.AcknowledgePartition(partition_index=1, acknowledgement_batches=[batch])
    request = acknowledge.ShareAcknowledgeRequest(
        group_id="g",
        member_id=None,
        share_session_epoch=-1,
        topics=[acknowledge.AcknowledgeTopic(topic_id=TOPIC_ID, partitions=[partition])],
    )
    encoded = request.encode(1)
    topics = f"02 {ID} 02 00000001 02 0000000000000005 0000000000000006 02 03 00 00 00"
    assert encoded == bytes.fromhex(f"02 67 00 ffffffff {topics} 00".replace(" ", ""))
    assert acknowledge.ShareAcknowledgeRequest.decode(encoded, 1) == request


def test_a_response_has_an_outcome_for_each_partition() -> None:
    leader = acknowledge.LeaderIdAndEpoch(leader_id=2, leader_epoch=7)
    data = acknowledge.PartitionData(partition_index=1, error_code=6, current_leader=leader)
    response = acknowledge.ShareAcknowledgeResponse(
        responses=[acknowledge.ShareAcknowledgeTopicResponse(topic_id=TOPIC_ID, partitions=[data])],
        node_endpoints=[acknowledge.NodeEndpoint(node_id=2, host="h", port=9092)],
    )
    encoded = response.encode(1)
    topics = f"02 {ID} 02 00000001 0006 00 00000002 00000007 00 00 00"
    nodes = "02 00000002 02 68 00002384 00 00"
    assert encoded == bytes.fromhex(f"00000000 0000 00 {topics} {nodes} 00".replace(" ", ""))
    assert acknowledge.ShareAcknowledgeResponse.decode(encoded, 1) == response


def test_the_version_of_early_access_is_gone() -> None:
    with pytest.raises(SchemaError):
        acknowledge.ShareAcknowledgeRequest(group_id="g", member_id="m").encode(0)

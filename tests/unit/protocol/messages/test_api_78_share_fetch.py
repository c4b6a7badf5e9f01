"""ShareFetch: the bytes of its only version."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_lite.protocol.messages import api_78_share_fetch as fetch
from kafka_lite.protocol.schema_error import SchemaError

TOPIC_ID = UUID("00010203-0405-0607-0809-0a0b0c0d0e0f")
ID = TOPIC_ID.hex


def hex_bytes(text: str) -> bytes:
    return bytes.fromhex(text.replace(" ", ""))


def test_a_request_names_partitions_with_acknowledgements() -> None:
    batch = fetch.AcknowledgementBatch(first_offset=5, last_offset=6, acknowledge_types=[1, 2])
    partition = fetch.FetchPartition(partition_index=1, acknowledgement_batches=[batch])
    request = fetch.ShareFetchRequest(
        group_id="g",
        member_id="m",
        share_session_epoch=3,
        max_wait_ms=500,
        min_bytes=1,
        max_bytes=4096,
        max_records=500,
        batch_size=100,
        topics=[fetch.FetchTopic(topic_id=TOPIC_ID, partitions=[partition])],
        forgotten_topics_data=[fetch.ForgottenTopic(topic_id=TOPIC_ID, partitions=[2])],
    )
    encoded = request.encode(1)
    batches = "02 0000000000000005 0000000000000006 03 01 02 00"
    numbers = "00000003 000001f4 00000001 00001000 000001f4 00000064"
    topics = f"02 {ID} 02 00000001 {batches} 00 00"
    assert encoded == hex_bytes(f"02 67 02 6d {numbers} {topics} 02 {ID} 02 00000002 00 00")
    assert fetch.ShareFetchRequest.decode(encoded, 1) == request


def test_a_response_has_records_and_says_which_are_acquired() -> None:
    acquired = fetch.AcquiredRecords(first_offset=5, last_offset=9, delivery_count=2)
    data = fetch.PartitionData(partition_index=1, records=b"abc", acquired_records=[acquired])
    response = fetch.ShareFetchResponse(
        acquisition_lock_timeout_ms=30_000,
        responses=[fetch.ShareFetchableTopicResponse(topic_id=TOPIC_ID, partitions=[data])],
        node_endpoints=[fetch.NodeEndpoint(node_id=1, host="h", port=9092, rack=None)],
    )
    encoded = response.encode(1)
    records = "04 616263 02 0000000000000005 0000000000000009 0002 00"
    partition = f"02 00000001 0000 00 0000 00 00000000 00000000 00 {records} 00"
    nodes = "02 00000001 02 68 00002384 00 00"
    assert encoded == hex_bytes(f"00000000 0000 00 00007530 02 {ID} {partition} 00 {nodes} 00")


def test_the_version_of_early_access_is_gone() -> None:
    with pytest.raises(SchemaError):
        fetch.ShareFetchRequest(group_id="g", member_id="m").encode(0)


def test_names_may_be_null_and_lists_empty() -> None:
    request = fetch.ShareFetchRequest(group_id=None, member_id=None)
    assert request.encode(1) == hex_bytes("00 00" + "00000000" * 3 + "7fffffff" + "00000000" * 2 + "01 01 00")
    assert fetch.ShareFetchRequest.decode(request.encode(1), 1).topics == []


def test_a_refusal_has_no_topics() -> None:
    response = fetch.ShareFetchResponse(error_code=122, error_message="gone")
    encoded = response.encode(1)
    assert encoded == hex_bytes("00000000 007a 05 676f6e65 00000000 01 01 00")
    assert fetch.ShareFetchResponse.decode(encoded, 1) == response

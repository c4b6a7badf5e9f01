"""Produce on the wire: versions 0 (the first), 2 (0.10.2's), 3, 9 (the newest served) and 11, drawn by hand."""

from __future__ import annotations

import pytest

from kafka_lite.protocol.messages.api_00_produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from kafka_lite.protocol.schema import Message
from kafka_lite.protocol.schema_error import SchemaError, UnsupportedVersionError
from tests.support.annotated_bytes import annotated_bytes

REQUEST_V0 = """
    ffff                # acks: the whole ISR
    000003e8            # timeout_ms
    00000001            # topics
    0002 'tp'           #   name
    00000002            #   partitions
    00000000            #     index
    00000003 010203     #     records
    00000001            #     index
    ffffffff            #     records: null
"""
REQUEST_V3 = "0002 'tx'  # transactional_id" + REQUEST_V0
REQUEST_V9 = """
    03 'tx'             # transactional_id
    ffff                # acks
    000003e8            # timeout_ms
    02                  # topics
    03 'tp'             #   name
    03                  #   partitions
    00000000            #     index
    04 010203           #     records
    00                  #     no tagged fields
    00000001            #     index
    00                  #     records: null
    00                  #     no tagged fields
    00                  #   no tagged fields
    00                  # no tagged fields
"""
RESPONSE_V0 = """
    00000001            # topics
    0002 'tp'           #   name
    00000001            #   partitions
    00000001            #     index
    0003                #     error_code: UNKNOWN_TOPIC_OR_PARTITION
    ffffffffffffffff    #     base_offset
"""
RESPONSE_V2 = """
    00000001            # topics
    0002 'tp'           #   name
    00000001            #   partitions
    00000001            #     index
    0000                #     error_code
    000000000000002a    #     base_offset
    0000000000000005    #     log_append_time_ms
    00000007            # throttle_time_ms
"""
RESPONSE_V5 = """
    00000001            # topics
    0002 'tp'           #   name
    00000001            #   partitions
    00000001            #     index
    0000                #     error_code
    000000000000002a    #     base_offset
    ffffffffffffffff    #     log_append_time_ms
    0000000000000009    #     log_start_offset
    00000007            # throttle_time_ms
"""
RESPONSE_V9 = """
    02                  # topics
    03 'tp'             #   name
    02                  #   partitions
    00000001            #     index
    0057                #     error_code: INVALID_RECORD
    ffffffffffffffff    #     base_offset
    ffffffffffffffff    #     log_append_time_ms
    ffffffffffffffff    #     log_start_offset
    03                  #     record_errors
    00000002 04 'bad'   #       batch_index, batch_index_error_message
    00                  #       no tagged fields
    00000003 00         #       batch_index, null
    00                  #       no tagged fields
    05 'oops'           #     error_message
    00                  #     no tagged fields
    00                  #   no tagged fields
    00000007            # throttle_time_ms
    00                  # no tagged fields
"""
RESPONSE_V10 = """
    02                  # topics
    03 'tp'             #   name
    02                  #   partitions
    00000001            #     index
    0006                #     error_code: NOT_LEADER_OR_FOLLOWER
    ffffffffffffffff    #     base_offset
    ffffffffffffffff    #     log_append_time_ms
    ffffffffffffffff    #     log_start_offset
    01                  #     record_errors
    00                  #     error_message
    01                  #     one tagged field
    00 09               #       tag 0, nine bytes
    00000004            #       leader_id
    0000000b            #       leader_epoch
    00                  #       no tagged fields
    00                  #   no tagged fields
    00000000            # throttle_time_ms
    01                  # one tagged field
    00 0d               #   tag 0, 13 bytes
    02                  #   endpoints
    00000004            #     node_id
    02 'h'              #     host
    00002384            #     port
    00                  #     rack: null
    00                  #     no tagged fields
"""


def request(transactional_id: str | None) -> ProduceRequest:
    partitions = [PartitionProduceData(index=0, records=b"\1\2\3"), PartitionProduceData(index=1, records=None)]
    topics = [TopicProduceData(name="tp", partition_data=partitions)]
    return ProduceRequest(transactional_id=transactional_id, acks=-1, timeout_ms=1000, topic_data=topics)


def response(partition: PartitionProduceResponse, throttle_time_ms: int = 0) -> ProduceResponse:
    topics = [TopicProduceResponse(name="tp", partition_responses=[partition])]
    return ProduceResponse(responses=topics, throttle_time_ms=throttle_time_ms)


def redirected() -> ProduceResponse:
    leader = LeaderIdAndEpoch(leader_id=4, leader_epoch=11)
    moved = response(PartitionProduceResponse(index=1, error_code=6, base_offset=-1, current_leader=leader))
    moved.node_endpoints = [NodeEndpoint(node_id=4, host="h", port=9092)]
    return moved


REFUSED = PartitionProduceResponse(
    index=1,
    error_code=87,
    base_offset=-1,
    record_errors=[
        BatchIndexAndErrorMessage(batch_index=2, batch_index_error_message="bad"),
        BatchIndexAndErrorMessage(batch_index=3),
    ],
    error_message="oops",
)
DRAWN: list[tuple[Message, int, str]] = [
    (request(None), 0, REQUEST_V0),
    (request(None), 2, REQUEST_V0),
    (request("tx"), 3, REQUEST_V3),
    (request("tx"), 8, REQUEST_V3),
    (request("tx"), 9, REQUEST_V9),
    (request("tx"), 11, REQUEST_V9),
    (response(PartitionProduceResponse(index=1, error_code=3, base_offset=-1)), 0, RESPONSE_V0),
    (response(PartitionProduceResponse(index=1, base_offset=42, log_append_time_ms=5), 7), 2, RESPONSE_V2),
    (response(PartitionProduceResponse(index=1, base_offset=42, log_start_offset=9), 7), 5, RESPONSE_V5),
    (response(REFUSED, 7), 9, RESPONSE_V9),
    (redirected(), 10, RESPONSE_V10),
    (redirected(), 11, RESPONSE_V10),
]


@pytest.mark.parametrize(("message", "version", "drawn"), DRAWN)
def test_a_message_has_the_drawn_bytes(message: Message, version: int, drawn: str) -> None:
    assert message.encode(version).hex() == annotated_bytes(drawn).hex()


@pytest.mark.parametrize(("message", "version", "drawn"), DRAWN)
def test_the_drawn_bytes_are_read_to_their_end(message: Message, version: int, drawn: str) -> None:
    data = annotated_bytes(drawn)
    assert type(message).decode_from(data, 0, version) == (message, len(data))


@pytest.mark.parametrize(("message", "version", "drawn"), DRAWN)
def test_a_message_that_ends_too_early_is_refused(message: Message, version: int, drawn: str) -> None:
    data = annotated_bytes(drawn)
    for length in range(len(data)):
        with pytest.raises(SchemaError, match=f"{type(message).__name__} v{version}"):
            type(message).decode(data[:length], version)


def test_records_are_not_copied_out_of_the_request() -> None:
    data = annotated_bytes(REQUEST_V9)
    records = ProduceRequest.decode(data, 9).topic_data[0].partition_data[0].records
    assert isinstance(records, memoryview)
    assert records.obj is data


def test_old_versions_cannot_carry_a_transaction() -> None:
    with pytest.raises(UnsupportedVersionError, match="transactional_id is set, and version 2 has no such field"):
        request("tx").encode(2)


def test_outside_of_a_transaction_the_id_is_null() -> None:
    assert request(None).encode(3) == b"\xff\xff" + annotated_bytes(REQUEST_V0)


def test_older_clients_do_not_hear_of_what_later_versions_added() -> None:
    first = response(PartitionProduceResponse(index=1, error_code=87, base_offset=-1)).encode(0)
    assert response(REFUSED, 7).encode(0) == first
    with pytest.raises(UnsupportedVersionError, match="current_leader is set, and version 9 has no such field"):
        redirected().encode(9)


def test_more_records_than_bytes_are_refused() -> None:
    data = annotated_bytes(REQUEST_V0).replace(b"\0\0\0\3\1\2\3", b"\x7f\xff\xff\xff\1\2\3")
    with pytest.raises(SchemaError, match="records claims 2147483647, with 11 bytes left in the frame"):
        ProduceRequest.decode(data, 0)


def test_topics_are_not_nullable() -> None:
    with pytest.raises(SchemaError, match="topic_data is null"):
        ProduceRequest.decode(annotated_bytes("0001 00000000 ffffffff"), 0)


def test_a_leader_hint_in_a_version_without_it_is_refused() -> None:
    with pytest.raises(SchemaError, match="tag 0 is not valid for version 9"):
        ProduceResponse.decode(annotated_bytes(RESPONSE_V10), 9)

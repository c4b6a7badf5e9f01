"""Fetch on the wire: versions 0 (the first), 3 (0.10.2's), 4, 7, 12 (the newest served) and 17, drawn by hand."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_lite.protocol.messages.api_01_fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    ReplicaState,
)
from kafka_lite.protocol.schema import Message
from kafka_lite.protocol.schema_error import SchemaError, UnsupportedVersionError
from tests.support.annotated_bytes import annotated_bytes

TOPIC_ID = UUID("00112233-4455-6677-8899-aabbccddeeff")
DIRECTORY_ID = UUID(int=1)

REQUEST_V0 = """
    ffffffff            # replica_id: a consumer
    000001f4            # max_wait_ms
    00000001            # min_bytes
    00000001            # topics
    0002 'tp'           #   topic
    00000001            #   partitions
    00000002            #     partition
    000000000000002a    #     fetch_offset
    00100000            #     partition_max_bytes
"""
REQUEST_V3 = """
    00000007            # replica_id: follower 7
    000001f4            # max_wait_ms
    00000001            # min_bytes
    00a00000            # max_bytes
    00000001            # topics
    0002 'tp'           #   topic
    00000001            #   partitions
    00000002            #     partition
    000000000000002a    #     fetch_offset
    00100000            #     partition_max_bytes
"""
REQUEST_V7 = """
    00000007            # replica_id
    000001f4            # max_wait_ms
    00000001            # min_bytes
    00a00000            # max_bytes
    01                  # isolation_level: read_committed
    00000063            # session_id
    00000004            # session_epoch
    00000001            # topics
    0002 'tp'           #   topic
    00000001            #   partitions
    00000002            #     partition
    000000000000002a    #     fetch_offset
    0000000000000003    #     log_start_offset
    00100000            #     partition_max_bytes
    00000001            # forgotten_topics_data
    0001 'f'            #   topic
    00000002            #   partitions
    00000000 00000005
"""
REQUEST_V12 = """
    00000007            # replica_id
    000001f4            # max_wait_ms
    00000001            # min_bytes
    00a00000            # max_bytes
    01                  # isolation_level
    00000063            # session_id
    00000004            # session_epoch
    02                  # topics
    03 'tp'             #   topic
    02                  #   partitions
    00000002            #     partition
    00000006            #     current_leader_epoch
    000000000000002a    #     fetch_offset
    00000005            #     last_fetched_epoch
    0000000000000003    #     log_start_offset
    00100000            #     partition_max_bytes
    00                  #     no tagged fields
    00                  #   no tagged fields
    02                  # forgotten_topics_data
    02 'f'              #   topic
    03                  #   partitions
    00000000 00000005
    00                  #   no tagged fields
    02 'r'              # rack_id
    01                  # one tagged field
    00 03               #   tag 0, three bytes: cluster_id
    03 'id'
"""
REQUEST_V17 = """
    000001f4            # max_wait_ms
    00000001            # min_bytes
    00a00000            # max_bytes
    01                  # isolation_level
    00000000            # session_id
    ffffffff            # session_epoch
    02                  # topics
    00112233445566778899aabbccddeeff    # topic_id
    02                  #   partitions
    00000002            #     partition
    00000006            #     current_leader_epoch
    000000000000002a    #     fetch_offset
    00000005            #     last_fetched_epoch
    0000000000000003    #     log_start_offset
    00100000            #     partition_max_bytes
    01                  #     one tagged field
    00 10               #       tag 0, 16 bytes: replica_directory_id
    00000000000000000000000000000001
    00                  #   no tagged fields
    01                  # forgotten_topics_data
    01                  # rack_id
    01                  # one tagged field
    01 0d               #   tag 1, 13 bytes: replica_state
    00000007            #     replica_id
    0000000000000008    #     replica_epoch
    00                  #     no tagged fields
"""
RESPONSE_V0 = """
    00000001            # responses
    0002 'tp'           #   topic
    00000001            #   partitions
    00000002            #     partition_index
    0000                #     error_code
    000000000000002c    #     high_watermark
    00000004 'data'     #     records
"""
RESPONSE_V3 = "00000007  # throttle_time_ms" + RESPONSE_V0
RESPONSE_V4 = """
    00000007            # throttle_time_ms
    00000001            # responses
    0002 'tp'           #   topic
    00000001            #   partitions
    00000002            #     partition_index
    0000                #     error_code
    000000000000002c    #     high_watermark
    000000000000002b    #     last_stable_offset
    00000001            #     aborted_transactions
    000000000000000d    #       producer_id
    0000000000000028    #       first_offset
    00000004 'data'     #     records
"""
RESPONSE_V7 = """
    00000007            # throttle_time_ms
    0046                # error_code: FETCH_SESSION_ID_NOT_FOUND
    00000000            # session_id
    00000000            # responses
"""
RESPONSE_V12 = """
    00000007            # throttle_time_ms
    0000                # error_code
    00000063            # session_id
    02                  # responses
    03 'tp'             #   topic
    02                  #   partitions
    00000002            #     partition_index
    0000                #     error_code
    000000000000002c    #     high_watermark
    000000000000002b    #     last_stable_offset
    0000000000000003    #     log_start_offset
    00                  #     aborted_transactions: null
    00000001            #     preferred_read_replica
    01                  #     records: none
    02                  #     two tagged fields
    00 0d               #       tag 0, 13 bytes: diverging_epoch
    00000005            #         epoch
    0000000000000020    #         end_offset
    00                  #         no tagged fields
    01 09               #       tag 1, nine bytes: current_leader
    00000001            #         leader_id
    00000006            #         leader_epoch
    00                  #         no tagged fields
    00                  #   no tagged fields
    00                  # no tagged fields
"""
RESPONSE_V16 = """
    00000007            # throttle_time_ms
    0000                # error_code
    00000063            # session_id
    02                  # responses
    00112233445566778899aabbccddeeff    # topic_id
    01                  #   partitions
    00                  #   no tagged fields
    01                  # one tagged field
    00 0f               #   tag 0, 15 bytes: node_endpoints
    02                  #     one
    00000004            #     node_id
    02 'h'              #     host
    00002384            #     port
    03 'r1'             #     rack
    00                  #     no tagged fields
"""


def request(replica_id: int = 7, **values: object) -> FetchRequest:
    partition = FetchPartition(partition=2, fetch_offset=42, partition_max_bytes=1 << 20)
    topics = [FetchTopic(topic="tp", partitions=[partition])]
    made = FetchRequest(replica_id=replica_id, max_wait_ms=500, min_bytes=1, topics=topics)
    for name, value in values.items():
        setattr(made, name, value)
    return made


def request_in_session(version: int) -> FetchRequest:
    made = request(max_bytes=0xA00000, isolation_level=1, session_id=99, session_epoch=4)
    made.topics[0].partitions[0].log_start_offset = 3
    made.forgotten_topics_data = [ForgottenTopic(topic="f", partitions=[0, 5])]
    if version >= 12:
        made.topics[0].partitions[0].current_leader_epoch = 6
        made.topics[0].partitions[0].last_fetched_epoch = 5
        made.rack_id, made.cluster_id = "r", "id"
    return made


def request_by_topic_id() -> FetchRequest:
    made = request(-1, max_bytes=0xA00000, isolation_level=1)
    partition = FetchPartition(
        partition=2,
        current_leader_epoch=6,
        fetch_offset=42,
        last_fetched_epoch=5,
        log_start_offset=3,
        partition_max_bytes=1 << 20,
        replica_directory_id=DIRECTORY_ID,
    )
    made.topics = [FetchTopic(topic_id=TOPIC_ID, partitions=[partition])]
    made.replica_state = ReplicaState(replica_id=7, replica_epoch=8)
    return made


def response(throttle_time_ms: int = 0) -> FetchResponse:
    partition = PartitionData(partition_index=2, high_watermark=44, records=b"data")
    partition.aborted_transactions = []
    topics = [FetchableTopicResponse(topic="tp", partitions=[partition])]
    return FetchResponse(throttle_time_ms=throttle_time_ms, responses=topics)


def response_with_aborted() -> FetchResponse:
    made = response(7)
    partition = made.responses[0].partitions[0]
    partition.last_stable_offset = 43
    partition.aborted_transactions = [AbortedTransaction(producer_id=13, first_offset=40)]
    return made


def diverging_response() -> FetchResponse:
    partition = PartitionData(
        partition_index=2,
        high_watermark=44,
        last_stable_offset=43,
        log_start_offset=3,
        aborted_transactions=None,
        preferred_read_replica=1,
        records=b"",
        diverging_epoch=EpochEndOffset(epoch=5, end_offset=32),
        current_leader=LeaderIdAndEpoch(leader_id=1, leader_epoch=6),
    )
    topics = [FetchableTopicResponse(topic="tp", partitions=[partition])]
    return FetchResponse(throttle_time_ms=7, session_id=99, responses=topics)


def response_with_endpoints() -> FetchResponse:
    endpoints = [NodeEndpoint(node_id=4, host="h", port=9092, rack="r1")]
    topics = [FetchableTopicResponse(topic_id=TOPIC_ID)]
    return FetchResponse(throttle_time_ms=7, session_id=99, responses=topics, node_endpoints=endpoints)


DRAWN: list[tuple[Message, int, str]] = [
    (request(-1), 0, REQUEST_V0),
    (request(-1), 2, REQUEST_V0),
    (request(max_bytes=0xA00000), 3, REQUEST_V3),
    (request_in_session(7), 7, REQUEST_V7),
    (request_in_session(12), 12, REQUEST_V12),
    (request_by_topic_id(), 17, REQUEST_V17),
    (response(), 0, RESPONSE_V0),
    (response(7), 1, RESPONSE_V3),
    (response(7), 3, RESPONSE_V3),
    (response_with_aborted(), 4, RESPONSE_V4),
    (FetchResponse(throttle_time_ms=7, error_code=70), 7, RESPONSE_V7),
    (diverging_response(), 12, RESPONSE_V12),
    (response_with_endpoints(), 16, RESPONSE_V16),
    (response_with_endpoints(), 17, RESPONSE_V16),
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


def test_a_request_that_names_no_maximum_has_that_of_an_int32() -> None:
    assert FetchRequest.decode(annotated_bytes(REQUEST_V0), 2).max_bytes == 0x7FFF_FFFF
    assert request().encode(3)[12:16] == b"\x7f\xff\xff\xff"


def test_a_follower_is_in_its_own_tagged_field_since_version_15() -> None:
    named = request_by_topic_id()
    assert b"\x01\x0d" in named.encode(15)
    with pytest.raises(UnsupportedVersionError, match="replica_state is set, and version 14"):
        FetchRequest(replica_state=ReplicaState(replica_id=7)).encode(14)
    with pytest.raises(UnsupportedVersionError, match="replica_id is set, and version 15"):
        FetchRequest(replica_id=7).encode(15)


def test_only_sessions_can_forget_partitions() -> None:
    with pytest.raises(UnsupportedVersionError, match="forgotten_topics_data is set, and version 6"):
        request_in_session(7).encode(6)


def test_records_of_any_number_of_partitions_are_views_of_the_frame() -> None:
    data = annotated_bytes(RESPONSE_V4)
    records = FetchResponse.decode(data, 4).responses[0].partitions[0].records
    assert isinstance(records, memoryview)
    assert records == b"data"
    assert records.obj is data


def test_a_diverging_epoch_cannot_be_told_to_an_older_follower() -> None:
    told = diverging_response()
    with pytest.raises(UnsupportedVersionError, match="diverging_epoch is set, and version 11 has no such field"):
        told.encode(11)


def test_a_tagged_field_that_is_longer_than_its_size_is_refused() -> None:
    data = annotated_bytes(RESPONSE_V12)
    shorter = data.replace(b"\x00\x0d\0\0\0\5", b"\x00\x0c\0\0\0\5")
    assert shorter != data
    with pytest.raises(SchemaError, match="tagged field 0 of partition_data has another size than it says"):
        FetchResponse.decode(shorter, 12)


def test_partitions_may_not_be_more_than_the_bytes_left() -> None:
    data = annotated_bytes("ffffffff 000001f4 00000001 00000001 0002 'tp' 00000003") + bytes(32)
    with pytest.raises(SchemaError, match="partitions claims 3, with 32 bytes left in the frame"):
        FetchRequest.decode(data, 0)

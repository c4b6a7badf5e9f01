"""OffsetFetch on the wire: versions 0, 2 (0.10.2's), 3, 5, 6, 7, 8 (the newest served) and 9, drawn by hand."""

from __future__ import annotations

import pytest

from kafka_lite.protocol.messages.api_09_offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from kafka_lite.protocol.schema import Message
from kafka_lite.protocol.schema_error import SchemaError, UnsupportedVersionError
from tests.support.annotated_bytes import annotated_bytes

REQUEST_V0 = """
    0001 'g'            # group_id
    00000001            # topics
    0002 'tp'           #   name
    00000002            #   partition_indexes
    00000000 00000003
"""
REQUEST_OF_ALL_V2 = """
    0001 'g'            # group_id
    ffffffff            # topics: null for all
"""
REQUEST_V6 = """
    02 'g'              # group_id
    02                  # topics
    03 'tp'             #   name
    03                  #   partition_indexes
    00000000 00000003
    00                  #   no tagged fields
    00                  # no tagged fields
"""
REQUEST_V7 = """
    02 'g'              # group_id
    00                  # topics: null for all
    01                  # require_stable
    00                  # no tagged fields
"""
REQUEST_V8 = """
    03                  # groups
    02 'g'              #   group_id
    02                  #   topics
    03 'tp'             #     name
    03                  #     partition_indexes
    00000000 00000003
    00                  #     no tagged fields
    00                  #   no tagged fields
    02 'h'              #   group_id
    00                  #   topics: null for all
    00                  #   no tagged fields
    01                  # require_stable
    00                  # no tagged fields
"""
REQUEST_V9 = """
    03                  # groups
    02 'g'              #   group_id
    02 'm'              #   member_id
    00000005            #   member_epoch
    02                  #   topics
    03 'tp'             #     name
    03                  #     partition_indexes
    00000000 00000003
    00                  #     no tagged fields
    00                  #   no tagged fields
    02 'h'              #   group_id
    00                  #   member_id: null
    ffffffff            #   member_epoch
    00                  #   topics: null for all
    00                  #   no tagged fields
    01                  # require_stable
    00                  # no tagged fields
"""
RESPONSE_V0 = """
    00000001            # topics
    0002 'tp'           #   name
    00000002            #   partitions
    00000000            #     partition_index
    000000000000002a    #     committed_offset
    0004 'note'         #     metadata
    0000                #     error_code
    00000003            #     partition_index
    ffffffffffffffff    #     committed_offset: none
    ffff                #     metadata: null
    0003                #     error_code
"""
RESPONSE_V2 = RESPONSE_V0 + "000e  # error_code: COORDINATOR_LOAD_IN_PROGRESS"
RESPONSE_V3 = "00000007  # throttle_time_ms" + RESPONSE_V2
RESPONSE_V5 = """
    00000007            # throttle_time_ms
    00000001            # topics
    0002 'tp'           #   name
    00000002            #   partitions
    00000000            #     partition_index
    000000000000002a    #     committed_offset
    00000006            #     committed_leader_epoch
    0004 'note'         #     metadata
    0000                #     error_code
    00000003            #     partition_index
    ffffffffffffffff    #     committed_offset
    ffffffff            #     committed_leader_epoch
    ffff                #     metadata
    0003                #     error_code
    000e                # error_code
"""
COMPACT_PARTITIONS = """
    03                  #   partitions
    00000000            #     partition_index
    000000000000002a    #     committed_offset
    00000006            #     committed_leader_epoch
    05 'note'           #     metadata
    0000                #     error_code
    00                  #     no tagged fields
    00000003            #     partition_index
    ffffffffffffffff    #     committed_offset
    ffffffff            #     committed_leader_epoch
    00                  #     metadata
    0003                #     error_code
    00                  #     no tagged fields
    00                  #   no tagged fields
"""
RESPONSE_V6 = f"""
    00000007            # throttle_time_ms
    02                  # topics
    03 'tp'             #   name
    {COMPACT_PARTITIONS}
    000e                # error_code
    00                  # no tagged fields
"""
RESPONSE_V8 = f"""
    00000007            # throttle_time_ms
    02                  # groups
    02 'g'              #   group_id
    02                  #   topics
    03 'tp'             #     name
    {COMPACT_PARTITIONS}
    000e                #   error_code
    00                  #   no tagged fields
    00                  # no tagged fields
"""


def request(**values: object) -> OffsetFetchRequest:
    topics = [OffsetFetchRequestTopic(name="tp", partition_indexes=[0, 3])]
    made = OffsetFetchRequest(group_id="g", topics=topics)
    for name, value in values.items():
        setattr(made, name, value)
    return made


def request_of_groups(member_id: str | None = None, member_epoch: int = -1) -> OffsetFetchRequest:
    topics = [OffsetFetchRequestTopics(name="tp", partition_indexes=[0, 3])]
    first = OffsetFetchRequestGroup(group_id="g", member_id=member_id, member_epoch=member_epoch, topics=topics)
    second = OffsetFetchRequestGroup(group_id="h", topics=None)
    return OffsetFetchRequest(groups=[first, second], require_stable=True)


def response(throttle_time_ms: int = 0, error_code: int = 14, leader_epoch: int = -1) -> OffsetFetchResponse:
    partitions = [
        OffsetFetchResponsePartition(
            partition_index=0, committed_offset=42, committed_leader_epoch=leader_epoch, metadata="note"
        ),
        OffsetFetchResponsePartition(partition_index=3, committed_offset=-1, metadata=None, error_code=3),
    ]
    topics = [OffsetFetchResponseTopic(name="tp", partitions=partitions)]
    return OffsetFetchResponse(throttle_time_ms=throttle_time_ms, topics=topics, error_code=error_code)


def response_of_groups() -> OffsetFetchResponse:
    partitions = [
        OffsetFetchResponsePartitions(
            partition_index=0, committed_offset=42, committed_leader_epoch=6, metadata="note"
        ),
        OffsetFetchResponsePartitions(partition_index=3, committed_offset=-1, metadata=None, error_code=3),
    ]
    topics = [OffsetFetchResponseTopics(name="tp", partitions=partitions)]
    groups = [OffsetFetchResponseGroup(group_id="g", topics=topics, error_code=14)]
    return OffsetFetchResponse(throttle_time_ms=7, groups=groups)


DRAWN: list[tuple[Message, int, str]] = [
    (request(), 0, REQUEST_V0),
    (request(), 2, REQUEST_V0),
    (request(topics=None), 2, REQUEST_OF_ALL_V2),
    (request(topics=None), 5, REQUEST_OF_ALL_V2),
    (request(), 6, REQUEST_V6),
    (request(topics=None, require_stable=True), 7, REQUEST_V7),
    (request_of_groups(), 8, REQUEST_V8),
    (request_of_groups("m", 5), 9, REQUEST_V9),
    (response(error_code=0), 0, RESPONSE_V0),
    (response(), 2, RESPONSE_V2),
    (response(7), 3, RESPONSE_V3),
    (response(7, leader_epoch=6), 5, RESPONSE_V5),
    (response(7, leader_epoch=6), 7, RESPONSE_V6),
    (response_of_groups(), 8, RESPONSE_V8),
    (response_of_groups(), 9, RESPONSE_V8),
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


@pytest.mark.parametrize("version", [0, 1])
def test_all_partitions_cannot_be_asked_for_before_version_2(version: int) -> None:
    with pytest.raises(SchemaError, match=rf"OffsetFetchRequest v{version}: .*topics"):
        request(topics=None).encode(version)
    with pytest.raises(SchemaError, match="topics is null, or has the length -1"):
        OffsetFetchRequest.decode(annotated_bytes(REQUEST_OF_ALL_V2), version)


def test_all_partitions_differ_from_none() -> None:
    none = annotated_bytes("0001 'g' 00000000")
    assert OffsetFetchRequest.decode(none, 2).topics == []
    assert OffsetFetchRequest.decode(annotated_bytes(REQUEST_OF_ALL_V2), 2).topics is None


def test_the_error_of_the_whole_request_is_not_told_to_the_first_clients() -> None:
    assert response().encode(1) == annotated_bytes(RESPONSE_V0)
    assert OffsetFetchResponse.decode(annotated_bytes(RESPONSE_V0), 1).error_code == 0


def test_a_version_names_one_group_or_several() -> None:
    with pytest.raises(UnsupportedVersionError, match="groups is set, and version 7 has no such field"):
        request_of_groups().encode(7)
    with pytest.raises(UnsupportedVersionError, match="group_id is set, and version 8 has no such field"):
        request().encode(8)
    with pytest.raises(UnsupportedVersionError, match="topics is set, and version 8 has no such field"):
        response(error_code=0).encode(8)


def test_a_client_that_needs_stable_offsets_is_not_downgraded() -> None:
    with pytest.raises(UnsupportedVersionError, match="require_stable is set, and version 6 has no such field"):
        request(require_stable=True).encode(6)


def test_an_older_broker_does_not_hear_of_members_epochs() -> None:
    assert request_of_groups("m", 5).encode(8) == annotated_bytes(REQUEST_V8)


@pytest.mark.parametrize("count", ["7fffffff", "00000003"])
def test_more_partitions_than_bytes_are_refused(count: str) -> None:
    data = annotated_bytes(f"0001 'g' 00000001 0002 'tp' {count} 00000000 00000003")
    with pytest.raises(SchemaError, match=r"partition_indexes claims \d+, with 8 bytes left in the frame"):
        OffsetFetchRequest.decode(data, 0)

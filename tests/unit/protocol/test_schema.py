"""The rules of message declarations, one at a time."""

from __future__ import annotations

import copy
import pickle
import socket
from uuid import UUID

import pytest

from kafka_lite.common.ids.uuids import ZERO_UUID
from kafka_lite.common.sendable import Part
from kafka_lite.protocol import schema
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.framing import join_small_parts
from kafka_lite.protocol.messages.api_00_produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafka_lite.protocol.messages.api_01_fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    PartitionData,
)
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataRequestTopic
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorRequest
from kafka_lite.protocol.messages.api_11_join_group import JoinGroupRequest
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsResponse
from kafka_lite.protocol.schema_error import SchemaError, UnsupportedVersionError
from kafka_lite.protocol.versions import ALL_VERSIONS, NO_VERSIONS, Versions
from kafka_lite.protocol.wire_types import RawTaggedField


@pytest.mark.parametrize(
    ("text", "versions"),
    [("0-9", (0, 9)), ("3+", (3, 0x7FFF)), ("2", (2, 2)), ("none", NO_VERSIONS), ("0+", ALL_VERSIONS)],
)
def test_versions_use_kafkas_notation(text: str, versions: tuple[int, int]) -> None:
    assert Versions.parse(text) == versions
    assert str(Versions.parse(text)) == text


def test_versions_contain_both_ends() -> None:
    assert [version for version in range(6) if version in Versions.parse("2-4")] == [2, 3, 4]
    assert 0 not in NO_VERSIONS


def test_mutable_defaults_are_not_shared() -> None:
    one, other = ProduceRequest(), ProduceRequest()
    one.topic_data.append(TopicProduceData(name="t"))
    assert other.topic_data == []
    assert FetchRequest().max_bytes == 0x7FFF_FFFF
    assert FetchRequest().replica_state is not FetchRequest().replica_state
    assert MetadataRequestTopic().topic_id == ZERO_UUID


def test_fields_are_given_by_keyword_and_known_by_name() -> None:
    with pytest.raises(TypeError):
        HeartbeatRequest("group")  # type: ignore[misc]
    with pytest.raises(TypeError, match="grup_id"):
        HeartbeatRequest(grup_id="group")  # type: ignore[call-arg]


def test_messages_compare_by_their_fields() -> None:
    assert HeartbeatRequest(group_id="g") == HeartbeatRequest(group_id="g")
    assert HeartbeatRequest(group_id="g") != HeartbeatRequest(group_id="h")
    assert HeartbeatRequest() != JoinGroupRequest()
    assert PartitionProduceData(records=b"ab") == PartitionProduceData(records=memoryview(b"ab"))


def test_messages_print_their_fields() -> None:
    assert repr(LeaderIdAndEpoch(leader_id=3)) == "LeaderIdAndEpoch(leader_id=3, leader_epoch=-1)"
    assert repr(PartitionProduceData(records=memoryview(b"abc"))) == "PartitionProduceData(index=0, records=<3 bytes>)"


def test_messages_can_be_copied_and_pickled() -> None:
    decoded = FetchRequest.decode(FetchRequest(max_wait_ms=7, rack_id="r").encode(11), 11)
    assert copy.deepcopy(decoded) == decoded
    assert pickle.loads(pickle.dumps(decoded)) == decoded


def test_a_field_missing_in_the_version_must_have_its_default() -> None:
    with pytest.raises(UnsupportedVersionError, match="transactional_id is set, and version 2 has no such field"):
        ProduceRequest(transactional_id="t").encode(2)
    with pytest.raises(UnsupportedVersionError, match="key_type"):
        FindCoordinatorRequest(key_type=1).encode(0)


def test_an_ignorable_field_is_left_out() -> None:
    assert FetchRequest(rack_id="r").encode(10) == FetchRequest().encode(10)
    assert JoinGroupRequest(rebalance_timeout_ms=5).encode(0) == JoinGroupRequest().encode(0)


def test_null_only_in_nullable_versions() -> None:
    assert MetadataRequest(topics=None).encode(1) == b"\xff\xff\xff\xff"
    with pytest.raises(SchemaError, match=r"MetadataRequest v0: .*message\.topics"):
        MetadataRequest(topics=None).encode(0)


def test_values_that_do_not_fit_are_refused_with_the_field() -> None:
    with pytest.raises(SchemaError, match=r"HeartbeatRequest v0: .*generation_id"):
        HeartbeatRequest(generation_id=2**31).encode(0)
    with pytest.raises(SchemaError, match=r"HeartbeatRequest v0: .*group_id"):
        HeartbeatRequest(group_id="x" * 40_000).encode(0)


def test_versions_beyond_the_range_are_refused() -> None:
    with pytest.raises(UnsupportedVersionError, match="HeartbeatRequest has versions 0-4, not 5"):
        HeartbeatRequest().encode(5)
    with pytest.raises(UnsupportedVersionError):
        HeartbeatRequest.decode(b"", -1)


def test_a_message_may_keep_its_encoding_per_version() -> None:
    kept, plain = (ApiVersionsResponse(throttle_time_ms=7) for _ in range(2))
    kept.keep_encoded()
    for version in (0, 3, 0, 3):
        assert kept.encode(version) == plain.encode(version)
    assert kept == plain
    kept.throttle_time_ms = 8
    assert kept.encode(3) == plain.encode(3), "so it must not be changed"


def test_bytes_after_the_message_are_ignored() -> None:
    encoded = HeartbeatRequest(group_id="g").encode(0)
    assert HeartbeatRequest.decode(encoded + b"more", 0) == HeartbeatRequest(group_id="g")


def test_invalid_utf_8_gets_replacement_characters() -> None:
    assert FindCoordinatorRequest.decode(b"\x00\x03a\xffb", 0).key == "a\ufffdb"


def test_tagged_fields_are_sent_only_if_set() -> None:
    plain = ApiVersionsResponse().encode(3)
    assert plain.endswith(b"\x00")
    assert ApiVersionsResponse(finalized_features_epoch=-1).encode(3) == plain
    tagged = ApiVersionsResponse(zk_migration_ready=True).encode(3)
    assert tagged == plain[:-1] + b"\x01\x03\x01\x01"
    assert ApiVersionsResponse.decode(tagged, 3).zk_migration_ready is True


def test_unknown_tagged_fields_are_kept_and_sent_on_in_order() -> None:
    known = ApiVersionsResponse(zk_migration_ready=True, finalized_features_epoch=5)
    known.unknown_tagged_fields = (RawTaggedField(2_000, b"later"), RawTaggedField(7, b""))
    decoded = ApiVersionsResponse.decode(known.encode(3), 3)
    assert decoded.unknown_tagged_fields == (RawTaggedField(7, b""), RawTaggedField(2_000, b"later"))
    assert decoded.encode(3) == known.encode(3)
    assert ApiVersionsResponse().unknown_tagged_fields == ()
    with pytest.raises(UnsupportedVersionError):
        decoded.encode(2)


def test_known_and_unknown_tagged_fields_in_any_order() -> None:
    frame = ApiVersionsResponse().encode(3)[:-1] + b"\x03" + b"\x09\x01x" + b"\x03\x01\x01" + b"\x08\x00"
    decoded = ApiVersionsResponse.decode(frame, 3)
    assert decoded.zk_migration_ready is True
    assert decoded.unknown_tagged_fields == (RawTaggedField(9, b"x"), RawTaggedField(8, b""))


def test_a_tagged_field_of_the_wrong_size_is_refused() -> None:
    frame = ApiVersionsResponse().encode(3)[:-1] + b"\x01\x03\x02\x01\x00"
    with pytest.raises(SchemaError, match="another size"):
        ApiVersionsResponse.decode(frame, 3)


def test_records_are_views_of_the_frame() -> None:
    frame = bytearray(produce_request(b"0123456789").encode(3))
    records = ProduceRequest.decode(frame, 3).topic_data[0].partition_data[0].records
    assert isinstance(records, memoryview)
    assert records.obj is frame
    assert records == b"0123456789"


class Slice:
    """Replaces a slice of a log file. Reading it fails the test."""

    size_in_bytes = 1_000_000

    def send_to(self, sock: socket.socket, offset: int, length: int) -> int:
        raise AssertionError

    def to_bytes(self) -> bytes:
        raise AssertionError


def parts_of(message: schema.Message, version: int) -> list[Part]:
    """The encoding in parts, as frames are sent."""
    parts: list[Part] = []
    message.encode_to(parts, version)
    return join_small_parts(parts)


@pytest.mark.parametrize("version", [4, 12])
def test_sendables_pass_through_unread(version: int) -> None:
    part = Slice()
    response = fetch_response(part)
    before, middle, *after = parts_of(response, version)
    assert middle is part
    as_bytes = fetch_response(bytes(1_000_000)).encode(version)
    assert as_bytes == b"".join([bytes(before), bytes(1_000_000), *map(bytes, after)])


def test_views_pass_through_uncopied() -> None:
    view = memoryview(b"records")
    assert parts_of(fetch_response(view), 4)[1] is view


def test_the_generated_source_is_available() -> None:
    text = schema.source(ProduceRequest, 9, "decode")
    assert text.startswith(f"def decode(buffer, position, room={schema.MAX_ELEMENTS_OF_CLIENTS}):")
    assert "message.acks, message.timeout_ms = unpack_hi(buffer, position)" in text
    assert "add(pack_hi(message.acks, message.timeout_ms))" in schema.source(ProduceRequest, 9, "encode")
    with pytest.raises(UnsupportedVersionError):
        schema.source(ProduceRequest, 99, "decode")


def test_uuids_survive_encoding() -> None:
    topic_id = UUID("00112233-4455-6677-8899-aabbccddeeff")
    request = MetadataRequest(topics=[MetadataRequestTopic(topic_id=topic_id, name=None)])
    encoded = request.encode(12)
    assert encoded[1:17] == topic_id.bytes
    assert MetadataRequest.decode(encoded, 12) == request


def test_every_message_knows_its_api() -> None:
    assert ProduceRequest.API_KEY is FetchRequest.API_KEY.__class__.PRODUCE
    assert FetchResponse.API_KEY is ApiKey.FETCH


def produce_request(records: bytes) -> ProduceRequest:
    partition = PartitionProduceData(index=1, records=records)
    return ProduceRequest(acks=-1, topic_data=[TopicProduceData(name="t", partition_data=[partition])])


def fetch_response(records: bytes | memoryview | Slice) -> FetchResponse:
    partition = PartitionData(partition_index=1, high_watermark=5, records=records)
    return FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=[partition])])

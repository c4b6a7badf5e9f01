"""The walk through a message by its declaration: no byte is left out, and the values are those of the codec."""

import pytest

from chapters.ch01_introduction.figures.request_bytes import Exchange, FieldWalk, Piece, produce_request, table
from kafka_lite.protocol.api_keys import API_SPECS
from kafka_lite.protocol.framing import encode_request
from kafka_lite.protocol.messages.api_00_produce import (
    LeaderIdAndEpoch,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from kafka_lite.protocol.messages.api_03_metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kafka_lite.protocol.messages.api_68_consumer_group_heartbeat import Assignment, ConsumerGroupHeartbeatResponse
from kafka_lite.protocol.schema import Message


def walked(message: Message, version: int) -> list[Piece]:
    return list(FieldWalk(message.encode(version)).message(type(message), version))


def in_full(pieces: list[Piece]) -> bytes:
    assert [piece.position for piece in pieces] == [sum(len(p.data) for p in pieces[:n]) for n in range(len(pieces))]
    return b"".join(piece.data for piece in pieces)


@pytest.mark.parametrize("version", [0, 1, 4, 5, 7, 9, 10, 12])
def test_every_byte_of_a_response_belongs_to_a_field_in_every_version(version: int) -> None:
    partition = MetadataResponsePartition(partition_index=3, leader_id=1, replica_nodes=[1, 2], isr_nodes=[1])
    topic = MetadataResponseTopic(name="demo", partitions=[partition, partition])
    response = MetadataResponse(brokers=[MetadataResponseBroker(node_id=1, host="h", port=9092)], topics=[topic])
    pieces = walked(response, version)
    assert in_full(pieces) == response.encode(version)
    values = {piece.name: piece.value for piece in pieces}
    assert values["brokers[0].port"] == "9092"
    assert values["topics[0].name"] == "`demo`"
    assert values["topics[0].partitions[1].replica_nodes[1]"] == "2"


def test_the_default_of_every_message_is_walked_to_its_end_in_its_newest_version() -> None:
    for spec in API_SPECS.values():
        for cls in (spec.request, spec.response):
            message = cls()
            version = spec.max_version
            assert in_full(walked(message, version)) == message.encode(version), (cls.__name__, version)


@pytest.mark.parametrize(("version", "kind", "data"), [(1, "int32: count", "ffffffff"), (9, "varint: count + 1", "00")])
def test_a_null_array_has_a_count_and_no_elements(version: int, kind: str, data: str) -> None:
    first = walked(MetadataRequest(topics=None), version)[0]
    assert first == Piece(0, bytes.fromhex(data), "topics", kind, "null")


def test_a_tagged_field_is_named_by_its_tag() -> None:
    answered = PartitionProduceResponse(current_leader=LeaderIdAndEpoch(leader_id=2, leader_epoch=5))
    response = ProduceResponse(responses=[TopicProduceResponse(name="t", partition_responses=[answered])])
    pieces = walked(response, 10)
    assert in_full(pieces) == response.encode(10)
    assert "tag 0, 9 bytes" in [piece.value for piece in pieces]


@pytest.mark.parametrize(("version", "magic"), [(0, 0), (1, 0), (2, 1), (3, 2), (9, 2)])
def test_the_records_of_a_request_have_the_format_of_its_version(version: int, magic: int) -> None:
    records = bytes(produce_request(version).topic_data[0].partition_data[0].records or b"")
    assert records[16] == magic


def test_a_request_is_taken_apart_with_its_size_and_its_header() -> None:
    request = produce_request(3)
    frame = encode_request(request, 3, 7, "shop")
    pieces = Exchange(request, 3, len(frame).to_bytes(4, "big") + frame, b"").sent_pieces()
    assert [(piece.name, piece.value) for piece in pieces[:6]] == [
        ("size", str(len(frame))),
        ("api_key", "0"),
        ("api_version", "3"),
        ("correlation_id", "7"),
        ("client_id", "4"),
        ("client_id", "`shop`"),
    ]
    assert in_full(pieces)[4:] == frame
    assert ProduceRequest.decode(frame[14:], 3).acks == int({p.name: p.value for p in pieces}["acks"])


def test_a_table_has_a_row_per_piece_and_shortens_long_ones() -> None:
    pieces = [Piece(0, bytes(2), "acks", "int16", "0"), Piece(2, bytes(70), "records", "records", "70 bytes")]
    rows = table(pieces, "zh").splitlines()
    assert rows[0].startswith("| 位置 |")
    assert rows[2] == "| 0 | `00 00` | `acks` | int16 | 0 |"
    assert rows[3].count("00") == 12
    assert "…" in rows[3]


def test_a_nullable_struct_has_a_byte_in_front() -> None:
    """Null is one byte. What is there follows its byte, field by field."""
    null = walked(ConsumerGroupHeartbeatResponse(), 1)
    there = walked(ConsumerGroupHeartbeatResponse(assignment=Assignment()), 1)
    assert ("assignment", b"\xff", "null") in [(piece.name, piece.data, piece.value) for piece in null]
    assert [(piece.name, piece.data) for piece in there][-4:-1] == [
        ("assignment", b"\x01"),
        ("assignment.topic_partitions", b"\x01"),
        ("assignment.tagged_fields", b"\0"),
    ]

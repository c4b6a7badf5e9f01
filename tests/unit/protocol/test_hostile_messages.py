"""Invalid bytes: they only raise SchemaError, and cause no large allocation."""

from __future__ import annotations

import contextlib
import json
import random
import struct
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.api_keys import API_SPECS
from kafka_lite.protocol.framing import decode_request, decode_response
from kafka_lite.protocol.messages.api_01_fetch import FetchRequest
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest
from kafka_lite.protocol.messages.api_14_sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from kafka_lite.protocol.schema import Message
from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.protocol.varint import unsigned_varint
from kafka_lite.protocol.wire_types import RawTaggedField
from tests.support.examples import examples
from tests.support.messages import MESSAGES, random_message, versions

DATA = Path(__file__).parents[2] / "data"
HUGE_LENGTHS = (
    b"\x7f\xff\xff\xff",
    b"\x7f\xff",
    b"\xff\xff\xff\xff\x07",
    b"\x80\x00\x00\x00",
    b"\xff\xff\xff\xff\xff\x01",
)


@pytest.mark.parametrize("message_class", MESSAGES)
def test_a_truncated_message_is_refused(message_class: type[Message]) -> None:
    rng = random.Random(message_class.__name__)
    for version in versions(message_class):
        encoded = random_message(message_class, version, rng).encode(version)
        for length in rng.sample(range(len(encoded)), min(len(encoded), 12)):
            with pytest.raises(SchemaError, match=f"{message_class.__name__} v{version}"):
                message_class.decode(encoded[:length], version)


@pytest.mark.parametrize("message_class", MESSAGES)
def test_a_message_with_flipped_bytes_decodes_or_is_refused(message_class: type[Message]) -> None:
    rng = random.Random(message_class.__name__)
    for version in 5 * list(versions(message_class)):
        encoded = bytearray(random_message(message_class, version, rng).encode(version))
        for _ in range(rng.randint(1, 4) if encoded else 0):
            encoded[rng.randrange(len(encoded))] = rng.randrange(256)
        decodes_or_refuses(message_class, version, bytes(encoded))


@pytest.mark.parametrize("message_class", MESSAGES)
def test_huge_lengths_allocate_nothing(message_class: type[Message]) -> None:
    rng = random.Random(message_class.__name__)
    for version in message_class.VERSIONS:
        encoded = random_message(message_class, version, rng).encode(version)
        decodes_or_refuses(message_class, version, encoded)  # compile before measuring
        most = 40 if version == message_class.VERSIONS.highest else 8
        positions = rng.sample(range(len(encoded)), min(len(encoded), most))
        frames = [encoded[:at] + huge + encoded[at + len(huge) :] for at in positions for huge in HUGE_LENGTHS]
        tracemalloc.start()
        for frame in frames:
            decodes_or_refuses(message_class, version, frame)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 1_000_000


@settings(max_examples=examples(300), deadline=None)
@given(st.binary(max_size=200), st.integers(0, 70), st.integers(-1, 20))
def test_random_frames_are_refused_or_read(body: bytes, key: int, version: int) -> None:
    head = key.to_bytes(2, "big") + version.to_bytes(2, "big", signed=True)
    for decode in (lambda: decode_request(head + body), lambda: decode_response(key, version, body)):
        with contextlib.suppress(SchemaError):
            decode()


def test_mutations_of_captured_frames_are_refused_or_read() -> None:
    captured = [
        bytes.fromhex(entry["request_hex"])
        for file in ("client-golden-0.10.2.json", "inter-broker-0.10.2.json", "modern-clients-first-frames.json")
        for entry in json.loads((DATA / file).read_text())
    ]
    rng = random.Random(3)
    read = 0
    for _ in range(10_000):
        frame = bytearray(rng.choice(captured))
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(frame))
            frame[at : at + rng.randint(0, 4)] = rng.randbytes(rng.randint(0, 4))
        with contextlib.suppress(SchemaError):
            decode_request(bytes(frame))
            read += 1
    assert 1_000 < read < 9_900  # both happen


def test_null_in_a_field_that_is_not_nullable_is_refused() -> None:
    group_id_is_null = b"\xff\xff"
    with pytest.raises(SchemaError, match=r"OffsetFetchRequest v1: group_id is null"):
        API_SPECS[9].request.decode(group_id_is_null, 1)  # type: ignore[index]


def test_an_endless_section_of_tags_is_refused() -> None:
    encoded = b"\x02g" + bytes(4) + b"\x02m" + b"\x00" + b"\xff\xff\xff\xff\x07"
    with pytest.raises(SchemaError):
        API_SPECS[12].request.decode(encoded, 4)  # type: ignore[index]


def heartbeat_v4(group_id: bytes) -> bytes:
    return unsigned_varint(len(group_id) + 1) + group_id + bytes(4) + b"\x02m" + b"\x00" + b"\x00"


def test_compact_strings_are_limited_to_32767_bytes_too() -> None:
    request = API_SPECS[ApiKey.HEARTBEAT].request
    longest = request.decode(heartbeat_v4(b"g" * 32_767), 4)
    assert longest.encode(4) == heartbeat_v4(b"g" * 32_767)
    with pytest.raises(SchemaError, match="string field group_id had invalid length 32768"):
        request.decode(heartbeat_v4(b"g" * 32_768), 4)
    groups = unsigned_varint(2) + unsigned_varint(32_769) + b"g" * 32_768 + b"\x00"
    with pytest.raises(SchemaError, match="string field groups_names had invalid length 32768"):
        API_SPECS[ApiKey.DELETE_GROUPS].request.decode(groups, 2)


def test_bytes_may_be_longer_than_strings() -> None:
    request = SyncGroupRequest(assignments=[SyncGroupRequestAssignment(member_id="m", assignment=b"a" * 100_000)])
    assert SyncGroupRequest.decode(request.encode(5), 5) == request


@pytest.mark.parametrize("version", [0, 4])
@pytest.mark.parametrize("group_id", ["g" * 32_768, "\N{GREEK SMALL LETTER GAMMA}" * 16_384])
def test_a_too_long_string_cannot_be_encoded(version: int, group_id: str) -> None:
    request = HeartbeatRequest(group_id=group_id, member_id="m")
    with pytest.raises(SchemaError, match=r"32768 bytes is too long to be serialized, at: .*group_id"):
        request.encode(version)


@pytest.mark.parametrize("version", [0, 4])
def test_invalid_utf_8_is_replaced_if_the_result_can_be_sent_back(version: int) -> None:
    """Each byte becomes three, except for several bytes of one truncated character."""
    request = API_SPECS[ApiKey.HEARTBEAT].request
    encoded = HeartbeatRequest(group_id="g" * 10_923, member_id="m").encode(version)
    decoded = request.decode(encoded.replace(b"g" * 10_923, b"g\xe4\xb8\xff\xf0\x9f" + b"\xff" * 10_917), version)
    assert decoded.group_id == "g" + "\N{REPLACEMENT CHARACTER}" * 10_920  # type: ignore[attr-defined]
    assert request.decode(decoded.encode(version), version) == decoded
    with pytest.raises(SchemaError, match="10923 bytes is not valid UTF-8, and has 32769 bytes once replaced"):
        request.decode(encoded.replace(b"g", b"\xff"), version)
    with pytest.raises(SchemaError, match="is not valid UTF-8"):
        decode_request(struct.pack(">hhih", 18, 1, 7, 10_923) + b"\xff" * 10_923)


def test_a_tag_of_another_version_is_refused() -> None:
    """From version 15 on, tag 1 of a fetch is the replica; before, the tag is not allowed."""
    request = FetchRequest()
    request.unknown_tagged_fields = (RawTaggedField(1, bytes(13)),)
    with pytest.raises(SchemaError, match="tag 1 is not valid for version 12"):
        FetchRequest.decode(request.encode(12), 12)


def decodes_or_refuses(message_class: type[Message], version: int, encoded: bytes) -> None:
    """Decode. Bytes that decode must also be encodable."""
    try:
        message = message_class.decode(encoded, version)
    except SchemaError:
        return
    assert message.encode(version) is not None

"""The formatters of ``__consumer_offsets``: tombstones, other kinds of records, each version."""

from __future__ import annotations

import io
import json

import pytest

from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.protocol.messages.group_records import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
)
from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.protocol.version_prefixed import encode_with_version
from kafka_lite.record.record import TimestampType
from kafka_lite.tools.console.offsets_formatters import JSON_FORMATTERS, TEXT_FORMATTERS

OFFSET_KEY = encode_with_version(OffsetCommitKey(group="航班", topic="t", partition=3), 1)
GROUP_KEY = encode_with_version(GroupMetadataKey(group="g"), 2)
MEMBER = MemberMetadata(
    member_id="m", client_id="c", client_host="/h", session_timeout=10, subscription=b"\0\1", assignment=b""
)
NAMES = ("OffsetsMessageFormatter", "GroupMetadataMessageFormatter")
FORMATTERS = [*TEXT_FORMATTERS.values(), *JSON_FORMATTERS.values()]


def line(kind: type, key: bytes | None, value: bytes | None) -> str:
    output = io.BytesIO()
    kind().write_to(ConsumerRecord("__consumer_offsets", 0, 0, 0, TimestampType.CREATE_TIME, key, value), output)
    return output.getvalue().decode()


def offset_value(version: int, metadata: str = "") -> bytes:
    value = OffsetCommitValue(offset=42, metadata=metadata, commit_timestamp=7, leader_epoch=5, expire_timestamp=9)
    return encode_with_version(value, version)


@pytest.mark.parametrize("version", range(5))
def test_an_offset_expires_only_in_the_version_that_says_so(version: int) -> None:
    shown = line(TEXT_FORMATTERS["OffsetsMessageFormatter"], OFFSET_KEY, offset_value(version))
    expires = 9 if version == 1 else -1
    assert shown == f"[航班,t,3]::[OffsetMetadata[42,NO_METADATA],CommitTime 7,ExpirationTime {expires}]\n"


@pytest.mark.parametrize(
    ("version", "fields"),
    [(0, {}), (1, {"expireTimestamp": 9}), (2, {}), (3, {"leaderEpoch": 5}), (4, {"leaderEpoch": 5})],
)
def test_an_offset_in_json_has_the_fields_of_its_version(version: int, fields: dict[str, int]) -> None:
    shown = line(JSON_FORMATTERS["OffsetsMessageFormatter"], OFFSET_KEY, offset_value(version, "m"))
    assert json.loads(shown) == {
        "key": {"version": 1, "data": {"group": "航班", "topic": "t", "partition": 3}},
        "value": {"version": version, "data": {"offset": 42, "metadata": "m", "commitTimestamp": 7, **fields}},
    }


@pytest.mark.parametrize(("name", "key"), list(zip(NAMES, (OFFSET_KEY, GROUP_KEY), strict=True)), ids=NAMES)
@pytest.mark.parametrize("version", [5, 77, -1])
def test_a_value_of_a_later_kafka_is_unknown(name: str, key: bytes, version: int) -> None:
    shown = json.loads(line(JSON_FORMATTERS[name], key, version.to_bytes(2, "big", signed=True) + b"?"))
    assert shown["value"] == {"version": version, "data": "unknown"}
    assert shown["key"]["data"]["group"] in ("航班", "g")


def test_names_in_json_are_readable_as_in_kafka() -> None:
    assert '"group":"航班"' in line(JSON_FORMATTERS["OffsetsMessageFormatter"], OFFSET_KEY, None)


@pytest.mark.parametrize(("name", "key"), list(zip(NAMES, (OFFSET_KEY, GROUP_KEY), strict=True)))
def test_a_tombstone_is_null(name: str, key: bytes) -> None:
    assert line(TEXT_FORMATTERS[name], key, None).endswith("::NULL\n")
    assert json.loads(line(JSON_FORMATTERS[name], key, None))["value"] is None


@pytest.mark.parametrize("kind", FORMATTERS)
def test_records_of_other_kinds_are_skipped_and_damaged_ones_are_errors(kind: type) -> None:
    is_group = kind.__name__.endswith("GroupMetadataMessageFormatter")
    assert line(kind, OFFSET_KEY if is_group else GROUP_KEY, b"\xff") == ""
    assert line(kind, None, b"v") == ""
    assert line(kind, b"\0\x09key", b"v") == ""
    with pytest.raises(SchemaError):
        line(kind, b"\0", None)
    with pytest.raises(SchemaError):
        line(kind, GROUP_KEY if is_group else OFFSET_KEY, b"")


@pytest.mark.parametrize(
    ("members", "shown"),
    [
        ([MEMBER], "g::[g,Some(consumer),Stable,Map(m -> [m,c,/h,10])]\n"),
        ([], "g::[g,None,Empty,Map()]\n"),
    ],
)
def test_a_group_without_members_is_empty(members: list[MemberMetadata], shown: str) -> None:
    value = GroupMetadataValue(protocol_type="consumer", protocol=None, leader=None, members=members)
    for version in range(5):
        data = encode_with_version(value, version)
        assert line(TEXT_FORMATTERS["GroupMetadataMessageFormatter"], GROUP_KEY, data) == shown
        found = json.loads(line(JSON_FORMATTERS["GroupMetadataMessageFormatter"], GROUP_KEY, data))["value"]
        assert (found["version"], found["data"]["leader"]) == (version, None)
        assert [each["subscription"] for each in found["data"]["members"]] == ["AAE="] * len(members)

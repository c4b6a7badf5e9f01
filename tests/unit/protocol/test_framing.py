"""Headers: their versions, and frames with unknown keys or versions."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.protocol.api_keys import API_SPECS, ApiKey
from kafka_lite.protocol.framing import (
    decode_request,
    decode_request_header,
    decode_response,
    encode_request,
    encode_response,
)
from kafka_lite.protocol.messages.api_07_controlled_shutdown import ControlledShutdownRequest
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.protocol.schema_error import SchemaError, UnsupportedVersionError


def test_a_header_without_client_id_before_controlled_shutdown_v0() -> None:
    frame = encode_request(ControlledShutdownRequest(broker_id=9), 0, 2, None)
    assert frame.hex() == "000700000000000200000009"
    header, request = decode_request(frame)
    assert header == RequestHeader(api_key=7, api_version=0, correlation_id=2, client_id=None)
    assert request == ControlledShutdownRequest(broker_id=9)


def test_the_client_id_may_be_null() -> None:
    assert decode_request(encode_request(HeartbeatRequest(), 0, 1, None))[0].client_id is None


def test_the_client_id_never_has_a_compact_length() -> None:
    frame = encode_request(HeartbeatRequest(), 4, 1, "me")
    assert frame.startswith(bytes.fromhex("000c 0004 00000001 0002 6d65 00"))


def test_response_headers_have_tagged_fields_only_in_flexible_versions() -> None:
    def header_of(response: HeartbeatResponse, version: int) -> bytes:
        return bytes(encode_response(response, version, 5)[0])[: -len(response.encode(version))]

    assert header_of(HeartbeatResponse(), 3) == b"\0\0\0\5"
    assert header_of(HeartbeatResponse(), 4) == b"\0\0\0\5\0"


def test_the_header_of_api_versions_never_has_tagged_fields() -> None:
    response = ApiVersionsResponse()
    assert bytes(encode_response(response, 3, 5)[0]) == b"\0\0\0\5" + response.encode(3)


@pytest.mark.parametrize("api_keys", [[], [ApiVersion(api_key=18, min_version=0, max_version=4)]])
def test_an_old_brokers_api_versions_response_is_read_as_version_0(api_keys: list[ApiVersion]) -> None:
    error = Errors.UNSUPPORTED_VERSION.code
    answer = b"".join(
        bytes(part) for part in encode_response(ApiVersionsResponse(error_code=error, api_keys=api_keys), 0, 1)
    )
    assert decode_response(ApiKey.API_VERSIONS, 3, answer) == (
        1,
        ApiVersionsResponse(error_code=error, api_keys=api_keys),
    )


def test_an_unknown_version_of_api_versions_keeps_its_header() -> None:
    frame = bytes.fromhex("0012 0063 00000007 0002 6d65 00") + b"whatever version 99 has"
    with pytest.raises(UnsupportedVersionError, match="API_VERSIONS has no version 99") as caught:
        decode_request(frame)
    assert caught.value.header.correlation_id == 7
    assert caught.value.header.client_id == "me"


def test_the_body_starts_after_the_header() -> None:
    frame = encode_request(ApiVersionsRequest(client_software_name="c", client_software_version="1"), 3, 7, "me")
    header, position = decode_request_header(frame)
    assert header.api_version == 3
    assert frame[position:] == b"\x02c\x021\x00"


def test_unknown_keys_and_negative_versions_are_refused() -> None:
    for frame in ("0063 0000 00000001 ffff", "ffff 0000 00000001 ffff", "0000 ffff 00000001 ffff"):
        with pytest.raises(UnsupportedVersionError):
            decode_request(bytes.fromhex(frame))
    with pytest.raises(UnsupportedVersionError):
        decode_response(99, 0, bytes(4))


@pytest.mark.parametrize("length", range(10))
def test_frames_too_short_for_a_header_are_refused(length: int) -> None:
    with pytest.raises(SchemaError):
        decode_request(encode_request(HeartbeatRequest(), 0, 1, "me")[:length])


def test_the_table_is_complete() -> None:
    assert list(API_SPECS) == list(ApiKey)
    for key, spec in API_SPECS.items():
        assert spec.key is key
        assert spec.request.__name__.removesuffix("Request") == spec.response.__name__.removesuffix("Response")
        assert spec.request.VERSIONS == spec.response.VERSIONS
        assert spec.request.__name__.removesuffix("Request").lower() == key.name.replace("_", "").lower()

"""Frames captured from real clients and brokers: decoded, compared, and encoded again byte by byte."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from kafka_lite.protocol.api_keys import API_SPECS, ApiKey
from kafka_lite.protocol.framing import decode_request, decode_response, encode_request, encode_response
from tests.support.messages import leaves

DATA = Path(__file__).parents[2] / "data"


def frames(file: str) -> list[Any]:
    params = []
    for entry in json.loads((DATA / file).read_text()):
        name = entry.get("name") or entry.get("client")
        params.append(pytest.param(entry, id=f"{entry['api_key']}-v{entry['version']}-{name}"))
    return params


@pytest.mark.parametrize("entry", frames("client-golden-0.10.2.json"))
def test_frames_of_clients_and_a_broker_of_0_10_2(entry: dict[str, Any]) -> None:
    compare(entry)


@pytest.mark.parametrize("entry", frames("inter-broker-0.10.2.json"))
def test_frames_between_brokers_of_0_10_2(entry: dict[str, Any]) -> None:
    compare(entry)


@pytest.mark.parametrize("entry", frames("modern-clients-first-frames.json"))
def test_frames_of_todays_clients(entry: dict[str, Any]) -> None:
    compare(entry)


def compare(entry: dict[str, Any]) -> None:
    """Request and response decode to the noted values, and encode to the same bytes again."""
    frame = bytes.fromhex(entry["request_hex"])
    header, request = decode_request(frame)
    assert (header.api_key, header.api_version) == (entry["api_key"], entry["version"])
    assert encode_request(request, header.api_version, header.correlation_id, header.client_id) == frame
    if "client_id" in entry:
        assert header.client_id == entry["client_id"]
    if "request" in entry:
        assert [shown(value) for value in leaves(request, header.api_version)] == list(json_leaves(entry["request"]))
    if entry.get("response_hex"):
        compare_response(entry, header.correlation_id)


def compare_response(entry: dict[str, Any], correlation_id: int) -> None:
    key, version, frame = ApiKey(entry["api_key"]), entry["version"], bytes.fromhex(entry["response_hex"])
    repeated, response = decode_response(key, version, frame)
    assert repeated == correlation_id
    if key is ApiKey.API_VERSIONS and response.error_code != 0:  # type: ignore[attr-defined]
        version = 0  # an old broker's response to an unknown version
    assert isinstance(response, API_SPECS[key].response)
    assert b"".join(bytes(part) for part in encode_response(response, version, correlation_id)) == frame
    if "response" in entry:
        assert [shown(value) for value in leaves(response, version)] == list(json_leaves(entry["response"]))


def json_leaves(value: object) -> Iterator[object]:
    """The values of the JSON in wire order, under the names of 0.10.2."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from json_leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from json_leaves(inner)
    else:
        yield value


def shown(value: object) -> object:
    """A value in the notation of the captures."""
    if isinstance(value, memoryview):
        return f"records({value.nbytes} bytes)"
    if isinstance(value, bytes):
        return f"0x{value.hex()}"
    return str(value) if isinstance(value, UUID) else value

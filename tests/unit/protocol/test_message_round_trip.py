"""Messages survive encoding and decoding, for every API and version."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kafka_lite.protocol.api_keys import API_SPECS, ApiKey
from kafka_lite.protocol.framing import decode_request, decode_response, encode_request, encode_response
from kafka_lite.protocol.schema import Message, Request
from tests.support.examples import examples
from tests.support.messages import MESSAGES, random_message, strategy, versions


@pytest.mark.parametrize("key", API_SPECS, ids=lambda key: key.name)
@settings(max_examples=examples(15), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_message_of_any_version_survives(key: ApiKey, data: st.DataObject) -> None:
    spec = API_SPECS[key]
    message_class = data.draw(st.sampled_from([spec.request, spec.response]))
    version = data.draw(st.integers(spec.min_version, spec.max_version))
    message = data.draw(strategy(message_class, version))
    encoded = message.encode(version)
    decoded, position = message_class.decode_from(encoded, 0, version)
    assert decoded == message
    assert position == len(encoded)
    assert decoded.encode(version) == encoded


@pytest.mark.parametrize("message_class", MESSAGES)
def test_every_version_survives_in_a_frame(message_class: type[Message]) -> None:
    rng = random.Random(message_class.__name__)
    for version in 3 * list(versions(message_class)):
        message = random_message(message_class, version, rng)
        body = message.encode(version)
        frame, number, decoded = through_a_frame(message, version)
        assert frame.endswith(body)
        assert number == 17
        assert decoded == message


def through_a_frame(message: Any, version: int) -> tuple[bytes, int, Message]:
    """Encode with a header, decode; returns the frame, the correlation id and the message."""
    if isinstance(message, Request):
        frame = encode_request(message, version, 17, "client")
        header, decoded = decode_request(memoryview(frame))
        assert (header.api_key, header.api_version) == (message.API_KEY, version)
        return frame, header.correlation_id, decoded
    frame = b"".join(bytes(part) for part in encode_response(message, version, 17))
    return frame, *decode_response(message.API_KEY, version, bytearray(frame))


@pytest.mark.parametrize("message_class", MESSAGES)
def test_a_message_of_defaults_survives(message_class: type[Message]) -> None:
    for version in versions(message_class):
        assert message_class.decode(message_class().encode(version), version) == message_class()

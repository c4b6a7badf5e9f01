"""The largest requests are made from the declarations of all APIs, and the decoder's bound lies between them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.api_keys import API_SPECS
from kafka_lite.protocol.framing import decode_request, encode_request
from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.server.kafka_apis import SERVED_VERSIONS
from tests.support.largest_requests import array_paths, largest

ATTACKS = [
    (key, version, path)
    for key, served in SERVED_VERSIONS.items()
    for version in sorted({served.min_version, served.max_version})
    for path in array_paths(API_SPECS[key].request, version)
]


def test_most_apis_have_arrays() -> None:
    assert len({key for key, _, _ in ATTACKS}) > 35


@pytest.mark.parametrize(
    ("api_key", "version", "path"), ATTACKS, ids=lambda each: getattr(each, "name", None) or str(each)
)
def test_all_arrays_count_and_the_bound_is_exact(
    api_key: ApiKey, version: int, path: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    request = API_SPECS[api_key].request
    monkeypatch.setattr(request, "MAX_ELEMENTS", 60)
    monkeypatch.setattr(request, "_DECODERS", {})  # compiled with the bound
    body = largest(request, version, 60, path)
    _, decoded = decode_request(encode_request(body, version, 1, "c"))
    assert decoded == body
    with pytest.raises(SchemaError, match="elements more than a request may have"):
        decode_request(encode_request(largest(request, version, 80, path), version, 1, "c"))


def test_the_array_at_the_path_is_the_long_one() -> None:
    request = API_SPECS[ApiKey.CREATE_TOPICS].request
    body = largest(request, 6, 100, ("topics", "assignments"))
    (topic,) = body.topics
    assert (len(topic.assignments), len(topic.configs)) == (49, 1)
    assert len(largest(request, 6, 100).topics) == 25

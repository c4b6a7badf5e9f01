"""Which versions are offered, and when."""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsRequest
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.server.apis.api_version_manager import OF_TELEMETRY, ApiVersionManager
from kafka_lite.server.kafka_apis import SERVED_VERSIONS


def offered(manager: ApiVersionManager) -> set[int]:
    header = RequestHeader(api_key=ApiKey.API_VERSIONS, api_version=0, correlation_id=1)
    return {each.api_key for each in manager.response(header, ApiVersionsRequest()).api_keys}


def test_telemetry_is_offered_while_somebody_subscribes() -> None:
    wanted = False
    manager = ApiVersionManager(SERVED_VERSIONS, lambda: wanted)
    assert offered(manager) == SERVED_VERSIONS.keys() - OF_TELEMETRY
    wanted = True
    assert offered(manager) == set(SERVED_VERSIONS)
    manager.wants_telemetry = lambda: False
    assert offered(manager) == SERVED_VERSIONS.keys() - OF_TELEMETRY

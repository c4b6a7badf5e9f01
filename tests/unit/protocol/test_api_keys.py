"""The table of APIs: which versions can be read and written, which of them are flexible, and their headers."""

from __future__ import annotations

import pytest

from kafka_lite.protocol.api_keys import API_SPECS, ApiKey, ApiSpec, api_name
from kafka_lite.protocol.versions import HIGHEST, NO_VERSIONS, Versions

# Key, the highest version of 0.10.2's Protocol.java, the highest version of the codec, and its first flexible version
# (None: there is none), as in the "validVersions" and "flexibleVersions" of Kafka's message declarations.
TABLE: list[tuple[ApiKey, int, int, int | None]] = [
    (ApiKey.PRODUCE, 2, 13, 9),
    (ApiKey.FETCH, 3, 17, 12),
    (ApiKey.LIST_OFFSETS, 1, 10, 6),
    (ApiKey.METADATA, 2, 13, 9),
    (ApiKey.LEADER_AND_ISR, 0, 7, 4),
    (ApiKey.STOP_REPLICA, 0, 4, 2),
    (ApiKey.UPDATE_METADATA, 3, 8, 6),
    (ApiKey.CONTROLLED_SHUTDOWN, 1, 3, 3),
    (ApiKey.OFFSET_COMMIT, 2, 10, 8),
    (ApiKey.OFFSET_FETCH, 2, 10, 6),
    (ApiKey.FIND_COORDINATOR, 0, 6, 3),
    (ApiKey.JOIN_GROUP, 1, 9, 6),
    (ApiKey.HEARTBEAT, 0, 4, 4),
    (ApiKey.LEAVE_GROUP, 0, 5, 4),
    (ApiKey.SYNC_GROUP, 0, 5, 4),
    (ApiKey.DESCRIBE_GROUPS, 0, 6, 5),
    (ApiKey.LIST_GROUPS, 0, 5, 3),
    (ApiKey.SASL_HANDSHAKE, 0, 1, None),
    (ApiKey.API_VERSIONS, 0, 4, 3),
    (ApiKey.CREATE_TOPICS, 1, 7, 5),
    (ApiKey.DELETE_TOPICS, 0, 6, 4),
]


@pytest.mark.parametrize(("key", "highest_of_0_10_2", "highest", "flexible"), TABLE)
def test_versions_of_the_apis_of_0_10_2(
    key: ApiKey, highest_of_0_10_2: int, highest: int, flexible: int | None
) -> None:
    spec = API_SPECS[key]
    assert (spec.min_version, spec.max_version) == (0, highest)
    assert spec.request.VERSIONS == spec.response.VERSIONS == Versions(0, highest)
    assert highest_of_0_10_2 in spec.request.VERSIONS
    first = spec.request.FLEXIBLE.lowest if spec.request.FLEXIBLE != NO_VERSIONS else None
    assert first == flexible


@pytest.mark.parametrize("spec", API_SPECS.values(), ids=lambda spec: spec.key.name)
def test_request_and_response_become_flexible_together(spec: ApiSpec) -> None:
    assert spec.request.FLEXIBLE == spec.response.FLEXIBLE
    assert spec.request.FLEXIBLE is NO_VERSIONS or spec.request.FLEXIBLE.highest == HIGHEST
    assert spec.request.API_KEY is spec.response.API_KEY is spec.key


@pytest.mark.parametrize("spec", API_SPECS.values(), ids=lambda spec: spec.key.name)
def test_flexible_versions_have_the_next_header(spec: ApiSpec) -> None:
    for version in range(spec.min_version, spec.max_version + 1):
        flexible = version in spec.request.FLEXIBLE
        first_shutdown = (spec.key, version) == (ApiKey.CONTROLLED_SHUTDOWN, 0)
        assert spec.request_header_version(version) == (0 if first_shutdown else 1 + flexible)
        expected = 0 if spec.key is ApiKey.API_VERSIONS else int(flexible)
        assert spec.response_header_version(version) == expected


def test_only_the_first_controlled_shutdown_has_no_client_id() -> None:
    assert [API_SPECS[ApiKey.CONTROLLED_SHUTDOWN].request_header_version(version) for version in range(4)] == [
        0,
        1,
        1,
        2,
    ]
    assert API_SPECS[ApiKey.STOP_REPLICA].request_header_version(0) == 1


def test_an_api_versions_response_can_be_read_without_knowing_the_brokers_version() -> None:
    spec = API_SPECS[ApiKey.API_VERSIONS]
    assert [spec.request_header_version(version) for version in range(5)] == [1, 1, 1, 2, 2]
    assert [spec.response_header_version(version) for version in range(5)] == [0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("key", "name"),
    [(0, "Produce"), (4, "LeaderAndIsr"), (8, "OffsetCommit"), (10, "FindCoordinator"), (66, "ListTransactions")],
)
def test_an_api_is_named_after_its_request(key: int, name: str) -> None:
    assert api_name(key) == name


@pytest.mark.parametrize("key", [-1, 52, 93])
def test_an_api_without_codec_has_no_name(key: int) -> None:
    with pytest.raises(ValueError, match="is not a valid ApiKey"):
        api_name(key)

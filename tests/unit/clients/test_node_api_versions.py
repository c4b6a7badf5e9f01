"""The versions that a client and a broker have in common, and the record format that all brokers accept."""

from __future__ import annotations

import pytest

from kafka_lite.clients.api_versions import ApiVersions, produce_magic
from kafka_lite.clients.client_request import RequestBuilder
from kafka_lite.clients.node_api_versions import NodeApiVersions
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersion, ApiVersionsResponse
from kafka_lite.protocol.schema_error import UnsupportedVersionError
from kafka_lite.record.record import CURRENT_MAGIC, MAGIC_V0, MAGIC_V1


def versions(oldest: int, newest: int, api: ApiKey = ApiKey.METADATA) -> NodeApiVersions:
    entry = ApiVersion(api_key=api, min_version=oldest, max_version=newest)
    return NodeApiVersions.of(ApiVersionsResponse(api_keys=[entry]))


def builder(oldest: int, latest: int) -> RequestBuilder:
    return RequestBuilder.of(MetadataRequest(), oldest, latest)


@pytest.mark.parametrize(
    ("broker", "client", "used"),
    [((0, 9), (0, 5), 5), ((0, 4), (0, 9), 4), ((3, 9), (2, 3), 3), ((2, 3), (3, 9), 3), ((7, 7), (7, 7), 7)],
)
def test_the_newest_version_of_both_is_used(broker: tuple[int, int], client: tuple[int, int], used: int) -> None:
    assert versions(*broker).usable_version(builder(*client)) == used


@pytest.mark.parametrize(("broker", "client"), [((4, 9), (0, 3)), ((0, 3), (4, 9))])
def test_versions_that_do_not_meet_are_an_error_that_names_both_ranges(
    broker: tuple[int, int], client: tuple[int, int]
) -> None:
    ranges = f"METADATA: the broker has versions {broker[0]} to {broker[1]}, this request needs one of {client[0]} to"
    with pytest.raises(UnsupportedVersionError, match=ranges):
        versions(*broker).usable_version(builder(*client))


def test_an_api_that_the_broker_does_not_have_is_an_error() -> None:
    with pytest.raises(UnsupportedVersionError, match="the broker does not have METADATA"):
        versions(0, 9, ApiKey.PRODUCE).usable_version(builder(0, 9))
    assert versions(0, 9, ApiKey.PRODUCE).latest(ApiKey.METADATA) is None


@pytest.mark.parametrize(
    ("latest", "magic"), [(0, MAGIC_V0), (1, MAGIC_V0), (2, MAGIC_V1), (3, CURRENT_MAGIC), (9, CURRENT_MAGIC)]
)
def test_the_format_of_records_follows_the_version_of_produce(latest: int, magic: int) -> None:
    assert produce_magic(versions(0, latest, ApiKey.PRODUCE)) == magic


def test_the_oldest_broker_decides_the_format_while_it_is_connected() -> None:
    api_versions = ApiVersions()
    assert api_versions.max_usable_produce_magic == CURRENT_MAGIC
    api_versions.update("1", versions(0, 9, ApiKey.PRODUCE))
    api_versions.update("2", versions(0, 2, ApiKey.PRODUCE))
    assert api_versions.max_usable_produce_magic == MAGIC_V1
    api_versions.remove("3")
    api_versions.remove("2")
    assert (api_versions.max_usable_produce_magic, api_versions.get("2")) == (CURRENT_MAGIC, None)

"""Which request versions brokers use among themselves."""

from __future__ import annotations

import pytest

from kafka_lite.common.api_version import ApiVersion
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.server.kafka_apis import SERVED_VERSIONS
from kafka_lite.server.replication.inter_broker_versions import (
    FIRST_USES,
    inter_broker_version,
    leader_epochs_are_known,
    truncation_on_fetch_is_known,
)


@pytest.mark.parametrize(
    ("api_key", "version"),
    [
        (ApiKey.FETCH, 3),
        (ApiKey.LIST_OFFSETS, 1),
        (ApiKey.LEADER_AND_ISR, 0),
        (ApiKey.STOP_REPLICA, 0),
        (ApiKey.UPDATE_METADATA, 3),
        (ApiKey.CONTROLLED_SHUTDOWN, 1),
    ],
)
def test_brokers_of_0_10_2_get_the_versions_that_0_10_2_uses(api_key: ApiKey, version: int) -> None:
    protocol = ApiVersion.parse("0.10.2")
    assert inter_broker_version(api_key, protocol) == version
    assert not leader_epochs_are_known(protocol)


def test_the_oldest_brokers_get_the_lowest_versions() -> None:
    oldest = next(iter(ApiVersion))
    assert inter_broker_version(ApiKey.LIST_OFFSETS, oldest) == 0
    assert inter_broker_version(ApiKey.FETCH, ApiVersion.parse("0.10.0")) == 2


@pytest.mark.parametrize("api_key", FIRST_USES)
@pytest.mark.parametrize("protocol", list(ApiVersion))
def test_every_version_that_is_sent_is_served(api_key: ApiKey, protocol: ApiVersion) -> None:
    served = SERVED_VERSIONS[api_key]
    assert served.min_version <= inter_broker_version(api_key, protocol) <= served.max_version


@pytest.mark.parametrize("api_key", FIRST_USES)
def test_a_newer_protocol_never_uses_an_older_version(api_key: ApiKey) -> None:
    versions = [inter_broker_version(api_key, protocol) for protocol in ApiVersion]
    assert versions == sorted(versions)


def test_leaders_compare_logs_in_the_first_protocol_whose_requests_have_the_last_epoch() -> None:
    for protocol in ApiVersion:
        assert truncation_on_fetch_is_known(protocol) == (inter_broker_version(ApiKey.FETCH, protocol) >= 12)

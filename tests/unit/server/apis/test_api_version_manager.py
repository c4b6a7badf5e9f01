"""Which versions are offered, and when."""

from __future__ import annotations

from kafka_lite.cluster.finalized_features import FinalizedFeatures
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.server.apis.api_handler import ApiRange
from kafka_lite.server.apis.api_version_manager import OF_TELEMETRY, ApiVersionManager
from kafka_lite.server.apis.share.share_group_switch import OF_SHARE_GROUPS
from kafka_lite.server.kafka_apis import SERVED_VERSIONS
from kafka_lite.zookeeper.feature_znode import FeatureStatus, FeatureStore, FeatureZNode
from tests.support.fake_zookeeper import Tree, fake_zk


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


def test_share_groups_are_offered_while_they_are_on() -> None:
    ranges = {
        **SERVED_VERSIONS,
        ApiKey.SHARE_GROUP_HEARTBEAT: ApiRange(1, 1),
        ApiKey.READ_SHARE_GROUP_STATE: ApiRange(0, 0),
    }
    assert offered(ApiVersionManager(ranges)) == set(ranges)
    off = ApiVersionManager(ranges, has_share_groups=lambda: False)
    assert offered(off) == ranges.keys() - OF_SHARE_GROUPS
    assert ApiKey.READ_SHARE_GROUP_STATE in offered(off)


def test_clients_are_told_of_features_as_they_are_finalized() -> None:
    store = FeatureStore(fake_zk(Tree()).zookeeper)
    features = FinalizedFeatures(store)
    features.startup()
    manager = ApiVersionManager(SERVED_VERSIONS, features=features)

    def told(version: int) -> tuple[dict[str, tuple[int, int]], dict[str, int], int]:
        header = RequestHeader(api_key=ApiKey.API_VERSIONS, api_version=version, correlation_id=1)
        request = ApiVersionsRequest(client_software_name="x", client_software_version="1")
        data = manager.response(header, request).encode(version)
        response = ApiVersionsResponse.decode(data, version)
        supported = {each.name: (each.min_version, each.max_version) for each in response.supported_features}
        finalized = {each.name: each.max_version_level for each in response.finalized_features}
        return supported, finalized, response.finalized_features_epoch

    supported = {"transaction.version": (0, 2), "group.version": (0, 1), "share.version": (0, 1)}
    assert told(4) == (supported, {}, -1)
    store.write(FeatureZNode(FeatureStatus.ENABLED, {"transaction.version": 2}), -1)
    assert told(4) == (supported, {"transaction.version": 2}, 0)
    assert told(3) == ({}, {"transaction.version": 2}, 0), "an older client cannot read level 0"
    assert told(2) == ({}, {}, -1)

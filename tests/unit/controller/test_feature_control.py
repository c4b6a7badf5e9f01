"""With which features a cluster begins, and which updates of them the controller accepts."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kafka_lite.cluster.features import NEW_CLUSTERS_LEVELS, SUPPORTED
from kafka_lite.cluster.finalized_features import FinalizedFeatures
from kafka_lite.common.api_version import LATEST, ApiVersion
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.controller.feature_control import (
    FeatureControl,
    FeatureUpdate,
    Support,
    UpgradeType,
    reason_to_refuse,
)
from kafka_lite.zookeeper.data import BrokerRegistration, SupportedLevels, TopicAssignment
from kafka_lite.zookeeper.feature_znode import FeatureStatus, FeatureStore, FeatureZNode
from tests.support.fake_zookeeper import Tree, fake_zk

TXN = "transaction.version"
BEFORE_2_7 = ApiVersion.KAFKA_2_6_IV0
US = Support("Local controller 1", SUPPORTED)


class Cluster:
    """ZooKeeper in memory, and the controller of broker 1."""

    def __init__(self, protocol: ApiVersion = LATEST) -> None:
        self.zk = fake_zk(Tree())
        self.zk.create_persistent_paths()
        self.store = FeatureStore(self.zk.zookeeper)
        self.finalized = FinalizedFeatures(self.store)
        self.control = FeatureControl(1, protocol, self.zk, self.finalized)

    def register(self, broker_id: int, features: Mapping[str, SupportedLevels], version: int = 5) -> None:
        registration = BrokerRegistration((f"PLAINTEXT://h:{broker_id}",), features=features, version=version)
        self.zk.register_broker(broker_id, registration)

    def levels(self) -> dict[str, int] | None:
        node, _ = self.store.read()
        return None if node is None else dict(node.features)

    def update(self, *updates: FeatureUpdate, validate_only: bool = False) -> tuple[Errors, str]:
        try:
            self.control.update(updates, validate_only=validate_only)
        except ApiError as failure:
            return failure.error, str(failure)
        return Errors.NONE, ""


# ── the beginning ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_new_cluster_begins_like_one_of_kafka_4_1() -> None:
    cluster = Cluster()
    cluster.register(1, SUPPORTED)
    cluster.control.setup()
    assert cluster.levels() == NEW_CLUSTERS_LEVELS
    assert cluster.finalized.level("group.version") == 1, "the controller's own broker knows it at once"


def test_an_upgraded_cluster_begins_with_nothing() -> None:
    cluster = Cluster()
    cluster.zk.create_topic_assignment("t", TopicAssignment({0: [1]}))
    cluster.control.setup()
    assert cluster.levels() == {}
    assert cluster.finalized.current.epoch == 0


def test_a_new_cluster_with_a_broker_that_knows_no_features_begins_with_nothing() -> None:
    cluster = Cluster()
    cluster.register(2, {}, version=4)
    cluster.control.setup()
    assert cluster.levels() == {}


def test_a_new_cluster_of_an_older_protocol_is_for_other_kafkas_too() -> None:
    cluster = Cluster(ApiVersion.KAFKA_2_7_IV1)
    cluster.control.setup()
    assert cluster.levels() == {}


def test_the_next_controller_keeps_what_is_finalized() -> None:
    cluster = Cluster()
    cluster.store.write(FeatureZNode(FeatureStatus.ENABLED, {TXN: 1}, 1), -1)
    cluster.control.setup()
    assert cluster.levels() == {TXN: 1}
    assert cluster.finalized.current.epoch == 0, "nothing was written"


def test_a_cluster_that_leaves_a_protocol_before_2_7_does_not_begin_anew() -> None:
    cluster = Cluster()
    cluster.store.write(FeatureZNode(FeatureStatus.DISABLED, {}), -1)
    cluster.control.setup()
    assert cluster.store.read() == (FeatureZNode(FeatureStatus.ENABLED, {}, 1), 1)


def test_a_protocol_before_2_7_empties_the_node_and_makes_none() -> None:
    cluster = Cluster(BEFORE_2_7)
    cluster.control.setup()
    assert cluster.levels() is None
    cluster.store.write(FeatureZNode(FeatureStatus.ENABLED, {TXN: 2}, 1), -1)
    cluster.control.setup()
    assert cluster.store.read() == (FeatureZNode(FeatureStatus.DISABLED, {}, 1), 1)


def test_an_unreadable_node_is_left_alone() -> None:
    cluster = Cluster()
    cluster.zk.zookeeper.create("/feature", b"rubbish")
    cluster.control.setup()
    assert cluster.zk.zookeeper.get("/feature")[0] == b"rubbish"
    assert cluster.update(FeatureUpdate(TXN, 1))[0] is Errors.FEATURE_UPDATE_FAILED


# ── updates ───────────────────────────────────────────────────────────────────────────────────────────────────────

_T = UpgradeType
_WITHOUT_TYPE = (
    "Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe downgrade."
)


@pytest.mark.parametrize(
    ("update", "current", "reason"),
    [
        (FeatureUpdate(TXN, 2), 0, None),
        (FeatureUpdate(TXN, 2), 2, None),
        (FeatureUpdate(TXN, 0, _T.SAFE_DOWNGRADE), 2, None),
        (FeatureUpdate(TXN, 1, _T.UNSAFE_DOWNGRADE), 2, None),
        (FeatureUpdate(TXN, 1), 2, _WITHOUT_TYPE),
        (FeatureUpdate(TXN, 2, _T.SAFE_DOWNGRADE), 1, "Can't downgrade to a newer version."),
        (FeatureUpdate(TXN, 1, _T.of(9)), 0, "The controller does not support the given upgrade type."),
        (FeatureUpdate(TXN, -1), 0, "A feature version cannot be less than 0."),
        (FeatureUpdate(TXN, 3), 0, "Local controller 1 only supports versions 0-2"),
        (FeatureUpdate("b", 1), 0, "Local controller 1 does not support this feature."),
        (FeatureUpdate("b", 0), 0, "Feature b not found."),
    ],
)
def test_reasons_to_refuse_are_kafkas(update: FeatureUpdate, current: int, reason: str | None) -> None:
    assert reason_to_refuse(update, current, [US]) == reason


def test_every_broker_must_support_the_level() -> None:
    older = Support("Broker 3", {TXN: SupportedLevels(1, 1)})
    assert reason_to_refuse(FeatureUpdate(TXN, 1), 0, [US, older]) is None
    assert reason_to_refuse(FeatureUpdate(TXN, 2), 0, [US, older]) == "Broker 3 only supports versions 0-1"
    kafka = Support("Broker 2", {})
    assert reason_to_refuse(FeatureUpdate(TXN, 1), 0, [US, kafka]) == "Broker 2 does not support this feature."
    assert reason_to_refuse(FeatureUpdate(TXN, 0, _T.SAFE_DOWNGRADE), 2, [US, kafka]) is None


def test_an_update_is_written_and_known_at_once() -> None:
    cluster = Cluster()
    cluster.zk.create_topic_assignment("t", TopicAssignment({0: [1]}))
    cluster.register(1, SUPPORTED)
    cluster.control.setup()
    assert cluster.update(FeatureUpdate(TXN, 2), FeatureUpdate("share.version", 1)) == (Errors.NONE, "")
    assert cluster.levels() == {TXN: 2, "share.version": 1}
    assert cluster.finalized.current == ({TXN: 2, "share.version": 1}, 1)
    assert cluster.update(FeatureUpdate(TXN, 0, _T.SAFE_DOWNGRADE)) == (Errors.NONE, "")
    assert cluster.levels() == {"share.version": 1}


def test_one_wrong_update_of_a_request_spoils_all() -> None:
    cluster = Cluster()
    cluster.register(2, {}, version=4)
    cluster.control.setup()
    error, message = cluster.update(FeatureUpdate("share.version", 0), FeatureUpdate(TXN, 1))
    assert error is Errors.INVALID_UPDATE_VERSION
    assert message == f"Invalid update version 1 for feature {TXN}. Broker 2 does not support this feature."
    assert cluster.levels() == {}


def test_a_validation_writes_nothing() -> None:
    cluster = Cluster(ApiVersion.KAFKA_2_7_IV1)
    cluster.control.setup()
    assert cluster.update(FeatureUpdate(TXN, 2), validate_only=True) == (Errors.NONE, "")
    assert cluster.update(FeatureUpdate(TXN, 9), validate_only=True)[0] is Errors.INVALID_UPDATE_VERSION
    assert cluster.levels() == {}


def test_a_write_of_another_controller_is_not_overwritten() -> None:
    cluster = Cluster(ApiVersion.KAFKA_2_7_IV1)
    cluster.control.setup()
    node, version = cluster.store.read()
    cluster.store.write(FeatureZNode(FeatureStatus.ENABLED, {"share.version": 1}, 1), version)
    cluster.control._store.read = lambda: (node, version)  # type: ignore[method-assign]
    assert cluster.update(FeatureUpdate(TXN, 2))[0] is Errors.FEATURE_UPDATE_FAILED
    assert cluster.levels() == {"share.version": 1}


def test_before_2_7_nothing_can_be_finalized() -> None:
    assert Cluster(BEFORE_2_7).update(FeatureUpdate(TXN, 1)) == (
        Errors.INVALID_REQUEST,
        "Feature versioning system is disabled.",
    )


def test_a_broker_without_a_finalized_feature_is_known() -> None:
    cluster = Cluster()
    cluster.control.setup()
    assert cluster.control.unsupported_by(BrokerRegistration((), features=SUPPORTED)) == {}
    assert cluster.control.unsupported_by(BrokerRegistration(())) == NEW_CLUSTERS_LEVELS

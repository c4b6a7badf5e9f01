"""Access control lists in the nodes of a ZooKeeper, and two brokers that follow each other's changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.security.authorizer.acl_authorizer import AclAuthorizer
from kafka_lite.security.authorizer.acl_binding import (
    AccessControlEntry,
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
)
from kafka_lite.security.authorizer.acl_store import ACL_CHANGE_PATHS, VersionedAcls
from kafka_lite.security.authorizer.resource_pattern import (
    PatternType,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
)
from kafka_lite.server.auth.zk_acl_store import ZkAclStore, acl_changes
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from tests.support.fake_zookeeper import Tree, fake_zk

READ = AccessControlEntry("User:alice", "*", AclOperation.READ, AclPermissionType.ALLOW)
ORDERS = ResourcePattern(ResourceType.TOPIC, "orders")
PREFIX = ResourcePattern(ResourceType.TOPIC, "ord", PatternType.PREFIXED)
EVERYTHING = AclBindingFilter(ResourcePatternFilter(ResourceType.ANY, None, PatternType.ANY))


@dataclass
class LateTree(Tree):
    """Calls watches when the test says so, as another thread does: writers hold locks."""

    late: list[Callable[[], None]] = field(default_factory=list)

    def changed(self, path: str) -> None:
        for watched in (path, path.rpartition("/")[0]):
            self.late += self.watches.get(watched, [])

    def deliver(self) -> None:
        while self.late:
            self.late.pop(0)()


@pytest.fixture
def tree() -> LateTree:
    return LateTree()


@pytest.fixture
def zk(tree: LateTree) -> KafkaZkClient:
    zk = fake_zk(tree)
    ZkAclStore(zk).create_paths()
    return zk


def test_nodes_are_those_of_kafka(zk: KafkaZkClient) -> None:
    store = ZkAclStore(zk)
    assert store.write(ORDERS, frozenset({READ}), None) == 0
    assert store.write(PREFIX, frozenset({READ}), None) == 0
    data, _ = zk.zookeeper.get("/kafka-acl/Topic/orders")
    assert data == (
        b'{"version":1,"acls":[{"principal":"User:alice","permissionType":"Allow","operation":"Read","host":"*"}]}'
    )
    assert zk.zookeeper.exists("/kafka-acl-extended/prefixed/Topic/ord") is not None
    assert set(store.patterns()) == {ORDERS, PREFIX}
    assert store.read(ORDERS) == VersionedAcls(frozenset({READ}), 0)


def test_writers_of_an_older_version_are_refused(zk: KafkaZkClient) -> None:
    store = ZkAclStore(zk)
    assert store.write(ORDERS, frozenset(), None) == 0  # nothing to delete
    assert store.write(ORDERS, frozenset({READ}), 3) is None  # no such node
    store.write(ORDERS, frozenset({READ}), None)
    assert store.write(ORDERS, frozenset({READ}), None) is None  # it exists
    assert store.write(ORDERS, frozenset({READ}), 0) == 1
    assert store.write(ORDERS, frozenset(), 0) is None  # changed meanwhile
    assert store.write(ORDERS, frozenset(), 1) == 0
    assert store.read(ORDERS) == VersionedAcls()


def test_unknown_types_are_ignored(zk: KafkaZkClient) -> None:
    zk.zookeeper.create_recursive("/kafka-acl/Planet/mars", b"")
    assert list(ZkAclStore(zk).patterns()) == []


def authorizer(zk: KafkaZkClient) -> AclAuthorizer:
    made = AclAuthorizer(ZkAclStore(zk), MockTime())
    made.load()
    for kind in ACL_CHANGE_PATHS:
        acl_changes(zk, kind, made.changed, MockTime(start_ms=0)).startup()
    return made


def test_brokers_follow_each_others_changes(zk: KafkaZkClient, tree: LateTree) -> None:
    first, second = authorizer(zk), authorizer(zk)
    bindings = [AclBinding(pattern, READ) for pattern in (ORDERS, PREFIX)]
    assert first.create_acls(bindings) == [None, None]
    assert list(second.acls(EVERYTHING)) == []
    tree.deliver()
    assert set(second.acls(EVERYTHING)) == set(bindings)
    second.delete_acls([AclBindingFilter(ResourcePatternFilter(ResourceType.TOPIC, "orders", PatternType.LITERAL))])
    tree.deliver()
    assert list(first.acls(EVERYTHING)) == [bindings[1]]
    assert list(authorizer(zk).acls(EVERYTHING)) == [bindings[1]]


def test_an_announcement_that_cannot_be_read_does_not_hide_the_next(
    zk: KafkaZkClient, tree: LateTree, caplog: pytest.LogCaptureFixture
) -> None:
    made = authorizer(zk)
    zk.zookeeper.create("/kafka-acl-changes/acl_changes_", b"nonsense", sequential=True)
    tree.deliver()
    assert "Ignoring the notification" in caplog.text
    ZkAclStore(zk).write(ORDERS, frozenset({READ}), None)
    ZkAclStore(zk).announce(ORDERS)
    tree.deliver()
    assert list(made.acls(EVERYTHING)) == [AclBinding(ORDERS, READ)]

"""Access control lists in ZooKeeper, and the nodes by which brokers and tools announce their changes.

Kafka 0.10.2: core/.../security/auth/SimpleAclAuthorizer.scala; since 2.0 core/.../zk/ZkData.scala (ZkAclStore,
ZkAclChangeStore) · book 2.3.5
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

from kafka_lite.common.time import Time
from kafka_lite.security.authorizer.acl_binding import AccessControlEntry
from kafka_lite.security.authorizer.acl_store import (
    ACL_CHANGE_PATHS,
    ACL_PATHS,
    SEQUENCE_NUMBER_PREFIX,
    VersionedAcls,
    acl_path,
    decode_acls,
    decode_change,
    encode_acls,
    encode_change,
)
from kafka_lite.security.authorizer.resource_pattern import PatternType, ResourcePattern, ResourceType, pascal_case
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.zk_errors import BadVersionError, NodeExistsError, NoNodeError
from kafka_lite.zookeeper.zk_node_change_notification_listener import ZkNodeChangeNotificationListener

logger = logging.getLogger(__name__)

_TYPES = [kind for kind in ResourceType if kind not in (ResourceType.UNKNOWN, ResourceType.ANY)]


class ZkAclStore:
    """``AclStore`` on the nodes that Kafka has."""

    def __init__(self, zk_client: KafkaZkClient) -> None:
        self._zookeeper = zk_client.zookeeper

    def create_paths(self) -> None:
        """Create the parents of all nodes; the first thing that a broker with an authorizer does."""
        folders = [f"{path}/{pascal_case(kind.name)}" for path in ACL_PATHS.values() for kind in _TYPES]
        self._zookeeper.ensure_paths([*folders, *ACL_CHANGE_PATHS.values()])

    def patterns(self) -> Iterator[ResourcePattern]:
        """Every pattern that has a node."""
        for pattern_type, path in ACL_PATHS.items():
            for name in self._zookeeper.children(path):
                kind = ResourceType.for_name(name)
                if kind not in _TYPES:
                    logger.warning("Ignoring unknown ResourceType %s", name)
                    continue
                for resource in self._zookeeper.children(f"{path}/{name}"):
                    yield ResourcePattern(kind, resource, pattern_type)

    def read(self, pattern: ResourcePattern) -> VersionedAcls:
        """The entries of a pattern; none if there is no node. Raises AclDataError."""
        try:
            data, stat = self._zookeeper.get(acl_path(pattern))
        except NoNodeError:
            return VersionedAcls()
        return VersionedAcls(decode_acls(data), stat.version)

    def write(
        self, pattern: ResourcePattern, entries: frozenset[AccessControlEntry], version: int | None
    ) -> int | None:
        """Replace the entries if the node still has this version; none deletes it. None if another was first."""
        path = acl_path(pattern)
        try:
            if not entries:
                if version is not None:
                    self._zookeeper.delete(path, version)
                return 0
            if version is None:
                self._zookeeper.create_recursive(path, encode_acls(entries))
                return 0
            return self._zookeeper.set(path, encode_acls(entries), version)
        except (BadVersionError, NoNodeError, NodeExistsError):
            return None

    def announce(self, pattern: ResourcePattern) -> None:
        """Create the node by which other brokers hear of a change."""
        path = f"{ACL_CHANGE_PATHS[pattern.pattern_type]}/{SEQUENCE_NUMBER_PREFIX}"
        self._zookeeper.create(path, encode_change(pattern), sequential=True)


def acl_changes(
    zk_client: KafkaZkClient, kind: PatternType, changed: Callable[[ResourcePattern], None], time: Time
) -> ZkNodeChangeNotificationListener:
    """Follows the announcements of one kind of pattern. ``changed``: reads a pattern's node again."""

    def process(data: bytes) -> None:
        changed(decode_change(kind, data))

    return ZkNodeChangeNotificationListener(zk_client.zookeeper, ACL_CHANGE_PATHS[kind], process, time)

"""Access control lists in ZooKeeper, and the nodes by which brokers and tools announce their changes.

Kafka 0.10.2: core/.../security/auth/SimpleAclAuthorizer.scala; since 2.0 core/.../zk/ZkData.scala (ZkAclStore,
ZkAclChangeStore), core/.../common/ZkNodeChangeNotificationListener.scala · book 2.3.5
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator

from kafka_lite.common.time import Time
from kafka_lite.security.authorizer.acl_binding import AccessControlEntry
from kafka_lite.security.authorizer.acl_store import (
    ACL_CHANGE_PATHS,
    ACL_PATHS,
    SEQUENCE_NUMBER_PREFIX,
    AclDataError,
    VersionedAcls,
    acl_path,
    decode_acls,
    decode_change,
    encode_acls,
    encode_change,
)
from kafka_lite.security.authorizer.resource_pattern import PatternType, ResourcePattern, ResourceType, pascal_case
from kafka_lite.zookeeper import paths
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.zk_errors import BadVersionError, NodeExistsError, NoNodeError, ZkError

logger = logging.getLogger(__name__)

CHANGE_EXPIRATION_MS = 15 * 60 * 1000
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


class AclChanges:
    """Follows the announcements of one kind of pattern, and deletes those that are older than 15 minutes."""

    def __init__(
        self, zk_client: KafkaZkClient, kind: PatternType, changed: Callable[[ResourcePattern], None], time: Time
    ) -> None:
        """``changed``: reads a pattern's node again."""
        self._zookeeper = zk_client.zookeeper
        self._kind = kind
        self._path = ACL_CHANGE_PATHS[kind]
        self._changed = changed
        self._time = time
        self._last_executed_change = -1
        self._lock = threading.Lock()

    def startup(self) -> None:
        """Watch, then handle the announcements that are there: none falls between."""
        self._zookeeper.watch_children(self._path, self.process_changes)
        self.process_changes()

    def process_changes(self) -> None:
        """Handle all new announcements."""
        with self._lock:
            names = sorted(self._zookeeper.children(self._path), key=paths.sequence_number)
            for name in names:
                number = paths.sequence_number(name)
                if number > self._last_executed_change:
                    self._process(name)
                    self._last_executed_change = number
            self._purge_obsolete(names)

    def _process(self, name: str) -> None:
        try:
            data, _ = self._zookeeper.get(f"{self._path}/{name}")
            self._changed(decode_change(self._kind, data or b""))
        except NoNodeError:
            return  # deleted as obsolete
        except (AclDataError, ZkError) as error:
            logger.error("Cannot follow the change of access control lists %s: %s", name, error)

    def _purge_obsolete(self, names: list[str]) -> None:
        for name in names:
            stat = self._zookeeper.exists(f"{self._path}/{name}")
            if stat is None:
                continue
            if self._time.milliseconds() - stat.created_ms <= CHANGE_EXPIRATION_MS:
                return
            try:
                self._zookeeper.delete(f"{self._path}/{name}")
            except NoNodeError:
                logger.debug("Another broker has deleted %s", name)

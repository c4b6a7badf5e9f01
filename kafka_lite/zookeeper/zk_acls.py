"""The access control list that Kafka gives to each of its znodes.

    zookeeper.set.acl   path                                               who may do what
    ─────────────────   ────────────────────────────────────────────────   ───────────────────────────────────────
    false               any                                                everyone, everything
    true                /consumers                                         everyone, everything: consumers write below
    true                /config/users, /config/brokers, /delegation_token  the user that created it, everything
                        /tokens, and all below
    true                any other                                          that user, everything; everyone, read

``auth`` in a list stands for the user of the session; ZooKeeper writes its name there.

Kafka 3.9: core/.../zk/ZkData.scala (defaultAcls, SecureRootPaths); 0.10.2: ZkUtils.scala (defaultAcls, sensitivePath)
· book 7.1.3
"""

from __future__ import annotations

from typing import Any

from kazoo.security import CREATOR_ALL_ACL, OPEN_ACL_UNSAFE, READ_ACL_UNSAFE

from kafka_lite.zookeeper import paths

SENSITIVE_ROOT_PATHS = ("/config/users", "/config/brokers", "/delegation_token/tokens")
"""Nodes with passwords and secrets: nobody else may read them."""

SECURE_ROOT_PATHS = (
    "/admin",
    "/brokers",
    "/cluster",
    paths.CONFIG,
    paths.CONTROLLER,
    paths.CONTROLLER_EPOCH,
    paths.ISR_CHANGE_NOTIFICATIONS,
    paths.PRODUCER_ID_BLOCK,
    paths.LOG_DIR_EVENT_NOTIFICATIONS,
    "/delegation_token",
    "/kafka-acl-extended",
    "/migration",
    "/feature",
    "/kafka-acl",
    "/kafka-acl-changes",
    "/kafka-acl-extended-changes",
)
"""The roots whose lists the migration tool changes, with all nodes below."""


def is_sensitive(path: str) -> bool:
    """Whether only Kafka may read the node."""
    return path.startswith(SENSITIVE_ROOT_PATHS)


def default_acls(is_secure: bool, path: str) -> list[Any]:
    """The list of a node that is created, as kazoo takes it."""
    if not is_secure or path == paths.CONSUMERS:
        return list(OPEN_ACL_UNSAFE)
    return [*CREATOR_ALL_ACL] if is_sensitive(path) else [*CREATOR_ALL_ACL, *READ_ACL_UNSAFE]

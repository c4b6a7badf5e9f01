"""The authorizer of a broker, from its configuration.

Kafka 0.10.2: core/.../server/KafkaServer.scala (authorizer), core/.../security/auth/SimpleAclAuthorizer.scala
(configure) · book 2.3.4
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from kafka_lite.common.api_version import ApiVersion
from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.new_instance import new_instance
from kafka_lite.common.time import Time
from kafka_lite.security.authorizer.acl_authorizer import AclAuthorizer, parse_super_users
from kafka_lite.security.authorizer.acl_store import ACL_CHANGE_PATHS
from kafka_lite.security.authorizer.authorizer import Authorizer
from kafka_lite.security.authorizer.custom_authorizer import CustomAuthorizer
from kafka_lite.server.auth.zk_acl_store import ZkAclStore, acl_changes
from kafka_lite.server.config.security_configs import AUTHORIZERS
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

logger = logging.getLogger(__name__)


CLASS_NAME = "authorizer.class.name"


def load_authorizer(
    values: Mapping[str, Any],
    original: Mapping[str, object],
    protocol: ApiVersion,
    zk_client: KafkaZkClient,
    time: Time,
) -> Authorizer | None:
    """The authorizer of ``authorizer.class.name``, ready to decide; None if there is none.

    ``original``: the keys that were set, for a class of the user. ``protocol``: ``inter.broker.protocol.version``.
    Raises ConfigError, and whatever the user's class raises.
    """
    name = values[CLASS_NAME]
    if not name:
        return None
    if name not in AUTHORIZERS:
        custom: CustomAuthorizer = new_instance(CLASS_NAME, CustomAuthorizer, name)
        custom.configure(original)
        logger.info("Authorizing requests by %s", name)
        return custom
    return _acl_authorizer(values, protocol, zk_client, time)


def _acl_authorizer(
    values: Mapping[str, Any], protocol: ApiVersion, zk_client: KafkaZkClient, time: Time
) -> AclAuthorizer:
    """Kafka's authorizer with all access control lists, which it follows from now on. Raises ConfigError."""
    try:
        super_users = parse_super_users(values["super.users"])
    except ValueError as error:
        raise ConfigError("super.users", values["super.users"], str(error)) from None
    store = ZkAclStore(zk_client)
    store.create_paths()
    authorizer = AclAuthorizer(
        store,
        time,
        super_users,
        values["allow.everyone.if.no.acl.found"],
        prefixed_patterns=protocol >= ApiVersion.KAFKA_2_0_IV1,
    )
    changes = [acl_changes(zk_client, kind, authorizer.changed, time) for kind in ACL_CHANGE_PATHS]
    authorizer.load()
    for each in changes:
        each.startup()  # begins with the announcements that are there: one since the load is among them
    logger.info("Authorizing requests by access control lists in ZooKeeper; super users: %s", values["super.users"])
    return authorizer

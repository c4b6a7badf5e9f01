"""Helpers that the tests of this lab share."""

import pytest

from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.common.time import MockTime
from kafka_lite.security.authorizer.acl_authorizer import AclAuthorizer
from kafka_lite.security.authorizer.acl_binding import AccessControlEntry, AclOperation, AclPermissionType
from kafka_lite.security.authorizer.acl_cache import AclCache
from kafka_lite.security.authorizer.acl_store import VersionedAcls
from kafka_lite.security.authorizer.authorizer import Action, AuthorizableRequestContext
from kafka_lite.security.authorizer.resource_pattern import PatternType, ResourcePattern, ResourceType

HOST = "10.0.0.1"


@pytest.fixture
def entry():
    """``entry("alice may READ")``, ``entry("* may not ALL", host="10.0.0.9")``."""

    def make(text, host="*"):
        name, _, rest = text.partition(" may ")
        permission = AclPermissionType.DENY if rest.startswith("not ") else AclPermissionType.ALLOW
        return AccessControlEntry(f"User:{name}", host, AclOperation[rest.removeprefix("not ")], permission)

    return make


@pytest.fixture
def cache(entry):
    """``cache(("orders", "alice may READ"), ("ord~", "* may not WRITE"))``: a name that ends in ~ is a prefix."""

    def make(*bound):
        acls = {}
        for name, text in bound:
            kind = PatternType.PREFIXED if name.endswith("~") else PatternType.LITERAL
            pattern = ResourcePattern(ResourceType.TOPIC, name.rstrip("~"), kind)
            entries = acls.get(pattern, VersionedAcls()).entries | {entry(text)}
            acls[pattern] = VersionedAcls(entries, 1)
        return AclCache(acls)

    return make


class Authorizer:
    """An authorizer with these lists; ``may`` and ``may_any`` ask it for alice."""

    def __init__(self, cache, everyone=False, super_users=()):
        users = frozenset(KafkaPrincipal("User", name) for name in super_users)
        self.authorizer = AclAuthorizer(None, MockTime(), users, everyone)
        self.authorizer._cache = cache

    @staticmethod
    def context(user, host):
        return AuthorizableRequestContext(KafkaPrincipal("User", user), host, "FETCH")

    def may(self, operation, name="orders", user="alice", host=HOST):
        action = Action(AclOperation[operation], ResourcePattern(ResourceType.TOPIC, name))
        return self.authorizer._acls_allow(self.context(user, host), action)

    def may_any(self, operation, user="alice", host=HOST, resource_type="TOPIC"):
        kind = ResourceType[resource_type]
        return self.authorizer.authorize_by_resource_type(self.context(user, host), AclOperation[operation], kind)


@pytest.fixture
def authorizer(cache):
    """``authorizer(("orders", "alice may READ"), everyone=False, super_users=())``."""
    return lambda *bound, **options: Authorizer(cache(*bound), **options)


@pytest.fixture(scope="session")
def broker_settings():
    """A broker with users whose passwords are their names; admin may do everything."""
    users = " ".join(f'user_{name}="{name}"' for name in ("admin", "alice", "bob"))
    return {
        "listener.security.protocol.map": "PLAINTEXT:SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "listener.name.plaintext.plain.sasl.jaas.config": (
            "org.apache.kafka.common.security.plain.PlainLoginModule required "
            f'username="admin" password="admin" {users};'
        ),
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
        "super.users": "User:admin",
    }

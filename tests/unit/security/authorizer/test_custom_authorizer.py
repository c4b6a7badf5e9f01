"""What an authorizer of a user's own need not define."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.security.authorizer.acl_binding import (
    AccessControlEntry,
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
)
from kafka_lite.security.authorizer.authorizer import Action, AuthorizableRequestContext
from kafka_lite.security.authorizer.custom_authorizer import CustomAuthorizer
from kafka_lite.security.authorizer.resource_pattern import (
    PatternType,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
)

ALICE = AuthorizableRequestContext(KafkaPrincipal("User", "alice"), "127.0.0.1")
EVERYTHING = AclBindingFilter(ResourcePatternFilter(ResourceType.ANY, None, PatternType.ANY))
WRITES = AclBinding(
    ResourcePattern(ResourceType.TOPIC, "orders"),
    AccessControlEntry("User:alice", "*", AclOperation.WRITE, AclPermissionType.ALLOW),
)


class Only(CustomAuthorizer):
    """Allows resources of some names."""

    def __init__(self, *names: str, lists: Sequence[AclBinding] = ()) -> None:
        self._names = names
        self._lists = lists

    def authorize(self, context: AuthorizableRequestContext, actions: Sequence[Action]) -> list[bool]:
        return [context == ALICE and action.resource.name in self._names for action in actions]

    def acls(self, chosen: AclBindingFilter) -> Iterator[AclBinding]:
        return (each for each in self._lists if chosen.matches(each))


class Everything(CustomAuthorizer):
    """Allows all."""

    def authorize(self, context: AuthorizableRequestContext, actions: Sequence[Action]) -> list[bool]:
        return [True for _ in actions]


@pytest.mark.parametrize(
    ("authorizer", "allowed"),
    [
        (Everything(), True),
        (Only("orders"), False),
        (Only("orders", lists=[WRITES]), True),
        (Only("others", lists=[WRITES]), False),
    ],
)
def test_a_producer_id_needs_some_topic_that_is_known(authorizer: CustomAuthorizer, allowed: bool) -> None:
    assert authorizer.authorize_by_resource_type(ALICE, AclOperation.WRITE, ResourceType.TOPIC) is allowed
    if isinstance(authorizer, Only):
        assert not authorizer.authorize_by_resource_type(ALICE, AclOperation.WRITE, ResourceType.GROUP)


def test_it_has_no_lists_unless_it_says_so() -> None:
    authorizer = Everything()
    (error,) = authorizer.create_acls([WRITES])
    assert error is not None
    assert (error.error, "no access control lists" in str(error)) == (Errors.INVALID_REQUEST, True)
    assert authorizer.delete_acls([EVERYTHING]) == [[]]
    assert list(authorizer.acls(EVERYTHING)) == []


def test_it_must_decide() -> None:
    with pytest.raises(TypeError, match="abstract"):
        CustomAuthorizer()  # type: ignore[abstract]

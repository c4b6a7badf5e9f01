"""Questions to the authorizer: each resource once, with how often the request names it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.security.authorizer.acl_binding import AclOperation
from kafka_lite.security.authorizer.authorizer import Action, AuthorizableRequestContext, Authorizer
from kafka_lite.security.authorizer.resource_pattern import ResourceType
from kafka_lite.server.auth.auth_helper import AuthHelper
from tests.support.authorizing import Broker

TOPIC, READ = ResourceType.TOPIC, AclOperation.READ


class Listener:
    """Allows what has an even number of letters, and keeps the questions."""

    def __init__(self) -> None:
        self.contexts: list[AuthorizableRequestContext] = []
        self.actions: list[Action] = []

    def authorize(self, context: AuthorizableRequestContext, actions: Sequence[Action]) -> list[bool]:
        self.contexts.append(context)
        self.actions += actions
        return [len(action.resource.name) % 2 == 0 for action in actions]


def helper() -> tuple[AuthHelper, Listener]:
    listener = Listener()
    return AuthHelper(cast(Authorizer, listener), lambda _request: None), listener


def request() -> Any:
    return Broker().request(ApiKey.FETCH, 12, None)


def test_the_context_names_user_address_and_request() -> None:
    auth, listener = helper()
    asking = request()
    assert auth.authorize(asking, READ, TOPIC, "ab")
    assert not auth.authorize(asking, READ, TOPIC, "a", log_if_denied=False)
    context = listener.contexts[0]
    assert (str(context.principal), context.client_address, context.request_name) == ("User:alice", "10.0.0.1", "Fetch")
    assert context.principal is asking.principal, "parsed or copied once per request"
    assert [action.log_if_denied for action in listener.actions] == [True, False]


def test_each_name_is_asked_for_once() -> None:
    auth, listener = helper()
    assert auth.denied(request(), READ, TOPIC, ["a", "bb", "a", "c"]) == {"a", "c"}
    assert [(action.resource.name, action.resource_reference_count) for action in listener.actions] == [
        ("a", 2),
        ("bb", 1),
        ("c", 1),
    ]
    assert auth.denied(request(), READ, TOPIC, []) == set()
    assert len(listener.contexts) == 1


def test_lists_of_operations_grant_nothing_and_are_not_logged_as_such() -> None:
    auth, listener = helper()
    of_a_group = auth.authorized_operations(request(), ResourceType.GROUP, "gg")
    names = ("READ", "DESCRIBE", "DELETE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS")  # the last two since Kafka 4.0
    assert of_a_group == sum(1 << AclOperation[name] for name in names)
    assert auth.authorized_operations(request(), ResourceType.GROUP, "g") == 0
    assert {(action.log_if_allowed, action.log_if_denied) for action in listener.actions} == {(False, False)}

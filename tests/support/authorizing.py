"""An authorizer that allows a few things, and handlers after it that answer what a test gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.network.request import Request
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.api_keys import API_SPECS
from kafka_lite.protocol.framing import encode_response
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.protocol.schema import Request as RequestMessage
from kafka_lite.protocol.schema import Response
from kafka_lite.security.authorizer.authorizer import Action, AuthorizableRequestContext
from kafka_lite.server.auth.auth_helper import AuthHelper
from kafka_lite.server.auth.authorizing_handlers import authorizing

TOPIC_DENIED, GROUP_DENIED = Errors.TOPIC_AUTHORIZATION_FAILED.code, Errors.GROUP_AUTHORIZATION_FAILED.code
CLUSTER_DENIED, TXN_DENIED = (
    Errors.CLUSTER_AUTHORIZATION_FAILED.code,
    Errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED.code,
)
Allowed = set[tuple[str, str, str]]


class Few:
    """Allows these (operation, resource type, name), and remembers what it was asked."""

    def __init__(self, *allowed: str) -> None:
        self.allowed = {tuple(each.split()) for each in allowed}
        self.asked: set[tuple[str, str, str]] = set()

    def authorize(self, context: AuthorizableRequestContext, actions: Sequence[Action]) -> list[bool]:
        assert str(context.principal) == "User:alice"
        asked = [(each.operation.name, each.resource.resource_type.name, each.resource.name) for each in actions]
        self.asked |= set(asked)
        return [each in self.allowed for each in asked]

    def authorize_by_resource_type(self, _context: object, operation: Any, resource_type: Any) -> bool:
        return (operation.name, resource_type.name, "*") in self.allowed

    def create_acls(self, bindings: Any) -> list[ApiError | None]:
        raise NotImplementedError

    def delete_acls(self, filters: Any) -> Any:
        raise NotImplementedError

    def acls(self, chosen: Any) -> Any:
        raise NotImplementedError


class Topics:
    """Those that exist; the first has the id 1, the second the id 2, …"""

    def __init__(self, *names: str) -> None:
        self._names = names

    def contains(self, topic: str) -> bool:
        return topic in self._names

    def get_all_topics(self) -> list[str]:
        return sorted(self._names)

    def topic_id(self, topic: str) -> UUID | None:
        return UUID(int=self._names.index(topic) + 1) if topic in self._names else None

    def topic_name(self, topic_id: UUID) -> str | None:
        return dict(enumerate(self._names, 1)).get(topic_id.int)


class Broker:
    """One request at a time; the handler answers with ``answer``."""

    def __init__(self, *allowed: str, exists: Sequence[str] = ("a", "b", "c"), auto_create: bool = True) -> None:
        self.authorizer = Few(*allowed)
        self.handled: list[Any] = []
        self.closed: list[Request] = []
        self.auth = AuthHelper(self.authorizer, self.closed.append)
        self._wrap = authorizing(self.auth, auto_create, Topics(*exists))

    def request(self, api_key: ApiKey, version: int, body: Any) -> Request:
        header = RequestHeader(api_key=api_key, api_version=version, client_id="c")
        request = Request(0, "connection", "L", "SASL_PLAINTEXT", "10.0.0.1", header, body, 0, 0.0)
        request.principal = KafkaPrincipal("User", "alice")
        return request

    def ask(self, body: RequestMessage, version: int, answer: Response | None = None) -> Any:
        """The response, which can be encoded in the request's version."""
        key = body.API_KEY
        responses: list[Response | None] = []

        def handler(_request: Request, rest: Any, respond: Any) -> None:
            self.handled.append(rest)
            respond(API_SPECS[key].response() if answer is None else answer)

        self._wrap(key, handler)(self.request(key, version, body), body, responses.append)
        if not responses:
            return None
        (response,) = responses
        if response is not None:
            encode_response(response, version, 1)
        return response

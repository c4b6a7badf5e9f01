r"""The broker's end of PLAIN, and the users that its JAAS configuration lists.

    authorization id | \0 | user | \0 | password       UTF-8; the authorization id is empty or the user

Kafka 0.10.2: clients/.../common/security/plain/PlainSaslServer.java; since 2.0 PlainServerCallbackHandler.java
· book 2.3.2
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping

from kafka_lite.common.errors import ApiError, Errors

PLAIN = "PLAIN"
USER_PREFIX = "user_"


class PlainSaslServer:
    """One exchange, of one token."""

    mechanism = PLAIN
    token_authenticated = False
    credential_expiration_ms: int | None = None

    def __init__(self, authenticate: Callable[[str, str], bool]) -> None:
        """``authenticate``: whether this is the user's password."""
        self.complete = False
        self._authenticate = authenticate
        self._user = ""

    @property
    def authorization_id(self) -> str:
        """The user. Raises RuntimeError before the exchange is complete."""
        if not self.complete:
            raise RuntimeError("Authentication exchange has not completed")
        return self._user

    def evaluate_response(self, response: bytes) -> bytes:
        """Check the one token. Raises ApiError, which does not say whether user or password was wrong."""
        tokens = response.decode("utf-8", "replace").split("\0")
        if len(tokens) != 3:
            count = min(len(tokens), 4)  # Kafka's reader stops there
            raise _failed(f"Invalid SASL/PLAIN response: expected 3 tokens, got {count}")
        authorization_id, user, password = tokens
        if not user:
            raise _failed("Authentication failed: username not specified")
        if not password:
            raise _failed("Authentication failed: password not specified")
        if not self._authenticate(user, password):
            raise _failed("Authentication failed: Invalid username or password")
        if authorization_id and authorization_id != user:
            raise _failed("Authentication failed: Client requested an authorization id that is different from username")
        self._user, self.complete = user, True
        return b""


def plain_users(options: Mapping[str, str]) -> Callable[[str, str], bool]:
    """A check of passwords against the login module's ``user_NAME="password"`` options, in constant time."""

    def authenticate(user: str, password: str) -> bool:
        expected = options.get(USER_PREFIX + user)
        same = hmac.compare_digest((expected or "").encode(), password.encode())
        return expected is not None and same

    return authenticate


def _failed(message: str) -> ApiError:
    return Errors.SASL_AUTHENTICATION_FAILED.exception(message)

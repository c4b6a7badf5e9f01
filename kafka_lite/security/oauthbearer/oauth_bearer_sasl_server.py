r"""The broker's end of OAUTHBEARER.

    client first   n,a=alice,\1auth=Bearer TOKEN\1key=value\1\1     a= and extensions such as key=value may be left out
    server         nothing: accepted      or   {"status":"invalid_token"}, to which the client answers \1

Kafka 2.0: clients/.../common/security/oauthbearer/internals/OAuthBearerSaslServer.java,
OAuthBearerClientInitialResponse.java · book 2.3.2
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from kafka_lite.common.errors import Errors
from kafka_lite.security.oauthbearer.oauth_bearer_unsecured_jws import IllegalTokenError, OAuthBearerToken
from kafka_lite.security.sasl.sasl_mechanism import OAUTHBEARER, SaslError

CONTROL_A = "\1"
_SASL_NAME = r"(?:[\x01-\x2b\x2d-\x3c\x3e-\x7f]|=2C|=3D)+"
_PAIR = r"[A-Za-z]+=[\x21-\x7e \t\r\n]+\x01"
_INITIAL_RESPONSE = re.compile(rf"n,(?:a=(?P<authzid>{_SASL_NAME}))?,\x01(?P<pairs>(?:{_PAIR})*)\x01")
_AUTH = re.compile(r"(?P<scheme>\w+) +(?P<token>[-_~+/.a-zA-Z0-9]+=*)", re.ASCII)


class OAuthBearerSaslServer:
    """One exchange: one token, or two if the first one is refused."""

    mechanism = OAUTHBEARER
    token_authenticated = False

    def __init__(self, validate: Callable[[str], OAuthBearerToken]) -> None:
        """``validate``: the token of a text; raises IllegalTokenError."""
        self._validate = validate
        self._token: OAuthBearerToken | None = None
        self._error_message: str | None = None

    @property
    def complete(self) -> bool:
        """Whether a token was accepted."""
        return self._token is not None

    @property
    def authorization_id(self) -> str:
        """The user. Raises RuntimeError before the exchange is complete."""
        if self._token is None:
            raise RuntimeError("Authentication exchange has not completed")
        return self._token.principal_name

    @property
    def credential_expiration_ms(self) -> int | None:
        """When the token ends."""
        return None if self._token is None else self._token.lifetime_ms

    def evaluate_response(self, response: bytes) -> bytes:
        """Check a token; the answer is empty, or says why it is refused. Raises SaslError or ApiError."""
        if self._error_message is not None and response == CONTROL_A.encode():
            raise Errors.SASL_AUTHENTICATION_FAILED.exception(self._error_message)
        self._error_message = None
        value, authorization_id = _initial_response(response)
        try:
            token = self._validate(value)
        except IllegalTokenError as error:
            self._error_message = _refusal(error)
            return self._error_message.encode()
        if authorization_id and authorization_id != token.principal_name:
            raise Errors.SASL_AUTHENTICATION_FAILED.exception(
                f"Authentication failed: Client requested an authorization id ({authorization_id}) that is different "
                f"from the token's principal name ({token.principal_name})"
            )
        self._token = token
        return b""


def _initial_response(response: bytes) -> tuple[str, str]:
    """The token and the authorization id."""
    match = _INITIAL_RESPONSE.fullmatch(response.decode("utf-8", "replace"))
    if match is None:
        raise SaslError("Invalid OAUTHBEARER client first message")
    pairs = dict(pair.partition("=")[::2] for pair in match["pairs"].split(CONTROL_A)[:-1])
    if "auth" not in pairs:
        raise SaslError("Invalid OAUTHBEARER client first message: 'auth' not specified")
    auth = _AUTH.fullmatch(pairs["auth"])
    if auth is None:
        raise SaslError("Invalid OAUTHBEARER client first message: invalid 'auth' format")
    if auth["scheme"].lower() != "bearer":
        raise SaslError("Invalid scheme in OAUTHBEARER client first message")
    return auth["token"], match["authzid"] or ""


def _refusal(error: IllegalTokenError) -> str:
    if error.failure_scope is None:
        return '{"status":"invalid_token"}'
    return f'{{"status":"insufficient_scope", "scope":{json.dumps(error.failure_scope)}}}'

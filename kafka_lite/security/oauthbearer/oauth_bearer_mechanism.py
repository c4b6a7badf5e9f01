"""Both ends of OAUTHBEARER, from a login module's options.

Kafka 2.0: clients/.../common/security/oauthbearer/OAuthBearerLoginModule.java · book 2.3.2
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kafka_lite.common.time import Time
from kafka_lite.security.oauthbearer.json_web_key_set import JsonWebKeySet
from kafka_lite.security.oauthbearer.oauth_bearer_sasl_client import OAuthBearerSaslClient
from kafka_lite.security.oauthbearer.oauth_bearer_sasl_server import OAuthBearerSaslServer
from kafka_lite.security.oauthbearer.oauth_bearer_secured_jws import SecuredValidator, require_cryptography
from kafka_lite.security.oauthbearer.oauth_bearer_unsecured_jws import UnsecuredValidator, new_unsecured_token
from kafka_lite.security.sasl.sasl_mechanism import SaslClient, SaslError, SaslServer

TOKEN_FILE = "tokenFile"
"""An option of a client's login module for OAUTHBEARER: the file with its token. (Kafka has a handler of one's own.)"""


def oauth_bearer_server(options: Mapping[str, str], time: Time, values: Mapping[str, Any]) -> Callable[[], SaslServer]:
    """Makes the broker's end, one per exchange. Raises ValueError for an option that is not valid."""
    validator = _secured_validator(values, time) or UnsecuredValidator.of(options)
    return lambda: OAuthBearerSaslServer(lambda value: validator.validate(value, time.milliseconds()))


def _secured_validator(values: Mapping[str, Any], time: Time) -> SecuredValidator | None:
    """The rules for signed tokens, if there is a URL of keys. Raises ValueError."""
    prefix = "sasl.oauthbearer."
    url = values.get(f"{prefix}jwks.endpoint.url")
    if not url:
        return None
    require_cryptography()
    return SecuredValidator(
        JsonWebKeySet(url, time, values[f"{prefix}jwks.endpoint.refresh.ms"]).key,
        values[f"{prefix}expected.audience"] or (),
        values[f"{prefix}expected.issuer"],
        values[f"{prefix}clock.skew.seconds"] * 1000,
        values[f"{prefix}sub.claim.name"],
        values[f"{prefix}scope.claim.name"],
    )


def oauth_bearer_client(options: Mapping[str, str], time: Time) -> Callable[[str], SaslClient]:
    """Makes the client's end, one per exchange. Raises ValueError for an option that is not valid."""
    if TOKEN_FILE in options:
        file = Path(options[TOKEN_FILE])  # read for each exchange: the file changes when the token is renewed
        return lambda _host: OAuthBearerSaslClient(_token_in(file))
    new_unsecured_token(options, time.milliseconds())  # so that a bad option is found now
    return lambda _host: OAuthBearerSaslClient(new_unsecured_token(options, time.milliseconds()).value)


def _token_in(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SaslError(f"cannot read the token in {file}: {error}") from error

"""The mechanisms of SASL by name: the broker's and the client's end of each, from a login module's options.

Kafka 0.10.2: clients/.../common/security/authenticator/LoginManager.java, SaslServerAuthenticator.java
(createSaslServer), SaslClientAuthenticator.java (createSaslClient) · book 2.3.2

Modules of GSSAPI, OAUTHBEARER and SCRAM, two dozen, are imported only where the mechanism is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from kafka_lite.common.time import Time
from kafka_lite.security.auth.jaas_context import JaasContext
from kafka_lite.security.delegation_token.delegation_token_cache import DelegationTokenCache
from kafka_lite.security.plain.plain_sasl_client import PlainSaslClient
from kafka_lite.security.plain.plain_sasl_server import PLAIN, PlainSaslServer, plain_users
from kafka_lite.security.sasl.sasl_mechanism import GSSAPI, OAUTHBEARER, SaslClient, SaslServer
from kafka_lite.security.scram.credential_provider import CredentialProvider
from kafka_lite.security.scram.scram_mechanism import SCRAM_MECHANISM_NAMES, ScramMechanism

NO_VALUES: Final[Mapping[str, Any]] = MappingProxyType({})
MECHANISMS = (PLAIN, *SCRAM_MECHANISM_NAMES, OAUTHBEARER, GSSAPI)
"""The mechanisms served here, GSSAPI if the package for it is installed."""


def sasl_server(
    mechanism: str,
    options: Mapping[str, str],
    credentials: CredentialProvider,
    tokens: DelegationTokenCache,
    time: Time,
    values: Mapping[str, Any] = NO_VALUES,
) -> Callable[[], SaslServer]:
    """Makes the broker's end of a mechanism, one per exchange. Raises ValueError for an option that is not valid.

    Raises JaasConfigError for a missing one, MissingGssapiError. ``values``: those of the listener, among them the keys
    of signed tokens.
    """
    if mechanism == GSSAPI:
        from kafka_lite.security.kerberos.gssapi_mechanism import gssapi_server

        return gssapi_server(options, values)
    scram = ScramMechanism.for_mechanism_name(mechanism)
    if scram is not None:
        from kafka_lite.security.scram.scram_sasl_server import ScramSaslServer

        return lambda: ScramSaslServer(
            scram,
            lambda user: credentials.credential(scram, user),
            lambda token_id: tokens.credential(scram, token_id),
        )
    if mechanism == PLAIN:
        authenticate = plain_users(options)
        return lambda: PlainSaslServer(authenticate)
    if mechanism == OAUTHBEARER:
        from kafka_lite.security.oauthbearer.oauth_bearer_mechanism import oauth_bearer_server

        return oauth_bearer_server(options, time, values)
    raise ValueError(unknown_mechanism(mechanism))


def sasl_client(
    mechanism: str, jaas: JaasContext, time: Time, values: Mapping[str, Any] = NO_VALUES
) -> Callable[[str], SaslClient]:
    """Makes the client's end of a mechanism towards a host, one per exchange. ``values``: those of the client.

    Raises JaasConfigError for a missing option, ValueError for one that is not valid, MissingGssapiError.
    """
    if mechanism == GSSAPI:
        from kafka_lite.security.kerberos.gssapi_mechanism import gssapi_client

        return gssapi_client(jaas.options, values)
    if mechanism == OAUTHBEARER:
        from kafka_lite.security.oauthbearer.oauth_bearer_mechanism import oauth_bearer_client

        return oauth_bearer_client(jaas.options, time)
    if mechanism not in MECHANISMS:
        raise ValueError(unknown_mechanism(mechanism))
    user, password = jaas.required("username"), jaas.required("password")
    scram = ScramMechanism.for_mechanism_name(mechanism)
    if scram is not None:
        from kafka_lite.security.scram.scram_messages import TOKEN_AUTH
        from kafka_lite.security.scram.scram_sasl_client import ScramSaslClient

        by_token = jaas.options.get(TOKEN_AUTH, "").lower() == "true"
        return lambda _host: ScramSaslClient(scram, user, password, by_token=by_token)
    return lambda _host: PlainSaslClient(user, password)


def unknown_mechanism(mechanism: str) -> str:
    """The reason why a mechanism is refused."""
    return f"the mechanism {mechanism} is not supported; valid: {', '.join(MECHANISMS)}"

"""GSSAPI for a listener and for a client: what is checked when they start, and a new end for each exchange.

Kafka 0.10.2: clients/.../common/network/SaslChannelBuilder.java, .../common/security/kerberos/KerberosLogin.java
· book 2.3.2
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kafka_lite.security.kerberos.gss_library import GssLibrary
from kafka_lite.security.kerberos.gssapi_sasl_client import GssapiSaslClient
from kafka_lite.security.kerberos.gssapi_sasl_server import GssapiSaslServer
from kafka_lite.security.kerberos.kerberos_login import KerberosLogin, service_name
from kafka_lite.security.kerberos.kerberos_short_namer import KerberosShortNamer
from kafka_lite.security.sasl.sasl_mechanism import SERVICE_NAME_CONFIG, SaslError


def gssapi_server(options: Mapping[str, str], values: Mapping[str, Any]) -> Callable[[], GssapiSaslServer]:
    """Makes the broker's end. Raises JaasConfigError, MissingGssapiError, ValueError if there is no key."""
    login, library = KerberosLogin.of_server(options), GssLibrary()
    service_name(options, values.get(SERVICE_NAME_CONFIG))  # Kafka asks for it, too, though only clients need it
    _check(library, login, "accept")
    return lambda: GssapiSaslServer(lambda: library.accept(login))


def gssapi_client(options: Mapping[str, str], values: Mapping[str, Any]) -> Callable[[str], GssapiSaslClient]:
    """Makes the client's end towards a host. Raises JaasConfigError, MissingGssapiError, ValueError without tickets."""
    login, library = KerberosLogin.of_client(options), GssLibrary()
    service = service_name(options, values.get(SERVICE_NAME_CONFIG))
    _check(library, login, "initiate")
    return lambda host: GssapiSaslClient(lambda: library.initiate(login, service, host))


def short_namer(rules: list[str]) -> KerberosShortNamer:
    """``sasl.kerberos.principal.to.local.rules``. Raises ValueError, JavaPatternError, MissingGssapiError."""
    return KerberosShortNamer(rules, GssLibrary().default_realm())


def _check(library: GssLibrary, login: KerberosLogin, usage: str) -> None:
    try:
        library.check(login, usage)
    except SaslError as error:
        raise ValueError(f"cannot log in as {login.principal or 'the owner of the ticket cache'}: {error}") from error

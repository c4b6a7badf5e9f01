"""Builds the principal of a connection from what it proved.

Kafka 1.0: clients/.../common/security/authenticator/DefaultKafkaPrincipalBuilder.java, auth/AuthenticationContext.java;
0.10.2: auth/DefaultPrincipalBuilder.java · book 2.3.2
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from kafka_lite.common.security.kafka_principal import ANONYMOUS, USER_TYPE, KafkaPrincipal
from kafka_lite.common.security_protocol import SecurityProtocol
from kafka_lite.security.auth.distinguished_name import subject_of
from kafka_lite.security.auth.ssl_principal_mapper import SslPrincipalMapper
from kafka_lite.security.sasl.sasl_mechanism import GSSAPI

if TYPE_CHECKING:
    from kafka_lite.security.kerberos.kerberos_short_namer import KerberosShortNamer


@dataclass(frozen=True)
class AuthenticationContext:
    """The proof that a connection brought, on the listener that it reached."""

    security_protocol: SecurityProtocol
    listener_name: str
    peer_certificate: bytes | None = None
    """The client's certificate in DER, verified; None if it has sent none, or without TLS."""
    sasl_mechanism: str | None = None
    sasl_authorization_id: str | None = None
    """The user name that SASL proved."""
    token_authenticated: bool = False
    """Whether that was by a delegation token."""


class KafkaPrincipalBuilder(Protocol):
    """``principal.builder.class``."""

    def build(self, context: AuthenticationContext) -> KafkaPrincipal:
        """The principal. Raises KafkaError to refuse the connection."""
        ...


class DefaultKafkaPrincipalBuilder:
    """The user of SASL; else the mapped name of the client's certificate; else ANONYMOUS."""

    def __init__(self, mapper: SslPrincipalMapper, short_namer: KerberosShortNamer | None = None) -> None:
        """``short_namer``: of a listener with GSSAPI."""
        self._mapper = mapper
        self._short_namer = short_namer

    def build(self, context: AuthenticationContext) -> KafkaPrincipal:
        """The principal. Raises NoMatchingRuleError, and CertificateError for a certificate that cannot be read.

        For a user of Kerberos: NoMatchingKerberosRuleError, BadFormatStringError, ValueError for a malformed name.
        """
        if context.security_protocol in (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL):
            if context.sasl_authorization_id is None:
                raise ValueError("a SASL connection has no principal before its authentication is complete")
            name = context.sasl_authorization_id
            if context.sasl_mechanism == GSSAPI and self._short_namer is not None:
                from kafka_lite.security.kerberos.kerberos_name import KerberosName

                name = self._short_namer.short_name(KerberosName.parse(name))
            return KafkaPrincipal(USER_TYPE, name, context.token_authenticated)
        if context.security_protocol is SecurityProtocol.SSL and context.peer_certificate is not None:
            return KafkaPrincipal(USER_TYPE, self._mapper.name(subject_of(context.peer_certificate)))
        return ANONYMOUS

"""MIT Kerberos, through the package ``gssapi``, which is imported when a listener or a client needs it.

All that may ask a key distribution centre, or read its files, is here.

Kafka 0.10.2: clients/.../common/network/SaslChannelBuilder.java (defaultKerberosRealm), .../common/security/
authenticator/SaslServerAuthenticator.java (createSaslKerberosServer) · book 2.3.2
"""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Iterator
from typing import Any

from kafka_lite.security.auth.login_configuration import java_system_properties
from kafka_lite.security.kerberos.gss_context import gss_error
from kafka_lite.security.kerberos.kerberos_login import KerberosLogin
from kafka_lite.security.sasl.mechanism_errors import MissingGssapiError
from kafka_lite.security.sasl.sasl_mechanism import SaslError

JAVA_KRB5_CONF = "java.security.krb5.conf"
KRB5_CONFIG = "KRB5_CONFIG"


class GssLibrary:
    """The package. Methods raise SaslError."""

    def __init__(self) -> None:
        """Raises MissingGssapiError."""
        try:
            self._gssapi: Any = importlib.import_module("gssapi")
        except (ImportError, OSError) as error:
            raise MissingGssapiError(
                f"GSSAPI needs the package gssapi and MIT Kerberos ({error}): pip install 'kafka-lite[gssapi]' "
                "(Debian: apt install gcc python3-dev libkrb5-dev)"
            ) from error
        java_file = java_system_properties().get(JAVA_KRB5_CONF)
        if java_file:
            os.environ.setdefault(KRB5_CONFIG, java_file)
        self._kerberos = self._gssapi.MechType.kerberos

    def default_realm(self) -> str:
        """The realm of names without one; empty if the system has none."""
        gssapi = self._gssapi
        try:
            name = gssapi.Name("tmp", gssapi.NameType.kerberos_principal).canonicalize(self._kerberos)
        except gssapi.exceptions.GSSError:
            return ""
        return str(name).rpartition("@")[2]

    def check(self, login: KerberosLogin, usage: str) -> None:
        """Whether there are keys or tickets to ``initiate`` or to ``accept`` with."""
        with self._errors():
            self._credentials(login, usage)

    def initiate(self, login: KerberosLogin, service: str, host: str) -> KerberosContext:
        """A client's context with the principal of a service on a host."""
        gssapi = self._gssapi
        with self._errors():
            name = gssapi.Name(f"{service}@{host}", gssapi.NameType.hostbased_service)
            return KerberosContext(
                self,
                gssapi.SecurityContext(
                    name=name,
                    creds=self._credentials(login, "initiate"),
                    usage="initiate",
                    mech=self._kerberos,
                    flags=gssapi.RequirementFlag.mutual_authentication | gssapi.RequirementFlag.integrity,
                ),
            )

    def accept(self, login: KerberosLogin) -> KerberosContext:
        """A broker's context."""
        with self._errors():
            context = self._gssapi.SecurityContext(creds=self._credentials(login, "accept"), usage="accept")
            return KerberosContext(self, context)

    def _credentials(self, login: KerberosLogin, usage: str) -> Any:
        """Of a keytab, tickets are kept in memory; the library gets new ones after half their life."""
        gssapi = self._gssapi
        name = None if login.principal is None else gssapi.Name(login.principal, gssapi.NameType.kerberos_principal)
        store = {}
        if usage == "accept":
            store = {} if login.keytab is None else {"keytab": login.keytab}
        elif login.uses_keytab:
            store = {"ccache": f"MEMORY:kafka-lite {login.principal} {login.keytab}"}
            store |= {} if login.keytab is None else {"client_keytab": login.keytab}
        elif login.ticket_cache is not None:
            store = {"ccache": f"FILE:{login.ticket_cache}"}
        return gssapi.Credentials(name=name, usage=usage, mechs=[self._kerberos], store=store or None)

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        """Raises SaslError for errors of the library."""
        try:
            yield
        except self._gssapi.exceptions.GSSError as error:
            raise gss_error(str(error), error.min_code) from error


class KerberosContext:
    """A ``GssContext`` of the library."""

    def __init__(self, library: GssLibrary, context: Any) -> None:
        self._errors = library._errors
        self._context = context
        self._context.__DEFER_STEP_ERRORS__ = False  # an error is raised where it happens

    @property
    def complete(self) -> bool:
        """Whether both ends have what they need of each other."""
        return bool(self._context.complete)

    @property
    def initiator(self) -> str:
        """The client's principal."""
        with self._errors():
            return str(self._context.initiator_name)

    def step(self, token: bytes) -> bytes:
        """Take the peer's token; the one to send."""
        if self._context.usage == "accept" and not token:
            raise SaslError("the client's first token is empty")
        with self._errors():
            return self._context.step(token or None) or b""

    def wrap(self, message: bytes) -> bytes:
        """The message with a checksum."""
        with self._errors():
            return bytes(self._context.wrap(message, False).message)

    def unwrap(self, message: bytes) -> bytes:
        """The peer's message."""
        with self._errors():
            return bytes(self._context.unwrap(message).message)

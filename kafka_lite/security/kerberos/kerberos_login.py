"""The keys or tickets that a broker or a client uses, from the options of its login module.

::

    com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true
        keyTab="/etc/kafka/broker.keytab" principal="kafka/broker1.example.com@EXAMPLE.COM";
    com.sun.security.auth.module.Krb5LoginModule required useTicketCache=true;

A keytab has the principal's key: the library gets tickets with it, and new ones before they expire. A ticket cache has
the tickets that ``kinit`` got with a password, and only ``kinit`` renews them.

Kafka 0.10.2: clients/.../common/security/kerberos/KerberosLogin.java; com.sun.security.auth.module.Krb5LoginModule
· book 2.3.2
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kafka_lite.security.auth.jaas_config import JaasConfigError
from kafka_lite.security.sasl.sasl_mechanism import SERVICE_NAME_CONFIG

_FILE = "FILE:"


@dataclass(frozen=True)
class KerberosLogin:
    """A keytab, or else a ticket cache. None is the system's default."""

    principal: str | None
    uses_keytab: bool
    keytab: str | None = None
    ticket_cache: str | None = None

    @classmethod
    def of_client(cls, options: Mapping[str, str]) -> KerberosLogin:
        """Raises JaasConfigError."""
        if _is_true(options, "useKeyTab"):
            return cls(_required(options, "principal"), uses_keytab=True, keytab=_file(options, "keyTab"))
        if _is_true(options, "useTicketCache"):
            return cls(options.get("principal"), uses_keytab=False, ticket_cache=_file(options, "ticketCache"))
        raise JaasConfigError(
            'needs useKeyTab=true with keyTab="…" and principal="…", or useTicketCache=true: nobody is asked for a '
            "password"
        )

    @classmethod
    def of_server(cls, options: Mapping[str, str]) -> KerberosLogin:
        """Raises JaasConfigError."""
        for option in ("useKeyTab", "storeKey"):
            if not _is_true(options, option):
                raise JaasConfigError(f"needs {option}=true: a broker has its key in a keytab, and keeps it")
        return cls(_required(options, "principal"), uses_keytab=True, keytab=_file(options, "keyTab"))


def service_name(options: Mapping[str, str], configured: str | None) -> str:
    """The first part of the brokers' principals. Raises JaasConfigError if it is missing, or given twice."""
    of_jaas = options.get("serviceName")
    if of_jaas is not None and configured is not None and of_jaas != configured:
        raise JaasConfigError(
            f"Conflicting serviceName values found in JAAS and Kafka configs: {of_jaas} and {configured}"
        )
    found = configured if of_jaas is None else of_jaas
    if not found:
        raise JaasConfigError(f"No serviceName defined in either JAAS or Kafka config: set {SERVICE_NAME_CONFIG}")
    return found


def _is_true(options: Mapping[str, str], option: str) -> bool:
    return options.get(option, "").lower() == "true"


def _required(options: Mapping[str, str], option: str) -> str:
    if not options.get(option):
        raise JaasConfigError(f'{option} is missing in the JAAS config of Krb5LoginModule: add {option}="…"')
    return options[option]


def _file(options: Mapping[str, str], option: str) -> str | None:
    """A path. Java's may have the type before it, of which only this one is the same for Kerberos' library."""
    path = options.get(option)
    return None if path is None else path.removeprefix(_FILE)

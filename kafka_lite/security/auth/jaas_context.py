"""The login module that a listener or a client uses, from its ``sasl.jaas.config``.

A broker has one per listener and mechanism (``listener.name.internal.plain.sasl.jaas.config``); a client has one.

Kafka 1.0: clients/.../common/security/JaasContext.java; 0.10.2 has most of it in JaasUtils.java · book 2.3.2
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kafka_lite.security.auth.jaas_config import JaasConfigError, parse_jaas_config

_PACKAGE = "org.apache.kafka.common.security."
LOGIN_MODULES: Mapping[str, tuple[str, ...]] = {
    f"{_PACKAGE}plain.PlainLoginModule": ("PLAIN",),
    f"{_PACKAGE}scram.ScramLoginModule": ("SCRAM-SHA-256", "SCRAM-SHA-512"),
    f"{_PACKAGE}oauthbearer.OAuthBearerLoginModule": ("OAUTHBEARER",),
    "com.sun.security.auth.module.Krb5LoginModule": ("GSSAPI",),
}
"""The login modules that there are here, and the mechanisms that each serves. Any other is refused by name."""


@dataclass(frozen=True)
class JaasContext:
    """The options of the one login module."""

    login_module: str
    options: Mapping[str, str]

    def __repr__(self) -> str:
        return f"JaasContext({self.login_module}, options {sorted(self.options)})"

    @classmethod
    def load(cls, text: str, mechanism: str) -> JaasContext:
        """Read ``sasl.jaas.config`` for a mechanism. Raises JaasConfigError."""
        entries = parse_jaas_config(text)
        if len(entries) != 1:
            raise JaasConfigError(
                f"JAAS config property contains {len(entries)} login modules, should be 1 module: "
                "give each mechanism a key of its own"
            )
        module = entries[0].login_module
        mechanisms = LOGIN_MODULES.get(module)
        if mechanisms is None:
            raise JaasConfigError(f"{module} is not a login module here; valid: {', '.join(LOGIN_MODULES)}")
        if mechanism not in mechanisms:
            raise JaasConfigError(f"{module} serves {' and '.join(mechanisms)}, not {mechanism}")
        return cls(module, entries[0].options)

    def required(self, option: str) -> str:
        """The value of an option. Raises JaasConfigError if it is missing."""
        if option not in self.options:
            name = self.login_module.rpartition(".")[2]
            raise JaasConfigError(f'{option} is missing in the JAAS config of {name}: add {option}="…"')
        return self.options[option]

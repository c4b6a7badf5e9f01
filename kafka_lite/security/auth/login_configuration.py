"""The users in a process's JAAS login file: the one that it is to ZooKeeper, and those that its own ZooKeeper admits.

Kafka's scripts give the file to Java in ``KAFKA_OPTS``, and so it is here::

    KAFKA_OPTS=-Djava.security.auth.login.config=jaas.conf

    Client { org.apache.zookeeper.server.auth.DigestLoginModule required username="kafka" password="secret"; };
    Server { org.apache.zookeeper.server.auth.DigestLoginModule required user_kafka="secret"; };

Kafka 3.9: clients/.../common/security/JaasUtils.java (isZkSaslEnabled); ZooKeeper 3.8: zookeeper-server/.../server/
auth/DigestLoginModule.java · book 7.1.3
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from kafka_lite.common.errors import KafkaError
from kafka_lite.security.auth.jaas_config import AppConfigurationEntry, JaasConfigError, parse_login_config

JAVA_LOGIN_CONFIG_PARAM = "java.security.auth.login.config"
ZK_SASL_CLIENT = "zookeeper.sasl.client"
ZK_LOGIN_CONTEXT_NAME_KEY = "zookeeper.sasl.clientconfig"
ZK_SERVER_CONTEXT_NAME_KEY = "zookeeper.sasl.serverconfig"
DIGEST_LOGIN_MODULE = "org.apache.zookeeper.server.auth.DigestLoginModule"
_USER_PREFIX = "user_"


def java_system_properties(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """``-Dname=value`` of KAFKA_OPTS. Raises KafkaError if a quote in it is not closed."""
    options = (os.environ if environ is None else environ).get("KAFKA_OPTS", "")
    try:
        words = shlex.split(options)
    except ValueError as error:
        raise KafkaError(f"KAFKA_OPTS cannot be read: {error}") from error
    properties = (word[2:].partition("=") for word in words if word.startswith("-D"))
    return {name: value for name, _, value in properties}


def zookeeper_login(environ: Mapping[str, str] | None = None) -> tuple[str, str] | None:
    """User and password for sessions with ZooKeeper; None without a section for them in the login file.

    Raises KafkaError if the file cannot be read, or if the client's SASL is switched off beside it.
    """
    properties = java_system_properties(environ)
    name = properties.get(ZK_LOGIN_CONTEXT_NAME_KEY, "Client")
    entry = _entry(properties, name)
    if entry is None:
        return None
    if properties.get(ZK_SASL_CLIENT, "true").lower() != "true":
        raise KafkaError(
            f"The JAAS login file has a section {name}, but {ZK_SASL_CLIENT}=false switches SASL off: remove one"
        )
    try:
        return entry.options["username"], entry.options["password"]
    except KeyError as error:
        raise JaasConfigError(f'{error.args[0]} is missing in the section {name}: add {error.args[0]}="…"') from None


def zookeeper_users(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """User → password of a ZooKeeper server in this process; empty without a section for it. Raises KafkaError."""
    properties = java_system_properties(environ)
    entry = _entry(properties, properties.get(ZK_SERVER_CONTEXT_NAME_KEY, "Server"))
    options = {} if entry is None else entry.options
    return {key[len(_USER_PREFIX) :]: value for key, value in options.items() if key.startswith(_USER_PREFIX)}


def _entry(properties: Mapping[str, str], section: str) -> AppConfigurationEntry | None:
    """The section's one login module; None if there is no file or no such section."""
    file = properties.get(JAVA_LOGIN_CONFIG_PARAM)
    if not file:
        return None
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise KafkaError(f"The JAAS login file {file} cannot be read: {error}") from error
    entries = parse_login_config(text).get(section)
    if entries is None:
        return None
    if len(entries) != 1 or entries[0].login_module != DIGEST_LOGIN_MODULE:
        modules = ", ".join(entry.login_module for entry in entries) or "nothing"
        raise JaasConfigError(f"The section {section} of {file} has {modules}; valid here: one {DIGEST_LOGIN_MODULE}")
    return entries[0]

"""A pytest plugin that runs aiokafka's own tests of SASL and ACLs with a broker of ours.

The suite starts Kafka's images by the package ``docker`` and runs Kafka's tools inside of them. This plugin puts a
module of that name in its place: a container is a broker of ours with the listeners, mechanisms and authorizer that the
image has, the tools are ours, and the tickets come from a realm of Kerberos of our own.
"""

from __future__ import annotations

import contextlib
import importlib
import shlex
import subprocess
import sys
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kafka_lite.testing.cluster import Cluster
from kafka_lite.testing.security.certificate_authority import CertificateAuthority
from tests.support.kerberos import REALM, Realm, kerberos_realm

KAFKA_LITE = str(Path(sys.executable).with_name("kafka-lite"))
PACKAGE = "org.apache.kafka.common.security"
USERS = 'user_admin="admin" user_test="test" user_test2="test2"'
TOOLS = {"kafka-acls.sh": "acls", "kafka-configs.sh": "configs"}
OF_ZOOKEEPER = ("--authorizer-properties", "--zookeeper")
"""Options with which the suite's tools write to ZooKeeper; ours ask the broker."""
LISTENERS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")


class Container:
    """A broker with what the image's start script makes of the environment variables."""

    def __init__(self, environment: Mapping[str, Any], realm: Realm) -> None:
        host, authority = environment["ADVERTISED_HOST"], CertificateAuthority()
        own = authority.issue("localhost", ("localhost", host))
        ports = {
            name: environment["ADVERTISED_PORT" if name == "PLAINTEXT" else f"ADVERTISED_{name}_PORT"]
            for name in LISTENERS
        }
        properties = {
            "listeners": ",".join(f"{name}://{host}:{port}" for name, port in ports.items()),
            "num.partitions": environment["NUM_PARTITIONS"], "group.initial.rebalance.delay.ms": 0,
            "ssl.keystore.type": "PEM", "ssl.keystore.key": own.key, "ssl.keystore.certificate.chain": own.certificate,
            "ssl.truststore.type": "PEM", "ssl.truststore.certificates": authority.certificate,
            "sasl.enabled.mechanisms": environment["SASL_MECHANISMS"], "sasl.kerberos.service.name": "kafka",
            "authorizer.class.name": "kafka.security.auth.SimpleAclAuthorizer",
            "allow.everyone.if.no.acl.found": "true", "super.users": "User:admin;User:ANONYMOUS",
        }  # fmt: skip
        self._bootstrap = f"{host}:{ports['PLAINTEXT']}"
        self._cluster = Cluster(properties | _logins(realm)).start()

    def exec_run(self, command: str) -> tuple[int, bytes]:
        """Run a tool of ours in place of Kafka's; its exit code and what it printed."""
        name, *options = shlex.split(command)
        for option in OF_ZOOKEEPER:
            if option in options:
                del options[options.index(option) : options.index(option) + 2]
        tool = [KAFKA_LITE, TOOLS[Path(name).name], "--bootstrap-server", self._bootstrap]
        done = subprocess.run([*tool, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout

    def stop(self) -> None:
        self._cluster.stop()


def _logins(realm: Realm) -> dict[str, str]:
    keytab = realm.keytab("kafka/localhost")
    kerberos = f'required useKeyTab=true storeKey=true keyTab="{keytab}" principal="kafka/localhost@{REALM}";'
    modules = {
        "plain": f"{PACKAGE}.plain.PlainLoginModule required {USERS};",
        "scram-sha-256": f"{PACKAGE}.scram.ScramLoginModule required;",
        "scram-sha-512": f"{PACKAGE}.scram.ScramLoginModule required;",
        "gssapi": f"com.sun.security.auth.module.Krb5LoginModule {kerberos}",
    }
    return {
        f"listener.name.{listener}.{mechanism}.sasl.jaas.config": module
        for listener in ("sasl_plaintext", "sasl_ssl") for mechanism, module in modules.items()
    }  # fmt: skip


class Docker:
    """In place of ``docker.from_env()``: no images, one realm for all containers."""

    def __init__(self) -> None:
        self.containers = self
        self._stack = contextlib.ExitStack()
        folder = Path.cwd() / "realm"
        folder.mkdir()
        self._realm = self._stack.enter_context(kerberos_realm(folder))
        keytab = self._realm.keytab("client/localhost")
        testutil = importlib.import_module("aiokafka_tests._testutil")
        testutil.KerberosUtils.create_keytab = lambda utils: setattr(utils, "keytab", keytab)  # type: ignore[attr-defined]

    def run(self, *, environment: Mapping[str, Any], **_: object) -> Container:
        return Container(environment, self._realm)

    def close(self) -> None:
        self._stack.close()


def _install() -> None:
    module = types.ModuleType("docker")
    module.from_env = Docker  # type: ignore[attr-defined]
    module.models = types.SimpleNamespace(containers=types.SimpleNamespace(Container=Container))  # type: ignore[attr-defined]
    sys.modules["docker"] = module
    Path("tests/ssl_cert").mkdir(parents=True)  # where the suite keeps certificates, for tests that are not here


_install()

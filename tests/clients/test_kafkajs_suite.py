"""kafkajs' own tests of TLS, SASL and ACLs, with our broker: PLAIN, SCRAM, OAUTHBEARER, and sessions that end.

The package has no tests: ``tests/data/suites`` has these from its repository, unchanged. They want three brokers on
fixed ports; here one broker has all of them.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, ScramCredentialInfo, ScramMechanism, UserScramCredentialUpsertion

from kafka_lite.testing.cluster import Cluster
from kafka_lite.testing.security.certificate_authority import CertificateAuthority
from tests.clients.test_aiokafka_suite import SUITES, unpack
from tests.clients.test_clients_of_other_languages import CACHE, KAFKAJS, prepare
from tests.support.patience import patient_s

HOST = "localhost"
PORTS = {"PLAINTEXT": (9092, 9095, 9098), "SSL": (9093, 9096, 9099), "SASL_SSL": (9094, 9097, 9100)}
"""The listeners of the suite's brokers."""
JEST = ("jest@25", "jest-circus@25", "jest-extended@0.11", "jsonwebtoken@9", "execa@2", "semver@6", "uuid@3", "glob@7")
OPTIONS = ("--forceExit", "--runInBand", "--ci", "--rootDir", ".", "--reporters=default")
TIMEOUT_S = 240
PACKAGE = "org.apache.kafka.common.security"
USERS = 'user_test="testtest" user_bob="bobbob" user_alice="alicealice"'
SESSION_MS = 15_000
pytestmark = [pytest.mark.jvm, pytest.mark.nightly, pytest.mark.timeout(3 * TIMEOUT_S)]


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with kafkajs, its tests, and the packages that these need."""
    cache = CACHE / f"{KAFKAJS}-suite"
    if not (cache / "node_modules" / ".bin" / "jest").exists():
        options = ("--no-save", "--ignore-scripts", "--no-audit", "--prefix", str(cache))
        prepare("npm", "install", *options, KAFKAJS, *JEST, folder=cache)
    folder = tmp_path_factory.mktemp("kafkajs")
    shutil.copytree(cache / "node_modules" / "kafkajs", folder, dirs_exist_ok=True)
    unpack(SUITES / "kafkajs-2.2.4-tests.tar.gz", folder)
    (folder / "node_modules").symlink_to(cache / "node_modules")
    return folder


@pytest.fixture(scope="module", autouse=True)
def cluster(suite: Path) -> Iterator[Cluster]:
    authority = CertificateAuthority()
    own = authority.issue(HOST, (HOST,))
    listener = "listener.name.sasl_ssl"
    properties = {
        "listeners": ",".join(f"{name}://{HOST}:0" for name in PORTS), "num.partitions": 2,
        "group.initial.rebalance.delay.ms": 0,
        "ssl.keystore.type": "PEM", "ssl.keystore.key": own.key, "ssl.keystore.certificate.chain": own.certificate,
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
        f"{listener}.plain.sasl.jaas.config": f"{PACKAGE}.plain.PlainLoginModule required {USERS};",
        f"{listener}.scram-sha-256.sasl.jaas.config": f"{PACKAGE}.scram.ScramLoginModule required;",
        f"{listener}.scram-sha-512.sasl.jaas.config": f"{PACKAGE}.scram.ScramLoginModule required;",
        f"{listener}.oauthbearer.sasl.jaas.config": f"{PACKAGE}.oauthbearer.OAuthBearerLoginModule required;",
        f"{listener}.oauthbearer.connections.max.reauth.ms": SESSION_MS,
        "authorizer.class.name": "kafka.security.auth.SimpleAclAuthorizer", "allow.everyone.if.no.acl.found": "true",
    }  # fmt: skip
    (suite / "testHelpers" / "certs").mkdir()
    (suite / "testHelpers" / "certs" / "cert-signed").write_text(authority.certificate)
    with Cluster(properties) as running:
        ports = {name: running.server.bound_port(name) for name in PORTS}
        create_user(f"{HOST}:{ports['PLAINTEXT']}")
        bring_to(suite, {str(old): str(ports[name]) for name, olds in PORTS.items() for old in olds})
        yield running


def create_user(bootstrap: str) -> None:
    """The user of scripts/createScramCredentials.sh."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    kinds = {ScramMechanism.SCRAM_SHA_256: b"testtestscram=256", ScramMechanism.SCRAM_SHA_512: b"testtestscram=512"}
    changes = [
        UserScramCredentialUpsertion("testscram", ScramCredentialInfo(kind, 8192), password)
        for kind, password in kinds.items()
    ]
    for future in admin.alter_user_scram_credentials(changes).values():
        future.result(patient_s(30))


def bring_to(suite: Path, ports: dict[str, str]) -> None:
    """Name our ports in the tests, and ask for one replica where they want two."""
    for file in (suite / "testHelpers" / "index.js", *suite.glob("src/**/__tests__/*.js")):
        text = re.sub(r"\b(9\d{3}|9100)\b", lambda found: ports.get(found[0], found[0]), file.read_text())
        file.write_text(text.replace("replicationFactor: 2", "replicationFactor: 1"))


@pytest.mark.parametrize(
    ("tokens", "files", "expected"), [("0", "Acls|connect|connection", 60), ("1", "connect|connection|reauth", 20)]
)
def test_kafkajs_own_tests_of_security_pass(suite: Path, tokens: str, files: str, expected: int) -> None:
    environment = os.environ | {"KAFKA_VERSION": "2.4", "NODE_ENV": "test", "OAUTHBEARER_ENABLED": tokens}
    run = subprocess.run(
        ["node_modules/.bin/jest", f"__tests__/.*({files})", *OPTIONS],
        cwd=suite, env=environment, capture_output=True, text=True, timeout=patient_s(TIMEOUT_S), check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-8000:]
    found = re.search(r"Tests: .*?(\d+) passed", run.stderr)
    assert found is not None
    print(f"kafkajs' suite: {found[1]} passed")
    assert int(found[1]) >= expected, run.stderr[-8000:]

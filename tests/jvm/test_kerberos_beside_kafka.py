"""GSSAPI: clients of Python, librdkafka and Java on our broker, ours on Kafka 3.9.1, in a realm of MIT Kerberos.

Each attempt lists the topics as some principal. What comes of it is the same with both brokers.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from aiokafka import AIOKafkaClient
from kafka import KafkaAdminClient

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.errors import KafkaError
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.network.authentication_error import AuthenticationError
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.producer.producer_record import ProducerRecord
from kafka_lite.security.kerberos.kerberos_name import KerberosName
from kafka_lite.security.kerberos.kerberos_short_namer import KerberosShortNamer
from kafka_lite.server.broker_process import free_port
from kafka_lite.testing import Cluster
from kafka_lite.testing.kafka_servers import KafkaServers
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper
from tests.clients.test_clients_of_other_languages import go_program
from tests.support.eventually import eventually
from tests.support.jvm import classpath, compile_java, run_java
from tests.support.kerberos import REALM, Realm, kerberos_realm, library_path, program
from tests.support.patience import patient_s
from tests.support.real_kafka import TODAYS, real_kafka_with_zookeeper
from tests.unit.security.kerberos.test_kerberos_short_namer import INVALID, TABLE

pytestmark = [pytest.mark.jvm, pytest.mark.soak, pytest.mark.timeout(600)]

HOST = "localhost"
MODULE = "com.sun.security.auth.module.Krb5LoginModule required"
RULES = "RULE:[1:$1](admin-.*)s/admin-(.*)/$1/U,DEFAULT"
USERS = ("alice", "admin-bob", "carol", "gone")
SESSION_MS, LIMIT_MS, JAVAS_LIMIT_MS = 3_000, 10_000, 20_000
"""How long a client tries: Java's, like kafka-python, do so to the end where they are refused."""


@pytest.fixture(scope="module")
def realm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Realm]:
    with kerberos_realm(tmp_path_factory.mktemp("realm")) as found:
        yield found


@dataclass
class Keys:
    """The broker's keytab, and one of each user."""

    broker: Path
    users: dict[str, Path]


@pytest.fixture(scope="module")
def keys(realm: Realm) -> Keys:
    users = {name: realm.keytab(name) for name in USERS}
    realm.delete("gone")
    realm.keytab(f"other/{HOST}")
    return Keys(realm.keytab(f"kafka/{HOST}"), users)


def jaas(principal: str, keytab: Path) -> str:
    return f'{MODULE} useKeyTab=true storeKey=true keyTab="{keytab}" principal="{principal}@{REALM}";'


def settings(keys: Keys, port: int = 0, plain_port: int = 0) -> dict[str, str]:
    return {
        "listeners": f"PLAINTEXT://127.0.0.1:{plain_port},KERBEROS://{HOST}:{port}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,KERBEROS:SASL_PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
        "sasl.enabled.mechanisms": "GSSAPI",
        "sasl.kerberos.service.name": "kafka",
        "sasl.kerberos.principal.to.local.rules": RULES,
        "listener.name.kerberos.gssapi.sasl.jaas.config": jaas(f"kafka/{HOST}", keys.broker),
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
        "super.users": "User:ANONYMOUS;User:alice;User:BOB",
    }


@pytest.fixture(scope="module")
def ours(keys: Keys) -> Iterator[str]:
    with Cluster(settings(keys)) as cluster:
        create_topic(cluster.bootstrap_servers)
        yield f"{HOST}:{cluster.server.bound_port('KERBEROS')}"


@pytest.fixture(scope="module")
def theirs(realm: Realm, keys: Keys, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    port, plain_port = free_port(), free_port()
    folder = tmp_path_factory.mktemp("kafka")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", f"-Djava.security.krb5.conf={realm.config}")
        with real_kafka_with_zookeeper(TODAYS, folder, settings(keys, port, plain_port), port=plain_port):
            create_topic(f"127.0.0.1:{plain_port}")
            yield f"{HOST}:{port}"


def create_topic(bootstrap: str) -> None:
    with KafkaProducer({"bootstrap.servers": bootstrap}) as producer:
        producer.send(ProducerRecord("orders", value=b"1")).get(1000 * patient_s(60))


# ── Clients: the topics that they see, or "refused" ──────────────────────────────────────────────────────────────────

Client = Callable[[str, str, Path, str], str]
"""Bootstrap server, user, the user's keytab, name of the service."""


def shown(topics: Iterable[str]) -> str:
    return " ".join(sorted(topic for topic in topics if not topic.startswith("__")))


def properties(bootstrap: str, user: str, keytab: Path, service: str) -> dict[str, str]:
    return {
        "bootstrap.servers": bootstrap, "security.protocol": "SASL_PLAINTEXT", "sasl.kerberos.service.name": service,
        "sasl.jaas.config": jaas(user, keytab), "default.api.timeout.ms": str(JAVAS_LIMIT_MS),
    }  # fmt: skip


def of_ours(bootstrap: str, user: str, keytab: Path, service: str) -> str:
    try:
        with KafkaConsumer(properties(bootstrap, user, keytab, service)) as consumer:
            return shown(consumer.list_topics())
    except (KafkaError, AuthenticationError):
        return "refused"


def of_java(bootstrap: str, user: str, keytab: Path, service: str) -> str:
    jars = classpath(f"org.apache.kafka:kafka-clients:{TODAYS}")
    classes = compile_java(Path(__file__).with_name("SecuredClient.java"), jars)
    keys = properties(bootstrap, user, keytab, service) | {"session.ms": "0", "show.topics": "true"}
    given = "".join(f"{key}={value}\n" for key, value in keys.items()) + "\n"
    options = [f"-Djava.security.krb5.conf={os.environ['KRB5_CONFIG']}"]
    answer = run_java("SecuredClient", classpath=[classes, *jars], stdin=given, options=options).stdout.strip()
    return shown(answer.split()[1:]) if answer.startswith("ok") else "refused"


def of_kcat(bootstrap: str, user: str, keytab: Path, service: str) -> str:
    """librdkafka with Cyrus SASL: it runs kinit itself."""
    found, kinit = program("kcat") or "", program("kinit")
    keys = {
        "security.protocol": "SASL_PLAINTEXT", "sasl.mechanisms": "GSSAPI", "sasl.kerberos.service.name": service,
        "sasl.kerberos.keytab": str(keytab), "sasl.kerberos.principal": user,
        "sasl.kerberos.kinit.cmd": f'{kinit} -k -t "%{{sasl.kerberos.keytab}}" %{{sasl.kerberos.principal}}',
    }  # fmt: skip
    options = [f"-X{key}={value}" for key, value in keys.items()]
    command = [found, "-L", "-J", "-m", str(LIMIT_MS // 1000), "-b", bootstrap, *options]
    environ = os.environ | library_path() | {"KRB5CCNAME": f"FILE:{keytab}.of-{user}"}
    done = subprocess.run(command, capture_output=True, text=True, env=environ, check=False)
    return shown(each["topic"] for each in json.loads(done.stdout)["topics"]) if done.returncode == 0 else "refused"


def of_go(name: str, folder: Path) -> Client:
    """Those of Go have gokrb5, and no library of C. The program is built in ``folder``."""
    client = go_program(name, folder)

    def attempt(bootstrap: str, user: str, keytab: Path, service: str) -> str:
        row = {
            "bootstrap": bootstrap, "mechanism": "GSSAPI", "user": user, "keytab": str(keytab), "service": service,
            "krb5": os.environ["KRB5_CONFIG"], "realm": REALM, "showTopics": True,
        }  # fmt: skip
        done = subprocess.run([client], input=json.dumps([row]), capture_output=True, text=True, check=True)
        (answer,) = json.loads(done.stdout)
        return shown(answer.split()[1:]) if answer.startswith("ok") else "refused"

    return attempt


def with_tickets(client: Callable[[str, str], str]) -> Client:
    """A client that finds its tickets where ``kinit`` puts them."""

    def attempt(bootstrap: str, user: str, keytab: Path, service: str) -> str:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("KRB5CCNAME", f"FILE:{keytab}.tickets")
            command = [program("kinit") or "", "-k", "-t", str(keytab), user]
            done = subprocess.run(command, capture_output=True, env=os.environ | library_path(), check=False)
            return client(bootstrap, service) if done.returncode == 0 else "refused"

    return attempt


@with_tickets
def of_kafka_python(bootstrap: str, service: str) -> str:
    try:
        client = KafkaAdminClient(
            bootstrap_servers=bootstrap, security_protocol="SASL_PLAINTEXT", sasl_mechanism="GSSAPI",
            sasl_kerberos_service_name=service, sasl_kerberos_domain_name=HOST, bootstrap_timeout_ms=LIMIT_MS,
        )  # fmt: skip
        try:
            return shown(each if isinstance(each, str) else each["name"] for each in client.list_topics())
        finally:
            client.close()
    except Exception:  # noqa: BLE001 - it has one for each way
        return "refused"


@with_tickets
def of_aiokafka(bootstrap: str, service: str) -> str:
    async def run() -> str:
        client = AIOKafkaClient(
            bootstrap_servers=bootstrap, security_protocol="SASL_PLAINTEXT", sasl_mechanism="GSSAPI",
            sasl_kerberos_service_name=service, sasl_kerberos_domain_name=HOST,
        )  # fmt: skip
        try:
            await client.bootstrap()
            return shown((await client.fetch_all_metadata()).topics())
        except Exception:  # noqa: BLE001 - it has one for each way
            return "refused"
        finally:
            await client.close()

    return asyncio.run(run())


@with_tickets
def of_ours_with_tickets(bootstrap: str, service: str) -> str:
    keys = properties(bootstrap, "", Path(), service) | {"sasl.jaas.config": f"{MODULE} useTicketCache=true;"}
    try:
        with KafkaConsumer(keys) as consumer:
            return shown(consumer.list_topics())
    except (KafkaError, AuthenticationError):
        return "refused"


CLIENTS: dict[str, Client] = {
    "ours": of_ours,
    "ours with tickets": of_ours_with_tickets,
    "java": of_java,
    "librdkafka": of_kcat,
    "kafka-python": of_kafka_python,
    "aiokafka": of_aiokafka,
}
OF_GO = {"sarama": "sarama_secured", "franz-go": "franz_go_secured"}
AT_ONCE = ("java", "librdkafka", *OF_GO)
"""Clients that are a process for each attempt: the others have their tickets in variables of this one."""
ATTEMPTS = {
    "a user": ("alice", "alice", "kafka", "orders"),
    "a user whom a rule renames": ("admin-bob", "admin-bob", "kafka", "orders"),
    "a user without rights": ("carol", "carol", "kafka", ""),
    "a user who is gone": ("gone", "gone", "kafka", "refused"),
    "the keytab of another user": ("alice", "carol", "kafka", "refused"),
    "a service that is unknown": ("alice", "alice", "unknown", "refused"),
    "another service on that host": ("alice", "alice", "other", "refused"),
}
"""User, whose keytab, the service; what comes of it."""


# What Kafka does with each row is seen by our clients in each run: the others are there for our broker.
@pytest.mark.parametrize(
    ("client", "broker"),
    [
        *((client, "ours") for client in (*CLIENTS, *OF_GO)),
        *((client, "theirs") for client in ("ours", "ours with tickets")),
        *(
            pytest.param(client, "theirs", marks=pytest.mark.nightly)
            for client in ("java", "librdkafka", *OF_GO, "kafka-python", "aiokafka")
        ),
    ],
)
def test_clients_are_known_by_their_tickets(
    request: pytest.FixtureRequest, keys: Keys, tmp_path: Path, client: str, broker: str
) -> None:
    bootstrap = request.getfixturevalue(broker)
    attempt = of_go(OF_GO[client], tmp_path) if client in OF_GO else CLIENTS[client]
    with ThreadPoolExecutor(len(ATTEMPTS) if client in AT_ONCE else 1) as threads:
        rows = {
            name: threads.submit(attempt, bootstrap, user, keys.users[owner], service)
            for name, (user, owner, service, _) in ATTEMPTS.items()
        }
        assert {name: row.result() for name, row in rows.items()} == {name: row[3] for name, row in ATTEMPTS.items()}


# ── What is only about ours ───────────────────────────────────────────────────────────────────────────────────────────


def test_two_brokers_know_each_other_by_their_tickets(keys: Keys, tmp_path: Path) -> None:
    between = settings(keys) | {
        "listeners": f"KERBEROS://{HOST}:0",
        "inter.broker.listener.name": "KERBEROS",
        "sasl.mechanism.inter.broker.protocol": "GSSAPI",
        "super.users": "User:kafka;User:alice",
        "default.replication.factor": "2",
        "controlled.shutdown.retry.backoff.ms": "50",
    }
    with EmbeddedZooKeeper(tmp_path / "zookeeper") as zookeeper:
        servers = KafkaServers(tmp_path, zookeeper.connect_string, between)
        try:
            servers.start(0)
            servers.start(1)
            eventually(servers.know_each_other)
            bootstrap = f"{HOST}:{servers.servers[0].bound_port('KERBEROS')}"
            config = properties(bootstrap, "alice", keys.users["alice"], "kafka")
            del config["default.api.timeout.ms"]
            with KafkaProducer(config | {"acks": "all"}) as producer:
                producer.send(ProducerRecord("replicated", value=b"x")).get(1000 * patient_s(60))
                assert {len(each.in_sync_replicas) for each in producer.partitions_for("replicated")} == {2}
        finally:
            servers.stop_all()


def test_a_session_is_renewed_with_another_ticket(keys: Keys) -> None:
    short = settings(keys) | {"listener.name.kerberos.gssapi.connections.max.reauth.ms": str(SESSION_MS)}
    with Cluster(short) as cluster:
        create_topic(cluster.bootstrap_servers)
        bootstrap = f"{HOST}:{cluster.server.bound_port('KERBEROS')}"
        with KafkaConsumer(properties(bootstrap, "alice", keys.users["alice"], "kafka")) as consumer:
            end = time.monotonic() + 3 * SESSION_MS / 1000
            while time.monotonic() < end:
                assert "orders" in consumer.list_topics()
                time.sleep(0.2)


def test_a_broker_without_its_key_does_not_start(keys: Keys) -> None:
    wrong = jaas(f"kafka/{HOST}", keys.users["alice"])
    with pytest.raises(ConfigError, match="cannot log in as kafka/localhost"):
        Cluster(settings(keys) | {"listener.name.kerberos.gssapi.sasl.jaas.config": wrong}).start()


def test_principals_get_the_names_that_kafka_gives_them() -> None:
    jars = classpath(f"org.apache.kafka:kafka-clients:{TODAYS}")
    classes = compile_java(Path(__file__).with_name("KerberosNames.java"), jars)
    rows = [("REALM.COM", principal, *rules) for rules, principal, _ in TABLE]
    rows += [("REALM.COM", "alice@REALM.COM", rule) for rule in INVALID] + drawn_rows(400)
    given = "".join("\t".join(row) + "\n" for row in rows)
    theirs = run_java("KerberosNames", classpath=[classes, *jars], stdin=given).stdout.splitlines()
    assert dict(zip(rows, map(our_name, rows), strict=True)) == dict(zip(rows, theirs, strict=True))


def drawn_rows(count: int) -> list[tuple[str, ...]]:
    """Rules and principals put together of parts."""
    draw = random.Random(7)
    rows = []
    for _ in range(count):
        rules = [
            f"RULE:[{draw.choice('12')}:{draw.choice(['$1', '$1@$0', '$2', '$1.$2', '$3', '$', 'x'])}]"
            + draw.choice(["", "(.*)", "(a.*)", "(.*@S)", "([A-Z]+)"])
            + draw.choice(["", "s/@.*//", "s/a/b/", "s/a/b/g", "s/(.)(.)/$2$1/g", "s/[.]/_/g"])
            + draw.choice(["", "/L", "/U", "L"])
            for _ in range(draw.randint(1, 3))
        ] + draw.choice([[], ["DEFAULT"]])
        principal = draw.choice(["alice", "Bob", "a.a", "banana", ""])
        principal += draw.choice(["", "", "/host", "/h.example", "/a/b"]) + draw.choice(["@R", "@S", "", "@R@S"])
        rows.append(("R", principal, *rules))
    return rows


def our_name(row: tuple[str, ...]) -> str:
    realm, principal, *rules = row
    try:
        return f"user {KerberosShortNamer(rules, realm).short_name(KerberosName.parse(principal))}"
    except (KafkaError, ValueError):
        return "refused"

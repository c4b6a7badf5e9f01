"""Clients of all languages on secured listeners: the same outcome with our broker as with Kafka 3.9.1.

Each attempt of the table is made by librdkafka, kafka-python, aiokafka, franz-go, Sarama, kafka-go, kafkajs and Java
from 0.10.2 to 4.1: the right password and certificate, and each way in which they can be wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from kafka_lite.server.broker_process import free_port
from kafka_lite.testing.cluster import Cluster
from tests.clients.test_secured_clients import OTHERS, PYTHONS, Client, client
from tests.support.jvm import classpath, compile_java, run_java
from tests.support.real_kafka import LAST_OF_2, OLD, TODAYS, real_kafka_with_zookeeper
from tests.support.secured_clients import Attempt, outcome
from tests.support.secured_listeners import HOST, NAMES, attempts, create_users, right, settings, succeeded

pytestmark = [
    pytest.mark.jvm,
    pytest.mark.nightly,
    pytest.mark.timeout(600),
    # kafka-python leaves the sockets of refused connections open
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning"),
]

JAVAS = tuple(f"java {version}" for version in (OLD, LAST_OF_2, TODAYS, "4.1.0"))


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, int]]:
    ports = {name: free_port() for name in ("PLAINTEXT", *NAMES)}
    folder = tmp_path_factory.mktemp("kafka")
    escaped = {key: value.replace("\n", "\\n") for key, value in settings(ports).items()}
    with real_kafka_with_zookeeper(TODAYS, folder, escaped, port=ports["PLAINTEXT"]):
        create_users(f"{HOST}:{ports['PLAINTEXT']}")
        yield ports


@pytest.fixture(scope="module")
def ours() -> Iterator[dict[str, int]]:
    with Cluster(settings(dict.fromkeys(("PLAINTEXT", *NAMES), 0))) as cluster:
        ports = {name: cluster.server.bound_port(name) for name in ("PLAINTEXT", *NAMES)}
        create_users(f"{HOST}:{ports['PLAINTEXT']}")
        yield ports


def java(version: str, folder: Path) -> Client:
    """A client of Java: all attempts in one process.

    That of 0.10.2 has its keys in files, and takes a broker that refuses it for one that is lost: it tries again until
    its time is over.
    """
    jars = classpath(f"org.apache.kafka:kafka-clients:{version}", "javax.xml.bind:jaxb-api:2.3.1")
    stores = folder if version == OLD else None
    classes = compile_java(Path(__file__).with_name("SecuredClient.java"), jars)

    def run(rows: Sequence[Attempt]) -> list[str]:
        given = "".join(each.java_properties(stores) for each in rows)
        done = run_java("SecuredClient", classpath=[classes, *jars], stdin=given)
        return [outcome(line) for line in done.stdout.splitlines()]

    return run


@pytest.mark.parametrize("name", [*PYTHONS, *OTHERS, *JAVAS])
def test_the_same_comes_of_it(theirs: dict[str, int], ours: dict[str, int], name: str, tmp_path: Path) -> None:
    attempt_all = java(name.removeprefix("java "), tmp_path) if name in JAVAS else client(name, tmp_path)
    rows = attempts(ours)
    found = dict(zip((each.name for each in rows), attempt_all(rows), strict=True))
    expected = dict(zip(found, attempt_all(attempts(theirs)), strict=True))
    assert found == expected
    assert succeeded(name, found) == right(name), found

"""Client processes of ``make chaos``: what is replaced, what counts as a failure."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer

from kafka_lite.testing.chaos.chaos_clients import ChaosClients
from kafka_lite.testing.chaos.client import ClientSpec
from kafka_lite.testing.chaos.librdkafka_transactions import LibrdkafkaClient
from kafka_lite.testing.cluster import Cluster
from kafka_lite.testing.history.history import History, Sent
from tests.support.eventually import eventually
from tests.support.patience import patient_s

NO_BROKER = "127.0.0.1:1"


@pytest.fixture
def clients(tmp_path: Path) -> Iterator[ChaosClients]:
    clients = ChaosClients(tmp_path / "clients", History(), seed=1)
    yield clients
    clients.kill()


def spec(name: str, library: str, *, is_producer: bool = False) -> ClientSpec:
    return ClientSpec(name, is_producer, library, "orders", 1, NO_BROKER, group="" if is_producer else "readers")


def names(clients: ChaosClients) -> list[str]:
    return [client.name for client in clients.running(producers=False)]


def test_a_client_of_librdkafka_that_does_not_go_on_is_replaced(clients: ChaosClients) -> None:
    clients.start(spec("theirs", "librdkafka"))
    clients.start(spec("ours", "ours"))
    before = {"theirs": 0, "ours": 0}
    assert clients.replace_hung(before) == ["theirs"]
    assert sorted(names(clients)) == ["ours", "theirs+1"]
    assert clients.replace_hung(before) == [], "the next one has just started"
    assert clients.replace_hung({"theirs+1": 0}) == ["theirs+1"]
    assert sorted(names(clients)) == ["ours", "theirs+2"]
    assert clients.failures() == [], "a killed client has not failed"


def test_a_client_that_ends_with_an_error_has_failed(clients: ChaosClients) -> None:
    clients.start(ClientSpec("broken", True, "librdkafka", "orders", 1, NO_BROKER, configs={"no.such.key": "1"}))
    (failure,) = eventually(clients.failures)
    assert failure.startswith("broken ended with 1:")
    assert "no.such.key" in failure


def test_no_fault_hits_a_client_that_another_one_has(clients: ChaosClients) -> None:
    clients.start(spec("first", "ours"))
    clients.start(spec("second", "ours"))
    taken = [clients.take(is_producer=False, amount=0.0) for _ in range(3)]
    assert [client and client.name for client in taken] == ["first", "second", None]
    assert clients.take(is_producer=True, amount=0.0) is None
    assert taken[0] is not None
    clients.give_back(taken[0])
    assert clients.take(is_producer=False, amount=0.99) is taken[0]


def test_a_librdkafka_producer_that_is_fenced_during_its_commit_gives_up() -> None:
    with Cluster() as cluster:
        cluster.create_topic("orders", partitions=1)
        fenced = transactional_client(cluster)
        fenced.begin()
        transactional_client(cluster)
        failures = run(
            lambda: fenced.send(Sent("fenced", "orders", 0, "late"), lambda *_: None), fenced.commit, fenced.abort
        )
        assert any(failure.fatal() for failure in failures), failures


def transactional_client(cluster: Cluster) -> LibrdkafkaClient:
    settings = {"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": "transfers", "log_level": 0}
    client = LibrdkafkaClient(Producer(settings))
    client.initialize()
    return client


def run(*calls: Callable[[], None]) -> list[KafkaError]:
    """The errors of the calls, all of which must return."""
    failures: list[KafkaError] = []

    def run_all() -> None:
        for call in calls:
            try:
                call()
            except KafkaException as exception:
                failures.append(exception.args[0])

    thread = threading.Thread(target=run_all, daemon=True)
    thread.start()
    thread.join(timeout=patient_s(60))
    assert not thread.is_alive(), "a call does not return"
    return failures

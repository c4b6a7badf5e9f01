"""Task 5: two workers report to one topic."""

from contextlib import contextmanager

import pytest

from kafka_learn.labs.clients import create_topic
from kafka_learn.labs.connectors import settle
from kafka_lite.connect.json.json_converter import JsonConverter
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.storage.kafka_based_log import KafkaBasedLog
from kafka_lite.connect.runtime.storage.kafka_status_backing_store import KafkaStatusBackingStore

TASK = ConnectorTaskId("x", 0)


@contextmanager
def workers(broker, topic):
    """The stores of two workers."""
    create_topic(broker, topic, **{"cleanup.policy": "compact"})
    converter = JsonConverter()
    converter.configure({"schemas.enable": "false"}, is_key=False)
    servers = {"bootstrap.servers": broker.bootstrap_servers}
    made = []
    try:
        for _ in range(2):
            store = KafkaStatusBackingStore(
                topic, converter, lambda consumed: KafkaBasedLog(topic, servers, servers, consumed)
            )
            store.start()
            made.append(store)
        yield made
    finally:
        for store in made:
            store.stop()


def state(store, of=TASK):
    found = store.task(of) if isinstance(of, ConnectorTaskId) else store.connector(of)
    return None if found is None else f"{found.state.name} {found.worker_id}"


@pytest.mark.points(5, task=5)
def test_the_new_owner_is_not_hidden(broker, report):
    """A late UNASSIGNED of worker B"""
    with workers(broker, "late") as (a, b):
        a.put(report("RUNNING", "A", 4))
        settle(lambda: state(b) == "RUNNING A", "worker B reads what A has written")
        b.put_safe(report("UNASSIGNED", "B", 3))
        b.put_safe(report("RUNNING", "B", 3, of=ConnectorTaskId("x", 1)))
        settle(lambda: state(a, ConnectorTaskId("x", 1)) == "RUNNING B", "what B has written later")
        assert state(a) == "RUNNING A", f"the status of the new owner stays; it is {state(a)}"


@pytest.mark.points(5, task=5)
def test_a_task_moves(broker, report):
    """In order: A gives up, B starts"""
    with workers(broker, "moves") as (a, b):
        a.put(report("RUNNING", "A", 3))
        a.put_safe(report("UNASSIGNED", "A", 3))
        settle(lambda: state(b) == "UNASSIGNED A", "A has given the task up")
        b.put(report("RUNNING", "B", 4))
        for store in (a, b):
            settle(lambda store=store: state(store) == "RUNNING B", "both know that B runs it")


@pytest.mark.points(5, task=5)
def test_a_connector_is_deleted(broker, report):
    """The tombstones are read by both"""
    with workers(broker, "gone") as (a, b):
        a.put(report("RUNNING", "A", 4))
        a.put(report("RUNNING", "A", 4, of="x"))
        settle(lambda: state(b, "x") == "RUNNING A", "B knows the connector")
        a.put(report("DESTROYED", "A", 4, of="x"))
        for store in (a, b):
            settle(lambda store=store: state(store, "x") is None, "the connector is gone")
            assert state(store) is None, f"and its task with it; it is {state(store)}"

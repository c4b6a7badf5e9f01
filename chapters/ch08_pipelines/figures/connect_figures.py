"""Figures of Connect: the parts of a worker, the states of connectors and tasks, an assignment. Book 8.3."""

from __future__ import annotations

from kafka_learn.drawing.graphviz_drawing import BLUE, GREEN, PLAIN, Drawing, cell, new_graph, table
from kafka_learn.drawing.state_machines import draw_states
from kafka_lite.connect.runtime import worker_connector
from kafka_lite.connect.runtime.distributed import membership
from kafka_lite.connect.runtime.tasks import worker_task

_PARTS = {
    "RestServer": BLUE, "StandaloneHerder": BLUE, "Worker": BLUE,
    "WorkerConnector": GREEN, "WorkerSourceTask": GREEN, "WorkerSinkTask": GREEN, "SourceTaskOffsetCommitter": GREEN,
    "MemoryConfigBackingStore": PLAIN, "MemoryStatusBackingStore": PLAIN, "FileOffsetBackingStore": PLAIN,
    "KafkaProducer": PLAIN, "KafkaConsumer": PLAIN,
}  # fmt: skip
_CALLS = (
    ("RestServer", "StandaloneHerder"), ("StandaloneHerder", "Worker"),
    ("StandaloneHerder", "MemoryConfigBackingStore"), ("StandaloneHerder", "MemoryStatusBackingStore"),
    ("Worker", "WorkerConnector"), ("Worker", "WorkerSourceTask"), ("Worker", "WorkerSinkTask"),
    ("SourceTaskOffsetCommitter", "WorkerSourceTask"), ("WorkerSourceTask", "KafkaProducer"),
    ("WorkerSourceTask", "FileOffsetBackingStore"), ("WorkerSinkTask", "KafkaConsumer"),
)  # fmt: skip


def worker_parts(language: str) -> str:
    """The objects of a worker by itself, and which of them calls which."""
    graph = new_graph()
    for name, fill in _PARTS.items():
        graph.node(name, table([[cell(name, fill=fill)]]))
    for caller, called in _CALLS:
        graph.edge(caller, called)
    return Drawing(graph, "; ".join(f"{caller} → {called}" for caller, called in _CALLS)).svg(language)


def connector_states(_language: str) -> str:
    """The states of a connector in its worker."""
    return draw_states(worker_connector.VALID_PREVIOUS_STATES).svg()


def task_states(_language: str) -> str:
    """The states of a task in its worker."""
    return draw_states(worker_task.VALID_PREVIOUS_STATES).svg()


def membership_states(_language: str) -> str:
    """The states of a worker in its group."""
    return draw_states(membership.VALID_PREVIOUS_STATES).svg()

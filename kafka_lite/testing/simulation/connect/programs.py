"""Programs that run inside a world: a worker of Connect, and the operator of its connectors.

Not in Kafka. Like ``kafka_lite.testing.simulation.programs``, a world loads this module once per process.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka_lite.testing.simulation.operator_programs import until_it_works

if TYPE_CHECKING:
    from kafka_lite.testing.cluster_client import ClusterClient
    from kafka_lite.testing.history.history import History
    from kafka_lite.testing.simulation.connect.facts import Facts

REST_PORT = 8083
NUMBERS = "numbers"
CONFIGS, OFFSETS, STATUSES = "connect-configs", "connect-offsets", "connect-status"
TOPICS = {CONFIGS: 1, OFFSETS: 2, STATUSES: 1, NUMBERS: 2}
"""The topics, and how many partitions each has."""
SOURCE, SINK = "source", "sink"
LOOKS_S = 0.2
"""How often a worker checks whether it should end."""
CHECKS_S = 2.0
"""How often the operator looks at the connectors, on average."""
REQUEST_TIMEOUT_S = 20.0
LINGERS_MS = (0, 50, 400)
"""How long a source's producer keeps a record back. The longer that is, the more of them are outstanding while offsets
are stored."""
FLUSHES_MS = (250, 1000)
"""How often a worker stores offsets."""
JSON = "org.apache.kafka.connect.json.JsonConverter"
PROPS: dict[str, str] = {
    "group.id": "connect-cluster", "config.storage.topic": CONFIGS, "offset.storage.topic": OFFSETS,
    "status.storage.topic": STATUSES, "rest.port": str(REST_PORT),
    **{
        key: value
        for kind in ("key", "value", "internal.key", "internal.value")
        for key, value in ((f"{kind}.converter", JSON), (f"{kind}.converter.schemas.enable", "false"))
    },
    "session.timeout.ms": "6000", "heartbeat.interval.ms": "1000", "rebalance.timeout.ms": "20000",
    "worker.unsync.backoff.ms": "2000", "task.shutdown.graceful.timeout.ms": "2000",
    "consumer.session.timeout.ms": "6000", "consumer.heartbeat.interval.ms": "1000",
    "consumer.max.poll.interval.ms": "30000",
}  # fmt: skip
"""Differences from a worker's defaults: what is lost is noticed within seconds."""


def worker(bootstrap: str, host: str, facts: Facts, history: History) -> None:
    """Run a worker until the history is over. If its herder fails, start another one, as a supervisor would."""
    from kafka_lite.connect.verifiable import verifiable_sink_task, verifiable_source_task

    def print_line(data: Mapping[str, Any]) -> None:
        _tell(facts, data)

    for module in (verifiable_source_task, verifiable_sink_task):
        vars(module)["print_line"] = print_line
    while not history.is_over:
        own = {"bootstrap.servers": bootstrap, "rest.host.name": host}
        _run_until_its_herder_fails(PROPS | _drawn_props() | own, history)


def _drawn_props() -> dict[str, str]:
    """Settings that users change, drawn from the seed for each life of a worker."""
    linger_ms, flush_ms = random.choice(LINGERS_MS), random.choice(FLUSHES_MS)
    return {"producer.linger.ms": str(linger_ms), "offset.flush.interval.ms": str(flush_ms)}


def _run_until_its_herder_fails(props: Mapping[str, str], history: History) -> None:
    from kafka_lite.connect.runtime.new_connect import new_distributed_connect

    connect = new_distributed_connect(props)
    connect.start()
    while not history.is_over and not connect.await_stop(LOOKS_S):
        pass
    connect.stop()


def _tell(facts: Facts, data: Mapping[str, Any]) -> None:
    """Take a line of a verifiable task for the facts. The source's task may be about to fail."""
    number = data["task"], data["seqno"]
    if "sinkTask" in data:
        if data.get("flushed"):
            facts.flushed.add(number)
    elif data.get("committed"):
        facts.acknowledged.add(number)
    elif facts.failures_due:
        facts.failures_due -= 1
        facts.failures += 1
        raise OSError("what the source reads is broken")


# ── the operator ──────────────────────────────────────────────────────────────────────────────────────────────────────


def operator(bootstrap: str, name: str, hosts: Sequence[str], facts: Facts, history: History) -> None:
    """Create the connectors, restart what has failed, and sometimes change the number of tasks, by any worker.

    Once nothing more is to be sent, stop the source; the sink continues until the history is over.
    """
    del bootstrap, name
    for connector in (SOURCE, SINK):
        while not _put(hosts, connector):
            time.sleep(LOOKS_S)
    while not history.is_over:
        time.sleep(random.expovariate(1 / CHECKS_S))
        _restart_failed(hosts, facts)
        if history.is_sending_over:
            _stop_source(hosts, facts)
        elif random.random() < 0.1:
            _put(hosts, random.choice((SOURCE, SINK)))


def _put(hosts: Sequence[str], connector: str) -> bool:
    """Create or change a connector, with one task or two. Whether a worker has done it."""
    config = {"tasks.max": str(random.randint(1, 2))}
    if connector == SOURCE:
        config |= {"connector.class": "org.apache.kafka.connect.tools.VerifiableSourceConnector"}
        config |= {"topic": NUMBERS, "throughput": "10"}
    else:
        config |= {"connector.class": "org.apache.kafka.connect.tools.VerifiableSinkConnector", "topics": NUMBERS}
    return _ask(hosts, "PUT", f"/connectors/{connector}/config", config)[0] in (200, 201)


def _restart_failed(hosts: Sequence[str], facts: Facts) -> None:
    for connector in (SOURCE, SINK):
        status, found = _ask(hosts, "GET", f"/connectors/{connector}/status")
        if status == 200 and "FAILED" in [each["state"] for each in (found["connector"], *found["tasks"])]:
            facts.restarts += 1
            _ask(hosts, "POST", f"/connectors/{connector}/restart?includeTasks=true&onlyFailed=true")


def _stop_source(hosts: Sequence[str], facts: Facts) -> None:
    """Each request that succeeds makes the group rebalance, so there is one."""
    if not facts.is_stop_written:
        facts.is_stop_written = _ask(hosts, "PUT", f"/connectors/{SOURCE}/stop")[0] == 204
    elif not facts.is_source_stopped:
        status, found = _ask(hosts, "GET", f"/connectors/{SOURCE}/status")
        facts.is_source_stopped = status == 200 and found["connector"]["state"] == "STOPPED" and not found["tasks"]


def _ask(hosts: Sequence[str], method: str, path: str, body: object = None) -> tuple[int, Any]:
    """Status and JSON of any worker's answer; 0 if there is none."""
    connection = http.client.HTTPConnection(random.choice(hosts), REST_PORT, timeout=REQUEST_TIMEOUT_S)
    with contextlib.closing(connection):
        try:
            content = None if body is None else json.dumps(body)
            connection.request(method, path, content, {"Content-Type": "application/json"})
            response = connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException):
            return 0, None
    return response.status, json.loads(text) if text else None


# ── the end ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def read_topics(bootstrap: str, facts: Facts) -> None:
    """Tell the facts what the topics have."""
    from kafka_lite.testing.simulation.connect.facts import Report, Written

    for key, value, timestamp_ms in _records(bootstrap, NUMBERS):
        facts.produced.append(Written((key, value), timestamp_ms))
    for key, value, timestamp_ms in _records(bootstrap, OFFSETS):
        facts.offsets.append(Written((key[1]["id"], value["seqno"]), timestamp_ms))
    for key, value, _ in _records(bootstrap, STATUSES, lambda key: key.decode()):
        if value is not None and "state" in value:  # not the topics that a connector uses
            of = key.removeprefix("status-")
            facts.reports.append(Report(of, value["state"], value["worker_id"], value["generation"]))


def _records(bootstrap: str, topic: str, read_key: Callable[[bytes], Any] = json.loads) -> list[tuple[Any, Any, int]]:
    """Keys, values and times of a topic."""
    found: dict[int, list[Any]] = {}

    def read(client: ClusterClient) -> None:
        found.update((number, client.records(topic, number)) for number in range(TOPICS[topic]))

    until_it_works(bootstrap, read)
    return [
        (
            read_key(record.key or b"null"),
            None if record.value is None else json.loads(record.value),
            record.timestamp_ms,
        )
        for records in found.values()
        for record in records
    ]

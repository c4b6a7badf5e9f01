"""``kafka-lite server-stop``: stop this user's brokers.

Kafka 0.10.2: bin/kafka-server-stop.sh · book 7.4
"""

from __future__ import annotations

import argparse

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.tools.common import terminal
from kafka_lite.tools.server.running_brokers import RunningBroker, RunningBrokers

NAME = "server-stop"
SUMMARY = "stop this user's brokers"

_POLL_MS = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """``--node-id``, as in Kafka 3.9, and how long to wait."""
    parser.add_argument("--node-id", type=int, metavar="ID", help="stop only the broker with this broker.id")
    parser.add_argument(
        "--timeout-ms",
        type=int,
        default=60_000,
        metavar="MS",
        help="how long to wait for them to stop (default: %(default)s; 0: do not wait, like Kafka's script)",
    )


def run(options: argparse.Namespace) -> int:
    """Stop the brokers; returns 0 once all have stopped, 1 if there are none or one does not stop in time."""
    brokers = [
        broker
        for broker in RunningBrokers().find()
        if options.node_id is None or broker.facts.get("broker.id") == str(options.node_id)
    ]
    if not brokers:
        terminal.print_error("No kafka server to stop")
        return 1
    for broker in brokers:
        _stop(broker)
    late = _wait(brokers, options.timeout_ms, SYSTEM_TIME)
    for broker in late:
        terminal.print_error(f"Process {broker.pid} has not stopped within {options.timeout_ms} ms")
    return 1 if late else 0


def _stop(broker: RunningBroker) -> None:
    facts = broker.facts
    print(f"Stopping broker {facts.get('broker.id', '?')}, process {broker.pid}: {facts.get('listeners', '')}")
    try:
        broker.stop()
    except ProcessLookupError:
        return  # it has just exited


def _wait(brokers: list[RunningBroker], timeout_ms: int, time: Time) -> list[RunningBroker]:
    """Wait for the brokers; returns those still running at the deadline (none if ``timeout_ms`` is 0)."""
    deadline_ms = time.hi_res_ms() + timeout_ms
    left = brokers if timeout_ms else []
    while left := [broker for broker in left if broker.is_running()]:
        if time.hi_res_ms() >= deadline_ms:
            break
        time.sleep(_POLL_MS)
    return left

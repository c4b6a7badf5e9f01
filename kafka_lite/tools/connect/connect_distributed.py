"""``kafka-lite connect-distributed``: runs a worker of a group until it is stopped. Connectors come by the REST
interface of any worker.

Kafka 0.10.2: connect/runtime/.../connect/cli/ConnectDistributed.java, bin/connect-distributed.sh · book 8.3.1
"""

from __future__ import annotations

import argparse

from kafka_lite.tools.connect.worker_process import (
    WorkerProcess,
    add_common_arguments,
    add_worker_argument,
    worker_properties,
)
from kafka_lite.tools.server.foreground import run_in_foreground

NAME = "connect-distributed"
SUMMARY = "run a worker of a group that shares connectors"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Kafka's argument, the file, plus ``--override`` and ``--log-config``."""
    add_worker_argument(parser, "config/connect-distributed.properties")
    add_common_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Run the worker until it is stopped; see ``run_in_foreground``."""
    return run_in_foreground(NAME, lambda: ConnectDistributed(worker_properties(options)), options.log_config)


class ConnectDistributed(WorkerProcess):
    """A worker that runs in its own process, and ends if its herder fails."""

    def startup(self) -> None:
        """Start the worker, which then joins its group. Raises KafkaError: the caller then calls ``shutdown``."""
        # Imported here so that --help and a missing file do not wait for the clients.
        from kafka_lite.connect.runtime.new_connect import new_distributed_connect

        self._connect = new_distributed_connect(self._worker)
        self._connect.start()

    def described(self) -> str:
        """The group."""
        return f"group {self._worker['group.id']}"

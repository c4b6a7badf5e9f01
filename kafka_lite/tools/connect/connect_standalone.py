"""``kafka-lite connect-standalone``: runs a worker by itself, with the connectors of some files, until it is stopped.

Kafka 0.10.2: connect/runtime/.../connect/cli/ConnectStandalone.java, bin/connect-standalone.sh · book 8.3.1
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Mapping
from pathlib import Path

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.properties import load_properties
from kafka_lite.tools.connect.worker_process import (
    WorkerProcess,
    add_common_arguments,
    add_worker_argument,
    worker_properties,
)
from kafka_lite.tools.server.foreground import run_in_foreground

logger = logging.getLogger(__name__)

NAME = "connect-standalone"
SUMMARY = "run connectors in one process, a worker by itself"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Kafka's arguments, the files, plus ``--override`` and ``--log-config``."""
    add_worker_argument(parser, "config/connect-standalone.properties")
    parser.add_argument(
        "connectors",
        nargs="+",
        type=Path,
        metavar="CONNECTOR.properties",
        help="a connector that is created at once, such as config/connect-file-source.properties",
    )
    add_common_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Run the worker until it is stopped; see ``run_in_foreground``."""

    def create() -> ConnectStandalone:
        worker = worker_properties(options)
        return ConnectStandalone(worker, {file: load_properties(file) for file in options.connectors})

    return run_in_foreground(NAME, create, options.log_config)


class ConnectStandalone(WorkerProcess):
    """A worker that runs in its own process, and ends if one of its connectors cannot be created."""

    def __init__(self, worker: Mapping[str, str], connectors: Mapping[Path, Mapping[str, str]]) -> None:
        super().__init__(worker)
        self._connectors = connectors

    def startup(self) -> None:
        """Start the worker, then its connectors. Raises KafkaError: the caller then calls ``shutdown``."""
        # Imported here so that --help and a missing file do not wait for the clients.
        from kafka_lite.connect.runtime.new_connect import new_standalone_connect

        self._connect = new_standalone_connect(self._worker)
        self._connect.start()
        for file, config in self._connectors.items():
            created = self._connect.herder.put_connector_config(config.get("name", ""), config, allow_replace=False)
            try:
                created.result()
            except Exception as error:  # a connector may raise anything
                raise KafkaError(f"Failed to create job for {file}: {error}") from error
            logger.info("Created connector %s", config["name"])

    def described(self) -> str:
        """The connectors."""
        return f"connectors {', '.join(config['name'] for config in self._connectors.values())}"

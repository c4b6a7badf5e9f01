"""A broker inside your own test process, with a ZooKeeper of its own, on ports that are free.

Kafka 0.10.2: core/src/test/.../integration/KafkaServerTestHarness.scala, utils/TestUtils.scala · book 1.4.1
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.kafka_server import KafkaServer

TEST_DEFAULTS: dict[str, str] = {
    "broker.id": "0",
    "listeners": "PLAINTEXT://127.0.0.1:0",
    "zookeeper.connect": "embedded",
    "offsets.topic.num.partitions": "5",
    "offsets.topic.replication.factor": "1",
    # Files of deleted topics and segments go at once: a test's folder is short-lived.
    "log.segment.delete.delay.ms": "1000",
    "num.io.threads": "4",
}
"""What differs from a broker's defaults, so that it starts quickly and leaves nothing lying about."""


class Cluster:
    """A running kafka_lite broker::

        with Cluster({"auto.create.topics.enable": "false"}) as cluster:
            producer = confluent_kafka.Producer({"bootstrap.servers": cluster.bootstrap_servers})

    ``overrides`` are keys of ``server.properties``. The data lie in ``data_dir`` and stay there, or in a temporary
    folder that goes with the cluster.
    """

    def __init__(self, overrides: Mapping[str, str] | None = None, data_dir: Path | str | None = None) -> None:
        self._overrides = dict(overrides or {})
        self._own_dir = data_dir is None
        self.data_dir = Path(data_dir) if data_dir is not None else Path(tempfile.mkdtemp(prefix="kafka-lite-"))
        self.server = self._new_server()

    def _new_server(self) -> KafkaServer:
        properties = TEST_DEFAULTS | {"log.dirs": str(self.data_dir / "logs")} | self._overrides
        return KafkaServer(KafkaConfig(properties))

    @property
    def bootstrap_servers(self) -> str:
        """What a client's ``bootstrap.servers`` should say."""
        return f"127.0.0.1:{self.server.bound_port()}"

    @property
    def zookeeper_connect(self) -> str:
        """Where the cluster's ZooKeeper is."""
        embedded = self.server.embedded_zookeeper
        return embedded.connect_string if embedded is not None else self.server.config.zk_connect

    def start(self) -> Self:
        """Start the broker; raises what ``KafkaServer.startup`` raises, with nothing left running."""
        self.server.startup()
        return self

    def stop(self) -> None:
        """Stop the broker and remove the temporary folder."""
        self.server.shutdown()
        if self._own_dir:
            shutil.rmtree(self.data_dir, ignore_errors=True)

    def restart(self) -> None:
        """Stop the broker cleanly and start it anew on the same data and the same port."""
        port = self.server.bound_port()
        self.server.shutdown()
        self._overrides.setdefault("listeners", f"PLAINTEXT://127.0.0.1:{port}")
        self.server = self._new_server()
        self.server.startup()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

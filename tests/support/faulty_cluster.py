"""A cluster behind a proxy, where one fault after the other occurs at random."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from kafka_lite.common.errors import Errors
from kafka_lite.testing.cluster import Cluster
from tests.support.cutting_proxy import CuttingProxy


@dataclass(frozen=True)
class FaultyCluster:
    """Clients reach it only through the proxy; the test's own requests to ``cluster`` bypass all faults."""

    cluster: Cluster
    proxy: CuttingProxy

    @property
    def bootstrap_servers(self) -> str:
        return f"127.0.0.1:{self.proxy.port}"

    @contextmanager
    def faults(self, seed: int) -> Iterator[None]:
        """Inject faults into produce requests and connections until the end of the block."""
        stop, rng = threading.Event(), random.Random(seed)

        def go_on() -> None:
            while not stop.wait(rng.random() * 0.3):
                self._one_fault(rng)

        thread = threading.Thread(target=go_on)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()
            self.cluster.reset()

    def _one_fault(self, rng: random.Random) -> None:
        produce = self.cluster.inject
        match rng.randrange(9):
            case 0:
                produce("Produce", Errors.NOT_LEADER_OR_FOLLOWER).once()
            case 1:
                self.cluster.disconnect_all()
            case 2:
                produce("Produce").drop_response().once()
            case 3:
                produce("Produce").drop_request().once()
            case 4:
                produce("Produce").cut_response(rng.randrange(20)).once()
            case 5:
                produce("Produce").delay(rng.choice([20, 700])).once()
            case 6:
                produce("Produce").slow_response(rng.choice([50, 500])).once()
            case 7:
                self.proxy.cut(rng.randrange(1, 1500))  # mostly in the middle of a request
            case 8:
                with self.cluster.paused():
                    time.sleep(rng.choice([0.05, 0.6]))


@contextmanager
def faulty_cluster() -> Iterator[FaultyCluster]:
    """A running cluster without topics, which creates none automatically."""
    with CuttingProxy() as proxy:
        overrides = {
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{proxy.port}", "auto.create.topics.enable": False,
        }  # fmt: skip
        with Cluster(overrides) as cluster:
            proxy.broker_port = int(cluster.bootstrap_servers.rpartition(":")[2])
            yield FaultyCluster(cluster, proxy)

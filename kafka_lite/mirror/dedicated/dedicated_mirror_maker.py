"""Runs MirrorMaker 2 from one file: a worker for each way, with its three connectors.

Kafka 2.4: connect/mirror/.../connect/mirror/MirrorMaker.java, MirrorHerder.java · book 8.1.1
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.connect.api.errors import NotFoundError
from kafka_lite.connect.runtime.connect import Connect
from kafka_lite.connect.runtime.herder import Herder
from kafka_lite.connect.runtime.new_connect import new_distributed_connect
from kafka_lite.mirror.dedicated.mirror_maker_config import KINDS, MirrorMakerConfig, SourceAndTarget

logger = logging.getLogger(__name__)

RETRY_MS = 1000
REQUEST_TIMEOUT_S = 60.0


class DedicatedMirrorMaker:
    """Kafka's MirrorMaker of ``connect-mirror-maker``. Several processes with the same file share the connectors."""

    def __init__(
        self,
        config: MirrorMakerConfig,
        targets: Iterable[str] = (),
        *,
        new_worker: Callable[[Mapping[str, str]], Connect] = new_distributed_connect,
    ) -> None:
        """``targets``: only the ways to these clusters, near which the process is; all if there are none.

        Raises KafkaError if no way is left.
        """
        self._config = config
        wanted = set(targets) or set(config.clusters)
        self.pairs = [pair for pair in config.cluster_pairs() if pair.target in wanted]
        """The ways."""
        if not self.pairs:
            raise KafkaError("No source->target replication flows.")
        self._new_worker = new_worker
        self._workers: dict[SourceAndTarget, Connect] = {}
        self._thread: _ConfiguringThread | None = None

    def start(self) -> None:
        """Start the workers. Raises ConfigError, ConnectError.

        Each creates its topics, and fails if they are refused. The connectors follow, as soon as a worker leads its
        group.
        """
        for pair in self.pairs:
            worker = self._workers[pair] = self._new_worker(self._config.worker_config(pair))
            worker.start()
            logger.info("Started the worker of %s", pair)
        herders = {pair: worker.herder for pair, worker in self._workers.items()}
        self._thread = _ConfiguringThread(self._config, herders)
        self._thread.start()

    def await_stop(self, timeout_s: float) -> bool:
        """Wait until a worker has stopped or failed; False after ``timeout_s``."""
        each_s = timeout_s / max(len(self._workers), 1)
        return any(worker.await_stop(each_s) for worker in self._workers.values())

    def stop(self) -> None:
        """Stop all workers. Idempotent."""
        if self._thread is not None:
            self._thread.shutdown()
            self._thread = None
        for worker in self._workers.values():
            worker.stop()


class _ConfiguringThread(ShutdownableThread):
    """Gives each worker its connectors, and ends when all have them.

    Only the leader of a group may do that. It may be in another process, which then has the same file.
    """

    def __init__(self, config: MirrorMakerConfig, herders: Mapping[SourceAndTarget, Herder]) -> None:
        super().__init__("mirror-maker-configurer")
        self._config = config
        self._left = [(pair, herder, kind) for pair, herder in herders.items() for kind in KINDS]

    def do_work(self) -> None:
        """Try all that are left, then wait a second."""
        self._left = [each for each in self._left if not self._is_configured(*each)]
        if not self._left:
            self.initiate_shutdown()
        else:
            self.pause(RETRY_MS)

    def _is_configured(self, pair: SourceAndTarget, herder: Herder, kind: str) -> bool:
        wanted = self._config.connector_config(pair, kind)
        try:
            if self._known(herder, kind) != wanted:
                herder.put_connector_config(kind, wanted, allow_replace=True).result(REQUEST_TIMEOUT_S)
        except (KafkaError, TimeoutError) as error:
            logger.debug("%s of %s is not configured yet: %s", kind, pair, error)
            return False
        logger.info("Configured %s of %s", kind, pair)
        return True

    @staticmethod
    def _known(herder: Herder, kind: str) -> Mapping[str, str] | None:
        try:
            return herder.connector_config(kind).result(REQUEST_TIMEOUT_S)
        except NotFoundError:
            return None

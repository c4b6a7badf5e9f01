"""Keeps the global stores of an instance up to date.

Kafka 0.10.2: streams/.../processor/internals/GlobalStreamThread.java · book 9.1.3
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from enum import Enum
from functools import partial

from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.common.time import Time
from kafka_lite.consumer.consumer_errors import InvalidOffsetError
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.streams.errors import StreamsError
from kafka_lite.streams.kafka_client_supplier import KafkaClientSupplier
from kafka_lite.streams.metrics.streams_metrics_impl import StreamsMetricsImpl
from kafka_lite.streams.processor.internals.topology.processor_topology import ProcessorTopology
from kafka_lite.streams.streams_config import StreamsConfig
from kafka_lite.streams.tasks.state_directory import StateDirectory
from kafka_lite.streams.tasks.task_environment import TaskEnvironment
from kafka_lite.streams.threads.global_state_manager import GlobalStateManager
from kafka_lite.streams.threads.global_state_update_task import GlobalStateUpdateTask

logger = logging.getLogger(__name__)


class GlobalStreamThreadState(Enum):
    """One row per state: what the thread does in it (action), and what leads out of it (transition)."""

    CREATED = "created"
    """action: restore the stores · transition: RUNNING when they are up to date, PENDING_SHUTDOWN if that fails"""
    RUNNING = "running"
    """action: poll, update · transition: PENDING_SHUTDOWN by ``initiate_shutdown``, or an error"""
    PENDING_SHUTDOWN = "pending shutdown"
    """action: close the stores and the consumer · transition: DEAD"""
    DEAD = "dead"
    """action: none · transition: none"""


_S = GlobalStreamThreadState
VALID_PREVIOUS_STATES: dict[GlobalStreamThreadState, frozenset[GlobalStreamThreadState]] = {
    _S.CREATED: frozenset(),
    _S.RUNNING: frozenset({_S.CREATED}),
    _S.PENDING_SHUTDOWN: frozenset({_S.CREATED, _S.RUNNING}),
    _S.DEAD: frozenset({_S.PENDING_SHUTDOWN}),
}
"""The states that may come before a state. Any other change is a bug, and raises RuntimeError."""


class GlobalStreamThread(ShutdownableThread):
    """One per instance. Its consumer has no group: it reads all partitions of all global topics."""

    def __init__(
        self,
        topology: ProcessorTopology,
        config: StreamsConfig,
        client_id: str,
        on_state_change: Callable[[GlobalStreamThreadState], None],
        on_error: Callable[[threading.Thread, Exception], None],
        time: Time,
        metrics: Metrics,
        clients: KafkaClientSupplier,
    ) -> None:
        """Create the consumer. Raises ConfigError. ``on_error`` is called in the thread when it dies of an error."""
        super().__init__("GlobalStreamThread")
        self._topology = topology
        self._config = config
        self._time = time
        self._on_state_change = on_state_change
        self._on_error = on_error
        self._state = GlobalStreamThreadState.CREATED
        self._consumer = clients.get_restore_consumer(config.restore_consumer_configs(f"{client_id}-global"))
        directory = StateDirectory(config.application_id, config["state.dir"], time)
        self._state_manager = GlobalStateManager(self._consumer, topology.store_to_changelog_topic, directory, time)
        tags = {"client-id": f"{client_id}-{self.name}"}
        self._metrics = StreamsMetricsImpl(metrics, tags, time)
        environment = TaskEnvironment(
            config.application_id,
            config.key_serde(),
            config.value_serde(),
            app_configs=config.originals,
            metrics=self._metrics,
        )
        on_bad_record = config.deserialization_exception_handler()
        self._task = GlobalStateUpdateTask(topology, environment, self._state_manager, on_bad_record)
        self._restored = threading.Event()
        self._startup_error: Exception | None = None
        self._last_flush_ms = time.hi_res_ms()
        self._clean_run = True
        """Whether the stores have what their offsets say: after an error nothing is certain."""

    @property
    def state(self) -> GlobalStreamThreadState:
        """The current state."""
        return self._state

    def start(self) -> None:
        """Start the thread. Blocks until the stores are restored. Raises StreamsError if that fails."""
        super().start()
        self._restored.wait()
        if self._startup_error is not None:
            raise StreamsError(f"Exception caught during initialization of {self.name}") from self._startup_error

    def run(self) -> None:
        """Restore the stores, then run the loop. An error ends the thread."""
        try:
            self._start_up()
            while self.is_running:
                self.do_work()
        except Exception as error:
            self._clean_run = False
            if isinstance(error, InvalidOffsetError):
                self._state_manager.forget_offsets(error.partitions, str(error))
            if not self._restored.is_set():
                self._startup_error = error
            else:
                logger.exception("global-stream-thread [%s] stopped because of an error", self.name)
                self._on_error(self, error)
        finally:
            self._stopping.set()
            self.on_exit()
            self._restored.set()

    def _start_up(self) -> None:
        self._state_manager.initialize(self._topology.state_stores)
        self._task.initialize()
        offsets = self._state_manager.offsets
        self._consumer.assign(list(offsets))
        for partition, offset in offsets.items():
            self._consumer.seek(partition, offset)
        self._set_state(GlobalStreamThreadState.RUNNING)
        self._restored.set()

    def do_work(self) -> None:
        """Update the stores with the next records. Flush and checkpoint them every ``commit.interval.ms``."""
        records = self._consumer.poll(self._config["poll.ms"])
        for partition in records.partitions:
            for record in records.records(partition):
                self._task.update(record)
        now_ms, interval_ms = self._time.hi_res_ms(), self._config["commit.interval.ms"]
        if 0 <= interval_ms <= now_ms - self._last_flush_ms:
            self._task.flush_state()
            self._last_flush_ms = now_ms

    def on_exit(self) -> None:
        """Close the consumer, then the stores, with a checkpoint unless there was an error, then the sensors."""
        self._set_state(GlobalStreamThreadState.PENDING_SHUTDOWN)
        for close in (self._consumer.close, partial(self._task.close, self._clean_run), self._metrics.close):
            try:
                close()
            except Exception:
                logger.exception("global-stream-thread [%s] Failed to close", self.name)
        self._set_state(GlobalStreamThreadState.DEAD)

    def close_unstarted(self) -> None:
        """Close the consumer of a thread that was never started, and remove its sensors."""
        self._stopping.set()
        self.on_exit()

    def _set_state(self, state: GlobalStreamThreadState) -> None:
        if self._state not in VALID_PREVIOUS_STATES[state]:
            raise RuntimeError(f"{self.name}: Unexpected state transition from {self._state} to {state}")
        logger.info("global-stream-thread [%s] State transition from %s to %s", self.name, self._state.name, state.name)
        self._state = state
        self._on_state_change(state)

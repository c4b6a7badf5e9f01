"""The herder's reaction to changes of the config topic: rebalance, or restart a connector here, or nothing.

Kafka 0.10.2: connect/runtime/.../connect/runtime/distributed/DistributedHerder.java (ConfigUpdateListener, tick,
processConnectorConfigUpdates, processTargetStateChanges) · book 8.3.4
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.storage.cluster_config_state import ClusterConfigState
from kafka_lite.connect.runtime.storage.restart_request import RestartRequest
from kafka_lite.connect.runtime.target_state import TargetState

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ConfigChanges:
    """The records of the config topic since the last look, as far as they matter to a herder."""

    needs_rebalance: bool = False
    """Whether a connector was added or removed, or tasks were committed."""
    connectors: frozenset[str] = frozenset()
    """Connectors whose configuration was written or removed."""
    target_states: frozenset[str] = frozenset()
    """Connectors that the user paused, stopped or resumed."""

    def __bool__(self) -> bool:
        return self.needs_rebalance or bool(self.connectors) or bool(self.target_states)


@dataclass(frozen=True)
class Reaction:
    """The steps of a worker, none of which depends on the others."""

    rebalance: bool = False
    """Join again. Nothing else is needed: everything is stopped, and started with the new snapshot."""
    stop: tuple[str, ...] = ()
    restart: tuple[str, ...] = ()
    target_states: Mapping[str, TargetState] = field(default_factory=dict)


def react(
    changes: ConfigChanges, before: ClusterConfigState, now: ClusterConfigState, own: Collection[str]
) -> Reaction:
    """Decide. ``before`` and ``now`` are snapshots, ``own`` the connectors that this worker runs.

    ==============================================  ====================================================
    change                                          every worker
    ==============================================  ====================================================
    connector added or removed, tasks committed     rebalances: there is other work to divide
    configuration of a known connector              restarts the connector, if it runs here. Its tasks follow
                                                    if the connector then wants other ones, by a commit
    paused, stopped, resumed                        tells what it runs of the connector
    ==============================================  ====================================================

    Snapshots are compared, too: a record may be in ``now`` before its change was reported.
    """
    if changes.needs_rebalance or before.connectors != now.connectors:
        return Reaction(rebalance=True)
    changed = sorted(changes.connectors.intersection(own))
    states = {name: now.target_state(name) or TargetState.STARTED for name in sorted(changes.target_states)}
    return Reaction(
        stop=tuple(name for name in changed if name not in now),
        restart=tuple(name for name in changed if name in now),
        target_states={name: state for name, state in states.items() if name in now},
    )


class ConfigChangeCollector:
    """The listener of the config store: gathers changes, in the store's thread, until the herder takes them."""

    def __init__(
        self,
        known: Callable[[], ClusterConfigState],
        wake_up: Callable[[], None],
        set_logger_level: Callable[[str, str], object],
    ) -> None:
        """``known`` is the herder's snapshot, ``wake_up`` interrupts its wait."""
        self._set_logger_level = set_logger_level
        self._known = known
        self._wake_up = wake_up
        self._lock = threading.Lock()
        self._changes = ConfigChanges()
        self._restarts: dict[str, RestartRequest] = {}

    @property
    def needs_rebalance(self) -> bool:
        """Whether a rebalance is to be expected, so that what is known of leader and owners may soon be wrong."""
        with self._lock:
            return self._changes.needs_rebalance

    def take(self) -> ConfigChanges:
        """The changes so far. Each of them is in a snapshot that is taken after this call."""
        with self._lock:
            changes, self._changes = self._changes, ConfigChanges()
            return changes

    def take_restarts(self) -> list[RestartRequest]:
        """The restarts that were requested so far, one for each connector."""
        with self._lock:
            restarts, self._restarts = list(self._restarts.values()), {}
            return restarts

    def on_connector_config_remove(self, connector: str) -> None:
        """A connector was removed. The rest is divided again, unless nothing is known of this connector."""
        logger.info("Connector %s config removed", connector)
        self._add(connectors={connector}, needs_rebalance=connector in self._known())

    def on_connector_config_update(self, connector: str) -> None:
        """A connector was added, or its configuration was written again."""
        logger.info("Connector %s config updated", connector)
        self._add(connectors={connector}, needs_rebalance=connector not in self._known())

    def on_task_config_update(self, tasks: Sequence[ConnectorTaskId]) -> None:
        """Tasks were committed. All workers stop theirs first, so that the offsets are committed."""
        logger.info("Tasks %s configs updated", [str(task) for task in tasks])
        self._add(needs_rebalance=True)

    def on_connector_target_state_change(self, connector: str) -> None:
        """The user paused, stopped or resumed a connector."""
        logger.info("Connector %s target state change", connector)
        self._add(target_states={connector})

    def on_restart_request(self, request: RestartRequest) -> None:
        """The user wants a connector restarted. Of several requests for it, the one with the most impact stays."""
        logger.info("Received and enqueuing %s", request)
        with self._lock:
            waiting = self._restarts.setdefault(request.connector, request)
            self._restarts[request.connector] = max(waiting, request, key=lambda each: each.impact)
        self._wake_up()

    def on_logging_level_update(self, name: str, level: str) -> None:
        """The user sets the level of a logger on all workers: here it is done at once."""
        self._set_logger_level(name, level)

    def _add(
        self, *, needs_rebalance: bool = False, connectors: Collection[str] = (), target_states: Collection[str] = ()
    ) -> None:
        with self._lock:
            self._changes = replace(
                self._changes,
                needs_rebalance=self._changes.needs_rebalance or needs_rebalance,
                connectors=self._changes.connectors.union(connectors),
                target_states=self._changes.target_states.union(target_states),
            )
        self._wake_up()

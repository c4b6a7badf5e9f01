"""Rebalances some time after a worker has come or gone: one that is only restarted keeps its partitions.

    a worker goes      wait for the delay (120 s)      rebalance with the workers that live then
                       it comes back in time           the same workers as before: nothing moves

uReplicator kafka-0.10.2.1: uReplicator-Controller/.../mirrormaker/controller/core/
AutoRebalanceLiveInstanceChangeListener.java (AutoRebalanceLiveInstanceChangeListener) · book 8.2.2
"""

from __future__ import annotations

import logging

from kafka_lite.common.scheduler import Scheduler
from kafka_lite.mirror.ureplicator.controller.helix_mirror_maker_manager import HelixMirrorMakerManager

logger = logging.getLogger(__name__)


class AutoRebalanceLiveInstanceChangeListener:
    """Watches the live instances. The rebalance runs in the scheduler."""

    def __init__(self, manager: HelixMirrorMakerManager, scheduler: Scheduler, delay_s: float) -> None:
        self._manager = manager
        self._scheduler = scheduler
        self._delay_s = delay_s

    def start(self) -> None:
        """Rebalance after the delay, and again after each change: this controller may have missed one.

        So may its predecessor have: a change of the leader counts, too. (In uReplicator it does not. The partitions of
        a worker that dies with the leader stay alone if the delay is shorter than the leader's session.)
        """
        zk, paths = self._manager.accessor.zk, self._manager.paths
        zk.watch_children(paths.live_instances, self.on_live_instance_change)
        zk.watch_data(paths.leader, self.on_live_instance_change)
        zk.add_session_listener(self.on_live_instance_change)
        self.on_live_instance_change()

    def on_live_instance_change(self) -> None:
        """A worker, or the leader, has come or gone. Does not block."""
        self._scheduler.schedule("rebalance", self.rebalance_current_cluster, delay_ms=self._delay_s * 1000)

    def rebalance_current_cluster(self) -> None:
        """Rebalance if this controller leads, and nobody has disabled it."""
        if not self._manager.is_leader:
            logger.info("Not leader, do nothing!")
            return
        if not self._manager.is_auto_balancing_enabled:
            logger.info("Is leader, but auto-balancing is disabled, do nothing!")
            return
        moved = self._manager.rebalance()
        logger.info("Rebalanced for the live workers: %s", f"moved {', '.join(moved)}" if moved else "nothing to move")

"""The election of the controller: the broker that creates /controller is it, until that znode is gone.

Kafka 0.10.2: core/.../server/ZookeeperLeaderElector.scala (LeaderChangeListener), controller/KafkaController.scala
(SessionExpirationListener) · book 7.1.1
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from kafka_lite.common.process.garbage import without_collections
from kafka_lite.controller.controller_context import ControllerContext
from kafka_lite.controller.controller_event_thread import ControllerEvent, ControllerEventThread
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.zk_errors import FencedError, ZkConnectionError
from kafka_lite.zookeeper.znode_json import ZnodeDataError

logger = logging.getLogger(__name__)

ELECTION_BACKOFF_MS = 100

Result = TypeVar("Result")


class ZookeeperLeaderElector:
    """Takes part in elections for this broker. Used by the controller's event thread only."""

    def __init__(
        self,
        broker_id: int,
        context: ControllerContext,
        zk_client: KafkaZkClient,
        thread: ControllerEventThread,
        is_active: Callable[[], bool],
        on_becoming_leader: Callable[[], None],
        on_resigning_as_leader: Callable[[], None],
    ) -> None:
        """``on_becoming_leader`` takes over; the context has the new epoch by then."""
        self._broker_id = broker_id
        self._context = context
        self._zk_client = zk_client
        self._thread = thread
        self._is_active = is_active
        self._on_becoming_leader = on_becoming_leader
        self._on_resigning_as_leader = on_resigning_as_leader

    def elect(self) -> None:
        """Try to create /controller. A broker that loses waits until the winner is gone."""
        controller_id = self._zk_client.get_controller_id()
        if controller_id is not None and controller_id != self._broker_id:
            logger.debug("Broker %d is the controller", controller_id)
            return
        if self._is_active():
            return
        try:
            elected = self._zk_client.register_controller_and_increment_epoch(self._broker_id)
        except ZnodeDataError as error:
            logger.error("No controller can be elected: %s", error)
            self._thread.pause(ELECTION_BACKOFF_MS)
            self._thread.put(ControllerEvent("Reelect", self.elect))
            return
        if elected is None:
            return
        self._context.epoch, self._context.epoch_zk_version = elected
        logger.info("Broker %d is elected as the controller of epoch %d", self._broker_id, self._context.epoch)
        try:
            with self._zk_client.fenced_by_controller_epoch(self._context.epoch_zk_version), without_collections():
                self._on_becoming_leader()
        except ZkConnectionError:
            self._on_resigning_as_leader()
            raise
        except Exception:
            logger.exception(
                "Broker %d could not take over as controller and withdraws from the election", self._broker_id
            )
            self.withdraw()

    def withdraw(self) -> None:
        """Resign, and let all brokers try to become the controller."""
        self._on_resigning_as_leader()
        self._zk_client.delete_own_controller()

    def process_controller_change(self) -> None:
        """/controller was created, changed or deleted."""
        controller_id = self._zk_client.get_controller_id()
        if self._is_active() and controller_id != self._broker_id:
            logger.info("Broker %d is no longer the controller: %s is", self._broker_id, controller_id)
            self._on_resigning_as_leader()
        if controller_id is None:
            self.elect()

    def process_session_expired(self) -> None:
        """Our /controller vanished with the old session, unless a ControllerChange had us elected in the new one."""
        if self._is_active() and self._zk_client.owns_controller():
            return
        self.withdraw()
        self.elect()

    def process_as_leader(self, process: Callable[[], Result]) -> Result:
        """Process an event. If another controller has raised the epoch, write nothing, resign, raise FencedError."""
        try:
            with self._zk_client.fenced_by_controller_epoch(self._context.epoch_zk_version):
                return process()
        except FencedError:
            logger.warning("Broker %d was replaced as the controller of epoch %d", self._broker_id, self._context.epoch)
            self.withdraw()
            raise

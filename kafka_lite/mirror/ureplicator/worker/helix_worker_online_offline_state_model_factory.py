"""The worker as a Helix participant: what a transition does with a partition.

uReplicator kafka-0.10.2.1: uReplicator-Worker/.../mirrormaker/HelixWorkerOnlineOfflineStateModelFactory.scala
· book 8.2.3
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Protocol

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.helix.helix_errors import HelixError
from kafka_lite.mirror.helix.model.message import Message
from kafka_lite.mirror.helix.model.state_model_definition import DROPPED, ERROR, Transition
from kafka_lite.mirror.helix.participant.state_model import Action, StateModel
from kafka_lite.mirror.ureplicator.helix_names import OFFLINE, ONLINE, topic_partition

logger = logging.getLogger(__name__)


class Connector(Protocol):
    """The part of KafkaConnector that transitions need."""

    def add_topic_partition(self, partition: TopicPartition) -> None:
        """Copy a partition."""
        ...

    def delete_topic_partition(self, partition: TopicPartition) -> None:
        """Stop copying it, flush, and commit."""
        ...


class HelixWorkerOnlineOfflineStateModelFactory:
    """Makes the worker's replicas, all of one connector."""

    def __init__(self, connector: Connector) -> None:
        self._connector = connector

    def __call__(self, resource: str, partition: str) -> HelixWorkerOnlineOfflineStateModel:
        """The replica of a topic's partition."""
        return HelixWorkerOnlineOfflineStateModel(self._connector, resource, partition)


class HelixWorkerOnlineOfflineStateModel(StateModel):
    """A partition of this worker::

        transition           what the worker does                            if that fails
        ───────────────────  ──────────────────────────────────────────────  ─────────────────────────────────────
        OFFLINE → ONLINE     read the offset, add the partition              ERROR: the partition is not copied
        ONLINE → OFFLINE     stop, flush, commit the offset                  ERROR: copied records may come again
        OFFLINE → DROPPED    nothing                                         –
        ERROR → OFFLINE      (reset) see that it is stopped                  disabled on this worker
        the session is lost  stop, flush, commit the offset                  logged

    Helix creates OFFLINE → ONLINE for another worker only when this one is OFFLINE. So its offset is committed by then.
    """

    def __init__(self, connector: Connector, resource: str, partition: str) -> None:
        super().__init__(OFFLINE)
        self._connector = connector
        self._resource = resource
        self._partition = partition

    def transitions(self) -> Mapping[Transition, Action]:
        """OnlineOffline's, and the way out of ERROR."""
        return {
            (OFFLINE, ONLINE): self._become_online,
            (ONLINE, OFFLINE): self._become_offline,
            (OFFLINE, DROPPED): self._become_dropped,
            (ERROR, OFFLINE): self._become_offline,
        }

    @property
    def _topic_partition(self) -> TopicPartition:
        found = topic_partition(self._resource, self._partition)
        if found is None:
            raise HelixError(f"{self._resource}/{self._partition}: a partition of Kafka has a number")
        return found

    def _become_online(self, _message: Message) -> str | None:
        self._connector.add_topic_partition(self._topic_partition)
        return None

    def _become_offline(self, _message: Message) -> str | None:
        self._connector.delete_topic_partition(self._topic_partition)
        return None

    def _become_dropped(self, _message: Message) -> str | None:
        """OFFLINE is stopped already."""
        return None

    def reset(self) -> None:
        """The session is lost: stop before another worker takes over, which it does only after its delay."""
        if self.current_state != ONLINE:
            return
        try:
            self._connector.delete_topic_partition(self._topic_partition)
        except Exception:  # the worker must join again, whatever happens
            logger.exception("%s was stopped without a commit", self._topic_partition)

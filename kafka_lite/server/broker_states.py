"""The states of a broker, as a table.

Kafka 0.10.2: core/.../server/BrokerStates.scala (BrokerState) · book 7.4
"""

from __future__ import annotations

from enum import Enum

from kafka_lite.common.errors import KafkaError


class BrokerState(Enum):
    """The life of a broker.

    - NOT_RUNNING: *action*: none. *transition*: ``startup`` → STARTING.
    - STARTING: *action*: connects to ZooKeeper. *transition*: a log was not closed cleanly →
      RECOVERING_FROM_UNCLEAN_SHUTDOWN; all parts are up → RUNNING_AS_BROKER.
    - RECOVERING_FROM_UNCLEAN_SHUTDOWN: *action*: logs are scanned. *transition*: all parts are up → RUNNING_AS_BROKER.
    - RUNNING_AS_BROKER: *action*: serves. *transition*: ``shutdown`` → PENDING_CONTROLLED_SHUTDOWN, or
      BROKER_SHUTTING_DOWN if there is no other replica to lead.
    - PENDING_CONTROLLED_SHUTDOWN: *action*: serves, while the controller moves its leaderships away. *transition*: they
      are moved, or cannot be → BROKER_SHUTTING_DOWN.
    - BROKER_SHUTTING_DOWN: *action*: refuses new work, closes. *transition*: all parts are down → NOT_RUNNING.
    """

    NOT_RUNNING = 0
    STARTING = 1
    RECOVERING_FROM_UNCLEAN_SHUTDOWN = 2
    RUNNING_AS_BROKER = 3
    PENDING_CONTROLLED_SHUTDOWN = 6
    BROKER_SHUTTING_DOWN = 7


VALID_PREVIOUS_STATES: dict[BrokerState, frozenset[BrokerState]] = {
    BrokerState.NOT_RUNNING: frozenset({BrokerState.BROKER_SHUTTING_DOWN}),
    BrokerState.STARTING: frozenset({BrokerState.NOT_RUNNING}),
    BrokerState.RECOVERING_FROM_UNCLEAN_SHUTDOWN: frozenset({BrokerState.STARTING}),
    BrokerState.RUNNING_AS_BROKER: frozenset({BrokerState.STARTING, BrokerState.RECOVERING_FROM_UNCLEAN_SHUTDOWN}),
    BrokerState.PENDING_CONTROLLED_SHUTDOWN: frozenset({BrokerState.RUNNING_AS_BROKER}),
    BrokerState.BROKER_SHUTTING_DOWN: frozenset(
        {
            BrokerState.STARTING,
            BrokerState.RECOVERING_FROM_UNCLEAN_SHUTDOWN,
            BrokerState.RUNNING_AS_BROKER,
            BrokerState.PENDING_CONTROLLED_SHUTDOWN,
        }
    ),
}


class BrokerStoppedError(KafkaError):
    """Something stopped the broker while it was starting, such as the failure of its last log directory."""


def check_transition(current: BrokerState, target: BrokerState) -> BrokerState:
    """Return ``target`` if the table allows it after ``current``; raise RuntimeError otherwise."""
    if current not in VALID_PREVIOUS_STATES[target]:
        raise RuntimeError(f"a broker that is {current.name} cannot become {target.name}")
    return target

"""The interface of a listener that is told of a group's rebalances.

Kafka 0.10.2: connect/runtime/.../connect/runtime/distributed/WorkerRebalanceListener.java · book 8.3.4
"""

from __future__ import annotations

from typing import Protocol

from kafka_lite.connect.runtime.distributed.connect_protocol import Assignment


class WorkerRebalanceListener(Protocol):
    """The herder. It is told in its own thread, while it polls the group."""

    def on_revoked(self, assignment: Assignment) -> None:
        """The group rebalances: stop everything that the last assignment has started."""
        ...

    def on_assigned(self, assignment: Assignment, generation: int) -> None:
        """The group has agreed. The assignment may have failed: then there is nothing to run."""
        ...

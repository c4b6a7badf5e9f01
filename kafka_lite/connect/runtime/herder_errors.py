"""Why a herder cannot do what it was asked.

Kafka 0.10.2: connect/runtime/.../connect/runtime/rest/errors/BadRequestException.java,
runtime/distributed/RequestTargetException.java, NotLeaderException.java, NotAssignedException.java,
RebalanceNeededException.java · book 8.3.4
"""

from __future__ import annotations

from kafka_lite.connect.api.errors import ConnectError


class BadRequestError(ConnectError):
    """A request that makes no sense."""


class ForbiddenError(ConnectError):
    """A request that the worker's configuration does not allow."""


class UnsupportedHerderError(ConnectError):
    """A call that this kind of herder does not have. Kafka: UnsupportedOperationException."""


class RequestTargetError(ConnectError):
    """Another worker can do it: ``forward_url`` says which."""

    def __init__(self, message: str, forward_url: str) -> None:
        super().__init__(message)
        self.forward_url = forward_url


class NotLeaderError(RequestTargetError):
    """Only the leader of the group can do it."""


class NotAssignedError(RequestTargetError):
    """Only the worker that runs the connector or task can do it."""


class RebalanceNeededError(ConnectError):
    """The group has to rebalance before."""

"""The errors of Connect.

Kafka 0.10.2: connect/api/.../connect/errors · book 8.3.2
"""

from __future__ import annotations

from kafka_lite.common.errors import KafkaError


class ConnectError(KafkaError):
    """The base class of the errors of Connect. Kafka: ConnectException."""


class DataError(ConnectError):
    """Data that does not fit its schema, or that a converter or a transformation cannot handle."""


class SchemaBuilderError(DataError):
    """A call of a SchemaBuilder that is not valid: a property set twice, or a default that does not fit the type."""


class SchemaProjectorError(DataError):
    """A value of one schema that cannot be projected onto another one."""


class RetriableError(ConnectError):
    """A task raises it if the same call may succeed later: the runtime calls again with the same records."""


class IllegalWorkerStateError(ConnectError):
    """A call to the runtime that is not possible in its present state."""


class AlreadyExistsError(ConnectError):
    """Something with this name exists already."""


class NotFoundError(ConnectError):
    """There is nothing of this name."""

"""A record on its way through a task, and the error that stopped it.

Kafka 2.0: connect/runtime/.../connect/runtime/errors/ProcessingContext.java, Stage.java · book 8.3.7
"""

from __future__ import annotations

from enum import Enum
from typing import Final, Generic, TypeVar

from kafka_lite.connect.java_names import java_name

T = TypeVar("T")
_ERRORS_MODULE, _JAVA_ERRORS = "kafka_lite.connect.api.errors", "org.apache.kafka.connect.errors"


class Stage(Enum):
    """The operations on a record."""

    TASK_PUT = "when a sink task writes it"
    TRANSFORMATION = "when it is transformed"
    KEY_CONVERTER = "when its key is converted"
    VALUE_CONVERTER = "when its value is converted"
    HEADER_CONVERTER = "when its headers are converted"
    KAFKA_PRODUCE = "when it is produced"


_FIRST_STAGE: Final = Stage.TRANSFORMATION


class ProcessingContext(Generic[T]):
    """``original`` is the ConsumerRecord of a sink, or the SourceRecord of a source. Not thread-safe."""

    __slots__ = ("attempts", "error", "executing", "original", "stage")

    def __init__(self, original: T) -> None:
        self.original = original
        self.stage: Stage = _FIRST_STAGE
        self.executing: object = None
        """The converter or transformation in use, or its class."""
        self.attempts = 0
        self.error: BaseException | None = None

    @property
    def failed(self) -> bool:
        """Whether an operation has failed. No other one follows it."""
        return self.error is not None

    @property
    def executing_class(self) -> str:
        """The class of ``executing``; under Java's name if it has one."""
        kind = self.executing if isinstance(self.executing, type) else type(self.executing)
        path = f"{kind.__module__}.{kind.__qualname__}"
        return java_name(path) or path


def error_class(error: BaseException) -> str:
    """The class of an error; those of Connect under their names in Java, as tools for dead letter queues know them."""
    kind = type(error)
    if kind.__module__ == _ERRORS_MODULE:
        return f"{_JAVA_ERRORS}.{kind.__name__.removesuffix('Error')}Exception"
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"

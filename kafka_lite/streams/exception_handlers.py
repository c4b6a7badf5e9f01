"""Handlers of records that cannot be deserialized, or cannot be stored.

Kafka 0.10.2 ends the thread in both cases. The handlers are KIP-161's (Kafka 1.0) and KIP-210's (Kafka 1.1):
streams/.../streams/errors/DeserializationExceptionHandler.java, LogAndContinueExceptionHandler.java,
LogAndFailExceptionHandler.java, ProductionExceptionHandler.java, DefaultProductionExceptionHandler.java · book 9.1.3
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping
from enum import Enum

from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.producer.producer_record import ProducerRecord
from kafka_lite.streams.task_id import TaskId

logger = logging.getLogger(__name__)


class HandlerResponse(Enum):
    """The action after an error. Kafka: DeserializationHandlerResponse, ProductionExceptionHandlerResponse."""

    CONTINUE = 0
    """continue with the next record"""
    FAIL = 1
    """end the thread"""


class DeserializationExceptionHandler(ABC):
    """``default.deserialization.exception.handler``. It must not raise. Each task has its own object."""

    def configure(self, configs: Mapping[str, object]) -> None:  # noqa: B027 - most handlers have no configuration
        """Called once with the keys of the application."""

    @abstractmethod
    def handle(self, task_id: TaskId, record: ConsumerRecord, error: Exception) -> HandlerResponse:
        """``record`` has its raw bytes."""


class LogAndFailExceptionHandler(DeserializationExceptionHandler):
    """The default: a record that cannot be deserialized ends the thread."""

    def handle(self, task_id: TaskId, record: ConsumerRecord, error: Exception) -> HandlerResponse:
        """Log an error, and fail."""
        _log(logging.ERROR, task_id, record, error)
        return HandlerResponse.FAIL


class LogAndContinueExceptionHandler(DeserializationExceptionHandler):
    """A record that cannot be deserialized is skipped."""

    def handle(self, task_id: TaskId, record: ConsumerRecord, error: Exception) -> HandlerResponse:
        """Log a warning, and continue."""
        _log(logging.WARNING, task_id, record, error)
        return HandlerResponse.CONTINUE


def _log(level: int, task_id: TaskId, record: ConsumerRecord, error: Exception) -> None:
    logger.log(
        level, "Exception caught during Deserialization, taskId: %s, topic: %s, partition: %d, offset: %d: %s",
        task_id, record.topic, record.partition, record.offset, error,
    )  # fmt: skip


class ProductionExceptionHandler(ABC):
    """``default.production.exception.handler``: for errors that the producer does not retry, such as a large record.

    Called in the producer's thread. It must not raise. Each task has its own object.
    """

    def configure(self, configs: Mapping[str, object]) -> None:  # noqa: B027 - most handlers have no configuration
        """Called once with the keys of the application."""

    @abstractmethod
    def handle(self, record: ProducerRecord, error: Exception) -> HandlerResponse:
        """``record`` is serialized. With CONTINUE it is lost; with exactly_once its transaction cannot be committed."""


class DefaultProductionExceptionHandler(ProductionExceptionHandler):
    """A record that cannot be stored ends the thread."""

    def handle(self, record: ProducerRecord, error: Exception) -> HandlerResponse:  # noqa: ARG002
        """Fail."""
        return HandlerResponse.FAIL

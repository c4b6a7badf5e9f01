"""The transformations of a connector, one after the other.

Kafka 0.10.2: connect/runtime/.../connect/runtime/TransformationChain.java · book 8.3.5
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from kafka_lite.connect.api.connect_record import ConnectRecord
from kafka_lite.connect.api.transformation import Transformation
from kafka_lite.connect.runtime.errors.error_handling_config import ErrorHandlingConfig
from kafka_lite.connect.runtime.errors.processing_context import ProcessingContext, Stage
from kafka_lite.connect.runtime.errors.retry_with_tolerance_operator import RetryWithToleranceOperator

R = TypeVar("R", bound=ConnectRecord)


class TransformationChain:
    """Each gets what the one before it returned."""

    def __init__(
        self, transformations: Sequence[Transformation] = (), operator: RetryWithToleranceOperator | None = None
    ) -> None:
        """By default an error is raised."""
        self._transformations = transformations
        self._operator = operator or RetryWithToleranceOperator(ErrorHandlingConfig())

    def apply(self, context: ProcessingContext[Any], record: R) -> R | None:
        """The changed record; None if a transformation drops it, or fails and this is tolerated.

        Raises ConnectError.
        """
        changed: R | None = record
        for transformation in self._transformations:
            if changed is None:
                break
            changed = self._operator.execute(
                context, Stage.TRANSFORMATION, transformation, transformation.apply, changed
            )
        return changed

    def close(self) -> None:
        """Close all of them."""
        for transformation in self._transformations:
            transformation.close()

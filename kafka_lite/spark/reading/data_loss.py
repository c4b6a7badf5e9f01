"""The ``failOnDataLoss`` option: what to do if records that a query should have read are gone.

Spark 4.2: connector/kafka-0-10-sql/.../KafkaMicroBatchStream.scala (reportDataLoss) · book 4.4.4
"""

from __future__ import annotations

import logging

from kafka_lite.common.errors import KafkaError
from kafka_lite.spark.reading.planner import ReportDataLoss

logger = logging.getLogger(__name__)

_WHY = "they were deleted by retention, or with their topic, before the query read them"


class DataLossError(KafkaError):
    """Records that the query should have read are gone, and ``failOnDataLoss`` is true."""


def data_loss_reporter(fail_on_data_loss: bool) -> ReportDataLoss:
    """A function that takes a description of the loss and raises ``DataLossError`` or logs a warning."""
    return _fail if fail_on_data_loss else _warn


def _fail(finding: str) -> None:
    raise DataLossError(f"{finding}; {_WHY}. To continue without them, set failOnDataLoss to false")


def _warn(finding: str) -> None:
    logger.warning("%s; %s. If the query is to fail then, set failOnDataLoss to true", finding, _WHY)

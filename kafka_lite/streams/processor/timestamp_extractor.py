"""Determines the time of a record: event time from its value or metadata, or the wall clock.

Kafka 0.10.2: streams/.../processor/TimestampExtractor.java, ExtractRecordMetadataTimestamp.java,
FailOnInvalidTimestamp.java, LogAndSkipOnInvalidTimestamp.java, UsePreviousTimeOnInvalidTimestamp.java,
WallclockTimestampExtractor.java · book 9.1.3
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.streams.errors import StreamsError

logger = logging.getLogger(__name__)


class TimestampExtractor(ABC):
    """Called once for each input record, after its key and value have been deserialized."""

    @abstractmethod
    def extract(self, record: ConsumerRecord, previous_timestamp: int) -> int:
        """The record's time in ms since the epoch. A record with a negative time is dropped.

        ``previous_timestamp`` is the smallest time among the records of the partition that are not processed yet, or
        the time of the last processed record; -1 before the first one.
        """


class ExtractRecordMetadataTimestamp(TimestampExtractor):
    """The timestamp that the producer or the broker has put into the record."""

    def extract(self, record: ConsumerRecord, previous_timestamp: int) -> int:
        """The timestamp of the record, or the result of ``on_invalid_timestamp`` if that is negative."""
        if record.timestamp < 0:
            return self.on_invalid_timestamp(record, record.timestamp, previous_timestamp)
        return record.timestamp

    @abstractmethod
    def on_invalid_timestamp(self, record: ConsumerRecord, record_timestamp: int, previous_timestamp: int) -> int:
        """The time of a record whose timestamp is negative."""


class FailOnInvalidTimestamp(ExtractRecordMetadataTimestamp):
    """The default: a record without a timestamp ends the application, since no result would be right."""

    def on_invalid_timestamp(self, record: ConsumerRecord, record_timestamp: int, previous_timestamp: int) -> int:  # noqa: ARG002
        """Raises StreamsError."""
        raise StreamsError(
            f"Input record {record} has invalid (negative) timestamp. Possibly because a pre-0.10 producer client was "
            "used to write this record to Kafka without embedding a timestamp, or because the input topic was created "
            "before upgrading the Kafka cluster to 0.10+. Use a different TimestampExtractor to process this data."
        )


class LogAndSkipOnInvalidTimestamp(ExtractRecordMetadataTimestamp):
    """Drops records without a timestamp, with a warning."""

    def on_invalid_timestamp(self, record: ConsumerRecord, record_timestamp: int, previous_timestamp: int) -> int:  # noqa: ARG002
        """Return the negative timestamp."""
        logger.warning("Input record %s will be dropped because it has an invalid (negative) timestamp.", record)
        return record_timestamp


class UsePreviousTimeOnInvalidTimestamp(ExtractRecordMetadataTimestamp):
    """Gives a record without a timestamp the time of those before it."""

    def on_invalid_timestamp(self, record: ConsumerRecord, record_timestamp: int, previous_timestamp: int) -> int:  # noqa: ARG002
        """The previous time. Raises StreamsError if there is none."""
        if previous_timestamp < 0:
            raise StreamsError(
                f"Could not infer new timestamp for input record {record} because latest extracted valid timestamp is "
                "unknown."
            )
        return previous_timestamp


class WallclockTimestampExtractor(TimestampExtractor):
    """Processing time: the wall clock at the moment when the record is buffered."""

    def __init__(self, time: Time = SYSTEM_TIME) -> None:
        self._time = time

    def extract(self, record: ConsumerRecord, previous_timestamp: int) -> int:  # noqa: ARG002
        """The current time."""
        return self._time.milliseconds()

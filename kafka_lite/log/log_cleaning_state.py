"""The cleaning states of a partition.

Kafka 0.10.2: core/.../log/LogCleanerManager.scala (LogCleaningState) · book 6.1.6
"""

from __future__ import annotations

from enum import Enum

from kafka_lite.common.errors import KafkaError


class LogCleaningState(Enum):
    """Whether a partition's log is being cleaned, or must not be cleaned."""

    NONE = "None"
    """Nobody is working on the log. Transition: to LOG_CLEANING_IN_PROGRESS when a cleaner thread takes it, to
    LOG_CLEANING_PAUSED when a caller needs exclusive access."""
    LOG_CLEANING_IN_PROGRESS = "LogCleaningInProgress"
    """A cleaner thread is compacting it or deleting old segments. Transition: to NONE when it has finished, to
    LOG_CLEANING_ABORTED when it is asked to stop."""
    LOG_CLEANING_ABORTED = "LogCleaningAborted"
    """The thread has been asked to stop, and the caller is waiting. The thread checks before each step. Transition: to
    LOG_CLEANING_PAUSED when it has stopped."""
    LOG_CLEANING_PAUSED = "LogCleaningPaused"
    """No thread may take it. Pauses are counted, and each must be resumed. Transition: to itself when one of several
    pauses is added or resumed, to NONE when the last one is resumed."""


VALID_PREVIOUS_STATES: dict[LogCleaningState, frozenset[LogCleaningState]] = {
    LogCleaningState.NONE: frozenset({LogCleaningState.LOG_CLEANING_IN_PROGRESS, LogCleaningState.LOG_CLEANING_PAUSED}),
    LogCleaningState.LOG_CLEANING_IN_PROGRESS: frozenset({LogCleaningState.NONE}),
    LogCleaningState.LOG_CLEANING_ABORTED: frozenset({LogCleaningState.LOG_CLEANING_IN_PROGRESS}),
    LogCleaningState.LOG_CLEANING_PAUSED: frozenset(
        {
            LogCleaningState.NONE,
            LogCleaningState.LOG_CLEANING_ABORTED,
            LogCleaningState.LOG_CLEANING_PAUSED,
        }
    ),
}


class LogCleaningAbortedError(KafkaError):
    """The cleaning was asked to stop; what has already been swapped in stays."""


class ThreadShutdownError(KafkaError):
    """The cleaner thread must end."""

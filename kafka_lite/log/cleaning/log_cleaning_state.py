"""The states of a partition as the log cleaner sees it.

Kafka 0.10.2: core/.../log/LogCleanerManager.scala (LogCleaningState) · book 6.1.6
"""

from __future__ import annotations

from enum import Enum

from kafka_lite.common.errors import KafkaError


class LogCleaningState(Enum):
    """Whether a partition's log is being cleaned, or must not be."""

    NONE = "None"
    """Nobody works on the log. Transition: to LOG_CLEANING_IN_PROGRESS when a cleaner thread takes it, to
    LOG_CLEANING_PAUSED when somebody wants to be alone with it."""
    LOG_CLEANING_IN_PROGRESS = "LogCleaningInProgress"
    """A cleaner thread works on it: compacts it, or deletes old segments. Transition: to NONE when it has finished, to
    LOG_CLEANING_ABORTED when it is asked to stop."""
    LOG_CLEANING_ABORTED = "LogCleaningAborted"
    """The thread has been asked to stop, and whoever asked waits. The thread looks before each step. Transition: to
    LOG_CLEANING_PAUSED when it has stopped."""
    LOG_CLEANING_PAUSED = "LogCleaningPaused"
    """No thread may take it. Pauses are counted, and each must be ended. Transition: to itself when a pause is added or
    ended that is not the only one, to NONE when the last one ends."""


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
    """The cleaning was asked to stop; what it has done so far stays."""


class ThreadShutdownError(KafkaError):
    """The cleaner thread is to end."""

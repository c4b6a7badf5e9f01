"""A test process has one JVM for all its Spark sessions, which keeps the jars of the first. This ends it."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from typing import Any, Self

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.sql import SparkSession

from tests.support.patience import patient_s
from tests.support.time_limits import CutOff

END_TIMEOUT_S = 60


class SharedSession:
    """One Spark session for the tests of a module; after a test that its limit has cut off, a new one in a new JVM.

    The call that was cut off has left its response in this thread's connection to the JVM: each later call would
    take the response of the call before it for its own.
    """

    def __init__(self, start: Callable[[], SparkSession]) -> None:
        self._start = start
        self._session: SparkSession | None = None
        self._cut_off_before = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def get(self) -> SparkSession:
        """The session, for one test."""
        if self._session is not None and self._is_out_of_step():
            self._end()
        if self._session is None:
            self._cut_off_before = CutOff.count
            self._session = self._start()
        return self._session

    def _is_out_of_step(self) -> bool:
        return self._cut_off_before != CutOff.count

    def _end(self) -> None:
        session, self._session = self._session, None
        if session is None:
            return
        if self._is_out_of_step():
            kill_jvm(session)
        else:
            session.stop()


def kill_jvm(session: SparkSession) -> None:
    """End a JVM whose responses cannot be trusted, and forget its session without a call to it."""
    context: Any = SparkContext
    context._gateway.proc.kill()
    with contextlib.suppress(Py4JError, OSError), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "Unable to cleanly shutdown Spark JVM process"
        session.sparkContext.stop()
    sessions: Any = SparkSession
    sessions._instantiatedSession = sessions._activeSession = None
    end_jvm()


def end_jvm() -> None:
    """The next session starts a JVM of its own. Call this after ``stop`` of the last one."""
    context: Any = SparkContext
    gateway, context._gateway, context._jvm = context._gateway, None, None
    if gateway is not None:
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(patient_s(END_TIMEOUT_S))

"""A test process has one JVM for all its Spark sessions, which keeps the jars of the first. This ends it."""

from __future__ import annotations

from typing import Any

from pyspark import SparkContext

END_TIMEOUT_S = 60


def end_jvm() -> None:
    """The next session starts a JVM of its own. Call this after ``stop`` of the last one."""
    context: Any = SparkContext
    gateway, context._gateway, context._jvm = context._gateway, None, None
    if gateway is not None:
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(END_TIMEOUT_S)

"""A JVM that outlives a check, so that the next one need not start and warm up its own.

Most of a session's start is the start of its JVM, and a JVM runs its first queries slowly. PySpark connects to a JVM
that is named in the environment instead of starting one; each check then has a session of its own in it.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PORT, SECRET = "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"
MEMORY = "768m"
LOCAL_DIR = "spark.local.dir"
END_TIMEOUT_S = 30


@contextlib.contextmanager
def shared_jvm(log_file: Path) -> Iterator[None]:
    """Within the block, checks of labs on Spark use one JVM, which is named in this process's environment.

    The checks must run one after the other. The JVM's output goes to ``log_file``, and its temporary files to
    the folder ``local`` beside it: a JVM keeps to the folder of its first session. Raises JavaNotFoundError.
    """
    from pyspark import SparkConf

    from kafka_lite.spark.java_runtime import java_home
    from kafka_lite.spark.session import DEFAULTS

    with _environment(JAVA_HOME=str(java_home()), PYSPARK_PYTHON=sys.executable):
        conf = SparkConf().setAll(
            [*DEFAULTS.items(), ("spark.driver.memory", MEMORY), (LOCAL_DIR, str(log_file.parent / "local"))]
        )
        with log_file.open("ab") as log:
            java_gateway: Any = importlib.import_module("pyspark.java_gateway")
            gateway = java_gateway.launch_gateway(conf, {"stderr": log})
        parameters = gateway.gateway_parameters
        try:
            with _environment(**{PORT: str(parameters.port), SECRET: parameters.auth_token}):
                yield
        finally:
            gateway.shutdown()
            gateway.proc.stdin.close()  # which ends the JVM
            gateway.proc.wait(END_TIMEOUT_S)


def is_shared() -> bool:
    """Whether this process's sessions are in a JVM that it did not start."""
    return PORT in os.environ


def stop_session_of_an_earlier_check() -> None:
    """In a shared JVM, stop the session of a check that was killed: a JVM has room for one."""
    if not is_shared():
        return
    from pyspark import SparkContext

    SparkContext._ensure_initialized()
    jvm: Any = SparkContext._jvm
    left = jvm.org.apache.spark.sql.classic.SparkSession.getDefaultSession()
    if left.isDefined():
        left.get().stop()


@contextlib.contextmanager
def _environment(**values: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

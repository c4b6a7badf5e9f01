"""A local Spark session in one call: finds Java, quiets the logs, opens nothing to the network, has the source.

Spark 4.2: python/pyspark/sql/session.py · book 1.1
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pyspark.errors import PySparkException, PySparkRuntimeError
from pyspark.sql import SparkSession

from kafka_lite.common.errors import KafkaError
from kafka_lite.spark.java_runtime import java_home
from kafka_lite.spark.source import KafkaSource

STDERR = 2
_JAVA_OPTIONS = "spark.driver.extraJavaOptions"

_LOGGING = """\
rootLogger.level = warn
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex
"""

DEFAULTS: dict[str, str] = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "4",
    "spark.driver.memory": "1g",
    # Only Java's C1 compiler: C2 would take a quarter of a short session's CPU and not pay off.
    _JAVA_OPTIONS: "-XX:TieredStopAtLevel=1",
    "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "true",
}
"""The session's default settings."""

SHORT_LIVED_CHECKPOINTS: dict[str, str] = {
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
}
"""For streams that end with their session, with PySpark 4.2; their checkpoints are on this machine's disk.

Spark's own choice asks three times for each file whether a name is a link. Without Hadoop's native library, each of
these questions starts a process, ``readlink``. The other manager writes and renames the same files and does not ask.
But it renames a file and its checksum one after the other: a stream that is killed in between may fail to resume.
"""


class SparkStartError(KafkaError):
    """Spark does not start; the text contains the end of its log."""


def session(
    app_name: str = "kafka_lite",
    *,
    master: str = "local[*]",
    config: Mapping[str, str] | None = None,
    log_file: Path | None = None,
) -> SparkSession:
    """This process's running session, or a new one, in which there is ``format("kafka_lite")``.

    ``config`` adds to ``DEFAULTS`` or overrides them. The output of Spark, its JVM and its Python workers goes to
    ``log_file`` (default: a file in the temporary directory); query failures are raised as exceptions.

    Sets ``JAVA_HOME`` and ``PYSPARK_PYTHON`` for this process. Raises ``JavaNotFoundError``, or ``SparkStartError``
    with the end of the log.
    """
    if SparkSession.getActiveSession() is None:
        os.environ["JAVA_HOME"] = str(java_home())
        # The workers must use the driver's Python to find this package and its dependencies.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    log_file = log_file or Path(tempfile.gettempdir(), f"kafka_lite-spark-{os.getpid()}.log")
    with tempfile.TemporaryDirectory(prefix="kafka_lite-") as folder, _stderr_goes_to(log_file):
        logging_config = Path(folder, "log4j2.properties")
        logging_config.write_text(_LOGGING, encoding="utf-8")
        settings = {**DEFAULTS, **(config or {})}
        settings[_JAVA_OPTIONS] = f"-Dlog4j2.configurationFile={logging_config.as_uri()} {settings[_JAVA_OPTIONS]}"
        builder = SparkSession.builder.master(master).appName(app_name)
        for name, value in settings.items():
            builder = builder.config(name, value)
        spark = _start(builder, log_file)
    if spark.sparkContext.pythonExec != sys.executable:
        _register(spark)
    return spark


def _register(spark: SparkSession) -> None:
    """Register the format, which Spark does not find by itself if the workers' Python has no kafka_lite.

    The error that the first query gets then says what to do.
    """
    try:
        spark.dataSource.register(KafkaSource)
    except PySparkException as error:  # before 4.2, for a format that Spark has found by itself
        if error.getCondition() != "DATA_SOURCE_ALREADY_EXISTS":
            raise


def _start(builder: SparkSession.Builder, log_file: Path) -> SparkSession:
    try:
        return builder.getOrCreate()
    except PySparkRuntimeError as error:
        last_lines = "\n".join(log_file.read_text(encoding="utf-8", errors="replace").splitlines()[-10:])
        raise SparkStartError(f"Spark does not start: {error}\nThe end of {log_file}:\n{last_lines}") from error


@contextmanager
def _stderr_goes_to(log_file: Path) -> Iterator[None]:
    """Redirect the stderr of processes started in the block to a file, for their whole lifetime."""
    saved = os.dup(STDERR)
    with log_file.open("ab") as log:
        try:
            os.dup2(log.fileno(), STDERR)
            yield
        finally:
            os.dup2(saved, STDERR)
            os.close(saved)

"""Checks the packages that the data source needs in addition to the broker's.

Spark 4.2: python/packaging/classic/setup.py · book 1.1
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from importlib.util import find_spec

MINIMUM_PYSPARK = (4, 0)
"""The first version with data sources written in Python."""
STREAM_ARROW_WRITER = (4, 1)
"""The first version that hands the rows of a stream to a writer as Arrow batches."""
ADMISSION_CONTROL = (4, 2)
"""The first version whose Python data sources can limit the batches of a stream."""
PACKAGES = ("numpy", "pyarrow", "confluent_kafka")


class SparkRequirementError(ImportError):
    """This Python cannot run the data source; the text says why, and what to do."""


def check_requirements() -> None:
    """Raise SparkRequirementError unless PySpark and the other packages are installed and recent enough."""
    minimum = _dotted(MINIMUM_PYSPARK)
    needed = f"PySpark {minimum} or newer"
    advice = (
        f"Install kafka_lite's extra spark, or run: {sys.executable} -m pip install 'pyspark[sql]>={minimum}' "
        "confluent-kafka"
    )
    try:
        version = pyspark_version()
    except ModuleNotFoundError:
        raise SparkRequirementError(f"format('kafka_lite') needs {needed}, and there is none here. {advice}") from None
    if _numbers(version) < MINIMUM_PYSPARK:
        raise SparkRequirementError(
            f"format('kafka_lite') needs {needed}, and this is {version}. {advice}. "
            "An older Spark reads and writes with its own connector, format('kafka')."
        )
    missing = [package for package in PACKAGES if find_spec(package) is None]
    if missing:
        what = f"format('kafka_lite') needs {' and '.join(missing)} too, and {sys.executable} has none"
        raise SparkRequirementError(f"{what}. {advice}{_ADVICE_IN_A_WORKER if _is_worker() else ''}")


def pyspark_has(feature: tuple[int, int]) -> bool:
    """Whether the PySpark here is at least of the version that a feature came with."""
    return _numbers(pyspark_version()) >= feature


def pyspark_version() -> str:
    """The version of the PySpark here. Raises ModuleNotFoundError."""
    version: str = importlib.import_module("pyspark").__version__
    return version


def refuse_without_admission_control(name: str) -> str:
    """The message for an option that only works where the batches of a stream can be limited."""
    return (
        f"{name} needs PySpark {_dotted(ADMISSION_CONTROL)} or newer, and this is {pyspark_version()}, whose data "
        "sources in Python cannot limit the batches of a stream: every batch reads all that is there"
    )


_ADVICE_IN_A_WORKER = (
    ". If the driver's Python has them: Spark runs its workers with python3 unless told otherwise, so set "
    "PYSPARK_PYTHON to the driver's Python before the session starts (on a cluster, install the extra on every worker)"
)


def _is_worker() -> bool:
    """Whether Spark started this process to run Python code for a session."""
    return any(name.startswith("PYTHON_WORKER_FACTORY_") for name in os.environ)


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


def _numbers(version: str) -> tuple[int, int]:
    match = re.match(r"(\d+)\.(\d+)", version)
    return (int(match[1]), int(match[2])) if match is not None else (0, 0)

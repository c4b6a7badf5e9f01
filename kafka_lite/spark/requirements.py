"""Checks the packages that the data source needs in addition to the broker's.

Spark 4.2: python/packaging/classic/setup.py · book 1.1
"""

from __future__ import annotations

import importlib
import re
import sys
from importlib.util import find_spec

MINIMUM_PYSPARK = (4, 2)
"""The first version whose Python data sources can limit the batches of a stream and write Arrow batches."""
PACKAGES = ("pyarrow", "confluent_kafka")


class SparkRequirementError(ImportError):
    """This Python cannot run the data source; the text says why, and what to do."""


def check_requirements() -> None:
    """Raise SparkRequirementError unless PySpark and the other packages are installed and recent enough."""
    minimum = ".".join(map(str, MINIMUM_PYSPARK))
    needed = f"PySpark {minimum} or newer"
    advice = (
        f"Install kafka_lite's extra spark, or run: {sys.executable} -m pip install 'pyspark[sql]>={minimum}' "
        "confluent-kafka"
    )
    try:
        version = importlib.import_module("pyspark").__version__
    except ModuleNotFoundError:
        raise SparkRequirementError(f"format('kafka_lite') needs {needed}, and there is none here. {advice}") from None
    if _numbers(version) < MINIMUM_PYSPARK:
        raise SparkRequirementError(
            f"format('kafka_lite') needs {needed}, and this is {version}. {advice}. "
            "An older Spark reads and writes with its own connector, format('kafka')."
        )
    missing = [package for package in PACKAGES if find_spec(package) is None]
    if missing:
        raise SparkRequirementError(f"format('kafka_lite') needs {' and '.join(missing)} too. {advice}")


def _numbers(version: str) -> tuple[int, int]:
    match = re.match(r"(\d+)\.(\d+)", version)
    return (int(match[1]), int(match[2])) if match is not None else (0, 0)

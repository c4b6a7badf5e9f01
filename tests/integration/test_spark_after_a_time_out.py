"""A Spark call that a test's limit cuts off does not leave its response to the tests after it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from kafka_lite.spark.session import session
from tests.support.spark_jvm import SharedSession
from tests.support.time_limits import CutOff

pytestmark = [pytest.mark.spark, pytest.mark.soak, pytest.mark.timeout(300)]


class CutOffError(BaseException):
    """Stands for what pytest-timeout raises, which is not an Exception either."""


class CutOffStream:
    """Raises when PySpark reads the response of its next call."""

    def readline(self) -> bytes:
        raise CutOffError


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[SharedSession]:
    with SharedSession(lambda: session("cut off", log_file=tmp_path / "spark.log")) as shared:
        yield shared


def system_of(spark: SparkSession) -> Any:
    jvm: Any = spark._jvm
    return jvm.java.lang.System


def cut_off_a_call(spark: SparkSession) -> BaseException:
    """The exception, whose traceback keeps the connection alive, as that of a failed test does."""
    system = system_of(spark)
    connection = spark.sparkContext._gateway._gateway_client.get_thread_connection()
    stream, connection.stream = connection.stream, CutOffStream()
    with pytest.raises(CutOffError) as caught:
        system.getProperty("java.vendor")
    connection.stream = stream
    return caught.value


def answer(system: Any) -> object:
    """What PySpark takes for the file separator, or why it cannot tell."""
    try:
        return system.getProperty("file.separator")
    except Exception as error:  # noqa: BLE001  (of any kind: it reads what was not meant for it)
        return error


def test_the_next_test_gets_a_session_whose_calls_have_their_own_responses(
    shared: SharedSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    spark = shared.get()
    assert shared.get() is spark
    system = system_of(spark)
    failure = cut_off_a_call(spark)
    assert answer(system) != "/", "the response of another call"
    assert failure.__traceback__ is not None

    monkeypatch.setattr(CutOff, "count", CutOff.count + 1)
    other = shared.get()
    assert other is not spark
    assert answer(system_of(other)) == "/"
    assert other.range(3).count() == 3
    assert shared.get() is other

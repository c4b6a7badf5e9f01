"""Where the checks of labs run: in forks of one process, and on Spark in one JVM."""

from collections.abc import Iterator

import pytest

from kafka_learn.labs.lab import all_labs
from kafka_learn.labs.spark_jvm import PORT, SECRET, shared_jvm
from tests.support.lab_forks import LabForks, lab_forks


@pytest.fixture(scope="module")
def jvm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One JVM for the sessions of many checks."""
    with shared_jvm(tmp_path_factory.mktemp("jvm") / "spark.log"):
        yield


@pytest.fixture(scope="module")
def forks() -> Iterator[LabForks]:
    """The process whose forks are the checks, unless a test asks for what a learner starts."""
    with lab_forks(all_labs()) as running:
        yield running


@pytest.fixture
def no_jvm(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check starts a JVM of its own, as a learner's does."""
    monkeypatch.delenv(PORT, raising=False)
    monkeypatch.delenv(SECRET, raising=False)

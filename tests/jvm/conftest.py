"""Real brokers shared by all modules that only need one: starting a broker takes longer than most tests with it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.jvm import require_jvm
from tests.support.real_kafka import OLD, TODAYS, real_kafka


@pytest.fixture(scope="session")
def jvm() -> None:
    """Skips the test if there is no JVM, before its module starts a broker."""
    require_jvm()


@pytest.fixture(scope="session")
def real_kafka_0_10_2(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address for clients. Topics and groups must have names of their own."""
    with real_kafka(OLD, tmp_path_factory.mktemp("kafka")) as bootstrap_servers:
        yield bootstrap_servers


@pytest.fixture(scope="session")
def real_kafka_3_9(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The same with a current version."""
    with real_kafka(TODAYS, tmp_path_factory.mktemp("kafka")) as bootstrap_servers:
        yield bootstrap_servers


@pytest.fixture(scope="module", params=[OLD, TODAYS])
def version_and_broker(request: pytest.FixtureRequest) -> tuple[str, str]:
    """One after the other: its version, and where clients connect to."""
    name = "real_kafka_0_10_2" if request.param == OLD else "real_kafka_3_9"
    return request.param, request.getfixturevalue(name)

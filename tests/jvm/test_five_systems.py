"""The chapter's five systems count the same lines, and all find what a dictionary finds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from chapters.ch09_streams.five_systems.lines import SMALL, counted
from chapters.ch09_streams.five_systems.systems import COMMANDS, PARTITIONS, CountsReader, running, send
from examples.word_count.topology import TEXT, WORD_COUNTS
from kafka_lite.producer import KafkaProducer
from kafka_lite.testing.cluster import Cluster
from tests.support.patience import patient_s

pytestmark = [pytest.mark.jvm, pytest.mark.soak, pytest.mark.nightly]


@pytest.fixture
def cluster(jvm: None) -> Iterator[Cluster]:
    with Cluster({"group.initial.rebalance.delay.ms": 0}) as running_cluster:
        for topic in (TEXT, WORD_COUNTS):
            running_cluster.create_topic(topic, PARTITIONS)
        yield running_cluster


@pytest.mark.timeout(300)
@pytest.mark.parametrize("system", COMMANDS)
def test_every_system_finds_the_counts_of_a_dictionary(
    system: str, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lines come in two parts: what is counted of the first must be there when the second comes."""
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1")  # a short run does not pay for the C2 compiler
    with (
        running(system, cluster.bootstrap_servers, tmp_path / "system") as process,
        KafkaProducer({"bootstrap.servers": cluster.bootstrap_servers}) as producer,
    ):
        reader = CountsReader(cluster.bootstrap_servers)
        try:
            for begin, end in ((0, 3), (3, len(SMALL))):
                send(producer, SMALL[begin:end])
                reader.read_until(counted(SMALL[:end]), lambda: process.poll() is None, polls=int(patient_s(240) * 10))
        finally:
            reader.close()
    assert process.returncode == 0, (tmp_path / "system" / "output.log").read_text(encoding="utf-8")[-2000:]

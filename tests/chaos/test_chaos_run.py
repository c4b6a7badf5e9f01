"""``make chaos``, for a moment: real processes, real clients, and every record is checked."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from kafka_lite.common.topic_names import TRANSACTION_STATE_TOPIC_NAME
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.common.utils import java_abs, java_string_hash
from kafka_lite.testing.chaos import command
from kafka_lite.testing.chaos.chaos_cluster import BROKER_SETTINGS, ChaosBroker
from kafka_lite.testing.chaos.chaos_run import ChaosRun
from kafka_lite.testing.chaos.workloads import TARGET
from tests.support.eventually import eventually

_STATE_PARTITIONS = int(BROKER_SETTINGS["transaction.state.log.num.partitions"])
STATE_OF_TRANSFORMER = TopicPartition(
    TRANSACTION_STATE_TOPIC_NAME, java_abs(java_string_hash("ours-transformer")) % _STATE_PARTITIONS
)
NO_LEADER = -1
FAULTS_S = 5.0


class ShortRun(ChaosRun):
    """First kill -9 of all that a consume-transform-produce depends on, then faults of the seed."""

    def _suffer(self, deadline: float) -> None:
        del deadline  # the cluster may need longer to start
        assert self._recover()
        self._kill_transactional_clients()
        coordinator = self._leader(STATE_OF_TRANSFORMER)
        coordinator.kill()
        leader = self._leader(TopicPartition(TARGET, 0), other_than=coordinator)
        leader.kill()
        for broker in (coordinator, leader):
            broker.start()
        self._round(time.monotonic() + FAULTS_S)
        assert self._recover()

    def _kill_transactional_clients(self) -> None:
        for client in [*self._clients.running(producers=True), *self._clients.running(producers=False)]:
            if client.spec.transactional_id:
                client.kill()
                self._clients.replace(client)

    def _leader(self, partition: TopicPartition, other_than: ChaosBroker | None = None) -> ChaosBroker:
        """The leader of a partition, once there is one that is not a certain broker."""

        def found() -> ChaosBroker | None:
            state = self.cluster.zookeeper.partition_state(partition)
            leader = NO_LEADER if state is None else state.leader_and_isr.leader
            return next((each for each in self.cluster.brokers if each.id == leader and each is not other_than), None)

        leader = eventually(found)
        assert leader is not None
        return leader


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize("security", [[], pytest.param(["--security"], marks=pytest.mark.nightly)])
def test_a_short_run_under_faults_breaks_no_promise(
    security: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "ChaosRun", ShortRun)
    kinds = "kill,kill_controller,pause,cut_brokers_one_way,cut_zookeeper,expire_session,kill_consumer"
    options = ["--seed", "3", "--kinds", kinds, "--clients", "all", "--dir", str(tmp_path), *security]
    code = command.main(options)
    output = capsys.readouterr().out
    assert code == 0, output
    figures = dict(re.findall(r"│ (.+?) +│ +([\d,]+) │", output))
    assert int(figures["faults"]) >= 1
    assert int(figures["records acknowledged"].replace(",", "")) > 100
    assert int(figures["records checked"].replace(",", "")) > 200
    assert int(figures["transactions committed"].replace(",", "")) > 3
    assert figures["violations"] == "0"
    assert list(tmp_path.iterdir()) == []


class DisksLost(ChaosRun):
    """Instead of faults that Kafka survives: once records are acknowledged and read, no broker has its log any more."""

    def _suffer(self, deadline: float) -> None:
        assert self._recover()
        for broker in self.cluster.brokers:
            broker.kill()
        for broker in self.cluster.brokers:
            broker.empty_disk()
            broker.start()
        eventually(lambda: not self._not_in_sync())


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_records_that_no_disk_has_any_more_are_found(tmp_path: Path) -> None:
    result = DisksLost(tmp_path, seed=1, duration_s=1).run()
    rules = {violation.rule for violation in result.violations}
    assert "lost write" in rules
    assert "vanished read" in rules

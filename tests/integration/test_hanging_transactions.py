"""A late batch begins a transaction that hangs, unless the broker verifies it; the tools find and end what hangs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.testing.cluster import Cluster
from kafka_lite.tools.main import main
from tests.support.broker_configs import alter_all_brokers
from tests.support.cluster_process import ClusterProcess
from tests.support.eventually import eventually
from tests.support.real_kafka import create_topics
from tests.support.transaction_scripts import (
    ABORT,
    COMMIT,
    TOPIC,
    ScriptedProducer,
    Step,
    add,
    await_topics,
    describe,
    find,
    init,
    produce,
)
from tests.support.transactional_producers import read

HALF_AN_HOUR_MS = 30 * 60 * 1000
"""Longer than any transaction may be open."""
VERIFY = "transaction.partition.verification.enable"
STEPS: list[tuple[str, Step]] = [
    ("init", init()),
    ("add", add()),
    ("produce", produce()),
    ("commit", COMMIT),
    ("await the end", describe("CompleteCommit")),
    ("produce late", produce(age_ms=HALF_AN_HOUR_MS)),
]
COMMITTED = [b"value"]


def connect(bootstrap_server: str) -> BlockingChannel:
    host, _, port = bootstrap_server.rpartition(":")
    channel = BlockingChannel(host, int(port), client_id="scripted", read_timeout_ms=60_000)
    channel.connect()
    return channel


def play(producer: ScriptedProducer, before: Callable[[str], None] = lambda _step: None) -> dict[str, str]:
    """The steps of a transaction and of a batch after its end; returns the errors."""
    errors = {}
    for name, step in STEPS:
        before(name)
        errors[name] = step(producer).name
    return errors


def tool(capsys: pytest.CaptureFixture[str], bootstrap_server: str, *arguments: str) -> list[list[str]]:
    """The rows that ``kafka-lite transactions`` prints."""
    capsys.readouterr()
    assert main(["transactions", "--bootstrap-server", bootstrap_server, *arguments]) == 0
    return [[cell.strip() for cell in line.split("\t")] for line in capsys.readouterr().out.splitlines()[1:]]


def end_what_hangs(capsys: pytest.CaptureFixture[str], bootstrap_server: str, producer: ScriptedProducer) -> None:
    """It is found, readers of committed records wait for it, and ``abort`` ends it."""
    ((topic, partition, producer_id, _, _, offset, *_),) = tool(
        capsys, bootstrap_server, "find-hanging", "--topic", TOPIC
    )
    assert (topic, partition, producer_id) == (TOPIC, "0", str(producer.producer_id))
    assert offset == "2"
    tool(capsys, bootstrap_server, "abort", "--topic", TOPIC, "--partition", "0", "--start-offset", offset)
    assert tool(capsys, bootstrap_server, "find-hanging", "--topic", TOPIC) == []
    assert read(bootstrap_server, TOPIC, "read_committed", 1) == COMMITTED
    assert read(bootstrap_server, TOPIC, "read_uncommitted", 1) == COMMITTED * 2


def late_transactions(cluster: Cluster) -> int:
    beans = cluster.server.metrics.registry.all_metrics()
    (bean,) = [bean for name, bean in beans.items() if name.name == "PartitionsWithLateTransactionsCount"]
    return int(bean.attributes()["Value"])  # type: ignore[call-overload]


def test_a_late_batch_begins_no_transaction(capsys: pytest.CaptureFixture[str]) -> None:
    with Cluster({"log.retention.ms": "-1"}) as cluster:
        cluster.create_topic(TOPIC)
        await_topics(cluster.bootstrap_servers)
        with connect(cluster.bootstrap_servers) as channel:
            errors = play(ScriptedProducer(channel))
        assert errors == {name: "NONE" for name, _ in STEPS} | {"produce late": "INVALID_TXN_STATE"}
        assert late_transactions(cluster) == 0
        assert tool(capsys, cluster.bootstrap_servers, "find-hanging", "--topic", TOPIC) == []
        assert read(cluster.bootstrap_servers, TOPIC, "read_committed", 1) == COMMITTED


def test_verification_is_switched_off_and_on_while_the_broker_runs(capsys: pytest.CaptureFixture[str]) -> None:
    with Cluster({"log.retention.ms": "-1"}) as cluster:
        cluster.create_topic(TOPIC)
        await_topics(cluster.bootstrap_servers)
        config = cluster.server.log_manager.producer_config
        with connect(cluster.bootstrap_servers) as channel:
            producer = ScriptedProducer(channel)
            assert alter_all_brokers(cluster, "--add-config", f"{VERIFY}=false") == 0
            eventually(lambda: not config.transaction_verification_enabled)
            assert set(play(producer).values()) == {"NONE"}
            assert alter_all_brokers(cluster, "--add-config", f"{VERIFY}=true") == 0
            eventually(lambda: config.transaction_verification_enabled)
            assert late_transactions(cluster) == 1
            end_what_hangs(capsys, cluster.bootstrap_servers, producer)
            assert late_transactions(cluster) == 0
            assert produce()(producer).name == "INVALID_TXN_STATE"
            assert [step(producer).name for step in (add(), produce(), ABORT)] == ["NONE"] * 3


@pytest.mark.soak
@pytest.mark.parametrize("killed_before", [*(name for name, _ in STEPS[1:]), "the end"])
def test_what_hangs_is_ended_wherever_the_broker_was_killed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], killed_before: str
) -> None:
    broker = ClusterProcess(tmp_path, {VERIFY: "false"})
    with broker:
        create_topics(broker.bootstrap_servers, [TOPIC], 1, {})
        await_topics(broker.bootstrap_servers)
        with connect(broker.bootstrap_servers) as channel:
            producer = ScriptedProducer(channel)

            def kill_before(step: str) -> None:
                if step == killed_before:
                    broker.kill()
                    broker.start()
                    channel.close()
                    channel.connect()
                    assert find()(producer).name == "NONE"

            assert set(play(producer, kill_before).values()) == {"NONE"}
            kill_before("the end")
        end_what_hangs(capsys, broker.bootstrap_servers, producer)

"""Export, import and update of offsets in ZooKeeper, and the check of owners; tests/jvm compares with Kafka's tools."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.tools.groups import export_zk_offsets, import_zk_offsets, verify_consumer_rebalance
from kafka_lite.zookeeper.consumer_groups import ConsumerGroups
from kafka_lite.zookeeper.data import ConsumerRegistration
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from tests.support.fake_zookeeper import Tree, fake_zk

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 10), TopicPartition("u", 0)
EXPORTED = "/consumers/a/offsets/t/0:33\n/consumers/a/offsets/t/10:0\n/consumers/b/offsets/u/0:7\n"


@pytest.fixture
def zk(monkeypatch: pytest.MonkeyPatch) -> KafkaZkClient:
    client = fake_zk(Tree())

    @contextmanager
    def connected(_connect_string: str) -> Iterator[KafkaZkClient]:
        yield client

    for module in (export_zk_offsets, import_zk_offsets, verify_consumer_rebalance):
        monkeypatch.setattr(module, "zookeeper_client", connected)
    return client


@pytest.fixture
def groups(zk: KafkaZkClient) -> ConsumerGroups:
    groups = ConsumerGroups(zk)
    groups.set_offset("a", T1, 0)
    groups.set_offset("a", T0, 33)
    groups.set_offset("b", U0, 7)
    zk.zookeeper.create_recursive("/consumers/without-offsets/ids", b"")
    zk.zookeeper.create_recursive("/consumers/a/offsets/t/of-somebody-else", b"")
    return groups


def run(module: ModuleType, *arguments: str) -> int:
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    exit_code: int = module.run(parser.parse_args(arguments))
    return exit_code


@pytest.mark.usefixtures("groups")
def test_offsets_of_all_or_of_some_groups_are_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "offsets"
    assert run(export_zk_offsets, "--output-file", str(file)) == 0
    assert file.read_text() == EXPORTED
    assert run(export_zk_offsets, "--output-file", str(file), "--group", "b") == 0
    assert file.read_text() == EXPORTED.splitlines(keepends=True)[-1]
    assert run(export_zk_offsets, "--output-file", str(file), "--group", "b", "--group", "without-offsets") == 1
    assert "without-offsets has no offsets in ZooKeeper: is it misspelt?" in capsys.readouterr().err
    assert "b/offsets" in file.read_text(), "an unknown group does not overwrite an existing file"


def test_exported_offsets_are_imported(
    zk: KafkaZkClient, groups: ConsumerGroups, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "offsets"
    file.write_text(EXPORTED + "\n/consumers/new/offsets/t/10:5\n")
    for group, partition in (("a", T0), ("a", T1), ("b", U0)):
        groups.set_offset(group, partition, 999)
    groups.register_consumer("b", "b_c1", ConsumerRegistration({"u": 1}, "static", 1))
    assert run(import_zk_offsets, "--input-file", str(file)) == 0
    assert groups.get_all_offsets("a") == {T0: 33, T1: 0}
    assert (groups.get_all_offsets("b"), groups.get_all_offsets("new")) == ({U0: 7}, {T1: 5})
    told = capsys.readouterr().err
    assert "The group b has members" in told
    assert "Imported 4 offsets of 3 groups" in told
    assert zk.zookeeper.get("/consumers/new/offsets/t/10")[0] == b"5"


@pytest.mark.parametrize(
    "line",
    [
        "/consumers/a/offsets/t/0", "/consumers/a/offsets/t/0:", "/consumers/a/offsets/t/0:-1", "a:1",
        "/brokers/ids/0:1", "/consumers/a/offsets/t/1-0:1", "/consumers/a/owners/t/0:1",
        "/consumers/a/offsets/t/0:9223372036854775808", "/consumers/a/offsets/t/2147483648:1",
        "/consumers/a/offsets/t/0:٣", "/consumers/../offsets/t/x/0:1",
    ],
)  # fmt: skip
def test_a_malformed_line_is_named_and_nothing_is_imported(
    groups: ConsumerGroups, tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    file = tmp_path / "offsets"
    file.write_text(f"/consumers/a/offsets/t/0:1\n{line}\n")
    assert run(import_zk_offsets, "--input-file", str(file)) == 1
    assert "line 2 is not an offset" in capsys.readouterr().err
    assert groups.get_offset("a", T0) == 33


def test_a_missing_file_is_reported(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(import_zk_offsets, "--input-file", str(tmp_path / "none")) == 1
    assert "none: No such file or directory" in capsys.readouterr().err


def test_owners_are_verified(zk: KafkaZkClient, groups: ConsumerGroups, capsys: pytest.CaptureFixture[str]) -> None:
    partitions = [TopicPartition("t", 0), TopicPartition("t", 1)]
    zk.zookeeper.create_recursive("/brokers/topics/t", b'{"version":1,"partitions":{"0":[0],"1":[0]}}')
    groups.register_consumer("b", "b_c1", ConsumerRegistration({"t": 1}, "static", 1))
    groups.register_consumer("b", "b_c2", ConsumerRegistration({"t.*": 1}, "white_list", 1))
    assert groups.create_owner("b", partitions[0], "b_c1-0")
    assert groups.create_owner("b", partitions[1], "b_c2-0")
    assert run(verify_consumer_rebalance, "--group", "b") == 0
    assert capsys.readouterr().out == "Rebalance operation successful !\n"
    assert groups.release_owner("b", partitions[0], "b_c1-0")
    groups.delete_registration("b", "b_c2")
    assert run(verify_consumer_rebalance, "--group", "b") == 1
    told = capsys.readouterr()
    assert told.out == "Rebalance operation failed !\n"
    assert "No owner for partition [t,0]" in told.err
    assert "Owner b_c2-0 for partition [t,1] is not a valid member of consumer group b" in told.err

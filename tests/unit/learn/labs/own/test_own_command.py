"""The verbs ``labs broker`` and ``labs cluster``: which program they run, and what they show."""

from __future__ import annotations

import argparse
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest
from rich.console import Console

from kafka_learn.labs.command import add_arguments, run
from kafka_learn.labs.own import own_command
from kafka_learn.labs.own.own_command import house
from kafka_learn.labs.own.own_kafka import OwnKafka, Room
from kafka_learn.labs.own.trial import Outcome
from kafka_lite.tools.server.local_cluster import LocalCluster

OWN = OwnKafka({}, (Room("log", 1, 4), Room("network", 0, 16)), ("x is different",))


class BecameError(Exception):
    """In place of ``os.execv``, which does not return."""


@pytest.fixture(autouse=True)
def empty_house(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(own_command, "own_kafka", lambda *, unchecked: OWN)
    monkeypatch.setattr(own_command, "_data", lambda name: tmp_path / name)
    monkeypatch.setattr(own_command, "_modules", lambda: tmp_path / "modules")


def labs(*words: str) -> int:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return run(parser.parse_args(words))


def shown(own: OwnKafka, *, zh: bool = False) -> str:
    console = Console(width=100, file=io.StringIO())
    console.print(house(own, zh=zh))
    return cast(io.StringIO, console.file).getvalue()


def test_the_house_shows_how_much_of_each_room_is_lit() -> None:
    own = OwnKafka({}, (Room("log", 1, 4), Room("network", 0, 16)), ("x is different",))
    text = shown(own)
    assert text.splitlines()[0].strip() == "Your Kafka: 1 of 20 functions are yours"
    assert f"log      {'█' * 6}{'░' * 18}  1/4" in text
    assert f"network  {'░' * 24}  0/16" in text
    assert "x is different" in text
    assert "你的 Kafka：20 个函数里有 1 个是你写的" in shown(own, zh=True)


def test_the_broker_takes_the_place_of_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    became: list[Sequence[str]] = []

    def execv(_path: str, command: Sequence[str]) -> None:
        became.append(command)
        raise BecameError

    monkeypatch.setattr(os, "execv", execv)
    with pytest.raises(BecameError):
        labs("broker", "--port", "19092", "--override", "num.partitions=7")
    _, _, program, *rest = became[0]
    assert program == "kafka_learn.labs.overlay"
    assert rest[:3] == ["-m", "kafka_lite.tools.main", "server-start"]
    assert rest[4::2] == ["listeners=PLAINTEXT://127.0.0.1:19092", f"log.dirs={tmp_path}/broker", "num.partitions=7"]


@pytest.mark.parametrize(("passed", "code"), [(True, 0), (False, 1)])
def test_a_check_says_whether_real_clients_were_content(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], passed: bool, code: int
) -> None:
    outcome = Outcome("kill -9", passed, "17 [of] 20")
    monkeypatch.setattr(own_command, "run_trials", lambda _files, _folder, *, zh: [outcome])
    assert labs("broker", "--check") == code
    assert f"{'✓' if passed else '✗'}  kill -9  17 [of] 20" in capsys.readouterr().out


def test_the_cluster_starts_its_brokers_with_the_merged_modules(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    clusters: list[LocalCluster] = []

    def run_in_foreground(_tool: str, create: object) -> int:
        monkeypatch.setattr(own_command, "ForegroundCluster", clusters.append)
        create()  # type: ignore[operator]
        return 0

    monkeypatch.setattr(own_command, "run_in_foreground", run_in_foreground)
    assert labs("cluster", "--port", "19092", "--zookeeper-port", "12181") == 0
    (cluster,) = clusters
    assert (cluster.ports, cluster.zookeeper_port, cluster.folder) == (
        [19092, 19093, 19094],
        12181,
        tmp_path / "cluster",
    )
    assert "kafka_learn.labs.overlay" in cluster.start_command

"""``kafka-lite ureplicator-worker`` without clusters: its flags, its files, its words and its exit codes."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from kafka_lite.mirror.ureplicator.worker.mirror_maker_worker import MirrorMakerWorker
from kafka_lite.mirror.ureplicator.worker.mirror_maker_worker_config import MirrorMakerWorkerConfig
from kafka_lite.tools.main import main
from kafka_lite.tools.mirror import ureplicator_worker


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    texts = {
        "consumer": "zookeeper.connect=127.0.0.1:1\ngroup.id=g\n",
        "producer": "bootstrap.servers=127.0.0.1:1\n",
        "helix": "zkServer=127.0.0.1:1\nhelixClusterName=ur\ninstanceId=w1\nzk.session.timeout=1\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return [word for name in texts for word in (f"--{name}.config", str(tmp_path / name))]


def read(*arguments: str) -> MirrorMakerWorkerConfig:
    parser = argparse.ArgumentParser()
    ureplicator_worker.add_arguments(parser)
    return ureplicator_worker.read_config(parser.parse_args(arguments))


def test_ubers_flags_and_defaults(files: list[str], tmp_path: Path) -> None:
    config = read(*files)
    assert config == MirrorMakerWorkerConfig(
        {"zookeeper.connect": "127.0.0.1:1", "group.id": "g"},
        {"bootstrap.servers": "127.0.0.1:1"},
        {"zkServer": "127.0.0.1:1", "helixClusterName": "ur", "instanceId": "w1", "zk.session.timeout": "1"},
    )
    (tmp_path / "mappings").write_text("a b\n")
    given = read(
        *(*files, "--offset.commit.interval.ms", "500", "--abort.on.send.failure", "False"),
        *("--topic.mappings", str(tmp_path / "mappings")),
    )
    assert given == MirrorMakerWorkerConfig(
        *(config.consumer, config.producer, config.helix, 500, False, {"a": "b"}),
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Continuously copy data between two Kafka clusters"),
        (["--consumer.config", "missing"], 'Missing required argument "[producer.config]"'),
        (["--consumer.config", "a", "--producer.config", "b"], 'Missing required argument "[helix.config]"'),
        (["FILES", "--abort.on.send.failure", "no"], 'For input string: "no"'),
        (["FILES", "--topic.mappings", "missing"], "missing: No such file or directory"),
        (["FILES"], "Exception when starting mirror maker."),
    ],
)
def test_a_worker_that_cannot_start_says_why_and_exits_with_1(
    files: list[str], arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [each for word in arguments for each in (files if word == "FILES" else [word])]
    assert main(["ureplicator-worker", *given]) == 1
    assert words in capsys.readouterr().err


class FakeWorker:
    """A worker that fails at once."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def start(self) -> None:
        self.calls.append("start")

    def await_end(self, timeout_s: float) -> bool:
        return True

    def initiate_shutdown(self) -> None:
        self.calls.append("initiate shutdown")

    def await_shutdown(self, timeout_s: float | None = None) -> bool:
        self.calls.append("await shutdown")
        return True


def test_a_failure_ends_it_with_255(
    files: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    worker = FakeWorker()
    monkeypatch.setattr(MirrorMakerWorker, "create", lambda _config: worker)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    assert main(["ureplicator-worker", *files]) == 255
    assert worker.calls == ["start", "initiate shutdown", "await shutdown"]
    assert "exited abnormally" in capsys.readouterr().err

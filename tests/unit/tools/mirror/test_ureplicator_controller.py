"""``kafka-lite ureplicator-controller``: its flags, its words and its exit codes."""

from __future__ import annotations

import argparse
import socket
from pathlib import Path

import pytest

from kafka_lite.mirror.ureplicator.controller import controller_starter
from kafka_lite.mirror.ureplicator.controller.auto_topic_whitelisting_manager import Whitelisting
from kafka_lite.mirror.ureplicator.controller.controller_conf import ControllerConf, GitBackup
from kafka_lite.tools.main import main
from kafka_lite.tools.mirror import ureplicator_controller
from kafka_lite.tools.mirror.ureplicator_controller import UReplicatorController

NEEDED = ("-helixClusterName", "ur", "-zookeeper", "zk:2181/ur", "-port", "0")


def read(*arguments: str) -> ControllerConf:
    parser = argparse.ArgumentParser()
    ureplicator_controller.add_arguments(parser)
    return ureplicator_controller.read_conf(parser.parse_args(arguments))


def test_ubers_flags_and_defaults() -> None:
    assert read(*NEEDED) == ControllerConf("ur", "zk:2181/ur", 0, socket.gethostname())
    assert read(
        *(*NEEDED, "--instanceId", "c1", "-host", "::1", "-env", "prod", "-zk.session.timeout", "6000"),
        *("-autoRebalanceDelayInSeconds", "0", "-enableAutoWhitelist", "True", "-enableAutoTopicExpansion", "true"),
        *("-enableSrcKafkaValidation", "true", "-srcKafkaZkPath", "s:1", "-destKafkaZkPath", "d:1"),
        *("-patternToExcludeTopics", " test.* ", "-refreshTimeInSeconds", "5", "-initWaitTimeInSeconds", "3"),
        *("-backUpToGit", "true", "-remoteBackupRepo", "git@x", "-localGitRepoClonePath", "/tmp/clone"),
    ) == ControllerConf(
        *("ur", "zk:2181/ur", 0, "c1", "::1", "prod", 6000, 0, Whitelisting("test.*", 5, 3), True, True, "s:1", "d:1"),
        GitBackup("git@x", Path("/tmp/clone")),
    )


def test_the_examples_stand_for_flags() -> None:
    first, second = read("-example1", "-port", "9001"), read("--example2")
    assert (first.helix_cluster_name, first.zookeeper, first.port) == ("testMirrorMaker", "localhost:2181", 9001)
    assert second.whitelisting == Whitelisting("", 20, 10)
    assert second.enable_auto_topic_expansion
    assert (second.src_kafka_zk_path, second.dest_kafka_zk_path) == (
        "localhost:2181/cluster1",
        "localhost:2181/cluster2",
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "A controller needs -helixClusterName, -zookeeper and -port"),
        (["-helixClusterName", "ur"], "Missing option: --zookeeper"),
        ([*NEEDED, "-enableAutoWhitelist", "yes"], "-enableAutoWhitelist yes: it must be true or false"),
        ([*NEEDED, "-enableAutoWhitelist", "true"], "need -srcKafkaZkPath"),
        ([*NEEDED, "-backUpToGit", "true"], "Missing option: --remoteBackupRepo"),
    ],
)
def test_a_controller_that_cannot_start_says_why(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ureplicator-controller", *arguments]) == 1
    assert words in capsys.readouterr().err


def test_a_zookeeper_that_does_not_respond_is_named_without_advice_for_brokers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(controller_starter, "CONNECTION_TIMEOUT_MS", 50)
    assert main(["ureplicator-controller", "-helixClusterName", "ur", "-zookeeper", "127.0.0.1:1", "-port", "0"]) == 1
    words = capsys.readouterr().err
    assert "The controller cannot start. Unable to connect to zookeeper server '127.0.0.1:1'" in words
    assert "embedded" not in words


def test_help_has_all_flags(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["ureplicator-controller", "-help"])
    assert ended.value.code == 0
    assert "-autoRebalanceDelayInSeconds" in capsys.readouterr().out


def test_the_ready_line_has_the_url() -> None:
    server = UReplicatorController(read(*NEEDED, "-host", "::1"))
    assert server.ready_line().endswith("REST interface http://[::1]:0/, Helix cluster ur")
    assert not server.await_shutdown(0)
    server.shutdown()
    assert server.await_shutdown(0)

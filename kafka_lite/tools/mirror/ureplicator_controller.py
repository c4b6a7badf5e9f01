"""``kafka-lite ureplicator-controller``: runs uReplicator's controller until it is stopped.

uReplicator kafka-0.10.2.1: uReplicator-Controller/.../mirrormaker/controller/ControllerStarter.java (main),
uReplicator-Controller/.../mirrormaker/controller/ControllerConf.java · book 8.2.2
"""

from __future__ import annotations

import argparse
import socket
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_lite import __version__
from kafka_lite.tools.common import terminal
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors
from kafka_lite.tools.server.foreground import add_log_config_argument, run_in_foreground

if TYPE_CHECKING:
    from kafka_lite.mirror.ureplicator.controller.auto_topic_whitelisting_manager import Whitelisting
    from kafka_lite.mirror.ureplicator.controller.controller_conf import ControllerConf, GitBackup

NAME = "ureplicator-controller"
SUMMARY = "tell uReplicator's workers which partitions to copy to another cluster"

EXAMPLES = {
    "example1": {"helixClusterName": "testMirrorMaker", "zookeeper": "localhost:2181", "port": 9000},
    "example2": {
        "helixClusterName": "testMirrorMaker",
        "zookeeper": "localhost:2181",
        "port": 9000,
        "enableAutoWhitelist": "true",
        "enableAutoTopicExpansion": "true",
        "srcKafkaZkPath": "localhost:2181/cluster1",
        "destKafkaZkPath": "localhost:2181/cluster2",
        "initWaitTimeInSeconds": 10,
        "refreshTimeInSeconds": 20,
    },
}
"""The flags that stand for others."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """uReplicator's flags; each may have one dash or two. ``-host`` and ``-zk.session.timeout`` are ours."""
    flag = parser.add_argument
    flag("-help", action="help", help="the same as --help")
    for name in ("-helixClusterName", "-zookeeper"):
        what = "name of the Helix cluster" if name == "-helixClusterName" else "ZooKeeper of Helix, host:port/path"
        flag(name, f"-{name}", metavar="TEXT", help=f"{what} (required)")
    flag("-port", "--port", type=int, metavar="PORT", help="port of the REST interface (required; 0: a free one)")
    flag("-host", "--host", help="address of the REST interface (default: 127.0.0.1, this machine only)")
    flag("-instanceId", "--instanceId", metavar="NAME", help="name of this controller (default: the host's name)")
    flag("-env", "--env", metavar="NAME", help="ends the names of the backup's files (default: env)")
    flag(
        "-zk.session.timeout", "--zk.session.timeout", dest="session_timeout_ms", type=int, metavar="MS",
        help="session of the controller in ZooKeeper (default: 30000)",
    )  # fmt: skip
    flag(
        "-autoRebalanceDelayInSeconds", "--autoRebalanceDelayInSeconds", type=int, metavar="S",
        help="how long a worker may be away before its partitions move (default: 120)",
    )  # fmt: skip
    _add_cluster_arguments(parser)
    _add_backup_arguments(parser)
    flag("-example1", "--example1", action="store_true", help="testMirrorMaker at localhost:2181, port 9000")
    flag("-example2", "--example2", action="store_true", help="the same with white-listing of /cluster1 and /cluster2")
    add_log_config_argument(parser)


def _add_cluster_arguments(parser: argparse.ArgumentParser) -> None:
    flag = parser.add_argument
    for name, what in (
        ("enableAutoWhitelist", "mirror the topics that both clusters have"),
        ("enableAutoTopicExpansion", "expand topics that have grown in the source, when it is validated"),
        ("enableSrcKafkaValidation", "compare the mirrored topics with the source every ten minutes"),
    ):
        flag(f"-{name}", f"--{name}", metavar="true|false", help=f"{what} (default: false)")
    flag("-srcKafkaZkPath", "--srcKafkaZkPath", metavar="TEXT", help="ZooKeeper of the source cluster")
    flag("-destKafkaZkPath", "--destKafkaZkPath", metavar="TEXT", help="ZooKeeper of the destination cluster")
    flag(
        "-patternToExcludeTopics", "--patternToExcludeTopics", metavar="REGEX",
        help="white-list no topic whose whole name matches",
    )  # fmt: skip
    flag(
        "-refreshTimeInSeconds", "--refreshTimeInSeconds", type=int, metavar="S",
        help="time between two runs of the white-listing (default: 600)",
    )  # fmt: skip
    flag(
        "-initWaitTimeInSeconds", "--initWaitTimeInSeconds", type=int, metavar="S",
        help="time before its first run (default: 120)",
    )  # fmt: skip


def _add_backup_arguments(parser: argparse.ArgumentParser) -> None:
    flag = parser.add_argument
    flag(
        "-backUpToGit", "--backUpToGit", metavar="true|false",
        help="back up the ideal states to git, not to a directory (default: false)",
    )  # fmt: skip
    flag("-remoteBackupRepo", "--remoteBackupRepo", metavar="URL", help="the repository of the backup")
    flag("-localGitRepoClonePath", "--localGitRepoClonePath", type=Path, metavar="DIR", help="where it is cloned")
    flag(
        "-localBackupFilePath", "--localBackupFilePath", type=Path, metavar="DIR",
        help="the directory of the backup (default: /var/log/kafka-mirror-maker-controller)",
    )  # fmt: skip


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Run the controller until it is stopped; see ``run_in_foreground``."""
    conf = read_conf(options)
    return run_in_foreground(NAME, lambda: UReplicatorController(conf), options.log_config)


def read_conf(options: argparse.Namespace) -> ControllerConf:
    """The flags as a configuration. Raises ToolError, ControllerConfError."""
    from kafka_lite.mirror.ureplicator.controller.controller_conf import DEFAULT_HOST, ControllerConf
    from kafka_lite.mirror.ureplicator.helix_names import SESSION_TIMEOUT_MS

    given = {name: value for name, value in vars(options).items() if value is not None and value is not False}
    for example, flags in EXAMPLES.items():
        given = {**flags, **given} if example in given else given
    if not given.keys() & {"helixClusterName", "zookeeper", "port"}:
        raise ToolError(
            "A controller needs -helixClusterName, -zookeeper and -port; -example1 stands for all of them. "
            f"`kafka-lite {NAME} --help` has the other flags."
        )
    for name in ("helixClusterName", "zookeeper", "port"):
        if name not in given:
            raise ToolError(f"Missing option: --{name}")
    conf = ControllerConf(
        helix_cluster_name=given["helixClusterName"],
        zookeeper=given["zookeeper"],
        port=given["port"],
        instance_id=given.get("instanceId", socket.gethostname()),
        host=given.get("host", DEFAULT_HOST),
        environment=given.get("env", "env"),
        session_timeout_ms=given.get("session_timeout_ms", SESSION_TIMEOUT_MS),
        auto_rebalance_delay_s=given.get("autoRebalanceDelayInSeconds", 120),
        whitelisting=_whitelisting(given),
        enable_auto_topic_expansion=_boolean(given, "enableAutoTopicExpansion"),
        enable_src_kafka_validation=_boolean(given, "enableSrcKafkaValidation"),
        src_kafka_zk_path=given.get("srcKafkaZkPath", ""),
        dest_kafka_zk_path=given.get("destKafkaZkPath", ""),
        backup=_backup(given),
    )
    conf.check()
    return conf


def _boolean(given: dict[str, str], name: str) -> bool:
    text = given.get(name, "false").lower()
    if text not in ("true", "false"):
        raise ToolError(f"-{name} {given[name]}: it must be true or false")
    return text == "true"


def _whitelisting(given: dict[str, str]) -> Whitelisting | None:
    from kafka_lite.mirror.ureplicator.controller.auto_topic_whitelisting_manager import Whitelisting

    if not _boolean(given, "enableAutoWhitelist"):
        return None
    return Whitelisting(
        given.get("patternToExcludeTopics", "").strip(),
        float(given.get("refreshTimeInSeconds", 600)),
        float(given.get("initWaitTimeInSeconds", 120)),
    )


def _backup(given: dict[str, str]) -> Path | GitBackup:
    from kafka_lite.mirror.ureplicator.controller.controller_conf import DEFAULT_BACKUP_DIRECTORY, GitBackup

    if not _boolean(given, "backUpToGit"):
        return Path(given.get("localBackupFilePath", DEFAULT_BACKUP_DIRECTORY))
    for name in ("remoteBackupRepo", "localGitRepoClonePath"):
        if name not in given:
            raise ToolError(f"Missing option: --{name}")
    return GitBackup(given["remoteBackupRepo"], Path(given["localGitRepoClonePath"]))


class UReplicatorController:
    """A controller that runs in its own process."""

    def __init__(self, conf: ControllerConf) -> None:
        from kafka_lite.mirror.ureplicator.controller.controller_starter import ControllerStarter

        self._conf = conf
        self._starter = ControllerStarter(conf)

    def startup(self) -> None:
        """Start. Raises ControllerError if a ZooKeeper does not respond, or the port is taken."""
        from kafka_lite.mirror.ureplicator.controller.controller_errors import ControllerError
        from kafka_lite.zookeeper.zk_errors import ZkConnectionError

        try:
            self._starter.start()
        except ZkConnectionError as error:  # without the advice for brokers
            raise ControllerError(f"The controller cannot start. {error}") from None

    def ready_line(self) -> str:
        """The line with the URL of the REST interface and the cluster."""
        started = terminal.styled(f"kafka_lite {__version__} uReplicator controller started", "bold green")
        host = f"[{self._conf.host}]" if ":" in self._conf.host else self._conf.host
        url = f"http://{host}:{self._starter.port}/"
        return f"{started}: REST interface {url}, Helix cluster {self._conf.helix_cluster_name}"

    def await_shutdown(self, timeout_s: float) -> bool:
        """It never stops by itself."""
        return self._starter.await_stop(timeout_s)

    def shutdown(self) -> None:
        """Stop, and end the sessions."""
        self._starter.stop()

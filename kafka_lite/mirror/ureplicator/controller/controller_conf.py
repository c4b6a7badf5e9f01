"""The configuration of uReplicator's controller, as its flags give it.

uReplicator kafka-0.10.2.1: uReplicator-Controller/.../mirrormaker/controller/ControllerConf.java (ControllerConf) ·
book 8.2.2
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from kafka_lite.mirror.ureplicator.controller.auto_topic_whitelisting_manager import Whitelisting
from kafka_lite.mirror.ureplicator.controller.controller_errors import ControllerConfError
from kafka_lite.mirror.ureplicator.helix_names import SESSION_TIMEOUT_MS

DEFAULT_HOST = "127.0.0.1"
"""A client of the REST interface changes what is mirrored, so it is for this machine. (uReplicator: all addresses.)"""
DEFAULT_BACKUP_DIRECTORY = Path("/var/log/kafka-mirror-maker-controller")


@dataclass(frozen=True)
class GitBackup:
    """Where a backup is pushed to, and where it is cloned for that."""

    remote: str
    clone: Path


@dataclass(frozen=True)
class ControllerConf:
    """The flags. Times in seconds, where nothing else is said."""

    helix_cluster_name: str
    zookeeper: str
    port: int
    instance_id: str
    host: str = DEFAULT_HOST
    environment: str = "env"
    session_timeout_ms: int = SESSION_TIMEOUT_MS
    auto_rebalance_delay_s: int = 120
    whitelisting: Whitelisting | None = None
    """None without -enableAutoWhitelist true."""
    enable_auto_topic_expansion: bool = False
    enable_src_kafka_validation: bool = False
    src_kafka_zk_path: str = ""
    dest_kafka_zk_path: str = ""
    backup: Path | GitBackup = DEFAULT_BACKUP_DIRECTORY

    def check(self) -> None:
        """Raises ControllerConfError if a value is missing, or cannot be used."""
        for name, text in (("helixClusterName", self.helix_cluster_name), ("instanceId", self.instance_id)):
            if not text or "/" in text:
                raise ControllerConfError(f"-{name} {text!r} cannot be the name of a znode")
        if (self.whitelisting or self.enable_src_kafka_validation) and not self.src_kafka_zk_path:
            raise ControllerConfError("-enableAutoWhitelist and -enableSrcKafkaValidation need -srcKafkaZkPath")
        if self.whitelisting is not None:
            if not self.dest_kafka_zk_path:
                raise ControllerConfError("-enableAutoWhitelist needs -destKafkaZkPath")
            if self.whitelisting.refresh_time_s < 1:
                raise ControllerConfError("-refreshTimeInSeconds must be at least 1")
            _check_pattern(self.whitelisting.pattern_to_exclude)


def _check_pattern(pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ControllerConfError(f"-patternToExcludeTopics {pattern} is no regular expression: {error}") from None

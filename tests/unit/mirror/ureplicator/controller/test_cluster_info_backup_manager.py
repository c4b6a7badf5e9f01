"""The daily backup."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from kafka_lite.mirror.ureplicator.controller.back_up_handler import BackUpHandler
from kafka_lite.mirror.ureplicator.controller.cluster_info_backup_manager import ClusterInfoBackupManager
from kafka_lite.mirror.ureplicator.controller.topic_mappings import topic_mappings
from tests.support.ureplicator import FakeMirror


class Kept(BackUpHandler):
    def __init__(self) -> None:
        self.backups: list[Mapping[str, str]] = []
        self.error: Exception | None = None

    def write(self, files: Mapping[str, str]) -> None:
        if self.error is not None:
            raise self.error
        self.backups.append(files)


def test_both_files_are_written_soon_and_then_daily(mirror: FakeMirror) -> None:
    manager, kept = mirror.start_controller().manager, Kept()
    mirror.start_worker("w1")
    manager.add_topic_to_mirror_maker("t", 2)
    ClusterInfoBackupManager(manager, kept, mirror.scheduler, "prod").start()
    mirror.pass_s(20)
    state = manager.ideal_state("t")
    files = {name: json.loads(text) for name, text in kept.backups[0].items()}
    assert files == {
        "idealState-backup-prod": [{"topic": "t", "idealStateMeta": json.loads(state.record.to_json())}],
        "partitionAssgn-backup-prod": [topic_mappings("t", state, manager.external_view("t"), "idealStateMapping")],
    }
    mirror.pass_s(24 * 3600)
    assert len(kept.backups) == 2


def test_nothing_is_written_without_topics_or_by_a_follower(mirror: FakeMirror) -> None:
    kept = Kept()
    leader, follower = mirror.start_controller("leader").manager, mirror.start_controller("follower").manager
    ClusterInfoBackupManager(leader, kept, mirror.scheduler, "").run()
    leader.add_topic_to_mirror_maker("t", 1)
    ClusterInfoBackupManager(follower, kept, mirror.scheduler, "").run()
    assert kept.backups == []
    ClusterInfoBackupManager(leader, kept, mirror.scheduler, " ").run()
    assert list(kept.backups[0]) == ["idealState-backup-default", "partitionAssgn-backup-default"]


def test_a_backup_that_fails_is_logged(mirror: FakeMirror, caplog: pytest.LogCaptureFixture) -> None:
    manager, kept = mirror.start_controller().manager, Kept()
    manager.add_topic_to_mirror_maker("t", 1)
    kept.error = PermissionError("read-only file system")
    ClusterInfoBackupManager(manager, kept, mirror.scheduler, "").run()
    assert "Failed to take backup, with exception: read-only file system" in caplog.text

"""What clients learn about the log directories of a broker."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.managing.future_logs import FutureLogs
from kafka_lite.protocol.messages import api_35_describe_log_dirs as log_dirs
from kafka_lite.server.apis.log_dir_apis import LogDirApis


class Disk:
    """A replica manager whose disk holds t-0, with ten records up to offset 10, of which seven are committed; a copy
    of it that moves to another disk has four of them.
    """

    def __init__(self, directory: Path, other: Path) -> None:
        self.tp = TopicPartition("t", 0)
        log = SimpleNamespace(topic_partition=self.tp, dir=directory / "t-0", size=500, log_end_offset=10)
        copy = SimpleNamespace(topic_partition=self.tp, dir=other / "t-0.x-future", size=200, log_end_offset=4)
        futures = SimpleNamespace(all=lambda: [copy], get={self.tp: copy}.get)
        self.log_manager = SimpleNamespace(
            live_log_dirs=[directory, other],
            all_logs=lambda: [log],
            future_logs=futures,
            get_log={self.tp: log}.get,
        )
        self.high_watermark = 7

    def get_partition(self, topic_partition: TopicPartition) -> Any:
        if topic_partition != self.tp:
            return None
        offset = SimpleNamespace
        replica = SimpleNamespace(
            high_watermark=offset(message_offset=self.high_watermark), log_end_offset=offset(message_offset=10)
        )
        return SimpleNamespace(get_replica=lambda: replica)


@pytest.mark.parametrize(("high_watermark", "lag"), [(7, 0), (15, 5)])
@pytest.mark.parametrize(("topic", "index", "is_described"), [("t", 0, True), ("t", 1, False), ("u", 0, False)])
def test_the_logs_of_each_disk_are_described(
    tmp_path: Path, high_watermark: int, lag: int, topic: str, index: int, is_described: bool
) -> None:
    """The lag of a copy that moves is what it lacks of its log, that of a follower what it lacks of the watermark."""
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    disk = Disk(here, there)
    disk.high_watermark = high_watermark
    nothing = cast(Any, None)
    apis = LogDirApis([str(here), str(there)], cast(Any, disk))
    responses: list[Any] = []
    asked = log_dirs.DescribableLogDirTopic(topic=topic, partitions=[index])
    apis.handle_describe_log_dirs(nothing, log_dirs.DescribeLogDirsRequest(topics=[asked]), responses.append)
    described = [
        [
            (each.partition_index, each.partition_size, each.offset_lag, each.is_future_key)
            for found in result.topics
            for each in found.partitions
        ]
        for result in responses[0].results
    ]
    assert described == ([[(0, 500, lag, False)], [(0, 200, 6, True)]] if is_described else [[], []])


def test_a_disk_that_is_offline_has_an_error_and_no_logs(tmp_path: Path) -> None:
    disk = Disk(tmp_path, tmp_path / "elsewhere")
    disk.log_manager.live_log_dirs = []
    nothing = cast(Any, None)
    apis = LogDirApis([str(tmp_path)], cast(Any, disk))
    responses: list[Any] = []
    apis.handle_describe_log_dirs(nothing, log_dirs.DescribeLogDirsRequest(topics=None), responses.append)
    (result,) = responses[0].results
    assert (Errors.for_code(result.error_code), result.topics) == (Errors.KAFKA_STORAGE_ERROR, [])


def test_a_failed_directory_does_not_hide_the_others(tmp_path: Path) -> None:
    """Nothing has been written to it since, so it is not offline yet."""
    logs = SimpleNamespace(live_log_dirs=[tmp_path, tmp_path / "gone"], all_logs=list, future_logs=FutureLogs())
    replicas = SimpleNamespace(log_manager=logs)
    anything = cast(Any, None)
    apis = LogDirApis([str(tmp_path), str(tmp_path / "gone")], cast(Any, replicas))
    answers: list[Any] = []
    apis.handle_describe_log_dirs(anything, log_dirs.DescribeLogDirsRequest(topics=None), answers.append)
    present, gone = answers[0].results
    assert (present.error_code, gone.error_code) == (0, Errors.KAFKA_STORAGE_ERROR.code)
    assert present.total_bytes > 0

"""A trial in a process of its own, with a learner's modules: Streams and Connect run where their user's code runs.

::

    labs streams --check ─▶ a broker of the learner's modules ◀── python -m …streams_trials TRIAL SERVERS FOLDER
                                                                  (over it the learner's modules)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from kafka_learn.labs import overlay
from kafka_learn.labs.broker import LabBroker
from kafka_learn.labs.grader import run_bounded
from kafka_learn.labs.own.trial import Named

LIMIT_S = 60.0
"""Within it each step of a trial must be done."""
PROCESS_LIMIT_S = 240.0
SHOWN_LINES = 12
FOUND = "found: "
Step = Callable[[str, Path], str]
"""Gets ``bootstrap.servers`` and a folder, returns what it has found. Raises AssertionError."""


def trial_of(program: str, name: str) -> Callable[[LabBroker], str]:
    """The trial ``name`` of a program, with the modules of the broker."""

    def run(broker: LabBroker) -> str:
        folder = broker.folder / name
        command = overlay.command(broker.files, program, name, broker.bootstrap_servers, str(folder))
        code, output = run_bounded(command, PROCESS_LIMIT_S)
        lines = output.strip().splitlines()
        found = next((line.removeprefix(FOUND) for line in lines if line.startswith(FOUND)), None)
        assert code is not None, f"not done after {PROCESS_LIMIT_S:g} s"
        last_words = "\n".join(lines[-SHOWN_LINES:])
        assert code == 0, last_words or f"ended with code {code} and printed nothing"
        assert found is not None, f"said nothing of what it has found\n{last_words}"
        return found

    return run


OF_STREAMS: tuple[Named, ...] = tuple(
    (title, title_zh, trial_of("kafka_learn.labs.own.streams_trials", name))
    for title, title_zh, name in (
        ("two instances count words", "两个实例数单词", "count_words"),
        ("a lost store is restored", "丢失的存储得以恢复", "restore_a_store"),
        ("words are counted by the second", "按秒数单词", "count_in_windows"),
    )
)
OF_CONNECT: tuple[Named, ...] = tuple(
    (title, title_zh, trial_of("kafka_learn.labs.own.connect_trials", name))
    for title, title_zh, name in (
        ("a file is copied", "复制一个文件", "copy_a_file"),
        ("one of two workers dies", "两个工作进程死了一个", "lose_a_worker"),
        ("records are transformed", "转换记录", "transform"),
    )
)


def main_of(trials: Mapping[str, Step]) -> int:
    """Run the trial that the command line names, and print what it has found."""
    name, bootstrap_servers, folder = sys.argv[1:]
    try:
        found = trials[name](bootstrap_servers, Path(folder))
    except AssertionError as error:
        sys.stdout.write(f"{error}\n")
        return 1
    sys.stdout.write(f"{FOUND}{found}\n")
    return 0


def create_topics(bootstrap_servers: str, partitions: int, *names: str) -> None:
    """Create topics by librdkafka."""
    from confluent_kafka.admin import AdminClient
    from confluent_kafka.cimpl import NewTopic

    admin = AdminClient({"bootstrap.servers": bootstrap_servers})
    for future in admin.create_topics([NewTopic(name, partitions, 1) for name in names]).values():
        future.result(LIMIT_S)

"""The source stays readable in small pieces: docs/design/architecture.md, *Size*."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.support.source_facts import all_sources

MAX_MODULES = 25
MAX_LINES = 450
MAX_LINES_OF_FUNCTION = 50
ONE_MODULE_PER_API = "kafka_lite/protocol/messages"

LONG_MODULES = {
    "chapters/ch03_old_consumer/figures/old_consumer_runs.py": "the runs of a chapter",
    "chapters/ch04_new_consumer/figures/consumer_runs.py": "the runs of a chapter",
    "kafka_lite/consumer/group/abstract_coordinator.py": "one state machine, which ConsumerCoordinator extends",
    "kafka_lite/consumer/kafka_consumer.py": "the public API of the consumer, each method with its contract",
    "kafka_lite/log/log.py": "the public API of a log, under its one lock; its files and derived state have classes",
    "kafka_lite/producer/kafka_producer.py": "the public API of the producer; a record must not pay for another call",
    "kafka_lite/producer/transaction_manager.py": "one state machine, whose transitions share its lock",
    "kafka_lite/zookeeper/kafka_zk_client.py": "Kafka's class: one method per kind of znode, and nothing else",
}
"""Modules of more than ``MAX_LINES`` lines, and why each is left whole."""
LONG_FUNCTIONS = {
    "kafka_lite/record/fast/scan.py: _add_usual": "one loop over the bytes of a batch, without a call per record",
}


def test_no_folder_has_too_many_modules() -> None:
    sizes = Counter(Path(path).parent.as_posix() for path in all_sources() if not path.endswith("/__init__.py"))
    too_large = {folder: size for folder, size in sizes.items() if size > MAX_MODULES and folder != ONE_MODULE_PER_API}

    assert not too_large, "give the modules that belong together a folder of their own"


def test_no_module_is_longer_than_one_reads_in_a_sitting() -> None:
    long = {path for path, source in all_sources().items() if source.lines > MAX_LINES}

    assert not long - LONG_MODULES.keys(), f"more than {MAX_LINES} lines: divide it where its reader would"
    assert not LONG_MODULES.keys() - long, "these are short now: take them out of LONG_MODULES"


def test_no_function_is_longer_than_a_screen() -> None:
    long = {
        f"{path}: {function.name}"
        for path, source in all_sources().items()
        for function in source.functions
        if function.lines > MAX_LINES_OF_FUNCTION
    }

    assert not long - LONG_FUNCTIONS.keys(), f"more than {MAX_LINES_OF_FUNCTION} lines: divide it into steps with names"
    assert not LONG_FUNCTIONS.keys() - long, "these are short now: take them out of LONG_FUNCTIONS"


def test_what_a_subclass_must_define_is_abstract() -> None:
    raising = [
        f"{path}: {function.name}"
        for path, source in all_sources().items()
        for function in source.functions
        if function.raises_not_implemented
    ]

    assert not raising, "use abc: an incomplete subclass should fail when it is made, not when it is used"

"""Real clients try a broker that runs a learner's functions: four trials, each with what it has found."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kafka_learn.labs.broker import BrokerDiedError, LabBroker
from kafka_learn.labs.clients import TIMEOUT_S, create_topic, publish, read_all

MESSAGES, PARTITIONS = 2_000, 4
LOG_LINES, COMPLAINT_LINES = 500, 15
_LEVEL = re.compile(r"\[[^]]+\] (\w+) ")
Trial = Callable[[LabBroker], str]
Named = tuple[str, str, Trial]
"""The titles in English and Chinese, and what is tried."""


@dataclass(frozen=True)
class Outcome:
    """How a trial has ended: ``found`` says what was seen, or what was wrong."""

    title: str
    passed: bool
    found: str


def produce_and_consume(broker: LabBroker) -> str:
    """librdkafka writes messages and reads each of them once."""
    create_topic(broker, "own", PARTITIONS)
    idempotent: dict[str, Any] = {"enable.idempotence": True}
    publish(broker, 0, MESSAGES, topic="own", **idempotent)
    return _read_back(broker, "own", MESSAGES)


def resume_in_a_group(broker: LabBroker) -> str:
    """A member of a group commits and leaves; the next one resumes where it has stopped."""
    create_topic(broker, "own-group")
    publish(broker, 0, 200, topic="own-group")
    first, second = _consume_in_group(broker, 80), _consume_in_group(broker, 120)
    assert first + second == list(range(200)), (
        f"the first member read {first[:1]} to {first[-1:]}, the second {second[:1]} to {second[-1:]}: "
        "together that is not every message once"
    )
    return "80 messages, a commit, and the other 120 by the next member"


def commit_and_abort(broker: LabBroker) -> str:
    """Two transactions: one is committed, one aborted."""
    from confluent_kafka import Producer

    create_topic(broker, "own-transactions")
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "transactional.id": "own"})
    producer.init_transactions(TIMEOUT_S)
    for first, ends in ((0, producer.abort_transaction), (50, producer.commit_transaction)):
        producer.begin_transaction()
        for number in range(first, first + 50):
            producer.produce("own-transactions", f"{number:06d}")
        producer.flush(TIMEOUT_S)
        ends(TIMEOUT_S)
    seen = [int(message.value()[:6]) for message in read_all(broker, topic="own-transactions")[0]]
    assert seen == list(range(50, 100)), f"read_committed shows {len(seen)} messages, {seen[:1]} to {seen[-1:]}"
    return "read_committed shows 50 committed messages, and none of 50 aborted ones"


def kill_and_restart(broker: LabBroker) -> str:
    """kill -9 after the last acknowledgement: everything is there after the restart."""
    create_topic(broker, "own-killed", PARTITIONS)
    publish(broker, 0, MESSAGES, topic="own-killed", acks="all")
    broker.kill()
    start_ms = broker.start()
    return f"{_read_back(broker, 'own-killed', MESSAGES)}, after kill -9 and a start of {start_ms / 1000:.1f} s"


TRIALS: tuple[Named, ...] = (
    ("librdkafka writes and reads", "librdkafka 写入并读出", produce_and_consume),
    ("a group resumes", "消费组接着读", resume_in_a_group),
    ("transactions commit and abort", "事务提交与中止", commit_and_abort),
    ("kill -9 and restart", "kill -9 之后重启", kill_and_restart),
)
"""The trials of a broker by clients."""


def run_trials(
    files: dict[str, Path], folder: Path, trials: Sequence[Named] = TRIALS, *, zh: bool = False
) -> list[Outcome]:
    """Start a broker with these modules and try it. The first failure ends the trials, for the broker may be broken."""
    outcomes: list[Outcome] = []
    broker = LabBroker(folder, files, {"auto.create.topics.enable": "false"})
    try:
        broker.start()
        for title, title_zh, trial in trials:
            outcomes.append(_tried(title_zh if zh else title, trial, broker))
            if not outcomes[-1].passed:
                break
    except BrokerDiedError as error:
        outcomes.append(Outcome("启动" if zh else "start", False, str(error)))
    finally:
        broker.stop()
    return outcomes


def _tried(title: str, trial: Trial, broker: LabBroker) -> Outcome:
    try:
        return Outcome(title, True, trial(broker))
    except Exception as error:  # noqa: BLE001  (whatever a client says of a broken broker is the outcome)
        return Outcome(title, False, f"{type(error).__name__}: {error}{_complaints(broker)}")


def _complaints(broker: LabBroker) -> str:
    """The warnings and errors at the end of the broker's log, with their tracebacks; nothing of what went well."""
    shown, found = False, list[str]()
    for line in broker.log_tail(LOG_LINES).splitlines():
        if level := _LEVEL.match(line):
            shown = level[1] in ("WARN", "ERROR", "FATAL")
        found += [line] if shown else []
    return "".join(f"\n{line}" for line in found[-COMPLAINT_LINES:])


def _read_back(broker: LabBroker, topic: str, count: int) -> str:
    found = read_all(broker, PARTITIONS, topic)
    numbers = sorted(int(message.value()[:6]) for messages in found.values() for message in messages)
    assert numbers == list(range(count)), f"{len(numbers)} messages came back, not each of {count} once"
    return f"{count:,} messages in {PARTITIONS} partitions, each of them once"


def _consume_in_group(broker: LabBroker, count: int) -> list[int]:
    from confluent_kafka import Consumer

    settings: dict[str, Any] = {"group.id": "own", "auto.offset.reset": "earliest", "enable.auto.commit": False}
    consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, **settings})
    try:
        consumer.subscribe(["own-group"])
        messages: list[Any] = consumer.consume(count, timeout=TIMEOUT_S)
        assert len(messages) == count, f"{len(messages)} of {count} messages arrived within {TIMEOUT_S} s"
        consumer.commit(asynchronous=False)
        return [int(message.value()[:6]) for message in messages]
    finally:
        consumer.close()

"""Figures of what consumers did in recorded runs, and what a member does with each response to a heartbeat."""

from __future__ import annotations

from collections.abc import Iterable

from chapters.ch04_new_consumer.figures import consumer_runs
from chapters.ch05_coordinator.figures.group_runs import QUIET
from kafka_learn.drawing.state_machines import draw_states
from kafka_learn.drawing.svg import PALETTE, Canvas
from kafka_learn.recording.recorded_run import Kind, RecordedRun
from kafka_learn.recording.run_brokers import wait_until
from kafka_learn.recording.run_store import recorded_run
from kafka_lite.common.errors import Errors
from kafka_lite.common.process.log_levels import quiet
from kafka_lite.consumer.group.consumer_coordinator import ConsumerCoordinator
from kafka_lite.consumer.group.member_state import VALID_PREVIOUS_STATES, MemberState
from kafka_lite.testing.cluster import Cluster

CELL, ROW, LEFT, FONT = 74, 30, 150, 12
BLUE, ORANGE, GREEN, PURPLE, RED = PALETTE[:5]
CONSUMERS = ("consumer 1", "consumer 2")

_WORDS = {
    "en": {
        "record": "record", "offset": "offset", "consumer 1": "consumer 1", "consumer 2": "consumer 2",
        "dies": "† dies",
        "committed": "committed: {}", "result": "worked on", "0": "lost", "1": "once", "2": "twice",
        "response": "Response to a heartbeat", "state": "the member", "id": "its id", "coordinator": "its coordinator",
        "rejoin": "with the next poll", "kept": "kept", "forgotten": "forgotten", "known": "known",
        "unknown": "looked for", "joins": "joins", "nothing": "–", "raises": "raises",
    },
    "zh": {
        "record": "记录", "offset": "偏移量", "consumer 1": "消费者 1", "consumer 2": "消费者 2", "dies": "† 崩溃",
        "committed": "已提交：{}", "result": "处理次数", "0": "丢失", "1": "一次", "2": "重复",
        "response": "心跳的响应", "state": "成员的状态", "id": "成员编号", "coordinator": "协调者",
        "rejoin": "下一次轮询", "kept": "保留", "forgotten": "清除", "known": "已知",
        "unknown": "重新查找", "joins": "重新加入", "nothing": "–", "raises": "抛出异常",
    },
}  # fmt: skip


# ── deliveries ──────────────────────────────────────────────────────────────────────────────────────────────────────


def deliveries(run: RecordedRun, language: str = "en") -> str:
    """The records that each consumer processed, and what was committed when the first one died, as SVG.

    Needs the notes of ``consumer_runs.at_most_once`` or ``at_least_once``.
    """
    words = _WORDS[language]
    worked = {name: _records_of(run, name) for name in CONSUMERS}
    count = max(max(each) for each in worked.values())
    canvas = Canvas()
    for row, label in enumerate(
        (words["record"], words["offset"], *map(words.__getitem__, CONSUMERS), words["result"])
    ):
        canvas.text((0, row * ROW + 20), label, size=FONT)
    for number in range(1, count + 1):
        x = LEFT + (number - 1) * CELL
        canvas.text((x + CELL / 2, 20), str(number), size=FONT, anchor="middle", bold=True)
        canvas.text((x + CELL / 2, ROW + 20), str(number - 1), size=FONT, anchor="middle", opacity=0.8)
        for row, (name, colour) in enumerate(zip(CONSUMERS, (BLUE, PURPLE), strict=True), 2):
            _draw_cell(canvas, x, row, "✓" if number in worked[name] else "", colour)
        times = sum(number in each for each in worked.values())
        _draw_cell(canvas, x, 4, words[str(times)], (RED, GREEN, ORANGE)[times])
    canvas.text(
        (LEFT + max(worked["consumer 1"]) * CELL + 8, 2 * ROW + 20), words["dies"], size=FONT, fill=RED, halo=True
    )
    committed = _committed_by(run, "consumer 1")
    x = LEFT + committed * CELL
    canvas.line((x, ROW + 2), (x, 5 * ROW + 4), width=2, dash="5 3")
    canvas.text((x, 5 * ROW + 18), words["committed"].format(committed), size=FONT, anchor="middle")
    said = "; ".join(f"{name}: {', '.join(map(str, each))}" for name, each in worked.items())
    return canvas.svg(LEFT + count * CELL + 70, 5 * ROW + 26, f"{said}; {words['committed'].format(committed)}")


def results_once(run: RecordedRun, language: str = "en") -> str:
    """The records that each consumer processed, and how often readers of the output get each result, as SVG."""
    words, canvas = _WORDS[language], Canvas()
    notes = [event for event in run if event.kind is Kind.NOTE]
    outputs = {event.what: event.detail["values"] for event in notes if "values" in event.detail}
    worked = {name: _records_of(run, name) for name in CONSUMERS}
    count = max(max(each) for each in worked.values())
    for row, label in enumerate((words["record"], *map(words.__getitem__, CONSUMERS), *outputs)):
        canvas.text((0, row * ROW + 20), label, size=FONT)
    for number in range(1, count + 1):
        x = LEFT + (number - 1) * CELL
        canvas.text((x + CELL / 2, 20), str(number), size=FONT, anchor="middle", bold=True)
        for row, (name, colour) in enumerate(zip(CONSUMERS, (BLUE, PURPLE), strict=True), 1):
            _draw_cell(canvas, x, row, "✓" if number in worked[name] else "", colour)
        for row, values in enumerate(outputs.values(), 3):
            times = values.count(str(number))
            _draw_cell(canvas, x, row, words[str(times)], (RED, GREEN, ORANGE)[times])
    canvas.text((LEFT + max(worked["consumer 1"]) * CELL + 8, ROW + 20), words["dies"], size=FONT, fill=RED, halo=True)
    said = "; ".join(f"{name}: {' '.join(values)}" for name, values in outputs.items())
    return canvas.svg(LEFT + count * CELL + 70, 5 * ROW + 4, said)


def _draw_cell(canvas: Canvas, x: float, row: int, words: str, colour: str) -> None:
    if words:
        canvas.box((x + 2, row * ROW + 2), (CELL - 4, ROW - 4), fill=colour, stroke=colour, opacity=0.3, radius=3)
        canvas.text((x + CELL / 2, row * ROW + 20), words, size=FONT, anchor="middle")


def _records_of(run: RecordedRun, consumer: str) -> list[int]:
    notes = (event for event in run if event.kind is Kind.NOTE and event.who == consumer)
    return [int(event.detail["record"]) for event in notes if "record" in event.detail]


def _committed_by(run: RecordedRun, consumer: str) -> int:
    """The last offset that the coordinator acknowledged."""
    changes = (event for event in run if event.kind is Kind.STATE and event.what == "committed")
    return max((int(event.detail["after"]) for event in changes if event.thread == consumer), default=0)


# ── responses to heartbeats ───────────────────────────────────────────────────────────────────────────────────────────

HEARTBEAT_ERRORS = (
    Errors.REBALANCE_IN_PROGRESS, Errors.ILLEGAL_GENERATION, Errors.UNKNOWN_MEMBER_ID, Errors.NOT_COORDINATOR,
    Errors.COORDINATOR_NOT_AVAILABLE, Errors.FENCED_INSTANCE_ID, Errors.GROUP_AUTHORIZATION_FAILED,
)  # fmt: skip


def heartbeat_responses(language: str) -> str:
    """A table of what a member does with each response. Each is given to a running member whose user does not poll."""
    words = _WORDS[language]
    head = [words[name] for name in ("response", "state", "id", "coordinator", "rejoin")]
    rows = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    with quiet(*QUIET), consumer_runs.running_cluster() as cluster:
        for error in HEARTBEAT_ERRORS:
            cells = " | ".join(_after_response(cluster, error, words))
            rows.append(f"| `{error.name}` | {cells} |")
    return "\n".join(rows) + "\n"


def _after_response(cluster: Cluster, error: Errors, words: dict[str, str]) -> Iterable[str]:
    with consumer_runs.running_member(cluster, heartbeat_interval_ms=20, group_id=f"told-{error.name}") as consumer:
        coordinator = consumer._parts.coordinator
        assert isinstance(coordinator, ConsumerCoordinator)
        thread = coordinator._heartbeat_thread
        assert thread is not None
        broker = coordinator.finder.last_known
        with cluster.inject("Heartbeat", error).once() as fault:
            wait_until(lambda: fault.count == 1)
            wait_until(
                lambda: coordinator.rejoin_needed() or coordinator.finder.last_known is not broker
                or thread.failure is not None or coordinator.state is not MemberState.STABLE
            )  # fmt: skip
        wait_until(lambda: not thread.is_running or error not in _FATAL)
        next_poll = "raises" if thread.failure else "joins" if coordinator.rejoin_needed() else "nothing"
        looked_for = coordinator.finder.last_known is not broker
        return (
            f"`{coordinator.state.name}`",
            words["kept" if coordinator.generation.has_member_id else "forgotten"],
            words["unknown" if looked_for else "known"],
            words[next_poll],
        )


_FATAL = (Errors.FENCED_INSTANCE_ID, Errors.GROUP_AUTHORIZATION_FAILED)


# ── for pages ───────────────────────────────────────────────────────────────────────────────────────────────────────


def at_most_once(language: str) -> str:
    """Records 2 and 3 are lost."""
    return deliveries(recorded_run("chapters.ch04_new_consumer.figures.consumer_runs:at_most_once"), language)


def at_least_once(language: str) -> str:
    """Records 4, 5 and 6 are repeated."""
    return deliveries(recorded_run("chapters.ch04_new_consumer.figures.consumer_runs:at_least_once"), language)


def exactly_once(language: str) -> str:
    """Records 4 and 5 are processed twice, and are in the output once."""
    return results_once(
        recorded_run("chapters.ch04_new_consumer.figures.consumer_runs:exactly_once_in_kafka"), language
    )


def member_states(_language: str) -> str:
    """The state machine of a member."""
    return draw_states(VALID_PREVIOUS_STATES).svg()

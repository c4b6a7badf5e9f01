"""The answers to the predictions of the notebook on the purgatory, by the broker's purgatory and timer. Book 6.3."""

from __future__ import annotations

import functools
from typing import NamedTuple

from chapters.ch06_storage.figures.purgatory_drawings import NamedOperation, SteppedTimer
from kafka_learn.check import Prediction, Words
from kafka_lite.common.purgatory.delayed_operation import DelayedOperationPurgatory
from kafka_lite.common.time import MockTime

DUE = (10, 14, 27, 41, 41)
"""When the tasks are due that are added at 9."""


class _Seen(NamedTuple):
    """The outcome of the notebook's first cells."""

    tries_of_a: int
    lists_of_b: int
    last_of_a: str


@functools.cache
def seen() -> _Seen:
    """Three operations: an event without effect, one that completes b, and a clock that reaches 500."""
    time = MockTime()
    purgatory: DelayedOperationPurgatory[NamedOperation] = DelayedOperationPurgatory(
        "demo", purge_interval=1, reaper_enabled=False, time=time
    )
    a, b, c = NamedOperation("a", 500), NamedOperation("b", 300), NamedOperation("c", 800)
    for operation, keys in ((a, ["t-0"]), (b, ["t-0", "t-1"]), (c, ["t-1"])):
        purgatory.try_complete_else_watch(operation, keys)
    purgatory.check_and_complete("t-0")
    tries = a.history.count("tried")
    before = purgatory.watched
    b.ready = True
    purgatory.check_and_complete("t-0")
    left = 2 - (before - purgatory.watched)
    while time.hi_res_ms() < 500:
        purgatory.advance_clock(200)
    return _Seen(tries, left, a.history[-1])


def level_of(due_ms: int, steps: int = 0) -> int:
    """The wheel in which a task is after so many steps of the clock: 1 is the finest."""
    stepped = SteppedTimer(start_ms=9)
    for each in DUE:
        stepped.add(each)
    state = list(stepped.steps())[steps]
    return next(
        number
        for number, level in enumerate(state.levels, 1)
        if any(str(due_ms) in map(str, bucket.due_ms) for bucket in level)
    )


def armed_after_a_cancellation() -> int:
    """How many buckets are in the queue after the only task was cancelled."""
    stepped = SteppedTimer(start_ms=9)
    stepped.add(41).cancel()
    return len(stepped.state().armed_ms)


TRIES = Prediction(
    lambda: seen().tries_of_a,
    Words(
        "Twice when it came: before it was added to its lists and after that. And once because of the event.",
        "来的时候两次：进列表之前和之后；因为这个事件又一次。",
    ),
    {
        1: Words("How often was it tried before the event?", "事件之前检查过几次？"),
        2: Words("An event for its key is an occasion to try it again.", "它的键有了事件，就要再检查一次。"),
    },
)
LISTS = Prediction(
    lambda: seen().lists_of_b,
    Words(
        "It left the list that the event went through. The other one is looked at when its own key has an event, or "
        "when lists are purged.",
        "事件经过的那个列表里没有它了；另一个列表要等自己的键有了事件，或者清扫列表时，才会看到。",
    ),
    {
        0: Words("Who would go through the other list, and why?", "谁会去看另一个列表，为什么？"),
        2: Words("The event went through the list of t-0.", "事件经过了 t-0 的列表。"),
    },
)
HISTORY = Prediction(
    lambda: seen().last_of_a,
    Words(
        "Its time is up: it is completed once, by the reaper, and told that it has expired.",
        "时间到了：由清理线程让它完成，只此一次，再通知它已经超时。",
    ),
    {
        "completed": Words("That comes before: what else is it told?", "那是前一步。还通知了它什么？"),
        "tried": Words("At 500 nobody asks any more whether it is ready.", "到了 500，没有谁再问它是否就绪。"),
    },
)
WHEEL = Prediction(
    lambda: level_of(27),
    Words(
        "A wheel of four buckets reaches four ticks ahead: 1 ms each in the first, 4 in the second, 16 in the next.",
        "四个桶的轮子只管往前四格：第一个轮子一格 1 ms，第二个 4 ms，再下一个 16 ms。",
    ),
    {
        1: Words("The finest wheel reaches to 12.", "最细的轮子只到 12。"),
        2: Words(
            "The second wheel has four buckets of 4 ms, and its hand is at 8.",
            "第二个轮子有四格，一格 4 ms，指针在 8。",
        ),
        4: Words("A wheel is made when it is needed.", "轮子需要时才建立。"),
    },
)
STILL = Prediction(
    lambda: level_of(27, steps=3),
    Words(
        "The clock is at 14, and its bucket begins at 16. Then it moves to a finer wheel.",
        "时钟走到 14，它的桶从 16 开始。到那时才搬到细一些的轮子里。",
    ),
    {
        2: Words("It is there one step later: where does its bucket begin?", "再走一步才在那里：它的桶从哪里开始？"),
        1: Words("It comes there from a bucket of 4 ms.", "它要从一格 4 ms 的桶里来到那里。"),
    },
)
CANCELLED = Prediction(
    armed_after_a_cancellation,
    Words(
        "The bucket stays in the queue, and expires once, empty. To remove it, each cancellation would have to search "
        "the heap.",
        "桶仍然在队列里，会空着到期，只此一次。否则每取消一个任务，都要到堆里去找它的桶。",
    ),
    {0: Words("What would it cost to find the bucket in a heap?", "到堆里找这个桶，要多少代价？")},
)

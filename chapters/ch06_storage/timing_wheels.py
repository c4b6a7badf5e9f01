# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Notebook: a purgatory, step by step
#
# *Book 6.3; the text to it is [Delayed operations](delayed-operations.md), [Watchers](watchers.md) and [The timing
# wheels](timing-wheels.md).*
#
# `DelayedOperationPurgatory`, `SystemTimer`, `TimingWheel`: every object below is the broker's own. Only the
# operations are ours, since they must wait for something: `NamedOperation` waits until we say that it is ready. The
# clock moves when we move it. Before you run a cell that ends in a question, answer it.

# %%
from kafka_lite.common.delayed_operation import DelayedOperationPurgatory
from kafka_lite.common.time import MockTime
from kafka_lite.learn.purgatory_drawings import NamedOperation, SteppedTimer, draw_purgatory, draw_wheels, wheel_state
from kafka_lite.learn.purgatory_runs import note_for_the_one_who_checks
from kafka_lite.learn.runs import fetch_in_purgatory
from kafka_lite.learn.sequence_diagram import sequence_diagram
from kafka_lite.learn.time_line import time_line

time = MockTime()
purgatory = DelayedOperationPurgatory("demo", purge_interval=1, reaper_enabled=False, time=time)

# %% [markdown]
# ## Three operations wait
#
# The first one for partition t-0, the second one for two partitions, the third one for t-1.

# %%
a, b, c = NamedOperation("fetch A", 500), NamedOperation("fetch B", 300), NamedOperation("fetch C", 800)
for operation, keys in ((a, ["t-0"]), (b, ["t-0", "t-1"]), (c, ["t-1"])):
    print(operation, "completed at once:", purgatory.try_complete_else_watch(operation, keys), operation.history)
draw_purgatory(purgatory)

# %% [markdown]
# Each was tried twice: before it was put on its lists and behind that. The numbers at the timer are the milliseconds
# at which they are due; `b` is on two lists, and once in the timer.
#
# ## An event without effect
#
# Something happens to t-0, but nobody is ready. **How often has each of the three been tried then?**

# %%
print("completed:", purgatory.check_and_complete("t-0"))
print({operation.name: operation.history.count("tried") for operation in (a, b, c)})

# %% [markdown]
# ## An event that completes
#
# Now `b` is ready, and t-0 announces an event. **On which lists is `b` afterwards?**

# %%
b.ready = True
print("completed:", purgatory.check_and_complete("t-0"), b.history)
draw_purgatory(purgatory)

# %% [markdown]
# It has left the list of t-0 and the timer, and stays on the list of t-1, since nobody has been there. Nothing will
# happen to it a second time:

# %%
print("events of t-1 complete:", purgatory.check_and_complete("t-1"), b.history)
print("forced:", b.force_complete(), b.history)
draw_purgatory(purgatory)

# %% [markdown]
# ## Time runs out
#
# **What is the history of `a`, which nobody has called ready, after 500 ms?** The reaper's thread calls
# `advance_clock(200)` in a loop; so do we.

# %%
while time.hi_res_ms() < 500:
    purgatory.advance_clock(200)
    print(f"{time.hi_res_ms():4.0f} ms: waiting {purgatory.delayed}, on lists {purgatory.watched}")
print(a.history)
assert a.history[-2:] == ["completed", "expired"]

# %% [markdown]
# At 200 the reaper's patience was at an end. But why does the clock stop at 300 and at 400, where nothing is due? At
# 300 a bucket expires that is empty: `fetch B` lay in it, and was completed. At 400 `fetch A` moves from a coarse
# wheel to a finer one. Let us look at that on wheels that are small enough.
#
# ## Wheels of four buckets
#
# The time is 9. We add tasks that are due at 10, 14, 27, 41 and 41 again. **Which wheel does each of them land in?**

# %%
stepped = SteppedTimer(start_ms=9)
tasks = [stepped.add(due_ms) for due_ms in (10, 14, 27, 41, 41)]
draw_wheels(stepped.state())

# %% [markdown]
# Five tasks, four buckets, four entries in the queue, and three wheels, of which the two coarser ones were made when
# they were needed.
#
# ## Step by step
#
# Each step is one `advance_clock`: the clock jumps to the first bucket of the queue. **Where is 27 after the third
# step?**

# %%
states = list(stepped.steps())
draw_wheels(*states[:5], follow=27)

# %%
draw_wheels(*states[5:], follow=41)

# %% [markdown]
# At no time is there anything in a grey bucket, and the clock visits the buckets' beginnings only: of the 33 ticks
# between 9 and 41 it has stopped at those:

# %%
print([state.time_ms for state in states])
print("ran:", stepped.ran)
assert all(level[0].due_ms == () for state in states for level in state.levels)

# %% [markdown]
# ## Cancelled
#
# **What happens to the queue when the only task of a bucket is cancelled?**

# %%
stepped = SteppedTimer(start_ms=9)
stepped.add(41).cancel()
print("tasks that wait:", stepped.timer.size)
draw_wheels(stepped.state())

# %% [markdown]
# Nothing: the bucket stays armed. It will expire empty, once, instead of being looked for in the heap, for each task
# that is cancelled.
#
# ## The broker's wheels
#
# Twenty buckets of 1 ms. How many tasks of a real mix does each wheel hold? Ten thousand long polls of 500 ms, begun
# one after the other within 100 ms, and a hundred produce requests of 30 s.

# %%
big = SteppedTimer(wheel_size=20)
for number in range(10_000):
    if number % 100 == 0:
        big.time.sleep(1)
        big.add(int(big.time.hi_res_ms()) + 30_000)
    big.add(int(big.time.hi_res_ms()) + 500)
state = wheel_state(big.timer._wheel, [bucket for _, _, bucket in big.timer._armed])
for number, level in enumerate(state.levels, 1):
    used = [bucket for bucket in level if bucket.due_ms]
    count = sum(len(bucket.due_ms) for bucket in used)
    tick_ms = level[0].last_ms - level[0].first_ms + 1
    print(f"level {number}, tick {tick_ms:>5} ms: {count:>6,} tasks in {len(used)} buckets")
print("queue:", state.armed_ms)

# %% [markdown]
# Ten thousand one hundred tasks, two buckets. If all of them are cancelled before they come near, that is all the
# sorting there will ever have been.
#
# ## Beside a heap
#
# The same work for the wheels and for a `heapq` that marks what is cancelled: insert, cancel nine of ten, let the
# rest expire. This is the benchmark of the project (`python -m bench`), with fewer tasks. Processor time in
# microseconds per task; the numbers are those of the machine that built this page.

# %%
from bench.timers import ALL, LEFT, run

samples = run(50_000, lambda _name: None)
for workload, by_timer in samples.items():
    row = {name: round(next(iter(sample.values())), 1) for name, sample in by_timer.items()}
    print(f"{workload:30} {row}")
assert samples[LEFT]["SystemTimer"] != samples[LEFT]["heapq"]
assert ALL in samples

# %% [markdown]
# Inserting is cheaper in the heap, which is written in C; cancelling too, because nothing is taken out: what was
# cancelled is held, ten tasks for each that still waits, and must be popped one day. With so few tasks the heap may
# be ahead in the sum all the same. With a million it no longer is, see [the page](timing-wheels.md#beside-a-heap):
# each pop goes through more levels, and the heap outgrows the processor's caches.
#
# ## Two threads at a bad moment
#
# Event 1 checks an operation, slowly. Event 2 comes with news and may not wait. It leaves a note.

# %%
sequence_diagram(note_for_the_one_who_checks())

# %% [markdown]
# ## And in a real broker
#
# A consumer's long poll, from the network to the purgatory and back. The grey gap in the middle is the waiting, and
# it has no thread.

# %%
run_of_a_broker = fetch_in_purgatory()
time_line(run_of_a_broker)

# %%
[waiting] = [pair for pair in run_of_a_broker.hand_overs() if pair.put.what == "purgatory"]
print(f"put by    {waiting.put.thread}")
print(f"taken by  {waiting.take.thread}")
print(f"after     {waiting.waited_ns / 1e6:.0f} ms")

# %% [markdown]
# ## Now you
#
# - Give `SteppedTimer` wheels of two buckets and predict the way of a task that is due at 41.
# - Set `purge_interval` at the top to 0 and to 100, and say after which cell the lists are swept.
# - Then write it yourself: [the purgatory](../../labs/ch06-purgatory.md) and [the timing
#   wheels](../../labs/ch06-timing-wheel.md).

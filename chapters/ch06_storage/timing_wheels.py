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
# *Book 6.3; its pages are [Delayed operations](delayed-operations.md), [Watchers](watchers.md) and [The timing
# wheels](timing-wheels.md).*
#
# `DelayedOperationPurgatory`, `SystemTimer`, `TimingWheel`: every object below is the broker's own. Only the
# operations are ours, since they need a condition to wait for: `NamedOperation` waits until we make it ready. The
# clock moves when we move it. Before most steps there is a question: write your answer in the place of `None` and run
# the cell. It says whether you are right, and why.

# %% [markdown] lang="zh"
# # 笔记本：一步一步看延迟缓存
#
# 本书 6.3；相应的正文是[延迟操作](delayed-operations.md)、[监听列表](watchers.md)和[时间轮](timing-wheels.md)。
#
# `DelayedOperationPurgatory`、`SystemTimer`、`TimingWheel`：下面的每个对象都是 broker 自己的。只有操作是我们的，因为
# 它们总得等点什么：`NamedOperation` 等到我们说它就绪为止。我们拨动时钟，时钟才走。多数步骤之前有一个问题：把答案写在
# `None` 的位置，运行单元格，它会告诉你对不对，以及为什么。

# %%
from chapters.ch02_producer.figures.request_runs import fetch_in_purgatory
from chapters.ch06_storage.figures import purgatory_predictions as predictions
from chapters.ch06_storage.figures.purgatory_drawings import (
    NamedOperation,
    SteppedTimer,
    draw_purgatory,
    draw_wheels,
    wheel_state,
)
from chapters.ch06_storage.figures.purgatory_runs import note_for_the_one_who_checks
from kafka_learn.drawing.sequence_diagram import sequence_diagram
from kafka_learn.drawing.time_line import time_line
from kafka_lite.common.purgatory.delayed_operation import DelayedOperationPurgatory
from kafka_lite.common.time import MockTime

time = MockTime()
purgatory = DelayedOperationPurgatory("demo", purge_interval=1, reaper_enabled=False, time=time)

# %% [markdown]
# ## Three operations wait
#
# The first one for partition t-0, the second one for two partitions, the third one for t-1.

# %% [markdown] lang="zh"
# ## 三个操作在等待
#
# 第一个等分区 t-0，第二个等两个分区，第三个等 t-1。

# %%
a, b, c = NamedOperation("fetch A", 500), NamedOperation("fetch B", 300), NamedOperation("fetch C", 800)
for operation, keys in ((a, ["t-0"]), (b, ["t-0", "t-1"]), (c, ["t-1"])):
    print(operation, "completed at once:", purgatory.try_complete_else_watch(operation, keys), operation.history)
draw_purgatory(purgatory)

# %% [markdown]
# Each was tried twice: before it was added to its lists and after that. The numbers in the timer are the milliseconds
# at which the operations are due; `b` is on two lists, and once in the timer.
#
# ## An event without effect
#
# There is an event for t-0, but no operation is ready. How often has each of the three
# been tried then: **how often `a`?**

# %% [markdown] lang="zh"
# 每个都检查了两次：进列表之前，以及进列表之后。图中的“拉取 A”就是 `fetch A`。定时器旁边的数字是它们到期的毫秒；`b` 在
# 两个列表里，在定时器里只有一次。
#
# ## 没有效果的事件
#
# t-0 通知了一个事件，但是没有操作就绪。这时三个操作各检查过几次？**`a` 检查过几次？**

# %%
answer = None
predictions.TRIES.check(answer)

# %%
print("completed:", purgatory.check_and_complete("t-0"))
print({operation.name: operation.history.count("tried") for operation in (a, b, c)})

# %% [markdown]
# ## An event that completes
#
# Now `b` is ready, and there is an event for t-0. **On how many lists is `b` afterwards?**

# %% [markdown] lang="zh"
# ## 使操作完成的事件
#
# 现在 `b` 就绪了，t-0 通知了一个事件。**此后 `b` 还在几个列表里？**

# %%
answer = None
predictions.LISTS.check(answer)

# %%
b.ready = True
print("completed:", purgatory.check_and_complete("t-0"), b.history)
draw_purgatory(purgatory)

# %% [markdown]
# It has left the list of t-0 and the timer, and stays on the list of t-1, which no thread has checked since. It
# cannot complete a second time:

# %% [markdown] lang="zh"
# 它离开了 t-0 的列表和定时器，却仍留在 t-1 的列表里，因为还没有线程查看过那个列表。它不会再完成第二次：

# %%
print("events of t-1 complete:", purgatory.check_and_complete("t-1"), b.history)
print("forced:", b.force_complete(), b.history)
draw_purgatory(purgatory)

# %% [markdown]
# ## Expiration
#
# `a` never becomes ready. The reaper's thread calls `advance_clock(200)` in a loop; so do we. **What is the last entry
# of its history after 500 ms: `"tried"`, `"completed"` or `"expired"`?**

# %% [markdown] lang="zh"
# ## 超时
#
# `a` 一直没有就绪。清理线程在循环里调用 `advance_clock(200)`；我们也这样做。**500 ms 之后，它的经历里最后一项是
# `"tried"`、`"completed"`，还是 `"expired"`？**

# %%
answer = None
predictions.HISTORY.check(answer)

# %%
while time.hi_res_ms() < 500:
    purgatory.advance_clock(200)
    print(f"{time.hi_res_ms():4.0f} ms: waiting {purgatory.delayed}, on lists {purgatory.watched}")
print(a.history)
assert a.history[-2:] == ["completed", "expired"]

# %% [markdown]
# At 200, the reaper's `advance_clock` timed out. But why does the clock stop at 300 and at 400, where nothing is due?
# At 300, an empty bucket expires: `fetch B` was in it, and has completed. At 400, `fetch A` moves from a coarse wheel
# to a finer one. Let us look at that on wheels that are small enough.
#
# ## Wheels of four buckets
#
# The time is 9. We add tasks that are due at 10, 14, 27, 41 and 41 again. **Into which
# wheel does 27 go, if 1 is the finest?**

# %% [markdown] lang="zh"
# 到 200 时，清理线程等满了 200 ms。可是时钟为什么停在 300 和 400，那里什么也没有到期？到 300 时有一个空的桶到期：
# `fetch B` 曾在里面，后来完成了。到 400 时，`fetch A` 从粗的轮子搬到细的轮子。我们用足够小的轮子来看看。
#
# ## 四个桶的轮子
#
# 时刻是 9。我们添加在 10、14、27、41、再来一个 41 到期的任务。**27 落在第几个轮子里？**
# 最细的是第 1 个。

# %%
answer = None
predictions.WHEEL.check(answer)

# %%
stepped = SteppedTimer(start_ms=9)
tasks = [stepped.add(due_ms) for due_ms in (10, 14, 27, 41, 41)]
draw_wheels(stepped.state())

# %% [markdown]
# Five tasks, four buckets, four entries in the queue, and three wheels, of which the two coarser ones were created on
# demand.
#
# ## Step by step
#
# Each step is one `advance_clock`: the clock jumps to the first bucket of the queue. **In which wheel is 27
# after the third step?**

# %% [markdown] lang="zh"
# 五个任务，四个桶，队列里四项，三个轮子，其中较粗的两个是需要时才建立的。
#
# ## 一步一步
#
# 每一步是一次 `advance_clock`：时钟跳到队列中第一个桶。**第三步之后 27 在第几个轮子里？**

# %%
answer = None
predictions.STILL.check(answer)

# %%
states = list(stepped.steps())
draw_wheels(*states[:5], follow=27)

# %%
draw_wheels(*states[5:], follow=41)

# %% [markdown]
# There is never anything in a grey bucket, and the clock stops only where buckets begin. Of the 33 ticks between 9
# and 41, it has stopped at these:

# %% [markdown] lang="zh"
# 灰色的桶里任何时候都没有东西，而且时钟只到各个桶的开头：9 到 41 之间有 33 个刻度，它停过的是：

# %%
print([state.time_ms for state in states])
print("ran:", stepped.ran)
assert all(level[0].due_ms == () for state in states for level in state.levels)

# %% [markdown]
# ## Cancellation
#
# **How many buckets are in the queue after the only task has been cancelled?**

# %% [markdown] lang="zh"
# ## 取消
#
# **唯一的任务被取消之后，队列里还有几个桶？**

# %%
answer = None
predictions.CANCELLED.check(answer)

# %%
stepped = SteppedTimer(start_ms=9)
stepped.add(41).cancel()
print("tasks that wait:", stepped.timer.size)
draw_wheels(stepped.state())

# %% [markdown]
# Nothing: the bucket stays in the heap, and expires once, empty. To remove it, each cancellation would have to search
# the heap.
#
# ## The broker's wheels
#
# Twenty buckets of 1 ms. How many tasks of a real mix does each wheel hold? Ten thousand long polls of 500 ms, begun
# one after the other within 100 ms, and a hundred produce requests of 30 s.

# %% [markdown] lang="zh"
# 没有变化：桶仍然在队列里。它会空着到期，只此一次；否则每取消一个任务，都要到堆里去找它的桶。
#
# ## broker 的轮子
#
# 二十个 1 ms 的桶。任务的组合接近实际情况时，每个轮子里各有多少？一万个 500 ms 的长轮询，在 100 ms 之内先后开始，还有
# 一百个 30 s 的生产请求。

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
# Ten thousand one hundred tasks, two buckets. If all of them are cancelled before their bucket expires, two entries
# in the queue is all the sorting there ever was.
#
# ## Beside a heap
#
# The same work for the wheels and for a `heapq` that marks what is cancelled: insert, cancel nine of ten, let the
# rest expire. This is the benchmark of the project (`python -m bench`), with fewer tasks. Processor time in
# microseconds per task; the numbers are those of the machine that built this page.

# %% [markdown] lang="zh"
# 一万零一百个任务，两个桶。如果它们在临近之前全被取消，那么自始至终的排序就只有这些。
#
# ## 与堆比较
#
# 同样的工作，交给时间轮，也交给一个只给取消的任务做记号的 `heapq`：放入，取消十分之九，让其余的到期。这是本项目的基准
# 测试（`python -m bench`），只是任务少一些。单位是每个任务的处理器时间，微秒；数字来自生成本页的那台机器。

# %%
from bench.timers import ALL, LEFT, run

samples = run(50_000, lambda _name: None)
for workload, by_timer in samples.items():
    row = {name: round(next(iter(sample.values())), 1) for name, sample in by_timer.items()}
    print(f"{workload:30} {row}")
assert samples[LEFT]["SystemTimer"] != samples[LEFT]["heapq"]
assert ALL in samples

# %% [markdown]
# Inserting is cheaper in the heap, which is written in C. So is cancelling, because nothing is removed: the heap
# keeps cancelled tasks, ten for each that still waits, and must pop them later. With so few tasks, the heap may still
# be faster overall. With a million it no longer is, see [the page](timing-wheels.md#beside-a-heap): each pop goes
# through more levels, and the heap outgrows the processor's caches.
#
# ## Two threads at a bad moment
#
# Event 1 checks an operation, slowly. Event 2 comes meanwhile and must not block. It sets a flag that makes event 1
# check again.

# %% [markdown] lang="zh"
# 堆的放入更便宜，因为堆是用 C 写的；取消也更便宜，因为什么都没有取出来：取消的任务仍被留着，每有一个还在等待的任
# 务，堆里就留着十个，它们总有一天要弹出来。任务这么少的时候，算总账堆也可能领先。到一百万个就不再如此了，见[正文
# ](timing-wheels.md#beside-a-heap)：每次弹出要经过更多层，堆也超出了处理器的缓存。
#
# ## 两个线程赶在同一时刻
#
# 事件 1 的线程正在检查一个操作，检查得很慢。事件 2 让条件成立，它的线程不可以等，于是留下一张便条。

# %%
sequence_diagram(note_for_the_one_who_checks())

# %% [markdown]
# ## And in a real broker
#
# A consumer's long poll, from the network to the purgatory and back. In the grey gap in the middle the request waits,
# and no thread waits with it.

# %% [markdown] lang="zh"
# ## 在真正的 broker 里
#
# 消费者的一次长轮询，从网络到延迟缓存，再回来。中间灰色的空隙就是等待，它不占用线程。

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
# - Give `SteppedTimer` wheels of two buckets and predict the path of a task that is due at 41.
# - Set `purge_interval` at the top to 0 and to 100, and predict after which cell the lists are purged.
# - Then write it yourself: [the purgatory](../../labs/ch06-purgatory.md) and [the timing
#   wheels](../../labs/ch06-timing-wheel.md).

# %% [markdown] lang="zh"
# ## 轮到你了
#
# - 给 `SteppedTimer` 两个桶的轮子，预测一个在 41 到期的任务怎么走。
# - 在开头把 `purge_interval` 设为 0 和 100，说出在哪个单元格之后清扫列表。
# - 然后自己写出来：[延迟缓存](../../labs/ch06-purgatory.md)和[时间轮](../../labs/ch06-timing-wheel.md)。

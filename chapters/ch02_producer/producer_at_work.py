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
# # Notebook: a producer at work
#
# *Book 2.1.1 and 2.1.2; its pages are [Sending](sending.md) and [The Sender thread](sender.md).*
#
# First an accumulator by itself, with a clock that stands still; then recorded runs of real producers with a real
# broker. Before most steps there is a question: write your answer in the place of `None` and run the cell. It says
# whether you are right, and why.

# %% [markdown] lang="zh"
# # 笔记本：工作中的生产者
#
# 本书 2.1.1 和 2.1.2；相应的正文是[同步和异步发送](sending.md)和[发送线程](sender.md)。
#
# 先手工操作一个收集器，时钟停着不动；然后运行真实的生产者和真实的 broker，并录制下来。多数步骤之前有一个问题：把答案写
# 在 `None` 的位置，运行单元格，它会告诉你对不对，以及为什么。

# %%
from chapters.ch02_producer.figures import producer_predictions as predictions
from chapters.ch02_producer.figures import producer_runs
from chapters.ch02_producer.figures.producer_figures import batch_lives, draw_accumulator
from kafka_learn.drawing.sequence_diagram import sequence_diagram
from kafka_learn.recording.client_watches import watch_batches, watch_memory
from kafka_learn.recording.recorded_run import Kind
from kafka_learn.recording.recorder import Recording
from kafka_learn.recording.watches import watch
from kafka_lite.clients.cluster import Cluster, Node, PartitionInfo
from kafka_lite.common.time import SYSTEM_TIME, MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.producer.buffer_pool import BufferExhaustedError, BufferPool
from kafka_lite.producer.producer_record import ProducerRecord
from kafka_lite.producer.record_accumulator import RecordAccumulator
from kafka_lite.record.compression import CompressionType

LINGER_MS, BACKOFF_MS, BATCH_BYTES = 10, 100, 400
left, right = Node(0, "left", 9092), Node(1, "right", 9092)
leaders = {0: left, 1: left, 2: right}
cluster = Cluster((left, right), tuple(PartitionInfo("t", number, node) for number, node in leaders.items()))
clock = MockTime()
pool = BufferPool(6 * BATCH_BYTES, BATCH_BYTES, clock)
accumulator = RecordAccumulator(BATCH_BYTES, CompressionType.NONE, LINGER_MS, BACKOFF_MS, 120_000, pool, time=clock)


def append(partition, count=1, size=60):
    """Append records; which of them began a batch, or found one full?"""
    for number in range(count):
        result = accumulator.append(TopicPartition("t", partition), (0, None, bytes(size), (), None), 0)
        told = [name for name in ("new_batch_created", "batch_is_full") if getattr(result, name)]
        if told:
            print(f"t-{partition}, record {number}: {', '.join(told)}")


def look():
    """Show what the sender would see."""
    result = accumulator.ready(cluster, clock.hi_res_ms())
    names = sorted(node.host for node in result.ready_nodes)
    print(f"ready: {names or 'nobody'}, look again in {result.next_ready_check_delay_ms:g} ms")
    return result.ready_nodes


def drain(nodes):
    """Show what would be sent."""
    drained = accumulator.drain(cluster, sorted(nodes, key=lambda node: node.id), 1 << 20, clock.hi_res_ms())
    for node, batches in drained.items():
        print(f"node {node}:", ", ".join(f"{batch.topic_partition} ({batch.record_count})" for batch in batches))
    return [batch for batches in drained.values() for batch in batches]


# %% [markdown]
# ## Filling
#
# Partitions 0 and 1 are led by the node *left*, 2 by *right*. One record each for 0 and 2. **Which node is ready
# (`"left"`, `"right"`, `"both"` or `"none"`), and how many bytes of memory are used?**

# %% [markdown] lang="zh"
# ## 填充
#
# 分区 0 和 1 的主副本在节点 *left*，分区 2 的在 *right*。给 0 和 2 各一条记录。**哪个节点就绪了（`"left"`、`"right"`、
# 两个都是 `"both"`，或者没有 `"none"`）？用掉了多少字节的内存？**

# %%
answer = None
predictions.READY_AT_FIRST.check(answer)

# %%
answer = None
predictions.MEMORY.check(answer)

# %%
append(0)
append(2)
look()
draw_accumulator(accumulator)

# %% [markdown]
# None, for ten milliseconds; and 800 bytes, though each record takes only 68, including the format's overhead. A batch
# begins with 61 bytes of its own. Now five more for partition 0, and one for 1. (In the drawing, blue batches accept
# more records, and green ones do not.) **After which of the five, 1 to 5, is a batch full, and which node is ready
# then?**

# %% [markdown] lang="zh"
# 十毫秒之内没有节点就绪；用掉 800 字节，尽管每条记录连同格式加上的部分只有 68 字节。每个批次自己还占 61 字节。现在再给
# 分区 0 五条，给分区 1 一条。（图中蓝色的还能接收记录，绿色的不能。）**五条中的第几条（1 到 5）之后有批次满了？这时哪个
# 节点就绪了？**

# %%
answer = None
predictions.WAKES.check(answer)

# %%
answer = None
predictions.READY_WITH_A_FULL_BATCH.check(answer)

# %%
append(0, 5)
append(1)
ready = look()
draw_accumulator(accumulator)

# %% [markdown]
# The fourth (`record 3` in the output, which counts from 0). Whenever a batch is full or a new one begins, the caller
# wakes the sender.
#
# ## Draining
#
# *left* is ready, because of one batch. There are four. **How many are drained?**

# %% [markdown] lang="zh"
# 第四条（输出从 0 数起，所以是 `record 3`）。每当有批次满了，或者开始新的批次，调用者都会唤醒发送线程。
#
# ## 排空
#
# 因为一个批次，*left* 就绪了。批次一共有四个。**几个离开？**

# %%
answer = None
predictions.DRAINED.check(answer)

# %%
in_flight = drain(ready)
draw_accumulator(accumulator)

# %% [markdown]
# At most one per partition, from all partitions that *left* leads, though partition 1 was not ready by itself. The
# second batch of partition 0 stays: a request contains a partition only once. The memory is not free yet, since the
# batches are in flight.
#
# ## Time passes
#
# **Which node is ready after ten milliseconds: `"left"`, `"right"`, `"both"` or `"none"`?**

# %% [markdown] lang="zh"
# 每个分区最多一个，而且是主副本在 *left* 的所有分区，尽管分区 1 并不着急。分区 0 的第二个批次留下：一个请求里每个分区
# 只出现一次。内存还没有归还，因为批次还在路上。
#
# ## 时间流逝
#
# **十毫秒之后哪个节点就绪：`"left"`、`"right"`、`"both"` 还是 `"none"`？**

# %%
answer = None
predictions.READY_AFTER_LINGER.check(answer)

# %%
clock.sleep(LINGER_MS)
in_flight += drain(look())

# %% [markdown]
# ## A response, and a retry
#
# The first batch is acknowledged. The second one gets a retriable error. Meanwhile, a record has come for its
# partition, and begun another batch. **Is the failed one queued `"before"` or `"behind"` that, and which node is ready
# now?**

# %% [markdown] lang="zh"
# ## 一个响应，一次重试
#
# 第一个批次得到确认。第二个带着一个可能只是暂时的错误回来。这期间它的分区又来了一条记录，开始了另一个批次。**失败的批
# 次排在那个批次之前（`"before"`）还是之后（`"behind"`）？现在哪个节点就绪？**

# %%
answer = None
predictions.PLACE.check(answer)

# %%
answer = None
predictions.READY_AFTER_A_FAILURE.check(answer)

# %%
done, failed, *rest = in_flight
done.complete(0, -1)
accumulator.deallocate(done)
append(1)
accumulator.reenqueue(failed, clock.hi_res_ms())
look()
draw_accumulator(accumulator)

# %% [markdown]
# Before the others (orange): it is older. And it blocks them: until its backoff is over, nothing of the partition is
# sent, however long the other batch has lingered.

# %% [markdown] lang="zh"
# 排在其他批次前面（橙色）：它更早。它也拖住它们：在它的退避时间结束之前，这个分区什么也不发送，不管后面的批次已经逗留
# 了多久。

# %%
clock.sleep(50)
look()
clock.sleep(50)
in_flight = [*rest, *drain(look())]

# %% [markdown]
# ## Out of memory
#
# `max_time_to_block_ms` is 0 here: a caller that would have to wait gets an error at once. The pool has 2400 bytes.
# Only the first batch has been acknowledged. **How many more batches begin before the error?**

# %% [markdown] lang="zh"
# ## 内存用完
#
# 这里 `max_time_to_block_ms` 是 0：本来要等待的线程立刻得到一个错误。缓冲池有 2400 字节。除了第一个批次，都还没有得到
# 确认。**出错之前，还能开始几个批次？**

# %%
answer = None
predictions.FIT.check(answer)

# %%
try:
    for partition in range(3):
        append(partition, 20)
except BufferExhaustedError as error:
    print(error)
draw_accumulator(accumulator)

# %% [markdown]
# ## Filling and draining, recorded
#
# Now a real producer: three partitions, six buffers, and a broker that delays the first two responses.

# %% [markdown] lang="zh"
# ## 填充与排空的录制
#
# 现在是一个真实的生产者：三个分区，六个缓冲区，一个前两次响应很慢的 broker。

# %%
filling = producer_runs.filling_and_draining()
batch_lives(filling)

# %%
waits = [span for span in filling.calls() if span.begin.what == "allocate" and span.duration_ns > 1e6]
for span in waits:
    print(f"at {span.begin.time_ns / 1e6:5.1f} ms send waited for memory for {span.duration_ns / 1e6:4.1f} ms")
free = [event.detail["after"] for event in filling if event.kind is Kind.STATE and event.who == "BufferPool"]
print("free bytes over time:", *free)


# %% [markdown]
# Your own experiment: change the settings in the braces, for example to one request in flight, or to twelve buffers. It
# begins with `linger.ms` 0 instead of 40. **Are there `"more"` batches of the 45 records then, `"fewer"`, or
# `"as many"`?**

# %% [markdown] lang="zh"
# 轮到你了：请改动花括号里的内容，比如只允许一个在途请求，或者十二个缓冲区。一开始，`linger.ms` 是 0，而不是 40。**这样
# 一来，45 条记录的批次更多（`"more"`）、更少（`"fewer"`），还是一样多（`"as many"`）？**

# %%
answer = None
predictions.LINGER_0.check(answer)


# %%
def record(configs, records=45, slow_ms=40, pause_ms=1):
    """A run of a producer with these settings, against a broker that is slow for two responses."""
    watches = (watch_batches(), watch_memory(), watch(BufferPool.allocate, show=("size",)))
    with (
        Recording(*watches, title="Mine", paused=True) as recording,
        producer_runs.running_cluster(partitions=3) as broker,
        producer_runs.running_producer(broker, configs) as producer,
        broker.inject("Produce").delay_response(slow_ms).times(2),
        recording.running(),
    ):
        for number in range(records):
            producer.send(ProducerRecord("demo", bytes(60), partition=number % 3))
            SYSTEM_TIME.sleep(pause_ms)
        producer.flush()
        recording.pause()
    return recording.run


batch_lives(record({"batch.size": 400, "buffer.memory": 2400, "linger.ms": 0, "enable.idempotence": False}))

# %% [markdown]
# ## Order
#
# A, B and C are in flight, each in a batch of its own, and the broker rejects A. **What is in the log in the end, as a
# string such as `"ABC"`?**

# %% [markdown] lang="zh"
# ## 次序
#
# A、B、C 各在一个批次里，都在途，broker 拒绝了 A。**日志里最后有什么？请写成 `"ABC"` 这样的字符串。**

# %%
answer = None
predictions.ORDER.check(answer)

# %%
reordered = producer_runs.reordered()
sequence_diagram(reordered)


# %%
def log_of(run):
    """Show what the broker appended, with the offsets that the appends returned."""
    spans = [span for span in run.calls() if span.begin.what == "append_as_leader"]
    for span in spans:
        outcome = span.end.detail.get("result", span.end.detail.get("error"))
        print(f"{span.begin.time_ns / 1e6:6.1f} ms  {span.begin.detail['values']:16} {outcome}")


log_of(reordered)

# %%
batch_lives(reordered)

# %% [markdown]
# With one request in flight. **How many appends are there to the log?**

# %% [markdown] lang="zh"
# 只有一个在途请求时。**日志追加几次？**

# %%
answer = None
predictions.APPENDS.check(answer)

# %%
log_of(producer_runs.one_in_flight())

# %% [markdown]
# With sequence numbers, and five in flight: A and B. **Which side keeps the order: the `"producer"`, the `"broker"`, or
# `"both"`?**

# %% [markdown] lang="zh"
# 带序列号，最多五个在途请求：A 和 B。**由哪一方保持次序：生产者（`"producer"`）、broker（`"broker"`），还是双方
# （`"both"`）？**

# %%
answer = None
predictions.KEEPER.check(answer)

# %%
numbered = producer_runs.kept_in_order()
log_of(numbered)
sequence_diagram(numbered)

# %% [markdown]
# The broker rejects (`ApiError`), and the producer retries: it takes both.
#
# ## A duplicate
#
# The broker appends a record at offset 1, and the connection breaks before the response. **Which offset does the caller
# get in the end: without sequence numbers, and with them?**

# %% [markdown] lang="zh"
# broker 拒绝（`ApiError`），生产者重发：两者缺一不可。
#
# ## 重复
#
# broker 在偏移量 1 追加了一条记录，响应到达之前，连接断了。**调用者最后得到哪个偏移量？先答没有序列号时，再答有序列号
# 时。**

# %%
answer = None
predictions.OFFSET.check(answer)

# %%
answer = None
predictions.NUMBERED_OFFSET.check(answer)

# %%
log_of(producer_runs.duplicate())

# %%
removed = producer_runs.removed_duplicate()
log_of(removed)
for span in removed.calls():
    if span.begin.what == "find_duplicate_batch":
        print("looked for", span.begin.detail, "and found", span.end.detail.get("result", "nothing"))

# %% [markdown]
# The second request got the offset of the first, and nothing was appended.
#
# ## Now you
#
# - Let the accumulator of the first part have a `linger.ms` of 0. Which node is ready after one record?
# - Record the first part: `Recording(watch_batches())` around your own appends and drains, and `batch_lives`.
# - In `record`, inject an error instead of a delay: `inject("Produce", Errors.NOT_LEADER_OR_FOLLOWER)`. **Where are the
#   batches between two attempts: `"in flight"`, in the `"accumulator"`, or in the `"pool"`?**

# %% [markdown] lang="zh"
# 第二次追加返回了第一次的偏移量，却什么也没有追加。
#
# ## 轮到你了
#
# - 让第一部分的收集器用 `linger.ms` 为 0。一条记录之后哪个节点就绪？
# - 录制第一部分：用 `Recording(watch_batches())` 包住你自己的追加和排空，再用 `batch_lives` 画出来。
# - 在 `record` 里注入一个错误，而不是延迟：`inject("Produce", Errors.NOT_LEADER_OR_FOLLOWER)`。**两次尝试之间，批次在哪
#   里：在途（`"in flight"`）、在收集器里（`"accumulator"`），还是在缓冲池里（`"pool"`）？**

# %%
answer = None
predictions.RETRY_PLACE.check(answer)

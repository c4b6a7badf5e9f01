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
# # Notebook: the old producer
#
# *Book 2.2; its pages are [The event handler](old-event-handler.md), [Collating by broker and
# partition](old-collation.md) and [Sending through a BlockingChannel](old-blocking-channel.md).*
#
# Real brokers run in this process, the old producer sends to them, and everything is recorded from outside. The
# numbers were measured when this page was built, on a busy machine; run the notebook on yours. Before most steps there
# is a question: write your answer in the place of `None` and run the cell. It says whether you are right, and why.

# %% [markdown] lang="zh"
# # 笔记本：旧生产者
#
# 本书 2.2；相应的正文是[事件处理器](old-event-handler.md)、[按节点和分区整理](old-collation.md)，以
# 及[通过 BlockingChannel 发送](old-blocking-channel.md)。
#
# 真实的 broker 在本进程里运行，旧生产者向它们发送，所发生的事从外部录制下来。数字是生成本页时测得的，那台机器当时还在做
# 别的事；请在自己的机器上运行。多数步骤之前有一个问题：把答案写在 `None` 的位置，运行单元格，它会告诉你对不对，以及为什
# 么。

# %%
import logging
import time

from chapters.ch02_producer.figures import old_producer_predictions as predictions
from chapters.ch02_producer.figures.old_producer_runs import collated, late_response, leader_moved, queued
from kafka_learn.drawing.sequence_diagram import sequence_diagram
from kafka_learn.drawing.time_line import time_line
from kafka_learn.recording.recorded_run import Kind
from kafka_lite.common.errors import Errors
from kafka_lite.old_producer import KeyedMessage, Producer
from kafka_lite.producer import KafkaProducer, ProducerRecord
from kafka_lite.testing import Cluster

logging.getLogger("kafka_lite.old_producer").setLevel(logging.CRITICAL)  # we make go wrong what it would tell of

# %% [markdown]
# ## Collation
#
# Six messages with the keys 0 to 5, in one call. The topic has four partitions; broker 0 leads 0 and 2, broker 1 leads
# 1 and 3. **How many requests does the call send? And in which order are the messages in that to broker 0, written as
# `"m0 m1"` for the messages with the keys 0 and 1?**

# %% [markdown] lang="zh"
# ## 整理
#
# 一次调用发送六条消息，键是 0 到 5。主题有四个分区；0 和 2 的主副本在 broker 0，1 和 3 的在 broker 1。**这次调用发送几
# 个请求？发给 broker 0 的请求里，消息按什么次序？请写成 `"m0 m1"` 这样，数字是键。**

# %%
answer = None
predictions.REQUESTS.check(answer)

# %%
answer = None
predictions.ORDER.check(answer)

# %%
run = collated()
for event in run:
    if event.kind is Kind.CALL and event.what == "_send":
        print(f"broker {event.detail['broker']}:  {event.detail['sends']}")

# %%
sequence_diagram(run)

# %% [markdown]
# How much of the call was spent waiting for responses? **If each response took 50 ms, how many milliseconds would the
# call take at least?**

# %% [markdown] lang="zh"
# 这次调用有多少时间花在等待响应上？**如果每个响应要 50 ms，这次调用至少要多少毫秒？**

# %%
answer = None
predictions.LEAST_TIME.check(answer)

# %%
spans = {}
for span in run.calls():
    spans.setdefault(span.begin.what, []).append(span.duration_ns / 1e6)
whole, waiting = spans["send"][0], sum(spans["send"][1:])
print(f"Producer.send {whole:.2f} ms, of which SyncProducer.send {waiting:.2f} ms in {len(spans['send']) - 1} requests")

# %% [markdown]
# ## The queue
#
# An asynchronous producer with `batch.num.messages=3` and a queue time of 150 ms. Four messages in four calls, one
# right after the other. When is the fourth sent, and from when does the time count? **If the fourth came only 100 ms
# after the batch of the first three, for how many milliseconds would it be held?**

# %% [markdown] lang="zh"
# ## 队列
#
# 一个异步生产者，`batch.num.messages=3`，在队列里最多等 150 ms。四次调用紧接着发送四条消息。第四条什么时候离开，从什么
# 时候算起？**如果第四条在前三条的那一批之后 100 ms 才来，它要等多少毫秒？**

# %%
answer = None
predictions.HELD.check(answer)

# %%
run = queued()
time_line(run)

# %%
for event in run:
    if event.kind is Kind.CALL and event.what == "_hand_on":
        print(f"{event.time_ns / 1e6:7.2f} ms  {event.detail['reason']}")
for pair in run.hand_overs():
    if pair.put.what == "queue":
        print(f"a message was in the queue for {pair.waited_ns / 1e6:6.2f} ms")

# %% [markdown]
# The fourth was in the queue for as long as the first request took. Then the thread held it for 150 ms: it counts from
# the end of its last batch.
#
# ## What waiting costs
#
# Five hundred messages in five ways, to a broker in this same process: see the last lines of the cell. Put the five
# into their order before you look. **How many produce requests does the second way take, with 50 messages in a call and
# four partitions?**

# %% [markdown] lang="zh"
# 第四条在队列里的时间，就是第一个请求花的时间；然后在线程手里 150 ms：线程从上一批结束时算起。
#
# ## 等待的代价
#
# 五百条消息，用五种方式发给本进程里的一个 broker：请看单元格的最后几行。先给这五种排个顺序，再往下看。**第二种方式，一
# 次调用 50 条，四个分区，一共要几个生产请求？**

# %%
answer = None
predictions.ROUND_TRIPS.check(answer)

# %%
MESSAGES = 500
VALUE = bytes(100)


def per_message(name, work):
    started = time.perf_counter()
    work()
    print(f"{name:46} {(time.perf_counter() - started) / MESSAGES * 1e6:7.0f} µs per message")


def old(cluster, in_one_call=1, **configs):
    settings = {"metadata.broker.list": cluster.bootstrap_servers, "request.required.acks": "1", **configs}
    with Producer(settings) as producer:
        for _ in range(MESSAGES // in_one_call):
            producer.send(*[KeyedMessage("flights", VALUE)] * in_one_call)


def new(cluster):
    with KafkaProducer({"bootstrap.servers": cluster.bootstrap_servers, "acks": "1"}) as producer:
        for _ in range(MESSAGES):
            producer.send(ProducerRecord("flights", VALUE))


with Cluster() as cluster:
    cluster.create_topic("flights", partitions=4)
    new(cluster)  # what is done once is done
    per_message("sync, one message in a call", lambda: old(cluster))
    per_message("sync, 50 messages in a call", lambda: old(cluster, in_one_call=50))
    per_message("async, batches of 200", lambda: old(cluster, **{"producer.type": "async"}))
    per_message("new producer", lambda: new(cluster))
    with cluster.inject("Produce").delay_response(5).always():
        slow = {"producer.type": "async", "batch.num.messages": "20"}
        per_message("async, batches of 20, responses take 5 ms more", lambda: old(cluster, **slow))

# %% [markdown]
# One call per message costs one round trip per message. The messages of a batch share a round trip, whether the user
# or the producer makes the batch. The last row shows the limit of one thread that sends and waits: one batch per
# round trip, however fast messages come.
#
# ## A leader has moved
#
# Three messages: one for partition 0, two for partition 1. According to the producer's metadata, broker 0 leads both.
# In fact it leads only the first. **How many messages does the second attempt send, and to which broker, 0 or 1?**

# %% [markdown] lang="zh"
# 一条消息一次调用，就是一条消息一次往返。批次分摊往返，不管批次由哪一方组成。最后一行显示了“一个线程，发送并等待”的
# 极限：每次往返一个批次，消息来得再快也没有用。
#
# ## 主副本换了节点
#
# 三条消息：一条给分区 0，两条给分区 1。就生产者所知，两个分区的主副本都在 broker 0。其实它只是前一个的主副本。**第二
# 次尝试发送几条消息，发给哪个 broker，0 还是 1？**

# %%
answer = None
predictions.SENT_AGAIN.check(answer)

# %%
answer = None
predictions.NEW_BROKER.check(answer)

# %%
run = leader_moved()
sequence_diagram(run)

# %%
begin = next(event for event in run if event.kind is Kind.NOTE)
again = next(event for event in run if event.what == "update_info")
print(f"{begin.what}; then nothing for {(again.time_ns - begin.time_ns) / 1e6:.1f} ms (retry.backoff.ms is 30)")

# %% [markdown]
# ## A late response
#
# The broker appends a message and delays its response by 500 ms; `request.timeout.ms` is 300. The producer is connected
# already. **How many more connections does it make? How often is the message in the log in the end?**

# %% [markdown] lang="zh"
# ## 迟到的响应
#
# broker 追加一条消息，把响应扣住 500 ms；`request.timeout.ms` 是 300。生产者已经连接。**它再建立几个连接？日
# 志里最后有几条这个消息？**

# %%
answer = None
predictions.CONNECTIONS.check(answer)

# %%
answer = None
predictions.COPIES.check(answer)

# %%
run = late_response()
sequence_diagram(run)

# %%
connections = sum(event.kind is Kind.PUT and event.what == "connection" for event in run)
appended = [event.detail["values"] for event in run if event.kind is Kind.CALL and event.what == "append_as_leader"]
print(f"{connections} connection more, appended: {appended}")

# %% [markdown]
# ## Silent failures
#
# An asynchronous producer sends sixty messages, in batches of ten. The broker rejects every attempt of the second and
# the third batch, and accepts the others. **How many messages are missing in the end, and which call tells the program:
# `"send"`, `"close"` or `"none"`?**

# %% [markdown] lang="zh"
# ## 无从得知的事
#
# 一个异步生产者发送六十条消息，每批十条。broker 在每次尝试时都拒绝第二批和第三批，接受其他的。**最后少了几条消息，是
# 哪个调用告诉程序的：`"send"`、`"close"`，还是没有（`"none"`）？**

# %%
answer = None
predictions.MISSING.check(answer)

# %%
answer = None
predictions.TOLD.check(answer)

# %%
with Cluster() as cluster:
    cluster.create_topic("flights")
    settings = {
        "metadata.broker.list": cluster.bootstrap_servers, "request.required.acks": "1", "producer.type": "async",
        "batch.num.messages": "10", "retry.backoff.ms": "5",
    }  # fmt: skip
    with Producer(settings) as producer:
        for number in range(60):
            if number == 10:
                while len(cluster.values("flights")) < 10:
                    time.sleep(0.01)
                fault = cluster.inject("Produce", Errors.NOT_LEADER_OR_FOLLOWER).times(
                    8
                )  # two batches, each four times
            producer.send(KeyedMessage("flights", b"%d" % number))
    there = {int(value) for value in cluster.values("flights")}
    print(f"{fault.count} requests were refused; missing: {sorted(set(range(60)) - there)}")

# %% [markdown]
# No call did. The producer only logs a line for each batch (logging is off above; switch it on).
#
# ## Now you
#
# - Let `old` use four producers in four threads. Which row changes, and what is lost?
# - Write the collation: [the lab](../../labs/ch02-collation.md).
# - Set `request.timeout.ms` to 1000 for `late_response` (`running_producer(…)` in
#   `chapters/ch02_producer/figures/old_producer_runs.py`). **How often is the message in the log then?**

# %% [markdown] lang="zh"
# 没有任何调用。每一批在日志里有一行，如此而已（上面把它关掉了；请打开看看）。
#
# ## 轮到你了
#
# - 让 `old` 用四个线程、四个生产者。哪一行会变，失去了什么？
# - 自己写出整理：[实验](../../labs/ch02-collation.md)。
# - 为 `late_response` 把 `request.timeout.ms` 设为 1000（`chapters/ch02_producer/figures/old_producer_runs.py` 里的
#   `running_producer(…)`）。**这时日志里有几条这个消息？**

# %%
answer = None
predictions.PATIENT_COPIES.check(answer)

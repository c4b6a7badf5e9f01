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
# # Notebook: connections of a client
#
# *Book 2.1.3 and 2.1.4; its pages are [NetworkClient](network-client.md) and [The Selector](selector.md).*
#
# A producer's first contact with a broker, requests in flight, and a selector whose peer we script, all recorded as
# they happen. Before most steps there is a question: write your answer in the place of `None` and run the cell. It says
# whether you are right, and why.

# %% [markdown] lang="zh"
# # 笔记本：客户端的连接
#
# 本书 2.1.3 和 2.1.4；相应的正文是[网络客户端](network-client.md)和[选择器](selector.md)。
#
# 生产者初次连接 broker，在途请求，以及一个选择器，它的对端完全由我们控制。整个过程边运行边录制。多数步骤之前有一个问
# 题：把答案写在 `None` 的位置，运行单元格，它会告诉你对不对，以及为什么。

# %%
import random

from chapters.ch02_producer.figures import connection_predictions as predictions
from chapters.ch02_producer.figures import connection_runs
from chapters.ch02_producer.figures.producer_figures import requests_in_flight
from kafka_learn.drawing.sequence_diagram import sequence_diagram
from kafka_learn.drawing.time_line import time_line
from kafka_learn.recording.client_watches import watch_interest, watch_polls, watch_transfers
from kafka_learn.recording.recorded_run import Kind
from kafka_learn.recording.recorder import Recording
from kafka_learn.recording.watches import watch
from kafka_lite.clients.client_request import ClientRequest, RequestBuilder
from kafka_lite.clients.cluster_connection_states import ClusterConnectionStates, ConnectionState
from kafka_lite.clients.in_flight_requests import InFlightRequest, InFlightRequests
from kafka_lite.network.receive import NetworkReceive
from kafka_lite.network.selector import Selector
from kafka_lite.network.send import NetworkSend
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest

# %% [markdown]
# ## The first contact
#
# A producer knows one address and sends one record. **How many connections, how many requests?**

# %% [markdown] lang="zh"
# ## 初次连接
#
# 一个生产者只知道一个地址，要发送一条记录。**几个连接，几个请求？**

# %%
answer = None
predictions.CONNECTIONS.check(answer)

# %%
answer = None
predictions.REQUESTS.check(answer)

# %%
contact = connection_runs.first_contact()
sequence_diagram(contact)

# %%
asked = [pair for pair in contact.hand_overs() if pair.put.what == "request"]
for pair in asked:
    print(f"{pair.put.time_ns / 1e6:6.1f} ms  {pair.put.detail['thing']}")
connections = sum(pair.put.what == "connection" for pair in contact.hand_overs())
print(connections, "connections,", len(asked), "requests")

# %% [markdown]
# The caller waits in `await_update` until it knows the topic. **How many of the five requests must be sent before this
# wait can end?** And what share of the time is that, do you think?

# %% [markdown] lang="zh"
# 调用者在 `await_update` 里等着，直到知道这个主题。**五个请求中，要发送几个之后这段等待才会结束？** 你认为它占全部时间
# 的多大一部分？

# %%
answer = None
predictions.UNTIL_METADATA.check(answer)

# %%
waited = [span for span in contact.calls() if span.begin.what == "await_update"]
for span in waited:
    print(f"await_update: {span.duration_ns / 1e6:.1f} ms of {contact.events[-1].time_ns / 1e6:.1f} ms")
time_line(contact, hide=["state"])

# %% [markdown]
# ## The states of a connection
#
# The class by itself, with a clock that we set. The node is CONNECTING, and `ready` is called. **What is its state
# then: `"CONNECTING"`, `"CHECKING_API_VERSIONS"` or `"READY"`; or is the call `"refused"`?**

# %% [markdown] lang="zh"
# ## 连接的状态
#
# 只有这个类，加上一个由我们拨动的时钟。节点处于 CONNECTING，这时调用 `ready`。**之后它是什么状态：
# `"CONNECTING"`、`"CHECKING_API_VERSIONS"` 还是 `"READY"`？或者这个调用会被拒绝（`"refused"`）？**

# %%
answer = None
predictions.READY.check(answer)

# %%
states = ClusterConnectionStates(50, 1000, random_source=random.Random(7))
states.connecting("0", now_ms=0)
try:
    states.ready("0")
    states.connecting("0", now_ms=1)
except RuntimeError as error:
    print("refused:", error)
print(states.state("0"), "once READY, it cannot be CONNECTING without having been", ConnectionState.DISCONNECTED)

# %% [markdown]
# READY is allowed right after CONNECTING, for clients that do not request ApiVersions. Now the connection is lost,
# again and again. The first backoff is 50 ms, and the longest 1000 ms, give or take a fifth. **With which disconnect,
# counting from 1, does the backoff reach its maximum?**

# %% [markdown] lang="zh"
# 它允许从 CONNECTING 直接到 READY，这是为不询问版本的客户端准备的。现在让连接一次又一次地断开。最初的退避时
# 间是 50 ms，最长 1000 ms，上下浮动五分之一。**从 1 数起，第几次断开时，退避时间达到最长？**

# %%
answer = None
predictions.LONGEST_BACKOFF.check(answer)

# %%
now_ms = 100.0
for loss in range(1, 9):
    states.disconnected("0", now_ms)
    delay_ms = states.connection_delay_ms("0", now_ms)
    print(f"loss {loss}: left alone for {delay_ms:6.1f} ms")
    now_ms += delay_ms
    states.connecting("0", now_ms)

# %% [markdown]
# ## Requests in flight
#
# Eight requests, 12 ms each at the broker. First five at a time, then one. **How much longer does the second take:
# `"five times"` as long, `"twice"` as long, or `"hardly"` longer?**

# %% [markdown] lang="zh"
# ## 在途请求
#
# 八个请求，broker 处理每个要 12 ms。先允许五个在途，再只允许一个。**后者的时间是前者的五倍
# （`"five times"`）、两倍（`"twice"`），还是差不多（`"hardly"`）？**

# %%
answer = None
predictions.ONE_BY_ONE.check(answer)

# %%
five = connection_runs.five_in_flight()
requests_in_flight(five)

# %%
one = connection_runs.one_in_flight_request()
requests_in_flight(one)


# %%
def lengths(run):
    """From the first request to the last response, and how long a request was in flight in the mean."""
    spans = requests_in_flight(run).lanes[0].spans
    mean = sum(span.end_ns - span.start_ns for span in spans) / len(spans)
    print(f"{run.title}: {run.events[-1].time_ns / 1e6:.0f} ms in all, {mean / 1e6:.0f} ms in flight in the mean")


lengths(five)
lengths(one)

# %% [markdown]
# The class by itself: a queue, in which at most three may be in flight. Requests 1 and 2 have been written. **Which one
# does the next response belong to? Then 3 is half written: may a fourth be sent, `True` or `False`?**

# %% [markdown] lang="zh"
# 只有这个类，由我们手工操作：一个队列，最多三个请求在途。请求 1 和 2 已经写出。**下一个响应属于哪个请求？然后 3 写出了
# 一半：可以再发送第四个吗，`True` 还是 `False`？**

# %%
answer = None
predictions.NEXT.check(answer)

# %%
answer = None
predictions.FOURTH.check(answer)

# %%
in_flight = InFlightRequests(max_in_flight_requests_per_connection=3)


def begin(number, left_bytes=0):
    """Put a request in flight, of which so many bytes are still to be written."""
    send = NetworkSend("0", [b"x" * 10])
    send.remaining_bytes = left_bytes
    request = ClientRequest("0", RequestBuilder.of(MetadataRequest()), number, "me", created_time_ms=0)
    in_flight.add(InFlightRequest(request, 1, send, send_time_ms=number))


for number in (1, 2):
    begin(number)
    print("request", number, "has left; may another be sent?", in_flight.can_send_more("0"))
print("the next response belongs to", in_flight.complete_next("0").request.correlation_id)
begin(3, left_bytes=4)
print("request 3 is half out; may another be sent?", in_flight.can_send_more("0"))
late = in_flight.nodes_with_timed_out_requests(now_ms=32, request_timeout_ms=30)
print(
    "nodes that are late at 32 ms:",
    late,
    "· and with them end",
    [r.request.correlation_id for r in in_flight.clear_all("0")],
)

# %% [markdown]
# ## Polls
#
# A selector connects to a peer and sends a frame that is too large for the socket. It receives a frame in pieces, and
# with the last piece another frame. Then the connection is muted, a frame arrives, and the connection is unmuted. The
# boxes that say *interest* show whether the selector waits until it can read or write. **How many changes of interest
# will there be, those of connecting included?**

# %% [markdown] lang="zh"
# ## 轮询
#
# 一个选择器和一个对端：选择器连接，发送一个套接字装不下的帧，接收一个分几次来的帧，最后一段与另一个帧一起来。然后静
# 音，来了一个帧，再解除静音。写着 *interest* 的方框表示选择器在等待可读还是可写。**从连接之前数起，一共变化几
# 次？**

# %%
answer = None
predictions.INTERESTS.check(answer)

# %%
polls = connection_runs.polls()
sequence_diagram(polls)

# %%
for event in polls:
    if event.kind is Kind.STATE and event.what == "interest":
        print(f"{event.time_ns / 1e6:6.1f} ms  {event.detail['before']:>12} → {event.detail['after']}")

# %% [markdown]
# One by one: connect, connected (two changes), data left to write, nothing left to write, data arriving on a muted
# connection, unmuted.
#
# For comparison, a small request and its response, over a connection that stands. **How many changes now?**

# %% [markdown] lang="zh"
# 依次是：发起连接，连上（变化两次），还有数据要写，写完了，静音的连接来了字节，解除静音。
#
# 作为比较，再看一个小的请求和它的响应，连接已经建立。**现在变化几次？**

# %%
answer = None
predictions.SMALL_INTERESTS.check(answer)


# %%
def exchange(frame_bytes, response_bytes):
    """Send a frame, get one, over a connection that stands."""
    watches = (watch(Selector.poll, show=()), watch_interest(), watch_transfers(), watch_polls())
    with connection_runs.peer_and_selector() as (peer, selector), Recording(*watches, paused=True) as recording:
        selector.connect("node", "127.0.0.1", peer.port)
        selector.poll(1_000)
        peer.accept()
        with recording.running():
            selector.send(NetworkSend("node", [bytes(frame_bytes)]))
            selector.poll(0)
            peer.read(frame_bytes + 4)
            peer.write(response_bytes.to_bytes(4, "big") + bytes(response_bytes))
            while not selector.completed_receives:
                selector.poll(1_000)
    return recording.run


small = exchange(200, 50)
print("changes of interest:", sum(event.what == "interest" for event in small))
sequence_diagram(small)

# %% [markdown]
# None. And a response of 300 kB: how many reads does it take, and **how many bytes of memory does it get as soon as its
# size is known: 300000, 65536 or 4?**

# %% [markdown] lang="zh"
# 一次也没有。那么 300 kB 的响应呢：要读几次？**刚知道它有多大时，分到多少字节的内存：300000、65536 还是 4？**

# %%
answer = None
predictions.FIRST_ALLOCATION.check(answer)

# %%
large = exchange(200, 300_000)
reads = [event.detail["after"] for event in large if event.what == "receive"]
print(len(reads), "reads:", "; ".join(reads))

# %% [markdown]
# ## A frame, byte by byte
#
# `NetworkReceive` without a socket; `max_size` is 100. The payload has six bytes. Its memory is allocated as soon as
# its size is known. **After how many bytes is that? And which is the smallest size that is refused?**

# %% [markdown] lang="zh"
# ## 逐字节看一个帧
#
# 只有 `NetworkReceive`，没有套接字；`max_size` 是 100，载荷有六个字节。一知道长度，就分配内存。**那是收到几个字节之后？
# 会被拒绝的最小长度是多少？**

# %%
answer = None
predictions.SIZE_KNOWN.check(answer)

# %%
answer = None
predictions.SMALLEST_REFUSED.check(answer)

# %%
receive = NetworkReceive("node", max_size=100)
for byte in (6).to_bytes(4, "big") + b"abcdef":
    taken = receive.feed(memoryview(bytes([byte])))
    print(f"took {taken}, size {receive.size:2}, payload {bytes(receive.payload)}, complete: {receive.complete}")

# %% [markdown]
# ## Now you
#
# - `connection_runs.ANSWER_MS` is 12, and `REQUESTS` 8. Set them before you record. When do five requests in flight
#   pay off?
# - Let the peer of `exchange` read nothing, and send two megabytes. Which interest is set, and what does a poll cost?
# - Record a whole producer with `watch_interest()`. **How many changes of interest are there in its own thread while it
#   connects and sends a thousand small records?**

# %% [markdown] lang="zh"
# ## 轮到你了
#
# - `connection_runs.ANSWER_MS` 是 12，`REQUESTS` 是 8。请在录制之前改动它们：什么时候五个在途请求才划算？
# - 让 `exchange` 的对端什么也不读，并发送两兆字节。选择器关注哪些事件，一次轮询花多少时间？
# - 用 `watch_interest()` 录制整个生产者。**它连接并发送一千条小记录，在它自己的线程里，关注的事件变化几次？**

# %%
answer = None
predictions.PRODUCERS_INTERESTS.check(answer)

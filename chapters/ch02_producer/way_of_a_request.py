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
# # Notebook: the way of a request
#
# *Book 2.3; its pages are [The socket server](socket-server.md), [The request channel](request-channel.md) and [From
# the queue to KafkaApis](request-handlers.md).*
#
# A broker runs in this process, clients connect to it over TCP, and its threads are recorded from outside. The
# numbers below were measured when this page was built, on a busy machine; run the notebook on yours. Before you run a
# cell that ends in a question, answer it.

# %% [markdown] lang="zh"
# # 笔记本：一个请求的旅程
#
# 本书 2.3；相应的正文
# 是[套接字服务器](socket-server.md)、[请求通道](request-channel.md)和[从队列到 KafkaApis](request-handlers.md)。
#
# 一个 broker 在本进程里运行，客户端通过 TCP 与它对话，它的线程做了什么，从外部录制下来。下面的数字是生成本页时测得
# 的，那台机器当时还在做别的事；请在自己的机器上运行。单元格如果以问题结尾，请先回答，再运行下一个。

# %%
import queue
import random
import threading
import time

from chapters.ch02_producer.figures.network_runs import full_request_queue, network_watches
from chapters.ch02_producer.figures.request_runs import inline_produce_request, produce_request
from kafka_learn.drawing.sequence_diagram import sequence_diagram
from kafka_learn.drawing.time_line import time_line
from kafka_learn.recording.recorded_run import Kind
from kafka_learn.recording.recorder import Recording
from kafka_learn.recording.run_brokers import (
    AS_IN_KAFKA,
    PRODUCE_VERSION,
    connect,
    in_thread,
    produce_of,
    running_broker,
)
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel
from kafka_lite.network.request_parser import InvalidRequestError, parse_request
from kafka_lite.protocol.framing import encode_request
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataRequestTopic
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.server.kafka_request_handler import KafkaRequestHandlerPool

# %% [markdown]
# ## As in Kafka
#
# A producer connects, sends one record with `acks=1`, and waits for the response. Every request is queued for the
# request handlers. **How many hand-overs between threads are there, there and back?**

# %% [markdown] lang="zh"
# ## 和 Kafka 一样
#
# 一个生产者连接，用 `acks=1` 发送一条记录，等待响应。每个请求都要排队等处理线程。**一次往返，要交接几次？**

# %%
as_in_kafka = produce_request()
sequence_diagram(as_in_kafka)


# %%
def hand_overs(run):
    """Show each hand-over from one thread to another, and how long it waited in between."""
    for pair in run.hand_overs():
        if pair.take is not None:
            ways = f"{run.actors[pair.put.thread]:20} → {run.actors[pair.take.thread]:20}"
            print(f"{pair.put.what:15} {ways} {pair.waited_ns / 1000:8.0f} µs")


hand_overs(as_in_kafka)

# %% [markdown]
# The connection itself is handed over twice, once in its life. The request is handed over twice inside the broker:
# through the request queue and through the response queue. *connection*, *request* and *response* go through the
# kernel; they are hand-overs to and from the
# client.
#
# ## Inline
#
# The same with this broker's defaults. **Which arrows are missing?**

# %% [markdown] lang="zh"
# 连接自己交接两次，只在建立时发生。请求在 broker 内部交接两次：放进请求队列，从响应队列取出。`connection`（连接）、
# `request`（请求）和 `response`（响应）经过内核，是客户端那边的交接。
#
# ## 就地处理
#
# 同样的事，用本 broker 的默认设置。**少了哪些箭头？**

# %%
inline = inline_produce_request()
sequence_diagram(inline)

# %%
hand_overs(inline)

# %% [markdown]
# The response still goes through the response queue, though the same thread puts and takes it: a handler responds in
# the same way in both modes, and a request that had to wait in a purgatory is completed by yet another thread.
#
# ## No response
#
# A request with `acks=0`. The client does not wait. **What comes back through the response queue?**

# %% [markdown] lang="zh"
# 响应仍然经过响应队列，尽管放入和取出的是同一个线程：处理请求的代码怎样响应，两种模式下都一样；而一个必须在延迟缓存里
# 等待的请求，由另外的线程来响应。
#
# ## 没有响应
#
# 一个 `acks=0` 的请求。客户端什么也不等。**从响应队列里回来的是什么？**

# %%
with (
    Recording(network_watches(), title="acks=0", paused=True) as recording,
    running_broker(AS_IN_KAFKA) as server,
    connect(server) as client,
    recording.running(),
):
    in_thread("producer", lambda: client.send(produce_of(b"hello", acks=0), PRODUCE_VERSION, expect_response=False))
    recording.wait_for("RequestChannel.PRODUCE v9")
no_response = recording.run
sequence_diagram(no_response)

# %% [markdown]
# A `NO_OP`, which makes the processor unmute the connection and read the next request.
#
# ## What a hand-over costs
#
# One thread puts a number into a queue; another takes it and puts it into a second queue, from which the first takes
# it: two hand-overs per turn. **How many function calls does one hand-over cost?**

# %% [markdown] lang="zh"
# 一个 `NO_OP`，好让处理器解除连接的静音，读下一个请求。
#
# ## 一次交接的代价
#
# 一个线程把一个数放进队列，另一个取出来，放进第二个队列，再由第一个从那里取出：每一轮两次交接。**一次交接抵得上几次函
# 数调用？**

# %%
TURNS = 5_000


def measure(name, times, work):
    """Wall-clock time and processor time of one of ``times``, in µs."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    print(f"{name:34} {wall / times * 1e6:8.2f} µs, of which processor time {processor / times * 1e6:8.2f} µs")


def identity(thing):
    return thing


def call():
    for number in range(TURNS):
        identity(number)


def ping_pong(there, back):
    def echo():
        while (thing := there.get()) is not None:
            back.put(thing)

    def turns():
        for number in range(TURNS):
            there.put(number)
            back.get()

    thread = threading.Thread(target=echo)
    thread.start()
    measure(f"a hand-over by {type(there).__name__}", 2 * TURNS, turns)
    there.put(None)
    thread.join()


measure("a call", TURNS, call)
ping_pong(queue.SimpleQueue(), queue.SimpleQueue())
ping_pong(queue.Queue(), queue.Queue())

# %% [markdown]
# A hundred calls and more. Most of it is CPU time, not waiting: the kernel makes a thread runnable and switches to
# it, and the two threads pass the GIL to each other.
#
# Then the whole round trip of a request, in both modes. The client is in this process, too, so its time is included.

# %% [markdown] lang="zh"
# 一百次还不止。大部分是处理器时间，而不是等待：内核要把线程变为可运行并切换过去，两个线程还要互相交接 GIL。
#
# 然后是整个请求的往返，两种模式各一遍。客户端也在本进程里，所以它的时间也算在内。

# %%
REQUESTS = 500


def exchange_many(client):
    for _ in range(REQUESTS):
        client.exchange(produce_of(b"hello"), PRODUCE_VERSION)


for name, overrides in (("queued, as in Kafka", AS_IN_KAFKA), ("inline", {})):
    with running_broker(overrides) as server, connect(server) as client:
        exchange_many(client)  # what is done once is done
        measure(f"a produce request, {name}", REQUESTS, lambda: exchange_many(client))

# %% [markdown]
# ## How many handlers?
#
# A pool with two replacements for `KafkaApis`. One *waits* 5 ms for each request, as for a disk; the other *computes*
# for 5 ms. There are 24 requests. **How long do they take with 1, 2, 4, 8 handlers?**

# %% [markdown] lang="zh"
# ## 需要几个处理线程？
#
# 一个线程池，里面是 `KafkaApis` 的替身。一种替身为每个请求**等待** 5 ms，像在等磁盘；另一种**计算** 5 ms。一共 24 个
# 请求。**用 1、2、4、8 个处理线程，各要多久？**


# %%
class Apis:
    """Counts what it has handled."""

    def __init__(self, work):
        self._work = work
        self.handled = threading.Semaphore(0)

    def handle(self, _request):
        self._work()
        self.handled.release()


def wait_5_ms():
    time.sleep(0.005)


def compute_5_ms():
    start = time.thread_time()
    while time.thread_time() - start < 0.005:
        pass


def a_request():
    header = RequestHeader(api_key=3, api_version=1, correlation_id=1, client_id="c")
    place = (0, "connection", "PLAINTEXT", "PLAINTEXT", "127.0.0.1")
    return Request(*place, header, MetadataRequest(), size_in_bytes=20, start_time_ms=0)


def time_of(work, handlers, requests=24):
    channel = RequestChannel(1, 500)
    apis = Apis(work)
    pool = KafkaRequestHandlerPool(handlers, channel, apis)
    start = time.perf_counter()
    for _ in range(requests):
        channel.dispatch(a_request())
    for _ in range(requests):
        apis.handled.acquire()
    taken = time.perf_counter() - start
    pool.shutdown()
    return taken * 1000


print("handlers   waiting   computing")
for handlers in (1, 2, 4, 8):
    print(f"{handlers:8} {time_of(wait_5_ms, handlers):6.0f} ms {time_of(compute_5_ms, handlers):8.0f} ms")

# %% [markdown]
# Handlers wait in parallel, but they do not compute in parallel: because of the GIL, one thread at a time runs
# Python. On a JVM the second column would shrink, too, down to the limit of the number of CPUs. This explains Kafka's
# default of eight handlers, and why more of them help here only as far as handlers wait.
#
# ## A full queue
#
# Space for one request, one handler that is blocked, one network thread. Four producers. **Which of them finds the
# network thread blocked?**

# %% [markdown] lang="zh"
# 等待可以分摊，计算不行：同一时刻只有一个线程在运行 Python。在 JVM 上，第二列也会缩短，直到处理器的个数为止。这就是
# Kafka 默认用八个处理线程的原因；也是为什么在这里，只有当处理线程要等待时，多几个才有帮助。
#
# ## 队列满了
#
# 请求队列只有一个空位，一个处理线程被拖住，一个网络线程。四个生产者。**轮到第几个生产者的请求时，网络线程会停住？**

# %%
full = full_request_queue()
time_line(full)

# %%
for event in full:
    if event.kind in (Kind.CALL, Kind.RETURN) and event.what == "_wait_for_room":
        state = "stands still" if event.kind is Kind.CALL else "continues"
        print(f"{event.time_ns / 1e6:7.2f} ms  the network thread {state}")

# %% [markdown]
# ## Malformed requests
#
# A Metadata request, in which random bytes are changed, and which is truncated at random. **What share can still be
# parsed?** In any case, the parser may raise nothing but `InvalidRequestError`.

# %% [markdown] lang="zh"
# ## 不是请求的字节
#
# 一个 Metadata 请求，随机改掉几个字节，再随机截断。**还有多大比例仍是请求？** 不管是多少：解析器里只能抛出
# `InvalidRequestError`，不能有别的。

# %%
request = MetadataRequest(topics=[MetadataRequestTopic(name=f"topic-{number}") for number in range(5)])
good = encode_request(request, 1, 42, "client")
chance = random.Random(1)
parsed, reasons = 0, []
for _ in range(5_000):
    bad = bytearray(good)
    for _ in range(chance.randint(1, 4)):
        bad[chance.randrange(len(bad))] = chance.randrange(256)
    if chance.random() < 0.3:
        del bad[chance.randrange(len(bad)) :]
    try:
        parse_request(memoryview(bad))
        parsed += 1
    except InvalidRequestError as error:
        reasons.append(str(error))
print(f"{parsed / 50:.0f} % are requests, of topics with strange names; the others are not, for example:")
for reason in sorted(set(reasons), key=lambda text: (len(text), text))[::200][:6]:
    print("  ", reason)

# %% [markdown]
# ## Now you
#
# - Record two producers at once, inline and queued (`network_watches` has the watches). Where does the second wait?
# - Set `sys.setswitchinterval(0.0005)` above the table of handlers. Which column changes?
# - Let one handler of eight compute for a second. What happens to `exchange_many` meanwhile, in both modes?

# %% [markdown] lang="zh"
# ## 轮到你了
#
# - 同时录制两个生产者，就地处理和排队各一次（其余的由 `network_watches` 来做）。第二个在哪里等待？
# - 在处理线程的表格上方设置 `sys.setswitchinterval(0.0005)`。哪一列会变？
# - 让八个处理线程中的一个计算一秒。两种模式下，这期间 `exchange_many` 会怎样？

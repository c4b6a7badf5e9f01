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
# A broker runs in this process, clients connect to it over TCP, and its threads are recorded from outside. The numbers
# below were measured when this page was built, on a busy machine; run the notebook on yours. Before most steps there is
# a question: write your answer in the place of `None` and run the cell. It says whether you are right, and why.

# %% [markdown] lang="zh"
# # 笔记本：一个请求的旅程
#
# 本书 2.3；相应的正文
# 是[套接字服务器](socket-server.md)、[请求通道](request-channel.md)和[从队列到 KafkaApis](request-handlers.md)。
#
# 一个 broker 在本进程里运行，客户端通过 TCP 与它对话，它的线程做了什么，从外部录制下来。下面的数字是生成本页时测得的，
# 那台机器当时还在做别的事；请在自己的机器上运行。多数步骤之前有一个问题：把答案写在 `None` 的位置，运行单元格，它会告诉
# 你对不对，以及为什么。

# %%
import queue
import random
import threading
import time

from chapters.ch02_producer.figures import request_predictions as predictions
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
# request handlers. **How many hand-overs between threads are there, there and back, those of the connection and through
# sockets included?**

# %% [markdown] lang="zh"
# ## 和 Kafka 一样
#
# 一个生产者连接，用 `acks=1` 发送一条记录，等待响应。每个请求都要排队等处理线程。**一次往返，线程之间要交接几次，建立连
# 接的和经过套接字的也算在内？**

# %%
answer = None
predictions.HAND_OVERS.check(answer)

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
# The same with this broker's defaults: the thread that has read a request handles it, too. **Which queue is not used
# now: the `"request queue"`, the `"response queue"`, `"both"` or `"none"`?**

# %% [markdown] lang="zh"
# 连接自己交接两次，只在建立时发生。请求在 broker 内部交接两次：放进请求队列，从响应队列取出。`connection`（连接）、
# `request`（请求）和 `response`（响应）经过内核，是客户端那边的交接。
#
# ## 就地处理
#
# 同样的事，用本 broker 的默认设置：读到请求的线程自己处理它。**现在少了哪个队列：请求队列（`"request queue"`）、响应队
# 列（`"response queue"`）、两个都少（`"both"`），还是一个也不少（`"none"`）？**

# %%
answer = None
predictions.SAVED_QUEUE.check(answer)

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
# A request with `acks=0`. The client does not wait. **What comes back through the response queue: `"nothing"`,
# `"an empty response"`, or `"a note to the network thread"`?**

# %% [markdown] lang="zh"
# 响应仍然经过响应队列，尽管放入和取出的是同一个线程：处理请求的代码怎样响应，两种模式下都一样；而一个必须在延迟缓存里
# 等待的请求，由另外的线程来响应。
#
# ## 没有响应
#
# 一个 `acks=0` 的请求。客户端什么也不等。**从响应队列里回来的是什么：什么也没有（`"nothing"`）、空的响应
# （`"an empty response"`），还是给网络线程的通知（`"a note to the network thread"`）？**

# %%
answer = None
predictions.WITHOUT_ACKS.check(answer)

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
# it: two hand-overs per turn. **How many function calls does one hand-over cost, in processor time: `"about 1"`,
# `"about 10"`, or `"a hundred or so"`?**

# %% [markdown] lang="zh"
# 一个 `NO_OP`，好让处理器解除连接的静音，读下一个请求。
#
# ## 一次交接的代价
#
# 一个线程把一个数放进队列，另一个取出来，放进第二个队列，再由第一个从那里取出：每一轮两次交接。**一次交接抵得上几次函
# 数调用，按处理器时间计：一次上下（`"about 1"`）、十次上下（`"about 10"`），还是百次上下（`"a hundred or so"`）？**

# %%
answer = None
predictions.COST.check(answer)

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
# A hundred calls and more. Much of it is CPU time, not waiting: the kernel makes a thread runnable and switches to
# it, and the two threads pass the GIL to each other. On a busy machine, threads wait for a processor as well.
#
# Then the whole round trip of a request, in both modes. The client is in this process, too, so its time is included.

# %% [markdown] lang="zh"
# 一百次还不止。其中有很多是处理器时间，而不是等待：内核要把线程变为可运行并切换过去，两个线程还要互相交接 GIL。机器忙
# 的时候，线程还要等处理器。
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
# for 5 ms. There are 24 requests. **How many milliseconds do they take at least if four handlers wait? And how many
# processors are busy, of eight, while eight handlers compute?**

# %% [markdown] lang="zh"
# ## 需要几个处理线程？
#
# 一个线程池，里面是 `KafkaApis` 的替身。一种替身为每个请求**等待** 5 ms，像在等磁盘；另一种**计算** 5 ms。一共 24 个
# 请求。**四个处理线程等待，至少要多少毫秒？八个处理线程计算，机器有八个处理器，忙着的有几个？**

# %%
answer = None
predictions.WAITING.check(answer)

# %%
answer = None
predictions.COMPUTING.check(answer)


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
# Space for one request, one handler that is blocked, one network thread. Four producers send one request each, one
# after the other. **At whose request does the network thread stop, that of producer 1, 2, 3 or 4?**

# %% [markdown] lang="zh"
# 等待可以分摊，计算不行：同一时刻只有一个线程在运行 Python。在 JVM 上，第二列也会缩短，直到处理器的个数为止。这就是
# Kafka 默认用八个处理线程的原因；也是为什么在这里，只有当处理线程要等待时，多几个才有帮助。
#
# ## 队列满了
#
# 请求队列只有一个空位，一个处理线程被拖住，一个网络线程。四个生产者先后各发送一个请求。**轮到第几个生产者的请求
# （1 到 4）时，网络线程会停住？**

# %%
answer = None
predictions.BLOCKING.check(answer)

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
# A Metadata request for five topics, in which one to four random bytes are changed, and which is truncated in three of
# ten cases. Whatever becomes of it, the parser may raise nothing but `InvalidRequestError`. **About how many percent
# can still be parsed: 10, 30, 50 or 70?**

# %% [markdown] lang="zh"
# ## 不是请求的字节
#
# 一个 Metadata 请求，问五个主题；随机改掉一到四个字节，十次里有三次再截断。不管变成什么，解析器里只能抛出
# `InvalidRequestError`，不能有别的。**百分之几左右仍是请求：10、30、50 还是 70？**

# %%
answer = None
predictions.SHARE.check(answer)

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
# - Let one thread of this process compute for a second, as a handler may. **What becomes of `exchange_many` meanwhile,
#   in both modes: is it `"stopped"`, `"slower"`, or `"as before"`?**

# %% [markdown] lang="zh"
# ## 轮到你了
#
# - 同时录制两个生产者，就地处理和排队各一次（观察点在 `network_watches` 里）。第二个在哪里等待？
# - 在处理线程的表格上方设置 `sys.setswitchinterval(0.0005)`。哪一列会变？
# - 让本进程的一个线程计算一秒，就像某个处理线程那样。**两种模式下，这期间 `exchange_many` 会怎样：停住（`"stopped"`）、
#   变慢（`"slower"`），还是照旧（`"as before"`）？**

# %%
answer = None
predictions.BESIDE.check(answer)

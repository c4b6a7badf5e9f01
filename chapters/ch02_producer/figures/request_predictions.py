"""The answers to the predictions of the notebook on the way of a request, by a broker's threads. Book 2.3."""

from __future__ import annotations

import functools
import queue
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from chapters.ch02_producer.figures.network_runs import full_request_queue, network_watches
from chapters.ch02_producer.figures.request_runs import inline_produce_request, produce_request
from kafka_learn.check import Prediction, Words
from kafka_learn.recording.recorded_run import Kind, RecordedRun
from kafka_learn.recording.recorder import Recording
from kafka_learn.recording.run_brokers import (
    AS_IN_KAFKA,
    PRODUCE_VERSION,
    connect,
    in_thread,
    produce_of,
    running_broker,
)
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel
from kafka_lite.network.request_parser import InvalidRequestError, parse_request
from kafka_lite.protocol.framing import encode_request
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataRequestTopic
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.server.kafka_request_handler import KafkaRequestHandlerPool

TURNS = 1_000
REQUESTS = 24
WORK_MS = 5
HANDLERS = 4
PATIENCE_S = 20
SHARES = (10, 30, 50, 70)
"""Percents to choose from."""


def _handed_over(run: RecordedRun) -> list[str]:
    return [pair.put.what for pair in run.hand_overs() if pair.take is not None]


@functools.cache
def hand_overs() -> int:
    """How often the connection, the request and the response go from one thread to another."""
    return len(_handed_over(produce_request()))


@functools.cache
def saved_queue() -> str:
    """The queue that is not used if the network thread handles a request."""
    (missing,) = set(_handed_over(produce_request())) - set(_handed_over(inline_produce_request()))
    return missing


@functools.cache
def returned_without_acks() -> str:
    """The content of the response queue after a request with acks=0."""
    with (
        Recording(network_watches(), paused=True) as recording,
        running_broker(AS_IN_KAFKA) as server,
        connect(server) as client,
        recording.running(),
    ):
        in_thread("producer", lambda: client.send(produce_of(b"x", acks=0), PRODUCE_VERSION, expect_response=False))
        recording.wait_for("RequestChannel.PRODUCE v9")
    put = [event.what for event in recording.run if event.kind is Kind.PUT]
    if "response queue" not in put:
        return "nothing"
    return "an empty response" if "response" in put else "a note to the network thread"


def _processor_time(work: Callable[[], None]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def cost_of_a_hand_over() -> str:
    """The processor time of a hand-over, in calls of a function."""
    there, back = queue.SimpleQueue[int](), queue.SimpleQueue[int]()

    def echo() -> None:
        for _ in range(TURNS):
            back.put(there.get())

    def turns() -> None:
        for number in range(TURNS):
            there.put(number)
            back.get()

    def calls() -> None:
        for number in range(2 * TURNS):
            _identity(number)

    thread = threading.Thread(target=echo)
    thread.start()
    ratio = _processor_time(turns) / max(min(_processor_time(calls) for _ in range(5)), 1e-9)
    thread.join()
    return "about 1" if ratio < 4 else "about 10" if ratio < 25 else "a hundred or so"


def _identity(thing: int) -> int:
    return thing


class _Apis:
    """Handles a request by a function, and counts."""

    def __init__(self, work: Callable[[], object]) -> None:
        self._work = work
        self.handled = threading.Semaphore(0)

    def handle(self, _request: Request) -> None:
        """Do the work."""
        self._work()
        self.handled.release()


def _handle_all(work: Callable[[], object], handlers: int) -> None:
    """Let a pool handle the requests."""
    header = RequestHeader(api_key=3, api_version=1, correlation_id=1, client_id="c")
    place = (0, "connection", "PLAINTEXT", "PLAINTEXT", "127.0.0.1")
    channel, apis = RequestChannel(1, 500), _Apis(work)
    pool = KafkaRequestHandlerPool(handlers, channel, apis)
    for _ in range(REQUESTS):
        channel.dispatch(Request(*place, header, MetadataRequest(), size_in_bytes=20, start_time_ms=0))
    for _ in range(REQUESTS):
        apis.handled.acquire(timeout=PATIENCE_S)
    pool.shutdown()


@functools.cache
def waiting_ms() -> int:
    """How long the requests take at least if all handlers wait at once: in rounds, in which each handler has one."""
    rounds: list[None] = []
    barrier = threading.Barrier(HANDLERS, action=lambda: rounds.append(None), timeout=PATIENCE_S)
    _handle_all(barrier.wait, HANDLERS)
    return len(rounds) * WORK_MS


@functools.cache
def busy_processors() -> int:
    """How many processors eight handlers use while they compute."""

    def compute() -> None:
        begun = time.thread_time()
        while time.thread_time() - begun < WORK_MS / 1000:
            pass

    begun = time.perf_counter()
    used = _processor_time(lambda: _handle_all(compute, 8))
    return max(1, round(used / (time.perf_counter() - begun)))


@functools.cache
def blocking_request() -> int:
    """The number of the request at which the network thread waits for room in the queue."""
    taken = 0
    for event in full_request_queue():
        if event.kind is Kind.CALL and event.what == "_wait_for_room":
            return taken
        taken += event.kind is Kind.TAKE and event.what == "request"
    return 0


@functools.cache
def share_of_requests() -> int:
    """The percentage of damaged requests that are requests nevertheless: the nearest of the choices."""
    request = MetadataRequest(topics=[MetadataRequestTopic(name=f"topic-{number}") for number in range(5)])
    good, chance = encode_request(request, 1, 42, "client"), random.Random(1)
    parsed, tries = 0, 5_000
    for _ in range(tries):
        try:
            parse_request(memoryview(_damaged(good, chance)))
            parsed += 1
        except InvalidRequestError:
            pass
    return min(SHARES, key=lambda share: abs(share - 100 * parsed / tries))


def _damaged(good: bytes, chance: random.Random) -> bytearray:
    bad = bytearray(good)
    for _ in range(chance.randint(1, 4)):
        bad[chance.randrange(len(bad))] = chance.randrange(256)
    if chance.random() < 0.3:
        del bad[chance.randrange(len(bad)) :]
    return bad


@functools.cache
def beside_a_computation() -> str:
    """Effect on requests of another thread of the broker's process that computes.

    It is not timed, since a busy machine slows requests, too: threads that share one processor slow each other, if the
    computing one gets a good part of the processor time.
    """
    computed: list[float] = []
    with running_broker({}) as server, connect(server) as client:
        used = time.process_time()
        with _computing(computed):
            requests = _requests_within(client, 0.3)
        share = sum(computed) / (time.process_time() - used)
    if not requests:
        return "stopped"
    return "slower" if busy_processors() == 1 and share > 0.2 else "as before"


def _requests_within(client: BlockingChannel, seconds: float) -> int:
    count, end = 0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        client.exchange(produce_of(b"hello"), PRODUCE_VERSION)
        count += 1
    return count


@contextmanager
def _computing(computed: list[float]) -> Iterator[None]:
    """A thread that computes, and adds its processor time to the list."""
    stop = threading.Event()

    def compute() -> None:
        while not stop.is_set():
            pass
        computed.append(time.thread_time())

    thread = threading.Thread(target=compute)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


HAND_OVERS = Prediction(
    hand_overs,
    Words(
        "Three on the way there through the sockets and the acceptor, two through the queues, and the response.",
        "三次在去的路上，经过套接字和接收器；两次经过队列；最后是响应。",
    ),
    {
        2: Words("Those are the queues. What of the sockets?", "那是两个队列。套接字呢？"),
        4: Words("The connection is handed over, too.", "连接也要交接。"),
        5: Words(
            "Which thread accepts a connection, and which one reads from it?", "连接由哪个线程接受，又由哪个线程读取？"
        ),
        3: Words("The way back has as many.", "回来的路上也有。"),
    },
)
SAVED_QUEUE = Prediction(
    saved_queue,
    Words(
        "The thread that has read a request handles it. Its response takes the same way as that of any other thread.",
        "读到请求的线程自己处理它。它的响应走的路，和别的线程的响应一样。",
    ),
    {
        "response queue": Words(
            "How would a request come to another thread without the other one?", "没有另一个队列，请求怎么到别的线程？"
        ),
        "both": Words(
            "A request that waits in a purgatory is completed by yet another thread. Shall handlers know two ways to "
            "respond?",
            "在延迟缓存里等待的请求，由另外的线程完成。难道处理请求的代码要有两种响应方式吗？",
        ),
        "none": Words("What is there to be queued if nobody else takes it?", "如果没有别的线程来取，还排什么队？"),
    },
)
WITHOUT_ACKS = Prediction(
    returned_without_acks,
    Words(
        "A `NO_OP`: the connection is muted while a request is handled, and its thread must learn that it can read on.",
        "一个 `NO_OP`：处理请求期间连接是静音的，网络线程要得知可以继续读了。",
    ),
    {
        "nothing": Words(
            "The connection is muted. Who tells its thread that it may read the next request?",
            "连接是静音的。谁告诉网络线程可以读下一个请求了？",
        ),
        "an empty response": Words(
            "The client does not read it: it would take it for the response to its next request.",
            "客户端不读它，会把它当作下一个请求的响应。",
        ),
    },
)
COST = Prediction(
    cost_of_a_hand_over,
    Words(
        "The kernel makes a thread runnable and switches to it, and the threads pass the GIL to each other.",
        "内核要把线程变为可运行并切换过去，线程之间还要交接 GIL。",
    ),
    {
        "about 1": Words(
            "A call stays in the interpreter. What must happen until another thread runs?",
            "函数调用不出解释器。要让另一个线程运行起来，要做些什么？",
        ),
        "about 10": Words(
            "It takes two system calls, and a switch to another thread.", "要有两次系统调用，还要切换线程。"
        ),
    },
)
WAITING = Prediction(
    waiting_ms,
    Words("In six rounds, each handler waits once.", "一共六轮，每一轮每个线程等待一次。"),
    {
        120: Words("That is the time of one handler.", "那是一个线程的时间。"),
        5: Words("A handler has one request at a time.", "一个线程一次只处理一个请求。"),
        20: Words("How many requests are there for each handler?", "每个线程有几个请求？"),
    },
)
COMPUTING = Prediction(
    busy_processors,
    Words("The thread that has the GIL runs, and the others wait for it.", "持有 GIL 的线程运行，其他线程等它。"),
    {
        8: Words("On a JVM. What do threads need to run Python?", "在 JVM 上是的。线程要运行 Python，需要什么？"),
        2: Words("The thread that dispatches has nothing to compute.", "分派请求的线程没有什么要计算。"),
        4: Words("Has the number of requests to do with it?", "与请求的个数有关吗？"),
    },
)
BLOCKING = Prediction(
    blocking_request,
    Words(
        "The handler has the first, the queue the second. The thread has read this one and has to wait; the fourth is "
        "not even read.",
        "处理线程手里是第一个，队列里是第二个。这一个已经读出来，却放不下；第四个连读都没有读。",
    ),
    {
        1: Words("A handler takes it.", "有处理线程来取它。"),
        2: Words("There is space for one in the queue.", "队列里有一个空位。"),
        4: Words("It is not read any more: why?", "它已经读不到了，为什么？"),
    },
)
SHARE = Prediction(
    share_of_requests,
    Words(
        "A changed byte of a name, or of the correlation id, is harmless. One of a length, of the key or of the "
        "version is not, and neither is a request without its end.",
        "改掉名称或者关联编号里的字节，无害；改掉长度、API 键或者版本里的，就有害；没有结尾的请求也是。",
    ),
    {
        10: Words("Most bytes are those of names.", "多数字节是名称里的。"),
        50: Words("Up to four bytes are changed, and some are cut off.", "最多改四个字节，有些还被截断。"),
        70: Words("So many are not truncated. And what of the changed bytes?", "没有截断的是这么多。改掉的字节呢？"),
    },
)
BESIDE = Prediction(
    beside_a_computation,
    Words(
        "In both modes: a thread that does not get the GIL at once waits until the computing one gives it up, after 5 "
        "ms (`sys.getswitchinterval()`). That does not happen to every request.",
        "两种模式都是：线程没能立刻得到 GIL，就要等正在计算的线程让出来，5 ms 之后（`sys.getswitchinterval()`）。并不是"
        "每个请求都会遇到。",
    ),
    {
        "stopped": Words(
            "Must a thread that computes keep the GIL to its end?", "正在计算的线程会把 GIL 一直留到算完吗？"
        ),
        "as before": Words("Seven handlers are free. What else do they need?", "还有七个线程空着。它们还需要什么？"),
    },
)

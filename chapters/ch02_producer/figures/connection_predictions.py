"""The answers to the predictions of the notebook on a client's connections, by its classes and by recorded runs.

Book 2.1.3, 2.1.4.
"""

from __future__ import annotations

import functools
import itertools
from typing import NamedTuple

from chapters.ch02_producer.figures import connection_runs
from chapters.ch02_producer.figures.producer_runs import running_cluster
from kafka_learn.check import Prediction, Words
from kafka_learn.recording.client_watches import watch_interest
from kafka_learn.recording.recorded_run import Kind, RecordedRun
from kafka_learn.recording.recorder import Recording
from kafka_learn.recording.run_brokers import TOPIC
from kafka_lite.clients.client_request import ClientRequest, RequestBuilder
from kafka_lite.clients.cluster_connection_states import ClusterConnectionStates, IllegalConnectionStateError
from kafka_lite.clients.in_flight_requests import InFlightRequest, InFlightRequests
from kafka_lite.network.receive import InvalidReceiveError, NetworkReceive
from kafka_lite.network.send import NetworkSend
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.producer.producer_record import ProducerRecord
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest

BACKOFF_MS, BACKOFF_MAX_MS = 50, 1000
NODE = "0"
FRAME_BYTES, MAX_FRAME_BYTES = 6, 100
LARGE_FRAME_BYTES = 300_000
MANY_RECORDS = 1_000


class WithoutJitter(ClusterConnectionStates):
    """Connections whose backoffs are not random."""

    JITTER = 0


class _Contact(NamedTuple):
    """The first contact of a producer with a broker."""

    connections: int
    requests: int
    until_metadata: int
    """Requests up to the one for metadata, without that for a producer id, which does not need it."""


@functools.cache
def first_contact() -> _Contact:
    """Connections and requests that the producer hands to the broker."""
    run = connection_runs.first_contact()
    put = [pair.put for pair in run.hand_overs()]
    requests = [str(event.detail["thing"]) for event in put if event.what == "request"]
    # Where the application's thread is late, the sender's asks for a producer id in the meantime.
    for_metadata = [request for request in requests if not request.startswith("INIT_PRODUCER_ID")]
    asked = next(number for number, request in enumerate(for_metadata, 1) if request.startswith("METADATA"))
    return _Contact(sum(event.what == "connection" for event in put), len(requests), asked)


def state_after_ready() -> str:
    """The state of a node that is told to be ready while it is CONNECTING; refused if that is an error."""
    states = ClusterConnectionStates(BACKOFF_MS, BACKOFF_MAX_MS)
    states.connecting(NODE, now_ms=0)
    try:
        states.ready(NODE)
    except IllegalConnectionStateError:
        return "refused"
    return states.state(NODE).name


def losses_until_the_longest_backoff() -> int:
    """The number of the disconnect after which the backoff is the maximum for the first time."""
    states, now_ms, losses, delay_ms = WithoutJitter(BACKOFF_MS, BACKOFF_MAX_MS), 0.0, 0, 0.0
    while delay_ms < BACKOFF_MAX_MS:
        states.connecting(NODE, now_ms)
        states.disconnected(NODE, now_ms)
        losses, delay_ms = losses + 1, states.connection_delay_ms(NODE, now_ms)
        now_ms += delay_ms
    return losses


@functools.cache
def slowdown_of_one_in_flight() -> str:
    """How much longer requests take one by one: hardly, if the broker handles those of a connection one by one anyway.

    Then the time between two responses is never shorter than that for a request, however busy the machine is.
    """
    responses = [
        event.time_ns / 1e6
        for event in connection_runs.five_in_flight()
        if (event.who, event.what) == ("Processor", "response")
    ]
    shortest_ms = min(later - earlier for earlier, later in itertools.pairwise(responses))
    return "hardly" if shortest_ms > 0.9 * connection_runs.ANSWER_MS else "five times"


def two_in_flight() -> InFlightRequests:
    """Requests 1 and 2 have been written; three may be in flight."""
    in_flight = InFlightRequests(max_in_flight_requests_per_connection=3)
    for number in (1, 2):
        _begin(in_flight, number)
    return in_flight


def _begin(in_flight: InFlightRequests, number: int, left_bytes: int = 0) -> None:
    send = NetworkSend(NODE, [b"x" * 10])
    send.remaining_bytes = left_bytes
    request = ClientRequest(NODE, RequestBuilder.of(MetadataRequest()), number, "me", created_time_ms=0)
    in_flight.add(InFlightRequest(request, 1, send, send_time_ms=number))


def may_send_behind_half_a_request() -> bool:
    """Whether another request may be sent when 1 is complete, 2 in flight, and 3 half written."""
    in_flight = two_in_flight()
    in_flight.complete_next(NODE)
    _begin(in_flight, 3, left_bytes=4)
    return in_flight.can_send_more(NODE)


def _interests(run: RecordedRun, thread: str = "") -> int:
    return sum(e.kind is Kind.STATE and e.what == "interest" and e.thread.startswith(thread) for e in run)


@functools.cache
def interests_of_polls() -> int:
    """Changes of interest while the peer of the recorded run is slow, and the connection is muted."""
    return _interests(connection_runs.polls())


@functools.cache
def interests_of_an_exchange() -> int:
    """Changes of interest of a small request and its response, over a connection that stands."""
    with connection_runs.peer_and_selector() as (peer, selector), Recording(watch_interest(), paused=True) as recording:
        selector.connect(NODE, "127.0.0.1", peer.port)
        selector.poll(1_000)
        peer.accept()
        with recording.running():
            selector.send(NetworkSend(NODE, [bytes(200)]))
            selector.poll(0)
            peer.read(204)
            peer.write((50).to_bytes(4, "big") + bytes(50))
            while not selector.completed_receives:
                selector.poll(1_000)
    return _interests(recording.run)


@functools.cache
def interests_of_a_producer() -> int:
    """Changes of interest in the sender's thread while a new producer sends many small records."""
    with (
        Recording(watch_interest(), paused=True) as recording,
        running_cluster() as cluster,
        recording.running(),
        KafkaProducer({"bootstrap.servers": cluster.bootstrap_servers}) as producer,
    ):
        for _ in range(MANY_RECORDS):
            producer.send(ProducerRecord(TOPIC, b"x"))
        producer.flush()
        recording.pause()
    return _interests(recording.run, "kafka-producer-network-thread")


def first_allocation() -> int:
    """The memory of a large frame whose size is known, and nothing else."""
    receive = NetworkReceive(NODE)
    receive.feed(LARGE_FRAME_BYTES.to_bytes(4, "big"))
    return len(receive.payload)


def bytes_until(*, allocated: bool) -> int:
    """How many bytes of a small frame have come when its size is known, or its memory allocated."""
    receive = NetworkReceive(NODE, MAX_FRAME_BYTES)
    for count, byte in enumerate(FRAME_BYTES.to_bytes(4, "big") + bytes(FRAME_BYTES), 1):
        receive.feed(bytes([byte]))
        if len(receive.payload) if allocated else receive.size >= 0:
            return count
    return 0


def smallest_refused_size() -> int:
    """The smallest size of a frame that is an error."""
    for size in range(2 * MAX_FRAME_BYTES):
        try:
            NetworkReceive(NODE, MAX_FRAME_BYTES).feed(size.to_bytes(4, "big"))
        except InvalidReceiveError:
            return size
    return 0


CONNECTIONS = Prediction(
    lambda: first_contact().connections,
    Words(
        "One to the address that it was given. Metadata says which broker leads the partition, and to that broker it "
        "connects by its number, even if it is the same one.",
        "一个连到给出的地址。元数据说明分区的主副本在哪个 broker 上，再按编号连接它，即使就是同一个。",
    ),
    {
        1: Words(
            "The address has no broker's number: the client cannot know that it is the leader's.",
            "给出的地址没有编号，客户端无从知道那就是主副本所在的 broker。",
        ),
        3: Words("Which third node would it connect to?", "还会连接哪个节点？"),
    },
)
REQUESTS = Prediction(
    lambda: first_contact().requests,
    Words(
        "Metadata, a producer id and the record; and on each connection, ApiVersions comes first.",
        "元数据、生产者编号、记录，再加上每个连接最先发送的 ApiVersions。",
    ),
    {
        1: Words("To which broker should the record go?", "这条记录该发到哪个 broker？"),
        2: Words("In which version do they talk, on each connection?", "每个连接上，双方用哪个版本？"),
        3: Words("A new connection begins with a request of its own.", "新的连接总以一个自己的请求开头。"),
        4: Words(
            "There are two connections; and a producer is idempotent by default, which takes an id.",
            "连接有两个；另外，生产者默认是幂等的，要有一个编号。",
        ),
    },
)
UNTIL_METADATA = Prediction(
    lambda: first_contact().until_metadata,
    Words(
        "ApiVersions on the first connection, then Metadata. Everything else needs the partition's leader.",
        "第一个连接上的 ApiVersions，然后是元数据。其余的都要先知道分区的主副本。",
    ),
    {
        1: Words("What does a client ask first on a connection?", "一个连接上，客户端最先问什么？"),
        3: Words("The producer id is for batches, not for metadata.", "生产者编号是给批次用的，与元数据无关。"),
        5: Words("How would it send the record before it knows where?", "还不知道发到哪里，怎么发送记录？"),
    },
)
READY = Prediction(
    state_after_ready,
    Words(
        "Clients that do not request ApiVersions go this way.",
        "不询问版本的客户端走的就是这条路。",
    ),
    {
        "refused": Words("Must every client ask for versions?", "每个客户端都必须询问版本吗？"),
        "CONNECTING": Words(
            "A transition is either legal or an error; none is ignored.", "转换要么合法，要么出错，不会忽略。"
        ),
        "CHECKING_API_VERSIONS": Words("Another method leads there.", "到那个状态的是另一个方法。"),
    },
)
LONGEST_BACKOFF = Prediction(
    losses_until_the_longest_backoff,
    Words(
        "50, 100, 200, 400, 800, and then 1000 instead of 1600.", "50、100、200、400、800，接着不是 1600，而是 1000。"
    ),
    {
        4: Words("How long is it left alone after the first one?", "第一次断开之后等多久？"),
        5: Words("After this one, 800 ms.", "这一次之后是 800 ms。"),
        7: Words("Is this backoff longer than the one before?", "这一次比前一次更长吗？"),
        20: Words("It is doubled, not increased by 50.", "它每次加倍，而不是加 50。"),
    },
)
ONE_BY_ONE = Prediction(
    slowdown_of_one_in_flight,
    Words(
        "The broker handles one request of a connection at a time: it mutes the connection until the response is out. "
        "Five in flight save only the way there and back, which is short here.",
        "broker 对一个连接每次只处理一个请求：响应发出之前，连接处于静音。五个在途，省下的只是往返的路程，这里很短。",
    ),
    {
        "five times": Words(
            "Does the broker handle five requests of one connection at once?",
            "一个连接的五个请求，broker 会同时处理吗？",
        ),
        "twice": Words("How long is the way compared with the 12 ms?", "与 12 ms 相比，路上用多久？"),
    },
)
NEXT = Prediction(
    lambda: two_in_flight().complete_next(NODE).request.correlation_id,
    Words(
        "On one connection, responses come in the order of the requests.",
        "同一个连接上，响应的次序就是请求的次序。",
    ),
    {
        2: Words("Does a broker respond to the newer one first?", "broker 会先响应新的那个吗？"),
        0: Words("The correlation id is that of a request.", "关联编号就是请求的编号。"),
    },
)
FOURTH = Prediction(
    may_send_behind_half_a_request,
    Words(
        "It would wait behind the other one, and could not be taken back; while it stays in the accumulator, its "
        "batches still grow.",
        "它只能排在后面等，又收不回来；留在收集器里，批次还能接着填充。",
    ),
    {True: Words("The number is not the only condition.", "个数不是唯一的条件。")},
)
INTERESTS = Prediction(
    interests_of_polls,
    Words(
        "Connecting takes three. Data that is left to write sets WRITE, and its end removes it. A muted connection "
        "loses READ only when bytes arrive, and gets it back.",
        "连接用去三次。有数据没写完时加上 WRITE，写完时去掉。静音的连接要到有字节到达时才去掉 READ，然后再加上。",
    ),
    {
        4: Words("Count the changes of connecting, too.", "连接时的变化也要算。"),
        5: Words("What happens on a muted connection when bytes arrive?", "静音的连接上来了字节，会怎样？"),
        6: Words(
            "When the connection is made, the interest in connecting goes, and that in reading comes.",
            "连上的时候，不再关注连接，然后开始关注读取。",
        ),
        8: Words("Mute and frame: is each of them a change?", "静音，来了帧：两件事各算一次变化吗？"),
    },
)
SMALL_INTERESTS = Prediction(
    interests_of_an_exchange,
    Words(
        "The frame is written at once, and fits. Only if something is left must the selector wait until it can write.",
        "帧立刻就写，而且一次写完。只有写不完时，选择器才要等套接字可写。",
    ),
    {
        2: Words(
            "So does Kafka: `setSend` adds OP_WRITE, and `write` removes it. Is it needed if the socket has room?",
            "Kafka 是这样的：`setSend` 加上 OP_WRITE，`write` 再去掉。如果套接字有空位，有这个必要吗？",
        ),
        1: Words("What is set for one frame must be removed again.", "为一个帧设置的，还要去掉。"),
        7: Words("The connection stands already, and nobody mutes it.", "连接已经有了，也没有静音。"),
    },
)
FIRST_ALLOCATION = Prediction(
    first_allocation,
    Words(
        "A peer that announces much and sends little must not cost much. The memory grows when it is full.",
        "对端声称很多，发来很少，就不该占用很多内存。满了再扩大。",
    ),
    {
        300_000: Words(
            "What if the peer announces a hundred megabytes, and sends nothing?",
            "如果对端声称有一百兆，却什么也不发呢？",
        ),
        4: Words("So much has the size itself.", "那是长度字段自己的。"),
    },
)
SIZE_KNOWN = Prediction(
    lambda: bytes_until(allocated=False),
    Words("The size is an int32 in front of the payload.", "载荷前面的长度是一个 int32。"),
    {
        1: Words("In the first byte is only the highest part.", "第一个字节只是最高的一部分。"),
        6: Words("That is the size itself. How many bytes does it take?", "那是长度的值。它自己占几个字节？"),
        10: Words("Then it could not know where the frame ends.", "那样就不知道帧到哪里结束。"),
    },
)
SMALLEST_REFUSED = Prediction(
    smallest_refused_size,
    Words(
        "`max_size` itself is allowed; more is refused before anything is allocated.",
        "等于 `max_size` 也可以；更大的，还没有分配内存就拒绝了。",
    ),
    {
        100: Words("The maximum is a size that is allowed.", "最大值是允许的。"),
        96: Words("The four bytes of the size are not part of it.", "长度字段的四个字节不算在内。"),
        97: Words("The four bytes of the size are not counted.", "长度字段的四个字节不计。"),
    },
)
PRODUCERS_INTERESTS = Prediction(
    interests_of_a_producer,
    Words(
        "Three for each of two connections. After that, each request fits into the socket, and nobody mutes.",
        "两个连接各三次。此后每个请求一次就能写完，也没有人静音。",
    ),
    {
        0: Words("Two connections have to be made.", "要建立两个连接。"),
        3: Words("How many connections does a new producer make?", "一个新的生产者建立几个连接？"),
        2_000: Words(
            "Records are sent in batches, and a batch that fits needs no waiting for WRITE.",
            "记录按批次发送，一次写得完就不必等待可写。",
        ),
        1_000: Words("Most records share a request with others.", "多数记录与别的共用一个请求。"),
    },
)

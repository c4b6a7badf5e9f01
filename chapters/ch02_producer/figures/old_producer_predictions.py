"""The answers to the predictions of the notebook on the old producer, by its classes and by recorded runs. Book 2.2."""

from __future__ import annotations

import functools
import logging
import queue
from collections.abc import Sequence

from chapters.ch02_producer.figures import old_producer_runs as runs
from kafka_learn.check import Prediction, Words
from kafka_learn.recording.recorded_run import CallSpan, Kind, RecordedRun
from kafka_learn.recording.recorder import Recording
from kafka_learn.recording.run_brokers import TOPIC, wait_until
from kafka_learn.recording.watches import watch
from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.process.log_levels import quiet
from kafka_lite.common.time import MockTime
from kafka_lite.old_producer import KeyedMessage, Producer
from kafka_lite.old_producer.producer_send_thread import ProducerSendThread
from kafka_lite.old_producer.sync_producer import SyncProducer
from kafka_lite.testing.cluster import Cluster

QUEUE_TIME_MS, LATER_MS = 150, 100
RESPONSE_MS = 50
MESSAGES, IN_ONE_CALL = 500, 50
SENT, IN_A_BATCH, BAD_BATCHES, ATTEMPTS = 60, 10, 2, 4
LOGGERS = ("kafka_lite.old_producer",)


def _requests(run: RecordedRun) -> list[CallSpan]:
    return [call for call in run.calls() if (call.begin.who, call.begin.what) == ("DefaultEventHandler", "_send")]


@functools.cache
def collated() -> tuple[int, str]:
    """How many requests carry six messages, and the messages of that to broker 0, in order."""
    requests = _requests(runs.collated())
    (first,) = [str(call.begin.detail["sends"]) for call in requests if str(call.begin.detail["broker"]) == "0"]
    return len(requests), " ".join(part.partition(": ")[2] for part in first.split("; "))


@functools.cache
def least_time_ms() -> int:
    """How long a call with two requests takes if each response takes a while: the sum, unless both are in flight."""
    sends = [call for call in runs.collated().calls() if (call.begin.who, call.begin.what) == ("SyncProducer", "send")]
    first, second = sorted(sends, key=lambda call: call.begin.time_ns)
    assert first.end is not None
    one_by_one = first.end.time_ns <= second.begin.time_ns
    return RESPONSE_MS * (len(sends) if one_by_one else 1)


class _NobodySends(queue.Queue[KeyedMessage | None]):
    """A queue that notes how long its thread would wait, and lets that time pass."""

    def __init__(self, time: MockTime) -> None:
        super().__init__()
        self._clock = time
        self.waited_ms = 0.0

    def get(self, block: bool = True, timeout: float | None = None) -> KeyedMessage | None:  # noqa: ARG002
        """The next message. Raises queue.Empty after the time."""
        if self.empty():
            self.waited_ms = (timeout or 0) * 1000
            self._clock.sleep(self.waited_ms)
        return super().get(block=False)


class _Handler:
    """Keeps nothing."""

    def handle(self, events: Sequence[KeyedMessage]) -> None:
        """Ignore the batch."""

    def close(self) -> None:
        """Nothing is open."""


def wait_of_a_late_message_ms() -> int:
    """How long a message is held that comes a while after the last batch."""
    time = MockTime()
    messages = _NobodySends(time)
    thread = ProducerSendThread("t", messages, _Handler(), QUEUE_TIME_MS, 3, time)
    for number in range(3):
        messages.put(runs.message(0, b"%d" % number))
        thread.do_work()
    time.sleep(LATER_MS)
    messages.put(runs.message(0, b"late"))
    for _ in range(2):
        thread.do_work()
    return round(messages.waited_ms)


@functools.cache
def round_trips() -> int:
    """How many produce requests a synchronous producer sends for many messages, fifty in each call."""
    with (
        Cluster() as cluster,
        Producer({"metadata.broker.list": cluster.bootstrap_servers, "request.required.acks": "1"}) as producer,
        Recording(watch(SyncProducer.send, show=())) as recording,
    ):
        cluster.create_topic(TOPIC, 4)
        for _ in range(MESSAGES // IN_ONE_CALL):
            producer.send(*[KeyedMessage(TOPIC, bytes(100))] * IN_ONE_CALL)
    return len([event for event in recording.run if event.kind is Kind.CALL and event.what == "send"])


@functools.cache
def second_attempt() -> tuple[int, int]:
    """How many messages are sent again after a leader has moved, and to which broker."""
    again = _requests(runs.leader_moved())[-1].begin.detail
    return len(str(again["sends"]).partition(": ")[2].split()), int(again["broker"])


@functools.cache
def late_response() -> tuple[int, int]:
    """Connections that a response causes that comes too late, and copies of the message in the log."""
    run = runs.late_response()
    connections = sum(event.kind is Kind.PUT and event.what == "connection" for event in run)
    return connections, sum(event.kind is Kind.CALL and event.what == "append_as_leader" for event in run)


@functools.cache
def copies_with_patience() -> int:
    """Copies in the log if the producer waits for longer than the response takes."""
    with (
        runs.two_brokers() as clusters,
        runs.running_producer(clusters, ["0000"], {"request.timeout.ms": 1000}) as producer,
        clusters[0].inject("Produce").delay_response(RESPONSE_MS).once(),
    ):
        producer.send(runs.message(0, b"patient"))
        return clusters[0].values(TOPIC, 0).count(b"patient")


@functools.cache
def silent_failure() -> tuple[int, str]:
    """How many messages are missing after two batches were rejected for good, and the call that raised an error."""
    told = "none"
    with quiet(*LOGGERS, below=logging.CRITICAL), Cluster() as cluster:
        cluster.create_topic(TOPIC)
        settings = {
            "metadata.broker.list": cluster.bootstrap_servers, "request.required.acks": "1", "producer.type": "async",
            "batch.num.messages": str(IN_A_BATCH), "retry.backoff.ms": "5",
        }  # fmt: skip
        producer = Producer(settings)
        try:
            for number in range(SENT):
                if number == IN_A_BATCH:
                    wait_until(lambda: len(cluster.values(TOPIC)) == IN_A_BATCH)
                    cluster.inject("Produce", Errors.NOT_LEADER_OR_FOLLOWER).times(BAD_BATCHES * ATTEMPTS)
                producer.send(KeyedMessage(TOPIC, b"%d" % number))
        except KafkaError:
            told = "send"
        try:
            producer.close()
        except KafkaError:
            told = "close"
        return SENT - len(cluster.values(TOPIC)), told


REQUESTS = Prediction(
    lambda: collated()[0],
    Words("One for each broker, with all its partitions.", "每个 broker 一个，它的分区都在里面。"),
    {
        6: Words("Then there would be nothing to collate.", "那就不用整理了。"),
        4: Words("A request may contain several partitions.", "一个请求里可以有几个分区。"),
        1: Words("Can one request go to several brokers?", "一个请求能发给几个 broker 吗？"),
    },
)
ORDER = Prediction(
    lambda: collated()[1],
    Words(
        "By partition, and within a partition in the order of the call. There is no order across partitions.",
        "先按分区，同一个分区里按调用时的次序。分区之间没有次序。",
    ),
    {
        "m0 m2 m4": Words(
            "In a request, each partition has one set of messages.", "一个请求里，每个分区只有一组消息。"
        ),
        "m0 m4": Words("Which other partition has its leader there?", "还有哪个分区的主副本在那里？"),
        "m0 m2": Words("Key 4 modulo four is 0.", "键 4 除以四，余数是 0。"),
        "m0 m1 m2": Words("Which partitions are led by broker 0?", "哪些分区的主副本在 broker 0？"),
    },
)
LEAST_TIME = Prediction(
    least_time_ms,
    Words(
        "One request after the other: the second is not sent before the first has its response.",
        "请求一个接一个：第一个得到响应之后才发送第二个。",
    ),
    {
        50: Words("Does the thread send the second one while it waits?", "线程在等待时会发送第二个吗？"),
        300: Words("Messages of a request share the wait.", "同一个请求里的消息一起等。"),
        200: Words("Partitions of a request share the wait.", "同一个请求里的分区一起等。"),
    },
)
HELD = Prediction(
    wait_of_a_late_message_ms,
    Words(
        "The thread keeps one time, the end of its last batch: it knows nothing of the age of a message.",
        "线程只记一个时刻，就是上一批结束的时候；一条消息有多老，它并不知道。",
    ),
    {
        150: Words("Does the thread keep a time for each message?", "线程为每条消息各记一个时刻吗？"),
        250: Words("A message does not start the time again.", "来一条消息，并不会重新计时。"),
        0: Words("The batch is not full, and the time is not over.", "批次没有满，时间也没有到。"),
    },
)
ROUND_TRIPS = Prediction(
    round_trips,
    Words(
        "One for each call: without a key, all its messages go to one partition, and there is one broker anyway.",
        "每次调用一次：没有键，一次调用的消息都去同一个分区，何况只有一个 broker。",
    ),
    {
        500: Words("Messages of a call share a request.", "一次调用的消息共用一个请求。"),
        40: Words("Partitions of one broker share a request.", "同一个 broker 的分区共用一个请求。"),
        1: Words("A synchronous call returns when it is acknowledged.", "同步的调用，得到确认才返回。"),
    },
)
SENT_AGAIN = Prediction(
    lambda: second_attempt()[0],
    Words("Only those of the partition that failed.", "只有失败的那个分区的消息。"),
    {
        3: Words("One of them is in the log already.", "其中一条已经在日志里。"),
        1: Words("A partition's messages succeed or fail together.", "同一个分区的消息，同时成功，同时失败。"),
        0: Words("The error is one after which the producer tries again.", "遇到这种错误，生产者会重试。"),
    },
)
NEW_BROKER = Prediction(
    lambda: second_attempt()[1],
    Words(
        "Between the attempts it pauses, and fetches metadata of the topics that failed.",
        "两次尝试之间，它停一会儿，并且获取失败的主题的元数据。",
    ),
    {0: Words("What would be different in the second attempt then?", "那么第二次尝试会有什么不同？")},
)
CONNECTIONS = Prediction(
    lambda: late_response()[0],
    Words(
        "The response may still come. On the old connection it would be taken for that to the next request.",
        "响应还可能到来。在旧的连接上，它会被当作下一个请求的响应。",
    ),
    {
        0: Words("What if the response still comes over this connection?", "如果响应还是从这个连接上来了呢？"),
        2: Words("Only the second attempt needs a new one.", "只有第二次尝试才需要新的。"),
    },
)
COPIES = Prediction(
    lambda: late_response()[1],
    Words(
        "The timeout does not say whether the broker has appended, and nothing in the request lets it recognize a copy."
        "",
        "超时并不说明 broker 有没有追加；请求里也没有什么能让它认出重复的消息。",
    ),
    {
        1: Words("How could the broker know that it has the message?", "broker 怎么知道它已经有这条消息？"),
        0: Words("Late is only the response.", "迟到的只是响应。"),
        4: Words("The second attempt gets its response in time.", "第二次尝试及时得到了响应。"),
    },
)
MISSING = Prediction(
    lambda: silent_failure()[0],
    Words("Two batches of ten, each after four attempts.", "两批，每批十条，各尝试了四次。"),
    {
        0: Words("How often does the producer try?", "生产者尝试几次？"),
        50: Words("The thread continues with the next batch.", "线程接着处理下一批。"),
        10: Words("Two batches are rejected.", "有两批被拒绝。"),
    },
)
TOLD = Prediction(
    lambda: silent_failure()[1],
    Words(
        "`send` returned long before, and `close` only waits for the thread, which has logged a line for each batch.",
        "`send` 早就返回了；`close` 只是等待线程，而线程为每一批写了一行日志。",
    ),
    {
        "send": Words("When does `send` of an asynchronous producer return?", "异步生产者的 `send` 什么时候返回？"),
        "close": Words("Does the thread keep what has failed?", "失败的东西，线程会留着吗？"),
    },
)
PATIENT_COPIES = Prediction(
    copies_with_patience,
    Words("The response is late, but in time.", "响应来得晚，但没有超时。"),
    {
        2: Words("Why would the producer send it again?", "生产者为什么还要再发送？"),
        0: Words("The broker appends before it delays the response.", "broker 先追加，再扣住响应。"),
    },
)

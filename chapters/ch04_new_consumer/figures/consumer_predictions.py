"""The answers to the predictions of the notebook on consumers, taken from its runs. Book 4."""

from __future__ import annotations

import functools

from chapters.ch04_new_consumer.figures import consumer_runs, delivery_semantics
from kafka_learn.check import Prediction, Words
from kafka_learn.recording.consumer_watches import poll_watches, watch_futures, watch_member_state
from kafka_learn.recording.recorded_run import Kind, RecordedRun
from kafka_learn.recording.recorder import Recording
from kafka_learn.recording.run_brokers import TOPIC, in_thread
from kafka_learn.recording.watches import watch
from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_network_client import ConsumerNetworkClient
from kafka_lite.testing.cluster import Cluster

LETTERS = {
    "FETCH": "F", "FIND_COORDINATOR": "C", "JOIN_GROUP": "J", "LIST_OFFSETS": "L", "OFFSET_FETCH": "O",
    "SYNC_GROUP": "S",
}  # fmt: skip
"""The letters of requests in the answers."""
COMMITTED = 3
"""The offset that the group of the last question has committed."""


# ── runs that a reader may change ───────────────────────────────────────────────────────────────────────────────────


def record_polls(polls: int = 3, records: int = 5, timeout_ms: float = 300, **configs: object) -> RecordedRun:
    """A consumer with these settings (underscores in the place of dots), which polls so many times."""
    with (
        Recording(poll_watches(), title="Mine", paused=True) as recording,
        consumer_runs.running_cluster(records) as cluster,
        consumer_runs.running_member(cluster, **configs) as consumer,
        recording.running(),
    ):
        in_thread("user", lambda: [consumer.poll(timeout_ms) for _ in range(polls)])
        recording.pause()
    return recording.run


@functools.cache
def failing_join(error: Errors) -> RecordedRun:
    """A join whose first JoinGroup is answered with an error."""
    watches = (watch_futures(), watch_member_state(), watch(ConsumerNetworkClient.poll_future, show=()))
    with (
        Recording(*watches, title="A join fails", paused=True) as recording,
        consumer_runs.running_cluster() as broker,
        consumer_runs.running_consumer(broker, group_id="unlucky", group_instance_id="one") as consumer,
        broker.inject("JoinGroup", error).once(),
    ):
        consumer.subscribe([TOPIC])
        consumer.committed([consumer_runs.PARTITION])  # finds the coordinator
        with recording.running():
            in_thread("user", lambda: consumer.poll(5000))
            recording.pause()
    return recording.run


# ── what was seen in them ───────────────────────────────────────────────────────────────────────────────────────────


@functools.cache
def requests_of_a_first_poll(committed: int | None = None) -> str:
    """The letters of the requests, in their order."""
    things = _requests(consumer_runs.first_poll(committed))
    return "".join(dict.fromkeys(LETTERS[thing.split()[0]] for thing in things))


def _requests(run: RecordedRun) -> list[str]:
    return [str(event.detail["thing"]) for event in run if event.kind is Kind.PUT and event.what == "request"]


@functools.cache
def fetches_of_three_polls() -> int:
    """Of the run in which records come while the user works."""
    return len(_requests(consumer_runs.polls_in_a_row()))


@functools.cache
def fetches_of_short_polls() -> int:
    """Of three polls that return one record each."""
    run = record_polls(max_poll_records=1, timeout_ms=consumer_runs.POLL_MS)
    sent = [call.end.detail["result"] for call in run.calls() if call.begin.what == "send_fetches" and call.end]
    return sum(map(int, sent))


@functools.cache
def records_of_a_patient_fetch() -> int:
    """How many records a poll of 300 ms returns whose fetch asks for more bytes than there are."""
    run = record_polls(polls=1, fetch_min_bytes=1000)
    polls = [call.end.detail for call in run.calls() if call.begin.who == "KafkaConsumer" and call.end is not None]
    return 0 if "offsets" not in str(polls[0]) else consumer_runs.RECORDS_PER_POLL


def _ended(run: RecordedRun, how: str) -> list[int]:
    """The numbers of the futures that were completed, or have failed, in this order."""
    ends = (event.who for event in run if event.kind is Kind.CALL and event.what == how and "Group" in event.who)
    return [int(who.split()[0]) for who in ends]


@functools.cache
def last_completed() -> int:
    """The number of the future of a join that completes last."""
    return _ended(consumer_runs.futures_of_a_join(), "complete")[-1]


@functools.cache
def futures_after_a_failure() -> int:
    """The number of futures of a join that is tried again."""
    run = failing_join(Errors.UNKNOWN_MEMBER_ID)
    return len({*_ended(run, "complete"), *_ended(run, "fail")})


@functools.cache
def _too_long() -> RecordedRun:
    return consumer_runs.work_for_too_long()


def sender_of_leave_group() -> str:
    """The object that sends LeaveGroup for a member that does not poll."""
    return next(event.who for event in _too_long() if str(event.detail.get("thing", "")).startswith("LEAVE_GROUP"))


def first_offset_after_work_for_too_long() -> int:
    """Where the poll begins that follows the commit."""
    polls = [call.end.detail["result"] for call in _too_long().calls() if call.begin.what == "poll" and call.end]
    return int(str(polls[-1]).removeprefix("offsets ").split("–")[0])


@functools.cache
def first_committed() -> int:
    """The offset that the second poll commits."""
    run = consumer_runs.automatic_commits()
    return next(int(event.detail["committed_offset"]) for event in run if "committed_offset" in event.detail)


@functools.cache
def worked(loop: delivery_semantics.Loop, dies_after: str) -> tuple[str, ...]:
    """The records on which both consumers have worked, in the order of the work."""
    with Cluster() as broker:
        first, second = delivery_semantics.play(broker, loop, dies_after)
    return (*first, *second)


def lost(loop: delivery_semantics.Loop, dies_after: str) -> int:
    """How many of the six records nobody has worked on."""
    return delivery_semantics.RECORDS - len(set(worked(loop, dies_after)))


def repeated(loop: delivery_semantics.Loop, dies_after: str) -> int:
    """How many of the six records were worked on twice."""
    done = worked(loop, dies_after)
    return len(done) - len(set(done))


def harmless_deaths() -> str:
    """The records, as digits, after which a consumer may die without any loss or repetition."""
    deaths = {delivery_semantics.at_most_once: "123", delivery_semantics.at_least_once: "456"}
    return "".join(
        record
        for loop, records in deaths.items()
        for record in records
        if not lost(loop, record) and not repeated(loop, record)
    )


@functools.cache
def stored_after_a_crash() -> int:
    """The number of results in the store, after a crash that follows the work on record 5."""
    store, partition = delivery_semantics.Store(), TopicPartition("exactly-once", 0)
    with Cluster() as broker:
        delivery_semantics.fill(broker, partition.topic)
        with delivery_semantics.mortal_consumer(broker, "mortal") as consumer:
            work = delivery_semantics.dying_after(lambda _: None, "5")
            delivery_semantics.exactly_once(consumer, partition, store, work, 2)
    return len(store.results)


# ── the predictions ─────────────────────────────────────────────────────────────────────────────────────────────────

FIRST_POLL = Prediction(
    requests_of_a_first_poll,
    Words(
        "First the coordinator, then the group. The group has no position, so the partition's leader is asked where "
        "the partition begins. Only then is there an offset to fetch from.",
        "先找协调者，再加入消费组。消费组没有提交过位置，所以要问分区的主副本从哪里开始。这之后才知道从哪个偏移量拉"
        "取。",
    ),
    {
        "CJSOF": Words(
            "The group has never committed. From which offset should it fetch?",
            "这个组从未提交过。该从哪个偏移量拉取？",
        ),
        "CJSLOF": Words(
            "The beginning of the partition matters only if the group has no position of its own.",
            "消费组自己没有位置时，才需要知道分区从哪里开始。",
        ),
        "CJSF": Words("Where does the consumer learn its position?", "消费者从哪里得知自己的位置？"),
        "COJSLF": Words(
            "Before the assignment is known, the consumer cannot ask for the positions of its partitions.",
            "分配结果出来之前，消费者不知道要问哪些分区的位置。",
        ),
        "JSCOLF": Words("To which broker would it send JoinGroup?", "JoinGroup 该发给哪个 broker？"),
    },
)
FETCHES = Prediction(
    fetches_of_three_polls,
    Words(
        "The first poll fetches all five, the second takes the last two from the buffer and fetches ahead. The third "
        "finds that response in the socket.",
        "第一次轮询拉取了全部五条；第二次从缓冲里取走最后两条，同时提前拉取；第三次在套接字里找到了那个响应。",
    ),
    {
        3: Words(
            "`max.poll.records` limits what a poll returns. A fetch brings more.",
            "`max.poll.records` 限制的是一次轮询返回多少，一次拉取可以带回更多。",
        ),
        1: Words("When it was sent, three of the records did not exist.", "发出它的时候，还没有后来的三条。"),
        4: Words("Which of the polls finds nothing in the buffer?", "哪几次轮询在缓冲里什么也没找到？"),
    },
)
SHORT_POLLS = Prediction(
    fetches_of_short_polls,
    Words(
        "The buffer has records for all three, and nothing is fetched ahead before it is empty.",
        "缓冲里的记录够三次轮询用；缓冲空了，才会提前拉取。",
    ),
    {
        3: Words("Where are the other four records after the first poll?", "第一次轮询之后，另外四条在哪里？"),
        2: Words("Is the buffer empty after three records?", "取走三条之后，缓冲空了吗？"),
        5: Words("The broker does not know `max.poll.records`.", "broker 不知道 `max.poll.records`。"),
    },
)
PATIENT = Prediction(
    records_of_a_patient_fetch,
    Words(
        "The broker keeps the request until there are 1000 bytes, or until `fetch.max.wait.ms` (500) is over. The poll "
        "ends before, and the next one finds the response.",
        "请求留在 broker 里，要等凑够 1000 字节，或者过了 `fetch.max.wait.ms`（500）。轮询在这之前就结束了，响应留给下"
        "一次。",
    ),
    {
        3: Words(
            "They are less than `fetch.min.bytes`: what does the broker do?",
            "它们不到 `fetch.min.bytes`，broker 会怎么做？",
        ),
        5: Words(
            "They are less than `fetch.min.bytes`: what does the broker do?",
            "它们不到 `fetch.min.bytes`，broker 会怎么做？",
        ),
    },
)
LAST_FUTURE = Prediction(
    last_completed,
    Words(
        "It is what the join waits for. The future of the assignment is chained to it, and hands its result on.",
        "加入时等的就是它。分配结果的异步请求串在它前面，得到结果就传给它。",
    ),
    {
        4: Words("Another future is chained to this one.", "还有一个异步请求串在它后面。"),
        3: Words("A response is there. Who makes an assignment of it?", "响应到了。由谁从中得出分配结果？"),
        1: Words("It completes first: without it there is no SyncGroup.", "它最先完成：没有它就没有 SyncGroup。"),
    },
)
FUTURES = Prediction(
    futures_after_a_failure,
    Words(
        "Two of the failed attempt, which sends no SyncGroup, and four of the next one.",
        "失败的那次有两个，它没有发出 SyncGroup；下一次有四个。",
    ),
    {
        4: Words("So many has a join that succeeds at once.", "一次就成功的加入有这么多个。"),
        8: Words("Does the first attempt get as far as SyncGroup?", "第一次尝试走到 SyncGroup 了吗？"),
        5: Words("The response of the failed attempt arrives, too.", "失败的那次，响应也到了。"),
    },
)
FAILED = Prediction(
    lambda: _ended(failing_join(Errors.UNKNOWN_MEMBER_ID), "fail")[-1],
    Words(
        "The response itself has arrived, so its future succeeds. The adapter finds the error in it.",
        "响应本身到了，所以它的异步请求成功。从中看出错误的是适配器。",
    ),
    {
        1: Words("The response has arrived. What is in it is another matter.", "响应到了。里面写着什么是另一回事。"),
        4: Words("That one belongs to the attempt that succeeds.", "它属于成功的那一次。"),
        3: Words("That one belongs to the attempt that succeeds.", "它属于成功的那一次。"),
    },
)
HEARTBEATS = Prediction(
    lambda: consumer_runs.WORK_MS // consumer_runs.HEARTBEAT_MS,
    Words(
        "A thread of its own sends them, so the user's work delays none of them.",
        "由单独的线程发送，所以用户的处理不会推迟任何一个。",
    ),
    {
        0: Words("The user's thread is busy. Another one is not.", "用户的线程在忙，另一个线程却不忙。"),
        1: Words("How often does the interval fit into 150 ms?", "150 ms 里放得下几个间隔？"),
        3: Words(
            "That would take 180 ms, unless the first one is due at once.", "除非第一个马上就该发，否则需要 180 ms。"
        ),
    },
)
LEAVER = Prediction(
    sender_of_leave_group,
    Words(
        "It looks at the time of the last poll before each heartbeat. Nobody else is awake to do so.",
        "它在每次心跳之前看上一次轮询是什么时候。这时也没有别的线程能做这件事。",
    ),
    {
        "user": Words("It is busy: that is the problem.", "它在忙，问题就在这里。"),
        "KafkaConsumer": Words("Its methods run in the thread that calls them.", "它的方法在调用者的线程里运行。"),
        "Processor": Words(
            "The broker still gets heartbeats. What could it be missing?", "broker 一直收到心跳，看不出有什么不对。"
        ),
    },
)
AFTER_TOO_LONG = Prediction(
    first_offset_after_work_for_too_long,
    Words(
        "The member has left, so its commit fails with CommitFailedError, and nothing else was ever committed.",
        "这个成员已经离开，所以提交失败，抛出 CommitFailedError；而在这之前什么也没有提交过。",
    ),
    {
        3: Words("Is the commit of somebody valid who is not a member?", "不是成员的，提交还有效吗？"),
        6: Words("Only three records were returned before.", "之前只返回了三条。"),
    },
)
SECOND_POLL = Prediction(
    first_committed,
    Words(
        "The position when the second poll begins: what the first one has returned is processed by now.",
        "就是第二次轮询开始时的位置：第一次返回的，这时已经处理完了。",
    ),
    {
        6: Words("It returns these records only after the commit.", "这几条在提交之后才返回。"),
        2: Words("A committed offset is that of the next record.", "提交的偏移量是下一条记录的。"),
        0: Words("It is not the beginning any more: the user polls again.", "已经不在开头了：用户又来轮询了。"),
    },
)
LOST = Prediction(
    lambda: lost(delivery_semantics.at_most_once, "1"),
    Words(
        "Consumer 2 starts at the committed offset 3. Of the three before it, one was processed.",
        "消费者 2 从已提交的偏移量 3 开始。之前的三条，只处理了一条。",
    ),
    {
        3: Words("Consumer 1 has worked on one of them.", "其中一条，消费者 1 处理了。"),
        0: Words("What had it committed before it died?", "崩溃之前，它已经提交了什么？"),
        5: Words("Another consumer takes over.", "有另一个消费者接手。"),
    },
)
REPEATED = Prediction(
    lambda: repeated(delivery_semantics.at_least_once, "6"),
    Words(
        "Consumer 2 starts at the offset after the first batch. The second one was processed, but never committed.",
        "消费者 2 从第一批之后的偏移量开始。第二批处理了，却没有提交。",
    ),
    {
        1: Words("A commit is for a batch, and not for a record.", "提交是按批的，不是按条的。"),
        0: Words("The crash comes before the second commit.", "崩溃发生在第二次提交之前。"),
        6: Words("After the first batch it has committed once.", "第一批之后提交过一次。"),
    },
)
HARMLESS = Prediction(
    harmless_deaths,
    Words(
        "At most once commits before the work, so a crash after the last record of a batch leaves nothing undone.",
        "至多一次在处理之前提交，所以在一批的最后一条之后崩溃，没有什么还没做。",
    ),
    {
        "6": Words(
            "After record 6 the commit of at least once is still to come.", "至少一次的循环，处理完第 6 条还没有提交。"
        ),
        "36": Words(
            "After record 6 the commit of at least once is still to come.", "至少一次的循环，处理完第 6 条还没有提交。"
        ),
        "": Words(
            "Which loop has nothing left to do after the last record of a batch?",
            "哪种循环在一批的最后一条之后，什么也不用再做？",
        ),
        "14": Words("What of the other two records of the batch?", "同一批的另外两条呢？"),
    },
)
STORED = Prediction(
    stored_after_a_crash,
    Words(
        "Results and position of a batch are stored together or not at all. The second batch was rolled back.",
        "一批的结果和位置要么一起存入，要么都不存。第二批回滚了。",
    ),
    {
        5: Words("A transaction contains a whole batch.", "一个事务包含整个一批。"),
        4: Words("A transaction contains a whole batch.", "一个事务包含整个一批。"),
        6: Words("Consumer 1 dies before it has worked on all.", "消费者 1 没有处理完全部就崩溃了。"),
        0: Words("The transaction of the first batch was committed.", "第一批的事务已经提交。"),
    },
)
MISSING = Prediction(
    lambda: "".join(set(requests_of_a_first_poll()) - set(requests_of_a_first_poll(COMMITTED))),
    Words(
        "The coordinator knows the position, so nobody needs to be asked where the partition begins.",
        "协调者知道位置，不需要再问分区从哪里开始。",
    ),
    {
        "O": Words("How else would it learn what was committed?", "否则它怎么知道提交了什么？"),
        "F": Words("Then the poll would return nothing.", "那样轮询就什么也不会返回。"),
        "C": Words("This consumer is new: it knows one address.", "这个消费者是新的，只知道一个地址。"),
    },
)
REPEATED_FIRST = Prediction(
    lambda: repeated(delivery_semantics.at_least_once, "3"),
    Words(
        "Nothing was committed yet, so consumer 2 starts at the beginning.",
        "什么也还没有提交，所以消费者 2 从头开始。",
    ),
    {
        0: Words("The crash comes before the commit.", "崩溃发生在提交之前。"),
        6: Words("Consumer 1 has only worked on the first batch.", "消费者 1 只处理了第一批。"),
        1: Words("A commit is for a batch, and not for a record.", "提交是按批的，不是按条的。"),
    },
)

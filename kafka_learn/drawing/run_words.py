"""The words that figures of recorded runs add to names from the code, in the languages of the site.

The drawing adds a ``word``. The recorder adds a ``phrase`` to the run itself, in English, as a note ("the bell
rings") or instead of a value ("generation 1, leader of 4"). Phrases are translated when they are drawn.
"""

from __future__ import annotations

import re

_CHINESE = {
    "after": "等待",
    "append": "追加",
    "read": "读取",
    "sendfile": "零拷贝 sendfile",
    "entry": "索引项",
    "position": "位置",
    "bytes": "字节",
    "offset": "偏移量",
    "timestamp": "时间戳",
    "In words": "文字说明",
    "request_queue": "请求队列",
    "local": "本地处理",
    "remote": "延迟等待",
    "throttle": "限流",
    "response_queue": "响应队列",
    "response_send": "发送响应",
    "connection": "连接",
    "new connection": "新连接",
    "request": "请求",
    "request queue": "请求队列",
    "response queue": "响应队列",
    "purgatory": "延迟缓存",
    "answer": "响应",
    "batch": "批次",
    "steps": "步",
    "Sequence diagram": "时序图",
    "Time line": "时间线",
    "The way of a produce request": "一个生产请求的旅程",
    "A produce request, handled by the network thread": "由网络线程直接处理的生产请求",
    "The way of a record": "一条记录的旅程",
    "Batches and memory": "批次与内存",
    "Five in flight: a retry comes too late": "五个在途请求：重试来得太晚",
    "One in flight: the rest waits": "一个在途请求：其余的等待",
    "Five in flight, numbered: the broker refuses what is early": "五个在途请求，带编号：broker 拒绝来得太早的批次",
    "An answer is lost: the record is there twice": "响应丢失：记录出现两次",
    "An answer is lost: the broker knows the number": "响应丢失：broker 认得这个编号",
    "The first contact": "第一次接触",
    "At most 5 in flight": "最多五个在途请求",
    "At most 1 in flight": "最多一个在途请求",
    "Polls of a selector": "选择器的几次轮询",
    "Collated by broker and partition": "按节点和分区整理",
    "The queue of an asynchronous producer": "异步生产者的队列",
    "A leader has moved": "主副本换了节点",
    "An answer that comes late": "迟到的响应",
    "Four members join and sync": "四个成员加入和同步",
    "A third member joins a stable group": "第三个成员加入稳定的组",
    "One to five consumers": "一到五个消费者",
    "A heartbeat that comes too late": "迟到的心跳",
    "A member that joins too late": "迟到的成员",
    "A commit in the middle of a rebalance": "再平衡中间的一次提交",
    "waits": "等待",
    "JoinGroup answer": "JoinGroup 响应",
    "SyncGroup answer": "SyncGroup 响应",
    "Heartbeat answer": "Heartbeat 响应",
    "LeaveGroup answer": "LeaveGroup 响应",
    "OffsetCommit answer": "OffsetCommit 响应",
    "queue": "队列",
    "A rebalance with two members": "两个成员的再平衡",
    "Members come and go": "成员的加入和离开",
    "From the fetcher to the user": "从拉取线程到用户",
    "Commits to ZooKeeper": "提交到 ZooKeeper",
    "A commit to both storages": "提交到两种存储",
    "The low-level example": "低级 API 示例",
    "The first poll": "第一次轮询",
    "Three polls in a row": "连续三次轮询",
    "The futures of a join": "一次加入的几个异步请求",
    "Heartbeats beside the work": "处理期间的心跳",
    "Work for too long": "处理得太久",
    "Automatic commits": "自动提交",
    "A commit is repeated": "重复的提交",
    "At most once": "至多一次",
    "At least once": "至少一次",
    "The turns of a processor": "处理器的几轮循环",
    "Three pipelined requests": "三个流水线请求",
    "The request queue is full": "请求队列已满",
    "A fetch waits in purgatory until a produce completes it": "拉取请求在延迟缓存中等待，直到一次生产使其完成",
}
_CHINESE_LANES = {
    "user": "用户",
    "consumer 1": "消费者 1",
    "consumer 2": "消费者 2",
    "ZooKeeper's watches": "ZooKeeper 的监听",
}
_CHINESE_LANE_PATTERNS = (
    (re.compile(r"(\d+) (\w+) answer"), r"\1 \2 响应"),
    (re.compile(r"(\d+) by (\w+)"), r"\1 由 \2"),
    (re.compile(r"(\w+)'s user"), r"\1 的用户"),
)
_CHINESE_PHRASES = {
    "nothing": "无",
    "done": "完成",
    "complete": "完成",
    "dies": "挂掉",
    "ends": "结束",
    "the time is up": "时间到",
    "the bell rings": "铃响",
    "in vain: once more": "没有成功，再来一次",
    "has left": "已离开",
    "appended": "已追加",
    "begins a batch": "开始一个批次",
    "a batch is full": "一个批次已满",
    "begins a batch, a batch is full": "开始一个批次，一个批次已满",
    "with its id": "带编号",
    "without an id": "没有编号",
    "the peer writes half a size": "对端写入半个长度字段",
    "the peer writes the rest, and 60 of 100 bytes": "对端写入其余部分，以及 100 字节中的 60 个",
    "the peer writes the last 40 bytes, and a small frame": "对端写入最后 40 字节，以及一个小帧",
    "the peer writes another frame": "对端又写入一个帧",
    "the peer reads everything": "对端读完全部数据",
}
_CHINESE_PHRASE_PATTERNS = (
    (re.compile(r"generation (\d+)"), r"纪元 \1"),
    (re.compile(r"generation (\d+): (.+)"), r"纪元 \1：\2"),
    (re.compile(r"generation (\d+), leader of (\d+)"), r"纪元 \1，\2 个成员的主消费者"),
    (re.compile(r"generation (\d+), follower"), r"纪元 \1，普通消费者"),
    (re.compile(r"assignment '(.*)'"), r"分配结果 '\1'"),
    (re.compile(r"parts for (\d+)"), r"\1 个成员的分配结果"),
    (re.compile(r"clock: \+ (\d+) s"), r"时钟：+ \1 秒"),
    (re.compile(r"(on_join_prepare), had nothing"), r"\1，原来没有分区"),
    (re.compile(r"(on_join_prepare), had (.+)"), r"\1，原有 \2"),
    (re.compile(r"(on_join_complete), has nothing"), r"\1，没有分到"),
    (re.compile(r"(on_join_complete), has (.+)"), r"\1，分到 \2"),
    (re.compile(r"commit_sync: done"), "commit_sync：完成"),
    (re.compile(r"failed: (.+)"), r"失败：\1"),
    (re.compile(r"chunk from offset (\d+) on"), r"从偏移量 \1 开始的数据块"),
    (re.compile(r"the message of offset (\d+)"), r"偏移量 \1 的消息"),
    (re.compile(r"consumes offset (\d+)"), r"消费偏移量 \1"),
    (re.compile(r"works on (.+)"), r"处理 \1"),
    (re.compile(r"record (\d+)"), r"记录 \1"),
    (re.compile(r"it has offset (\d+)"), r"它的偏移量是 \1"),
    (re.compile(r"it has offsets (.+)"), r"它们的偏移量是 \1"),
    (re.compile(r"offsets (.+)"), r"偏移量 \1"),
    (re.compile(r"from offset (\d+) on"), r"从偏移量 \1 起"),
    (re.compile(r"(\d+) bytes from (\d+) on"), r"从 \2 起的 \1 字节"),
    (re.compile(r"(\d+) bytes"), r"\1 字节"),
    (re.compile(r"answer to (.+)"), r"\1 的响应"),
    (re.compile(r"(\d+ \w+) answer"), r"\1 响应"),
    (re.compile(r"(\d+) by (\w+)"), r"\1 由 \2"),
)
_ENGLISH = {
    "request_queue": "request queue",
    "local": "local",
    "remote": "remote (purgatory)",
    "response_queue": "response queue",
    "response_send": "send",
}


def word(name: str, language: str) -> str:
    """A word in a language; names of the code stay as they are."""
    return (_CHINESE if language == "zh" else _ENGLISH).get(name, name)


def lane_name(lane: str, language: str) -> str:
    """The title of a lane: names of client threads are translated, names of classes are not.

    >>> lane_name("user", "zh"), lane_name("2 by JoinGroupResponseHandler", "zh"), lane_name("Fetcher", "zh")
    ('用户', '2 由 JoinGroupResponseHandler', 'Fetcher')
    """
    return _translated(lane, _CHINESE_LANES, _CHINESE_LANE_PATTERNS) if language == "zh" else lane


def phrase(text: str, language: str) -> str:
    """A phrase of the recorder in a language; unchanged if the tables do not have it.

    >>> phrase("generation 1, leader of 4", "zh"), phrase("NOT_COORDINATOR", "zh"), phrase("has left", "en")
    ('纪元 1，4 个成员的主消费者', 'NOT_COORDINATOR', 'has left')
    """
    return _translated(text, _CHINESE_PHRASES, _CHINESE_PHRASE_PATTERNS) if language == "zh" else text


def _translated(text: str, words: dict[str, str], patterns: tuple[tuple[re.Pattern[str], str], ...]) -> str:
    if text in words:
        return words[text]
    found = ((pattern.fullmatch(text), chinese) for pattern, chinese in patterns)
    return next((match.expand(chinese) for match, chinese in found if match), text)


def duration(nanoseconds: float) -> str:
    """A time with at most three digits: ``86 µs``, ``1.25 ms``, ``58.2 ms``.

    >>> duration(86_400), duration(1_254_000), duration(58_202_000), duration(2_000_000_000)
    ('86 µs', '1.25 ms', '58.2 ms', '2 s')
    """
    for unit, size in (("s", 1e9), ("ms", 1e6)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds / 1e3:.0f} µs"

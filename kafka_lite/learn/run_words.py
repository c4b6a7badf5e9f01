"""The few words that figures of recorded runs add to names of the code, in the languages of the site."""

from __future__ import annotations

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
    "An answer that comes late": "来得太晚的响应",
    "Four members join and sync": "四个成员加入和同步",
    "A third member joins a stable group": "第三个成员加入稳定的组",
    "One to five consumers": "一到五个消费者",
    "A heartbeat that comes too late": "来得太晚的心跳",
    "A member that joins too late": "来得太晚的成员",
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
    "Heartbeats beside the work": "工作时的心跳",
    "Work for too long": "工作得太久",
    "Automatic commits": "自动提交",
    "A commit is repeated": "重复的提交",
    "At most once": "至多一次",
    "At least once": "至少一次",
    "The turns of a processor": "处理器的几轮循环",
    "Three pipelined requests": "三个流水线请求",
    "The request queue is full": "请求队列已满",
    "A fetch waits in purgatory until a produce completes it": "拉取请求在延迟缓存中等待，直到一次生产使其完成",
}
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


def duration(nanoseconds: float) -> str:
    """A time with three figures at most: ``86 µs``, ``1.25 ms``, ``58.2 ms``.

    >>> duration(86_400), duration(1_254_000), duration(58_202_000), duration(2_000_000_000)
    ('86 µs', '1.25 ms', '58.2 ms', '2 s')
    """
    for unit, size in (("s", 1e9), ("ms", 1e6)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds / 1e3:.0f} µs"

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
    "response": "响应",
    "batch": "批次",
    "steps": "步",
    "Sequence diagram": "时序图",
    "Time line": "时间线",
    "The way of a produce request": "一个生产请求的旅程",
    "A produce request, handled by the network thread": "由网络线程直接处理的生产请求",
    "The way of a record": "一条记录的旅程",
    "One record and two readers": "一条记录，两个读者",
    "Batches and memory": "批次与内存",
    "Five in flight: a retry comes too late": "五个在途请求：重试来得太晚",
    "One in flight: the rest waits": "一个在途请求：其余的等待",
    "Five in flight, numbered: the broker refuses what is early": "五个在途请求，带序列号：broker 拒绝来得太早的批次",
    "A response is lost: the record is stored twice": "响应丢失：记录出现两次",
    "A response is lost: the broker knows the number": "响应丢失：broker 认得这个序列号",
    "The first contact": "初次连接",
    "At most 5 in flight": "最多五个在途请求",
    "At most 1 in flight": "最多一个在途请求",
    "Polls of a selector": "选择器的几次轮询",
    "A record's way through a topology": "一条记录走过拓扑",
    "Which record is next": "下一条处理哪条记录",
    "A task moves with its state": "任务带着状态移动",
    "A standby takes over": "备用任务接管",
    "A flush beside running sends": "一边保存偏移量，一边发送",
    "One new connector, two rebalances": "一个新的连接器，两次再平衡",
    "A worker dies": "一个工作进程崩溃",
    "Collated by broker and partition": "按节点和分区整理",
    "The queue of an asynchronous producer": "异步生产者的队列",
    "A leader has moved": "主副本换了节点",
    "A response that arrives late": "迟到的响应",
    "A producer is muted after its response": "生产者在响应之后被静音",
    "The response to an older producer is held back": "旧生产者的响应被扣住",
    "Four members join and sync": "四个成员加入和同步",
    "A third member joins a stable group": "第三个成员加入稳定的组",
    "One to five consumers": "一到五个消费者",
    "A heartbeat that comes too late": "迟到的心跳",
    "A member that joins too late": "迟到的成员",
    "A commit in the middle of a rebalance": "再平衡中间的一次提交",
    "waits": "等待",
    "JoinGroup response": "JoinGroup 响应",
    "SyncGroup response": "SyncGroup 响应",
    "Heartbeat response": "Heartbeat 响应",
    "LeaveGroup response": "LeaveGroup 响应",
    "OffsetCommit response": "OffsetCommit 响应",
    "queue": "队列",
    "bytes to send": "待发送的字节",
    "receive": "接收",
    "A rebalance with two members": "两个成员的再平衡",
    "Members come and go": "成员的加入和离开",
    "From the fetcher to the user": "从拉取线程到用户",
    "Commits to ZooKeeper": "提交到 ZooKeeper",
    "A commit to both storages": "提交到两种存储",
    "The low-level example": "低级 API 示例",
    "Receive, send, flush, commit": "接收，发送，等待确认，提交",
    "From the ideal state to the external view": "从理想状态到外部视图",
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
    "HW and LEO over two rounds of fetches": "两轮拉取中的高水位和 LEO",
    "A follower leaves the ISR and comes back": "一个备份副本离开 ISR 又回来",
    "A topic is created": "创建主题",
    "A topic is deleted": "删除主题",
    "A leader dies, a new one leads": "主副本崩溃，选出新的主副本",
    "A new leader, as the brokers see it": "新的主副本，从 broker 的角度看",
    "A partition moves": "移动一个分区",
    "The controller dies": "控制器崩溃",
    "Controlled shutdown": "受控关闭",
    "A coordinator stops, another one takes its groups over": "协调者停止，另一个接管它的消费组",
    "A transaction over two brokers": "两个 broker 上的事务",
    "Killed after the decision": "决定之后被杀",
    "A transaction is aborted after its timeout": "超时后中止的事务",
    "A topic is made again: read by name": "主题删除后重建：按名字读",
    "A topic is made again: read by id": "主题删除后重建：按 id 读",
    "A third member joins a group that the broker assigns": "第三个成员加入由 broker 分配的消费组",
    "One partition, two consumers": "一个分区，两个消费者",
    "One partition, two members of a share group": "一个分区，共享组的两个成员",
    "A transaction of the second version": "第二版的事务",
    "ConsumerGroupHeartbeat response": "ConsumerGroupHeartbeat 响应",
    "Metadata response": "Metadata 响应",
    "EndTxn response": "EndTxn 响应",
    "Fetch response": "Fetch 响应",
    "Produce response": "Produce 响应",
    "A broker that never flushes its logs": "一个从不刷盘的 broker",
    "A fetch waits in purgatory until a produce completes it": "拉取请求在延迟缓存中等待，直到一次生产使其完成",
}
_CHINESE_LANES = {
    "changelog": "变更日志",
    "store": "状态存储",
    "source node": "源节点",
    "offset store": "偏移量存储",
    "config topic": "配置主题",
    "faults": "故障",
    "promises": "承诺",
    "user": "用户",
    "shop": "商店",
    "mail": "邮件",
    "search": "搜索",
    "tool": "工具",
    "main": "主线程",
    "caller": "调用者",
    "consumer": "消费者",
    "producer": "生产者",
    "reader": "读者",
    "late batch": "迟到的批次",
    "client": "客户端",
    "coordinator": "协调者",
    "member": "成员",
    "program": "程序",
    "started again": "再次启动",
    "request": "请求的线程",
    "event": "事件的线程",
    "reaper": "清理线程",
    "follower's handler": "备份副本的处理线程",
    "producer's handler": "生产者的处理线程",
    "ZooKeeper's watches": "ZooKeeper 的监听",
}
_CHINESE_LANE_PATTERNS = (
    (re.compile(r"instance (\d+)"), r"实例 \1"),
    (re.compile(r"worker (\d+)"), r"工作进程 \1"),
    (re.compile(r"task (\d+_\d+)"), r"任务 \1"),
    (re.compile(r"store (\w+)"), r"状态存储 \1"),
    (re.compile(r"queue (\S+-\d+)"), r"队列 \1"),
    (re.compile(r"(\d+) (\w+) response"), r"\1 \2 响应"),
    (re.compile(r"(\d+) by (\w+)"), r"\1 由 \2"),
    (re.compile(r"(\w+)'s user"), r"\1 的用户"),
    (re.compile(r"consumer (\d+)"), r"消费者 \1"),
    (re.compile(r"producer (\d+)"), r"生产者 \1"),
    (re.compile(r"event (\d+)"), r"事件 \1"),
    (re.compile(r"leader of (\S+)"), r"\1 的主副本"),
)
_FAULTS = {
    "kill -9 of the broker": "broker 被 kill -9",
    "clean stop of the broker": "broker 正常停止",
    "power failure of the broker's machine": "broker 的机器断电",
    "pause of the broker": "broker 暂停",
    "reset of connections": "连接被重置",
    "cut between clients and broker": "客户端与 broker 之间断网",
    "one-way cut to the broker": "到 broker 的单向断网",
    "one-way cut from the broker": "从 broker 出来的单向断网",
    "slow link": "慢速链路",
    "refused connections": "连接被拒绝",
    "kill -9 of a consumer": "消费者被 kill -9",
    "pause of a consumer": "消费者暂停",
    "jump of the broker's wall clock": "broker 的时钟跳变",
    "jump of the clients' wall clock": "客户端的时钟跳变",
    "full disk": "磁盘已满",
    "failing disk": "磁盘损坏",
    "kill -9 of the controller": "控制器被 kill -9",
    "cut between a broker and another machine": "broker 与另一台机器之间断网",
    "cut between a broker and ZooKeeper": "broker 与 ZooKeeper 之间断网",
    "kill -9 of ZooKeeper": "ZooKeeper 被 kill -9",
}
"""Words for the faults of a simulated world."""
_CHINESE_PHRASES = {
    **_FAULTS,
    "process": "进程",
    "down": "未启动",
    "standby": "备用",
    "handed over": "已移交",
    "runs": "运行",
    "paused": "暂停",
    "killed": "被杀死",
    "nothing": "无",
    "done": "完成",
    "complete": "完成",
    "dies": "崩溃",
    "ends": "结束",
    "the time is up": "时间到",
    "the bell rings": "铃响",
    "in vain: once more": "没有成功，再来一次",
    "has left": "已离开",
    "the next day, from the beginning": "第二天，从头读起",
    "appended": "已追加",
    "begins a batch": "开始一个批次",
    "a batch is full": "一个批次已满",
    "begins a batch, a batch is full": "开始一个批次，一个批次已满",
    "batch full": "批次已满",
    "queue time reached": "排队时间已到",
    "its id": "它的 id",
    "an id": "一个 id",
    "marker": "标记",
    "with its id": "带编号",
    "without an id": "没有编号",
    "the peer writes half a size": "对端写入半个长度字段",
    "the peer writes the rest, and 60 of 100 bytes": "对端写入其余部分，以及 100 字节中的 60 个",
    "the peer writes the last 40 bytes, and a small frame": "对端写入最后 40 字节，以及一个小帧",
    "the peer writes another frame": "对端又写入一个帧",
    "the peer reads everything": "对端读完全部数据",
    "leads nothing any more": "不再是任何分区的主副本",
    "still leads something": "仍是某些分区的主副本",
    "† killed before any marker is written": "† 被杀，标记一个都没有写",
    "the producer gets PRODUCER_FENCED": "生产者得到 PRODUCER_FENCED",
    "nothing from broker 3 for more than replica.lag.time.max.ms": "broker 3 超过 replica.lag.time.max.ms 没有请求",
}
_CHINESE_PHRASE_PATTERNS = (
    (re.compile(r"(\d+) records"), r"\1 条记录"),
    *(
        (re.compile(re.escape(fault) + r" for ([\d.]+) s \(([\d.]+)\)"), chinese + r"，\1 秒（\2）")
        for fault, chinese in _FAULTS.items()
    ),
    (re.compile(r"(\w+) to (\S+) is lost: (.*)"), r"发往 \2 的 \1 丢失：\3"),
    (re.compile(r"(\w+) response to (\S+) is lost: (.*)"), r"发往 \2 的 \1 响应丢失：\3"),
    (re.compile(r"ended, exit code (\d+)"), r"结束，退出码 \1"),
    (
        re.compile(r"nothing more from the producer for transaction.timeout.ms = (\d+)"),
        r"生产者在 transaction.timeout.ms = \1 的时间里不再发送任何请求",
    ),
    (re.compile(r"time of (\S+-\d+)"), r"\1 的时间"),
    (re.compile(r"instance (\d+), task (\d+_\d+)"), r"实例 \1，任务 \2"),
    (re.compile(r"generation (\d+)"), r"世代 \1"),
    (re.compile(r"generation (\d+): (.+)"), r"世代 \1：\2"),
    (re.compile(r"generation (\d+), leader of (\d+)"), r"世代 \1，\2 个成员的主消费者"),
    (re.compile(r"generation (\d+), follower"), r"世代 \1，普通消费者"),
    (re.compile(r"epoch (-?\d+)"), r"纪元 \1"),
    (re.compile(r"(\w+): epoch (\d+)"), r"\1：纪元 \2"),
    (re.compile(r"(?:I have|has) nothing"), "没有分区"),
    (re.compile(r"(?:I have|has) ([\d ]+)"), r"拥有 \1"),
    (re.compile(r"use nothing"), "还没有可用的"),
    (re.compile(r"use ([\d ]+)"), r"可用 \1"),
    (re.compile(r"gives up ([\d ]+)"), r"要交出 \1"),
    (re.compile(r"reads ([\d ]+)"), r"读到 \1"),
    (re.compile(r"delivery (\d+)"), r"第 \1 次交付"),
    (re.compile(r"the lock of (\S+) expires"), r"\1 的锁到期"),
    (re.compile(r"creates (\w+): (.+)"), r"创建 \1：\2"),
    (re.compile(r"offset (\d+)"), r"偏移量 \1"),
    (re.compile(r"epoch (-?\d+) ends at (-?\d+)"), r"纪元 \1 到 \2 为止"),
    (re.compile(r"leader (-?\d+)"), r"主副本 \1"),
    (re.compile(r"LEO of (\d+)"), r"\1 的 LEO"),
    (re.compile(r"(\S+-\d+) on (\d+)"), r"\2 上的 \1"),
    (re.compile(r"leads (\S+-\d+), epoch (\d+)"), r"\1 的主副本，纪元 \2"),
    (re.compile(r"(\S+-\d+) follows broker (-?\d+), epoch (\d+)"), r"\1 追随 broker \2，纪元 \3"),
    (re.compile(r"coordinator of (\S+-\d+), epoch (\d+)"), r"\1 的协调者，纪元 \2"),
    (re.compile(r"has read group (\S+): generation (\d+), (\d+) member"), r"已读入消费组 \1：世代 \2，\3 个成员"),
    (re.compile(r"forgets group (\S+)"), r"忘掉消费组 \1"),
    (re.compile(r"the coordinator is broker (\d+)"), r"协调者是 broker \1"),
    (re.compile(r"committed: offset (\d+)"), r"已提交：偏移量 \1"),
    (re.compile(r"stops fetching (\S+)"), r"停止拉取 \1"),
    (re.compile(r"deletes? (\S+)"), r"删除 \1"),
    (re.compile(r"is the controller, epoch (\d+)"), r"成为控制器，纪元 \1"),
    (re.compile(r"truncates from (\d+) to (\d+)"), r"从 \1 截断到 \2"),
    (re.compile(r"nothing to truncate: LEO (\d+)"), r"无需截断：LEO \1"),
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
    (re.compile(r"the record of offset (\d+)"), r"偏移量 \1 的记录"),
    (re.compile(r"consumes offset (\d+)"), r"消费偏移量 \1"),
    (re.compile(r"works on (.+)"), r"处理 \1"),
    (re.compile(r"record (\d+)"), r"记录 \1"),
    (re.compile(r"it has offset (\d+)"), r"它的偏移量是 \1"),
    (re.compile(r"it has offsets (.+)"), r"它们的偏移量是 \1"),
    (re.compile(r"offsets (.+)"), r"偏移量 \1"),
    (re.compile(r"from offset (\d+) on"), r"从偏移量 \1 起"),
    (re.compile(r"(\d+) bytes from (\d+) on"), r"从 \2 起的 \1 字节"),
    (re.compile(r"(\d+) bytes"), r"\1 字节"),
    (re.compile(r"\{([\w-]+): (\d+) bytes\}"), r"{\1: \2 字节}"),
    (re.compile(r"(\d+) of 4 bytes of a size"), r"长度字段 \1/4 字节"),
    (re.compile(r"(\d+) of (\d+) bytes"), r"\1/\2 字节"),
    (re.compile(r"(\d+) complete"), r"\1 个完整的帧"),
    (re.compile(r"(→ )?(\d+) connected"), r"\1连上 \2 个"),
    (re.compile(r"(→ )?(\d+) disconnected"), r"\1断开 \2 个"),
    (re.compile(r"(→ )?(\d+) sent"), r"\1发完 \2 个"),
    (re.compile(r"(→ )?(\d+) received"), r"\1收到 \2 个"),
    (re.compile(r"response to (.+)"), r"\1 的响应"),
    (re.compile(r"(\d+ \w+) response"), r"\1 响应"),
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
    >>> lane_name("started again", "zh"), lane_name("task 1_0", "zh")
    ('再次启动', '任务 1_0')
    """
    return translated(lane, _CHINESE_LANES, _CHINESE_LANE_PATTERNS) if language == "zh" else lane


def phrase(text: str, language: str) -> str:
    """A phrase of the recorder in a language; the parts of a list one by one; unchanged if the tables do not have it.

    >>> phrase("generation 1, leader of 4", "zh"), phrase("NOT_COORDINATOR", "zh"), phrase("has left", "en")
    ('世代 1，4 个成员的主消费者', 'NOT_COORDINATOR', 'has left')
    >>> phrase("[demo-0, from offset 1 on]", "zh")
    '[demo-0, 从偏移量 1 起]'
    """
    if language != "zh":
        return text
    found = translated(text, _CHINESE_PHRASES, _CHINESE_PHRASE_PATTERNS)
    if found != text:
        return found
    if text.startswith("[") and text.endswith("]"):
        return f"[{phrase(text[1:-1], language)}]"
    parts = text.split(", ")
    return ", ".join(phrase(part, language) for part in parts) if len(parts) > 1 else text


def translated(text: str, words: dict[str, str], patterns: tuple[tuple[re.Pattern[str], str], ...]) -> str:
    """``text`` by the table of words, or by the first pattern that matches all of it; unchanged if none does."""
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

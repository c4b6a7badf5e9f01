// The words of the live cluster, in both languages.

const english = {
  load: "Start three brokers in this page",
  about: "7 MB from this site; some ten seconds of a processor.",
  engine: "Loading the Python interpreter …",
  source: "Loading the source …",
  world: "Starting ZooKeeper and three brokers …",
  topic: "Waiting for the topic …",
  failed: "The cluster has stopped",
  unable: "This browser cannot run it: it lacks JavaScript Promise Integration (WebAssembly.Suspending). Chrome and Edge "
    + "have it from 137 on, Firefox from 153, Safari from 27. The recorded runs of the chapters need no such thing.",
  absent: "This build of the site has no Python interpreter: it was made on a machine without npm.",
  kill: "kill -9", stop: "SIGTERM", start: "Start", pause: "Pause", resume: "Resume", cut: "Cut", heal: "Heal",
  produce: "Produce", records: "records", join: "joins", leave: "leaves", freeze: "Stop the time", go: "Let it pass",
  step: "One step", speed: "Speed", seconds: "simulated s", controller: "controller",
  up: "up", down: "down", paused: "paused", starting: "starting", threads: "threads",
  broker: "Broker", partition: "Partition", leader: "Leader", epoch: "Epoch", isr: "ISR", replica: "Replica",
  offsets: "HW / LEO", links: "Links", clients: "Clients", time: "Time", topicSettings: "Topic", events: "Events",
  acknowledged: "acknowledged", lost: "failed", sent: "sent", read: "read", none: "none",
  group: "Consumer group", coordinator: "coordinator", generation: "generation", has: "partitions",
  partitions: "partitions (more of them)", replicas: "replicas of each",
  isolation: "consumers that join get isolation.level",
  transaction: "A transaction", producer: "the producer", begin: (records) => `Begin, send ${records} records`, commit: "Commit", abort: "Abort",
  transactionHow: "Its records are in the log at once, but the last stable offset (LSO) stays before them until it ends: a consumer with "
    + "read_committed waits there. An end is a marker in each partition, which takes an offset, too.",
  transactionStates: {
    "no producer": "does not run", initializing: "asks for its producer id and epoch", ready: "ready", open: "transaction is open",
    committing: "commits", committed: "has committed", aborting: "aborts", aborted: "has aborted", failed: "has failed",
  },
  inTransaction: (records) => `${records} records of it in the log`, noTransactions: "No coordinator knows the transactional id yet.",
  transactionCoordinator: "transaction coordinator, broker", producerEpoch: "epoch",
  wordCount: "Streams: word count", writeLines: (lines) => `Write ${lines} lines`, written: (lines) => `${lines} lines written`,
  wordCountHow: "Each instance is a process with Kafka Streams: tasks 0_0 and 0_1 split lines of the topic text, 1_0 and 1_1 count "
    + "words in a store with a changelog. Start both, write lines, kill one: the other one restores its counts, and counts further.",
  opens: "starts", closes: "closes", tasks: "tasks", word: "Word", count: "Count", instance: "Instance", task: "Task",
  unclean: "unclean leader election", share: "Link to this run",
  shareHow: "has its seed and what you have done. In a clone of the project, this command plays it without a browser:",
  again: "Once more", steps: "steps", digest: "digest",
  console: "Console", run: "Run", interrupt: "Interrupt", cell: "Python to run", output: "Output", examples: "Examples",
  consoleHow: "Python in a process of this world, with the project's own clients: Producer, Consumer, Admin, and lines that "
    + "begin with kafka-lite. Names stay from cell to cell. Shift + Enter runs a cell. A link to this run does not have the cells.",
  runs: "running …", timeStands: "waits: the time stands still",
  hurries: "Going to the state of the link as fast as this machine can; the time stops there …",
  code: "Show me the code", process: "Process", thread: "Thread", stands: "The thread stands in", ran: "The last step has run",
  codeHow: "Each thread stands in a function, and waits there for its next turn. Stop the time and take single steps: each "
    + "step lists the functions in which the thread has touched a lock, with their callers, and marks the lines.",
  noCode: "This thread runs code of a library.", hasRun: "this line has run",
  replay: (count) => `Playing what the link has; actions left: ${count}`,
};

const chinese = {
  load: "在本页启动三个 broker",
  about: "从本站下载 7 MB，大约占用处理器十秒。",
  engine: "正在加载 Python 解释器……",
  source: "正在加载源码……",
  world: "正在启动 ZooKeeper 和三个 broker……",
  topic: "正在等待主题创建……",
  failed: "集群已停止",
  unable: "这个浏览器运行不了：它没有 JavaScript Promise Integration（WebAssembly.Suspending）。Chrome 和 Edge 从 137 版起、"
    + "Firefox 从 153 版起、Safari 从 27 版起支持。各章里录制好的运行不需要它。",
  absent: "这一次构建的网站里没有 Python 解释器：构建它的机器没有 npm。",
  kill: "kill -9", stop: "SIGTERM", start: "启动", pause: "暂停", resume: "继续", cut: "切断", heal: "恢复",
  produce: "发送", records: "消息数", join: "加入", leave: "离开", freeze: "停住时间", go: "继续计时",
  step: "走一步", speed: "速度", seconds: "秒（模拟时间）", controller: "控制器",
  up: "运行中", down: "已停止", paused: "已暂停", starting: "启动中", threads: "个线程",
  broker: "Broker", partition: "分区", leader: "主副本", epoch: "纪元", isr: "ISR", replica: "副本",
  offsets: "HW / LEO", links: "网络连接", clients: "客户端", time: "时间", topicSettings: "主题", events: "事件",
  acknowledged: "已确认", lost: "失败", sent: "已发送", read: "已读取", none: "无",
  group: "消费组", coordinator: "协调者", generation: "世代", has: "分区",
  partitions: "分区数（只能增加）", replicas: "每个分区的副本数",
  isolation: "之后加入的消费者的 isolation.level",
  transaction: "事务", producer: "生产者", begin: (records) => `开始事务，发送 ${records} 条消息`, commit: "提交", abort: "中止",
  transactionHow: "事务里的消息立刻写入日志，但在事务结束之前，最后稳定偏移量（LSO）一直停在这些消息前面：read_committed 的消费者就等在那里。"
    + "结束时每个分区写入一个标记，标记也占一个偏移量。",
  transactionStates: {
    "no producer": "没有运行", initializing: "正在申请 producer id 和纪元", ready: "就绪", open: "事务进行中",
    committing: "正在提交", committed: "已提交", aborting: "正在中止", aborted: "已中止", failed: "已失败",
  },
  inTransaction: (records) => `其中 ${records} 条消息已写入日志`, noTransactions: "还没有协调者知道这个 transactional id。",
  transactionCoordinator: "事务协调者 broker", producerEpoch: "纪元",
  wordCount: "Streams：单词计数", writeLines: (lines) => `写 ${lines} 行文字`, written: (lines) => `已写 ${lines} 行`,
  wordCountHow: "每个实例是一个运行 Kafka Streams 的进程：任务 0_0 和 0_1 拆分主题 text 里的每一行，1_0 和 1_1 在带变更日志的状态存储里计数。"
    + "把两个实例都启动，写几行文字，再杀掉一个：另一个会恢复它的计数，接着数下去。",
  opens: "启动", closes: "关闭", tasks: "任务", word: "单词", count: "次数", instance: "实例", task: "任务",
  unclean: "允许不完全的主副本选举", share: "本次运行的链接",
  shareHow: "里面有种子和你做过的操作。在项目的克隆里，下面的命令不用浏览器就能重放：",
  again: "再来一次", steps: "步", digest: "摘要",
  console: "控制台", run: "运行", interrupt: "中断", cell: "要运行的 Python", output: "输出", examples: "示例",
  consoleHow: "这里的 Python 在模拟世界的一个进程里运行，用的是本项目自己的客户端：Producer、Consumer、Admin，还有以 kafka-lite 开头的命令行。"
    + "变量在各次运行之间保留。按 Shift + Enter 运行。本次运行的链接里不含这些代码。",
  runs: "正在运行……", timeStands: "在等待：时间停住了",
  hurries: "正以这台机器最快的速度走到链接里的状态，到了就停住时间……",
  code: "看代码", process: "进程", thread: "线程", stands: "线程停在", ran: "上一步运行了",
  codeHow: "每个线程都停在某个函数里，等下一次轮到它。停住时间，一步一步走：每走一步，这里就列出该线程碰过锁的函数和它们的调用者，并标出所在的行。",
  noCode: "这个线程运行的是库的代码。", hasRun: "这一行运行过",
  replay: (count) => `正在重放链接里的操作，还剩 ${count} 个`,
};

export const words = document.documentElement.lang.startsWith("zh") ? chinese : english;

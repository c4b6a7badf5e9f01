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
# # Notebook: what your disk says
#
# *Book 1.3.1; its page is [Persistence and transfer](persistence.md).*
#
# Everything below is measured where the notebook runs: on your machine if you run it, otherwise on the one that built
# this page. The charts of the page are from a different run, so compare them. Files go into the temporary folder; if
# that is in memory (`tmpfs`), put `TMPDIR` on a disk, or you measure memory.
#
# Before most steps there is a question: write your answer in the place of `None` and run the cell. It says whether you
# are right, and why. The right answers are those of the page's machine, whose disk does not spin.

# %% [markdown] lang="zh"
# # 笔记本：测量你的磁盘
#
# 本书 1.3.1；相应的正文是[持久化与传输效率](persistence.md)。
#
# 下面的一切都在笔记本运行的地方测量：你运行它，测的就是你的机器；你在阅读本页，测的就是生成本页的那台机器。正文里的图
# 来自另一次运行，所以请比较。文件写在临时目录里；如果它在内存中（`tmpfs`），请让 `TMPDIR` 指向一块磁盘，否则测到的是
# 内存。
#
# 多数步骤之前有一个问题：把答案写在 `None` 的位置，运行单元格，它会告诉你对不对，以及为什么。正确的答案以正文的那台机器
# 为准，它用的不是机械硬盘。

# %%
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from IPython.display import display

from chapters.ch01_introduction.figures import disk_measurements as disk
from chapters.ch01_introduction.figures import persistence_figures as figures
from chapters.ch01_introduction.figures import persistence_predictions as predictions
from chapters.ch01_introduction.figures import queue_measurements as queues
from chapters.ch01_introduction.figures.beanstalk import beanstalkd_program
from chapters.ch01_introduction.figures.page_cache import PageCacheState, write_back_settings
from kafka_learn.both_languages import InBothLanguages

folder = TemporaryDirectory()
directory = Path(folder.name)
print("files in", figures.file_system(directory), "file system;", write_back_settings())

# %% [markdown]
# ## Sequential and random
#
# The same 4096 blocks of 4 KiB, first in order, then at random positions in a file of 256 MiB. The time includes the
# `fdatasync` at the end. On a spinning disk, the second is hundreds of times slower. **By which factor is it slower on
# the page's machine, about: 1, 10, 100 or 1000?**

# %% [markdown] lang="zh"
# ## 顺序与随机
#
# 同样的 4096 个块，每块 4 KiB，先按顺序写，再写到一个 256 MiB 文件的随机位置。末尾的 `fdatasync` 也计入时间。机械硬盘
# 上，后者慢几百倍。**在正文的那台机器上慢多少倍，大约是 1、10、100 还是 1000？**

# %%
answer = None
predictions.SLOWDOWN.check(answer)

# %%
figures.write_chart(disk.write_speeds(directory))

# %% [markdown]
# In order, the kernel merges neighbouring blocks into large requests. At random positions, each block is a request of
# its own.
#
# ## The page cache
#
# 4 MiB are written, and then brought to the disk with `fsync`. Pages have 4 KiB. **How many of them are in the page
# cache after the `fsync`?**

# %% [markdown] lang="zh"
# 按顺序写时，内核把相邻的块合并成大的请求；随机写时，每个块自成一个请求。
#
# ## 页缓存
#
# 写入 4 MiB，再用 `fsync` 写到磁盘。一页是 4 KiB。**`fsync` 之后，页缓存里有几页？**

# %%
answer = None
predictions.CACHED.check(answer)

# %%
for step, state in disk.stages_of_a_write(directory):
    print(f"{step:24}", state if isinstance(state, PageCacheState) else "(this kernel does not tell: Linux 6.5 does)")

# %% [markdown]
# `write` was a copy into memory: all pages are there, all are dirty. `fsync` wrote them and *kept* them. A consumer
# that reads now needs no disk access at all. And the last line: a read of one page fetches its neighbours, too.

# %% [markdown] lang="zh"
# `write` 只是复制到内存：所有的页都在，所有的页都是脏的。`fsync` 把它们写了出去，并且**保留**在内存里。现在来读的消费
# 者完全不用访问磁盘。再看最后一行：只读一页，相邻的页也会一起读入。

# %%
figures.read_chart(disk.read_speeds(directory))

# %% [markdown]
# A consumer that keeps up reads from the page cache. One that starts at the beginning of an old log reads from the
# disk, but in order. Compare what read-ahead achieves there with random reads.
#
# ## Write-back: how long is a message in memory only?
#
# 64 MiB are written and left alone. Two seconds are too short to see the end of it: set `SECONDS` to 45 and wait. The
# settings of the kernel are printed above. **After how many seconds, about, is the file on the disk: 5, 30 or 300?**

# %% [markdown] lang="zh"
# 跟得上的消费者从页缓存里读。从旧日志开头读起的消费者从磁盘读，但是按顺序：请看预读使它快了多少，再和随机读取相比。
#
# ## 写回：一条消息有多久只存在于内存中？
#
# 写入 64 MiB，然后放着不管。两秒太短，看不到结局：请把 `SECONDS` 设为 45，然后等待。内核的设置前面已经打印出来。**大约
# 几秒之后文件才写到磁盘：5、30 还是 300？**

# %%
answer = None
predictions.WRITTEN_BACK.check(answer)

# %%
SECONDS = 2
figures.write_back_chart(disk.write_back(directory, SECONDS))

# %% [markdown]
# ## What fsync costs
#
# Appends of 1000 bytes to a file: how many per second with an `fsync` after each, and how many without any? **By which
# factor are the latter more, about: 1, 10, 100 or 1000?**

# %% [markdown] lang="zh"
# ## fsync 的代价
#
# 往一个文件追加，每次 1000 字节：每次之后都 `fsync`，一秒能追加几次？完全不用呢？**后者大约是前者的多少倍：1、10、100
# 还是 1000？**

# %%
answer = None
predictions.WITHOUT_FSYNC.check(answer)

# %%
figures.fsync_chart(disk.fsync_rates(directory))

# %% [markdown]
# The same with the broker's `Log`, whose `flush` syncs three files and the directory. With `flush.messages=1`, messages
# come one by one, or in batches of a hundred. **By which factor are there more messages per second in batches, about:
# 1, 10, 100 or 1000?**

# %% [markdown] lang="zh"
# 同样的事由 broker 的 `Log` 来做，它的 `flush` 要把三个文件和目录写到磁盘。`flush.messages=1` 时，消息一条一条地来，或
# 者一百条一个批次。**用批次，每秒的消息大约是多少倍：1、10、100 还是 1000？**

# %%
answer = None
predictions.BATCHES.check(answer)

# %%
figures.log_append_chart(disk.log_append_rates(directory))

# %% [markdown]
# ## Zero copy
#
# CPU time, not wall-clock time: this is about the work that the broker does *not* do. The third way is what the
# broker must do for a consumer older than the log's format: it converts each record. **How many times the CPU time of
# `sendfile` does that take, about: 2, 10 or 50?**

# %% [markdown] lang="zh"
# ## 零拷贝
#
# 这里看的是处理器时间，而不是经过的时间：这一节说的是 broker **没有**做的事。第三种方式，是消费者的格式比日志旧时不得
# 不做的：逐条转换。**它用的处理器时间大约是 `sendfile` 的多少倍：2、10 还是 50？**

# %%
answer = None
predictions.CONVERSION.check(answer)

# %%
figures.transfer_chart(disk.transfer_costs(directory, megabytes=64))

# %% [markdown]
# ## Another design: beanstalkd
#
# If beanstalkd is installed, it is started here, once for each setting of its binlog. Neither it nor the broker syncs
# to the disk at first. **Which one takes more messages per second, `"beanstalkd"` or the `"broker"`: one by one, and
# 100 together?**

# %% [markdown] lang="zh"
# ## 另一种设计：beanstalkd
#
# 如果装了 beanstalkd，这里会启动一个真的，每种 binlog 设置各一次。先看两者都不写到磁盘的设置。**一条一条地发，一次 100
# 条地发，每秒收下的消息各是哪个更多：`"beanstalkd"` 还是 `"broker"`？**

# %%
answer = None
predictions.ONE_BY_ONE.check(answer)

# %%
answer = None
predictions.TOGETHER.check(answer)

# %%
NOT_INSTALLED = "beanstalkd is not installed, so this cell leaves it out. Debian, Ubuntu: apt-get install beanstalkd"
rates = queues.broker_rates()
if beanstalkd_program():
    rates = queues.beanstalkd_rates() | rates
else:
    print(NOT_INSTALLED)
figures.queues_chart(rates)

# %% [markdown]
# Message by message, beanstalkd is far ahead: it is a small C program that does little for each. Then look at "100
# together": beanstalkd still handles a hundred commands and syncs after each; the log appends one batch and syncs
# once.
#
# ### What is left on the disk
#
# One job that stays, and a thousand more: they fill twelve files. Then half of the thousand are deleted, the oldest
# first. In the end, all but the one that stays have come and gone. **How many files are there when half are deleted,
# and how many in the end?**

# %% [markdown] lang="zh"
# 一条一条地比，beanstalkd 遥遥领先：它是个小小的 C 程序，对每条消息做的事很少。再看“一次 100 条”：beanstalkd 仍要处
# 理一百个命令，每个都要同步；日志只追加一个批次，同步一次。
#
# ### 磁盘上留下什么
#
# 先放入一个留着的任务，再放入一千个，占满十二个文件。然后从最旧的开始，删除一千个中的一半。到最后，除了留着的那个，都已
# 放入又删除。**删除一半之后有几个文件，最后有几个？**

# %%
answer = None
predictions.HALF_DELETED.check(answer)

# %%
answer = None
predictions.IN_THE_END.check(answer)

# %%
if beanstalkd_program():
    display(InBothLanguages(partial(figures.binlog_table, queues.binlog_growth())))
else:
    print(NOT_INSTALLED)

# %% [markdown]
# After half of the jobs are deleted, nothing has become smaller: files are deleted in order, the oldest first, once
# none of their jobs is left, and the oldest contains the job that stays. When enough space is wasted, that job is
# *migrated* to the newest file, and all old files are deleted at once.
#
# ## Now you
#
# - Run with `SECONDS = 45`, and type `sync` in another terminal after ten seconds.
# - Measure on a hard disk, a USB stick, `tmpfs`. Which of the charts change their shape, not only their scale?
# - On some disks, `fsync` is suspiciously fast. A hard disk turns 7200 times per minute, and the place behind the last
#   write has just passed its head. **How many times per second can it `fsync` at most, one after the other, if each
#   really reaches the platter?**

# %% [markdown] lang="zh"
# 删除一半任务之后，文件并没有变小：一个文件里的任务全都不在了，它才会删除，而且从最旧的开始按顺序来；最旧的那个里，有
# 那个留着的任务。浪费得足够多时，那个任务被**迁移**到最新的文件，旧文件就一下子全没了。
#
# ## 轮到你了
#
# - 用 `SECONDS = 45` 运行，十秒之后在另一个终端里执行 `sync`。
# - 在机械硬盘、U 盘、`tmpfs` 上测量。哪些图变的不只是刻度，还有形状？
# - 有些磁盘的 `fsync` 快得可疑。一块机械硬盘每分钟转 7200 圈，上次写入位置的后面刚刚经过磁头。**如果每次都真的写到盘
#   片，一次接一次，每秒最多能 `fsync` 几次？**

# %%
answer = None
predictions.PLATTER.check(answer)

# %%
folder.cleanup()

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
# this page. The charts of the page are from a different run, so compare them.  Files go into the temporary folder; if
# that is in memory (`tmpfs`), put `TMPDIR` on a disk, or you measure memory.

# %% [markdown] lang="zh"
# # 笔记本：测量你的磁盘
#
# 本书 1.3.1；相应的正文是[持久化与传输效率](persistence.md)。
#
# 下面的一切都在笔记本运行的地方测量：你运行它，测的就是你的机器；你在阅读本页，测的就是生成本页的那台机器。正文里的图
# 来自另一次运行，所以请比较。文件写在临时目录里；如果它在内存中（`tmpfs`），请让 `TMPDIR` 指向一块磁盘，否则测到的是
# 内存。

# %%
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from IPython.display import display

from chapters.ch01_introduction.figures import disk_measurements as disk
from chapters.ch01_introduction.figures import persistence_figures as figures
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
# `fdatasync` at the end. **By which factor is the second slower?** Write it down. On a spinning disk it is hundreds,
# on an SSD less.

# %% [markdown] lang="zh"
# ## 顺序与随机
#
# 同样的 4096 个块，每块 4 KiB，先按顺序写，再写到一个 256 MiB 文件的随机位置。末尾的 `fdatasync` 也计入时间。**后者慢
# 多少倍？** 请先写下来；机械硬盘上是几百倍，SSD 上少一些。

# %%
figures.write_chart(disk.write_speeds(directory))

# %% [markdown]
# In order, the kernel merges neighbouring blocks into large requests. At random positions, each block is a request of
# its own.
#
# ## The page cache
#
# Where are 4 MiB after they have been written? Pages of 4 KiB:

# %% [markdown] lang="zh"
# 按顺序写时，内核把相邻的块合并成大的请求；随机写时，每个块自成一个请求。
#
# ## 页缓存
#
# 4 MiB 写完之后在哪里？以 4 KiB 的页计数：

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
# 64 MiB are written and left alone. Two seconds are too short to see the end of it: with the usual settings it comes
# after 30 s. **Set `SECONDS` to 45** and wait.

# %% [markdown] lang="zh"
# 跟得上的消费者从页缓存里读。从旧日志开头读起的消费者从磁盘读，但是按顺序：请看预读使它快了多少，再和随机读取相比。
#
# ## 写回：一条消息有多久只存在于内存中？
#
# 写入 64 MiB，然后放着不管。两秒太短，看不到结局：按通常的设置，要 30 秒之后才轮到它。**请把 `SECONDS` 设为 45**，然
# 后等待。

# %%
SECONDS = 2
figures.write_back_chart(disk.write_back(directory, SECONDS))

# %% [markdown]
# ## What fsync costs
#
# Appends of 1000 bytes to a file. **How many per second with an `fsync` after each? Without any?**

# %% [markdown] lang="zh"
# ## fsync 的代价
#
# 往一个文件追加，每次 1000 字节。**每次之后都 `fsync`，一秒能追加几次？完全不用呢？**

# %%
figures.fsync_chart(disk.fsync_rates(directory))

# %% [markdown]
# The same with the broker's `Log`, whose `flush` syncs three files and the directory. `flush.messages` counts
# messages, so a batch of a hundred with `flush.messages=1` is one flush for a hundred.

# %% [markdown] lang="zh"
# 同样的事由 broker 的 `Log` 来做，它的 `flush` 要把三个文件和目录写到磁盘。`flush.messages` 数的是消息，所以在
# `flush.messages=1` 时，一个百条的批次是为一百条消息刷盘一次。

# %%
figures.log_append_chart(disk.log_append_rates(directory))

# %% [markdown]
# ## Zero copy
#
# CPU time, not wall-clock time: this is about the work that the broker does *not* do. The third way is what the
# broker must do for a consumer older than the log's format.

# %% [markdown] lang="zh"
# ## 零拷贝
#
# 这里看的是处理器时间，而不是经过的时间：这一节说的是 broker **没有**做的事。第三种方式，是消费者的格式比日志旧时不得
# 不做的。

# %%
figures.transfer_chart(disk.transfer_costs(directory, megabytes=64))

# %% [markdown]
# ## Another design: beanstalkd
#
# If beanstalkd is installed, it is started here, once for each setting of its binlog.

# %% [markdown] lang="zh"
# ## 另一种设计：beanstalkd
#
# 如果装了 beanstalkd，这里会启动一个真的，每种 binlog 设置各一次。

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
# One job that stays, a thousand that come and go. **How many files are there in the end?**

# %% [markdown] lang="zh"
# 一条一条地比，beanstalkd 遥遥领先：它是个小小的 C 程序，对每条消息做的事很少。再看“一次 100 条”：beanstalkd 仍要处
# 理一百个命令，每个都要同步；日志只追加一个批次，同步一次。
#
# ### 磁盘上留下什么
#
# 一个任务留着，一千个放入又删除。**最后有几个文件？**

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
# - On some virtual disks, `fsync` is suspiciously fast. How would you find out whether it really reaches the disk?

# %% [markdown] lang="zh"
# 删除一半任务之后，文件并没有变小：一个文件里的任务全都不在了，它才会删除，而且从最旧的开始按顺序来；最旧的那个里，有
# 那个留着的任务。浪费得足够多时，那个任务被**迁移**到最新的文件，旧文件就一下子全没了。
#
# ## 轮到你了
#
# - 用 `SECONDS = 45` 运行，十秒之后在另一个终端里执行 `sync`。
# - 在机械硬盘、U 盘、`tmpfs` 上测量。哪些图变的不只是刻度，还有形状？
# - 有些虚拟磁盘的 `fsync` 快得可疑。怎样查明它有没有真的写到磁盘？

# %%
folder.cleanup()

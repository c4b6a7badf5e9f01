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
# *Book 1.3.1; the text to it is [Persistence and transfer](persistence.md).*
#
# Everything below is measured where the notebook runs: on your machine when you run it, on the one that built this page
# when you read it. The page's charts are of another run, so compare. Files go into the temporary folder; if that is in
# memory (`tmpfs`), put `TMPDIR` on a disk, or you measure memory.

# %%
from pathlib import Path
from tempfile import TemporaryDirectory

from IPython.display import Markdown

from kafka_lite.learn import disk_measurements as disk
from kafka_lite.learn import persistence_figures as figures
from kafka_lite.learn import queue_measurements as queues
from kafka_lite.learn.beanstalk import beanstalkd_program
from kafka_lite.learn.page_cache import PageCacheState, write_back_settings

folder = TemporaryDirectory()
directory = Path(folder.name)
print("files in", figures.file_system(directory), "file system;", write_back_settings())

# %% [markdown]
# ## One behind the other, here and there
#
# The same 4096 blocks of 4 KiB, first in order, then at random places of a file of 256 MiB. `fdatasync` at the end is
# counted. **By which factor is the second slower?** Write it down; on a disk that turns it is hundreds, on an SSD less.

# %%
figures.write_chart(disk.write_speeds(directory))

# %% [markdown]
# In order the kernel merges neighbours into large requests; here and there each block is a request of its own.
#
# ## The page cache
#
# Where are 4 MiB after they have been written? Pages of 4 KiB:

# %%
for step, state in disk.stages_of_a_write(directory):
    print(f"{step:24}", state if isinstance(state, PageCacheState) else "(this kernel does not tell: Linux 6.5 does)")

# %% [markdown]
# `write` was a copy into memory: all pages are there, all are dirty. `fsync` wrote them and *kept* them. A consumer who
# reads now costs no disk access at all. And the last line: who asks for one page gets its neighbours too.

# %%
figures.read_chart(disk.read_speeds(directory))

# %% [markdown]
# A consumer that keeps up reads from the page cache. One that begins at the start of an old log reads from the disk,
# but in order: look at what read-ahead makes of it, against the same from anywhere.
#
# ## Write-back: how long is a message in memory only?
#
# 64 MiB are written and left alone. Two seconds are too short to see the end of it: with the usual settings it comes
# after 30 s. **Set `SECONDS` to 45** and wait.

# %%
SECONDS = 2
figures.write_back_chart(disk.write_back(directory, SECONDS))

# %% [markdown]
# ## What fsync costs
#
# Appends of 1000 bytes to a file. **How many a second with a `fsync` after each? Without any?**

# %%
figures.fsync_chart(disk.fsync_rates(directory))

# %% [markdown]
# The same through the broker's `Log`, whose `flush` brings three files and the directory to the disk. `flush.messages`
# counts messages, so a batch of a hundred with `flush.messages=1` is one flush for a hundred.

# %%
figures.log_append_chart(disk.log_append_rates(directory))

# %% [markdown]
# ## Zero copy
#
# Processor time, not wall clock: this is about what the broker does *not* do. The third way is what a consumer older
# than the log's format makes it do.

# %%
figures.transfer_chart(disk.transfer_costs(directory, megabytes=64))

# %% [markdown]
# ## Another design: beanstalkd
#
# A real beanstalkd is started here if it is installed, once for each setting of its binlog.

# %%
NOT_INSTALLED = "beanstalkd is not installed, so this cell leaves it out. Debian, Ubuntu: apt-get install beanstalkd"
rates = queues.broker_rates()
if beanstalkd_program():
    rates = queues.beanstalkd_rates() | rates
else:
    print(NOT_INSTALLED)
figures.queues_chart(rates)

# %% [markdown]
# Message by message beanstalkd is far ahead: it is a small C program that does little for each. Then look at "100
# together": beanstalkd still handles a hundred commands, and syncs for each; the log appends one batch, and syncs once.
#
# ### What is left on the disk
#
# One job that stays, a thousand that come and go. **How many files are there in the end?**

# %%
Markdown(figures.binlog_table(queues.binlog_growth())) if beanstalkd_program() else print(NOT_INSTALLED)

# %% [markdown]
# After half of the jobs are gone, nothing is smaller: a file goes when none of its jobs is alive, in order from the
# oldest, and the oldest holds the job that stays. When the waste is large enough, that job is *migrated* into the
# newest file, and all old files go at once.
#
# ## Now you
#
# - Run `SECONDS = 45`, and in another terminal `sync` after ten seconds.
# - Measure on a hard disk, a USB stick, `tmpfs`. Which of the charts change their shape, not only their scale?
# - `fsync` on some virtual disks is suspiciously quick. How would you find out whether it is honest?

# %%
folder.cleanup()

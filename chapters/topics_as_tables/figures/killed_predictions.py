"""The answers to the predictions of the notebook on a stream that is killed: rows of batches that have numbers. T.3."""

from __future__ import annotations

from kafka_learn.check import Prediction, Words

SENT = ("10:05", "10:20", "10:50")
"""The departures of the first batch, in whose sink the process is killed."""
LATER = ("11:10", "11:30")
"""The departures that come before the stream is started again."""

WRITTEN = Prediction(
    lambda: len(SENT),
    Words(
        "The sink writes the batch at once, under its number; only then would Spark enter it in `commits`.",
        "输出端把这一批一次写完，文件上带着批次号；写完之后，Spark 才会把它记入 `commits`。",
    ),
    {
        0: Words("Does the sink write before or after the commit?", "输出端写在提交之前，还是之后？"),
        1: Words("Where in the batch does the process kill itself?", "进程在这一批的哪里杀死自己？"),
    },
)
AFTERWARDS = Prediction(
    lambda: len(SENT) + len(LATER),
    Words(
        "`offsets/0` names the first batch, so it runs again as it was, and replaces its own rows: same number, same "
        "file. The new ones are a batch of their own.",
        "`offsets/0` 里记着第一批的范围，所以它原样再运行一次，替换自己的那几行：批次号相同，文件就相同。"
        "新来的自成一批。",
    ),
    {
        8: Words(
            "The first batch is written twice. But where does the second attempt write?",
            "第一批是写了两次。可是第二次写到哪里？",
        ),
        2: Words("Nothing of the first attempt is lost.", "第一次写的并没有丢。"),
        3: Words("The stream reads what has come since, too.", "这期间新来的也要读。"),
    },
)

"""The labs that have a race hunt, and what is promised there."""

from __future__ import annotations

from dataclasses import dataclass

_HERE = __name__.rpartition(".")[0]


@dataclass(frozen=True)
class Hunt:
    """A program of the world, and the promises that it looks for."""

    lab: str
    program: str
    """As ``module:function``."""
    promise: str
    promise_zh: str

    def promise_in(self, language: str) -> str:
        """The promises in a language."""
        return self.promise_zh if language == "zh" else self.promise


HUNTS = {
    hunt.lab: hunt
    for hunt in (
        Hunt(
            "ch06-high-watermark",
            f"{_HERE}.high_watermark_hunt:main",
            "the high watermark never moves back, and every replica of the ISR has what is below it",
            "高水位从不后退，ISR 里的每个副本都有它以下的记录",
        ),
        Hunt(
            "ch06-purgatory",
            f"{_HERE}.purgatory_hunt:main",
            "a request is answered once, and as soon as its condition holds",
            "每个请求只响应一次，条件一成立就响应",
        ),
        Hunt(
            "ch02-record-accumulator",
            f"{_HERE}.accumulator_hunt:main",
            "every record is sent once, those of a thread in their order",
            "每条记录只发送一次，同一个线程的记录按次序发送",
        ),
        *(
            Hunt(
                lab,
                f"{_HERE}.transactions_hunt:main",
                "what is below the last stable offset is decided, and its marker replicated",
                "最后稳定偏移量以下的事务都已有结果，标记也已复制",
            )
            for lab in ("ch10-last-stable-offset", "ch10-read-committed")
        ),
    )
}

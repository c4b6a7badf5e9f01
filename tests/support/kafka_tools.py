"""Kafka's command-line tools, of any version, all in one JVM: starting it takes longer than most of them."""

from __future__ import annotations

import io
import re
import subprocess
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple, Self

from kafka_lite.tools.main import main
from tests.support.jvm import classpath, compile_java, java_command
from tests.support.patience import patient_s

SLF4J = "org.slf4j:slf4j-nop:1.7.36"
JARS = {
    "0.10.2.2": ("org.apache.kafka:kafka_2.11:0.10.2.2", "javax.xml.bind:jaxb-api:2.3.1"),
    "3.9.1": ("org.apache.kafka:kafka_2.13:3.9.1", "org.apache.kafka:kafka-tools:3.9.1", SLF4J),
    "4.1.0": ("org.apache.kafka:kafka_2.13:4.1.0", "org.apache.kafka:kafka-tools:4.1.0", SLF4J),
}
SOURCE = Path(__file__).parents[1] / "jvm" / "KafkaTools.java"
_OF_LOGGERS = re.compile("^SLF4J: |^log4j:|StatusLogger")
"""Lines in which Java's loggers speak of themselves."""
FIELD, LINE, END = "\x1f", "\x1e", "\x1d"


class Outcome(NamedTuple):
    """The outcome of a command."""

    code: int
    output: str


Lines = list[list[str]]


def our_tool(*arguments: str) -> Outcome:
    """The same for ours, in this process; its stderr is part of the output."""
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        code = main(list(arguments))
    return Outcome(code, printed.getvalue())


def words(text: str) -> Lines:
    """The words of each non-empty line, in any order: that of hash maps is not guaranteed."""
    lines = (line for line in text.splitlines() if line.strip() and not _OF_LOGGERS.search(line))
    return sorted(line.split() for line in lines)


def as_3_9_prints(lines: Lines) -> Lines:
    """``flights(0,1)`` became ``(0,1)`` there: the port of the tool from Scala to Java (3.7) dropped the topics."""
    return sorted([re.sub(r"[\w.-]+\(", "(", word) for word in line] for line in lines)


class KafkaTools:
    """The tools of one Kafka version; a context manager, in which they run one after the other."""

    def __init__(self, version: str, *, with_errors: bool = False) -> None:
        """``with_errors``: stderr is part of the output."""
        jars = classpath(*JARS[version])
        classes = compile_java(SOURCE, jars)
        arguments = ["with-errors"] if with_errors else []
        self._command = java_command("KafkaTools", *arguments, classpath=[classes, *jars])
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def run(self, tool: str, *arguments: str, stdin: str = "") -> Outcome:
        """Run the class ``tool``; a tool before 0.11 that exits ends the JVM, which is restarted for the next one."""
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(FIELD.join([stdin, tool, *arguments]).replace("\n", LINE) + "\n")
        process.stdin.flush()
        lines: list[str] = []
        for line in process.stdout:
            if line.startswith(END):
                return Outcome(int(line[1:]), "".join(lines)[:-1])  # without the line break before END
            lines.append(line)
        return Outcome(self._end(), "".join(lines))

    def __call__(self, tool: str, *arguments: str) -> str:
        """The output of a successful tool."""
        code, output = self.run(tool, *arguments)
        assert code == 0, f"{tool} ended with {code}: {output}"
        return output

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        return self._process

    def _end(self) -> int:
        process, self._process = self._process, None
        if process is None:
            return 0
        with process:
            assert process.stdin is not None
            process.stdin.close()
            return process.wait(patient_s(60))

"""The ``kafka-lite`` command: finds the requested tool and imports only that one.

Kafka 0.10.2: bin/*.sh, bin/kafka-run-class.sh · book 1.4.1
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType

from kafka_lite import __version__
from kafka_lite.common.app_info_parser import app_info
from kafka_lite.tools import terminal

PROGRAM = "kafka-lite"
USAGE_ERROR = 2


@dataclass(frozen=True)
class Tool:
    """One row of the table: a subcommand and its module.

    A tool's module has ``NAME``, ``SUMMARY``, ``add_arguments(parser)`` and ``run(options) -> exit code``.
    """

    name: str
    module: str
    summary: str

    def load(self) -> ModuleType:
        """Import the module.

        Raises ModuleNotFoundError for ``labs`` unless the command runs from a clone of the project.
        """
        return importlib.import_module(self.module if "." in self.module else f"{__package__}.{self.module}")


# Kafka's order: servers first. The summaries are repeated here so that --help imports no tool (a test compares them).
TOOLS = (
    Tool("server-start", "server_start", "start a broker in the foreground"),
    Tool("server-stop", "server_stop", "stop the brokers that this user has started"),
    Tool("zookeeper-server-start", "zookeeper_server_start", "start a ZooKeeper server in the foreground"),
    Tool("zookeeper-shell", "zookeeper_shell", "look into ZooKeeper: ls, get, stat, create, set, delete, …"),
    Tool("topics", "topics", "create, list, describe, alter and delete topics"),
    Tool("configs", "configs", "show and change configurations of topics and brokers"),
    Tool("console-producer", "console_producer", "send the lines of standard input to a topic"),
    Tool("console-consumer", "console_consumer", "print the messages of topics, from now on or from the beginning"),
    Tool("producer-perf-test", "producer_perf_test", "measure how fast a producer is"),
    Tool("verifiable-producer", "verifiable_producer", "send increasing numbers, and tell as JSON what became of each"),
    Tool("replay-log-producer", "replay_log_producer", "send the messages of a topic to another topic"),
    Tool("consumer-perf-test", "consumer_perf_test", "measure how fast a consumer is"),
    Tool("end-to-end-latency", "end_to_end_latency", "measure how long messages take from producer to consumer"),
    Tool("verifiable-consumer", "verifiable_consumer", "consume in a group, and tell as JSON what happens"),
    Tool("consumer-groups", "consumer_groups", "list, describe, watch, reset and delete consumer groups"),
    Tool("consumer-offset-checker", "consumer_offset_checker", "show offsets and owners of an old consumers' group"),
    Tool(
        "export-zk-offsets",
        "export_zk_offsets",
        "write the offsets that old consumers keep in ZooKeeper to a file",
    ),
    Tool(
        "import-zk-offsets",
        "import_zk_offsets",
        "set the offsets that old consumers keep in ZooKeeper to those of a file",
    ),
    Tool(
        "update-offsets-in-zk",
        "update_offsets_in_zk",
        "put an old consumers' group to the beginning or the end of a topic",
    ),
    Tool(
        "verify-consumer-rebalance",
        "verify_consumer_rebalance",
        "check that every partition of an old consumers' group has an owner",
    ),
    Tool(
        "simple-consumer-shell",
        "simple_consumer_shell",
        "print the messages of one replica of a partition",
    ),
    Tool("get-offsets", "get_offsets", "show the offsets of partitions: latest, earliest, or at a time"),
    Tool("delete-records", "delete_records", "delete the records of partitions below given offsets"),
    Tool("log-dirs", "log_dirs", "show the size of partitions in the brokers' log directories"),
    Tool("dump-log", "dump_log", "show what is in the files of a log, and check its indexes"),
    Tool("broker-api-versions", "broker_api_versions", "show which requests, in which versions, the brokers serve"),
    Tool("top", "top", "watch a broker at work: topics, rates, requests by phase, purgatories"),
    Tool("jmx", "jmx_tool", "print a broker's metrics as CSV, under the names of Kafka's JMX beans"),
    Tool(
        "where",
        "where",
        "find a class: its module here, its file in Kafka, its sections in the book, its page and lab",
    ),
    Tool("labs", "kafka_learn.labs.command", "graded labs on the code of the broker itself"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool that the arguments name; returns the process's exit code."""
    terminal.accept_all_characters()
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        _print_help()
        return 0 if arguments else USAGE_ERROR
    if arguments[0] == "--version":
        print(f"{PROGRAM} {app_info()}")
        return 0
    tool = next((tool for tool in TOOLS if tool.name == arguments[0]), None)
    if tool is None:
        terminal.print_error(_unknown(arguments[0]))
        return USAGE_ERROR
    try:
        module = tool.load()
    except ModuleNotFoundError as error:
        if error.name != "kafka_learn":
            raise
        terminal.print_error(_only_in_a_clone(tool.name))
        return USAGE_ERROR
    parser = argparse.ArgumentParser(prog=f"{PROGRAM} {tool.name}", description=_description(tool))
    module.add_arguments(parser)
    return _run(module.run, parser.parse_args(arguments[1:]))


def build_parser() -> argparse.ArgumentParser:
    """One parser for all tools, from which the site's reference page is generated. Imports every tool's module."""
    parser = argparse.ArgumentParser(prog=PROGRAM)
    subparsers = parser.add_subparsers(required=True, metavar="TOOL")
    for tool in TOOLS:
        tool.load().add_arguments(subparsers.add_parser(tool.name, help=tool.summary, description=_description(tool)))
    return parser


def _description(tool: Tool) -> str:
    return f"{tool.summary[:1].upper()}{tool.summary[1:]}."


def _run(run: Callable[[argparse.Namespace], int], options: argparse.Namespace) -> int:
    """Run a tool. A closed pipe (``| head``) or Ctrl-C ends it quietly."""
    try:
        code = run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes stdout at exit and would complain about it again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    return code


def _unknown(name: str) -> str:
    import difflib

    # Suggest the right tool for Kafka's script names too, such as kafka-topics.sh.
    asked = name.removeprefix("kafka-").removesuffix(".sh")
    close = difflib.get_close_matches(asked, [tool.name for tool in TOOLS], n=1)
    meant = f" Did you mean `{PROGRAM} {close[0]}`?" if close else ""
    return f"{PROGRAM}: there is no tool {name!r}.{meant} `{PROGRAM} --help` lists them all."


def _only_in_a_clone(name: str) -> str:
    return (
        f"{PROGRAM} {name}: the labs are not part of the installed package. Clone the project, run `make setup` in it,"
        f" and then `.venv/bin/{PROGRAM} {name}`."
    )


def _print_help() -> None:
    print(f"{terminal.styled(PROGRAM, 'bold')} {__version__} · Kafka's tools, under Kafka's names and flags\n")
    print(f"usage: {PROGRAM} TOOL [options]      {PROGRAM} TOOL --help      {PROGRAM} --version")
    if terminal.on_terminal():
        terminal.print_table(
            ["tool", "what it does"], [(tool.name, tool.summary) for tool in TOOLS], styles={"tool": "bold cyan"}
        )
        return
    width = max(len(tool.name) for tool in TOOLS)
    print("\ntools:")
    for tool in TOOLS:
        print(f"  {tool.name:<{width}}  {tool.summary}")


if __name__ == "__main__":
    sys.exit(main())

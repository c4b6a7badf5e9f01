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
from kafka_lite.common.process.app_info_parser import app_info
from kafka_lite.tools.common import terminal
from kafka_lite.tools.common.tool_errors import USAGE_ERROR, ToolArgumentParser

PROGRAM = "kafka-lite"


@dataclass(frozen=True)
class Tool:
    """One row of the table: a subcommand and its module; a leading dot stands for this package.

    A tool's module has ``NAME``, ``SUMMARY``, ``add_arguments(parser)`` and ``run(options) -> exit code``.
    """

    name: str
    module: str
    summary: str

    def load(self) -> ModuleType:
        """Import the module.

        Raises ModuleNotFoundError for ``labs`` unless the command runs from a clone of the project.
        """
        return importlib.import_module(self.module, __package__)


# Kafka's order: servers first. The summaries are repeated here so that --help imports no tool (a test compares them).
TOOLS = (
    Tool("server-start", ".server.server_start", "start a broker in the foreground"),
    Tool("server-stop", ".server.server_stop", "stop this user's brokers"),
    Tool("cluster-start", ".server.cluster_start", "start several brokers and a ZooKeeper, each in its own process"),
    Tool("zookeeper-server-start", ".zookeeper.zookeeper_server_start", "start a ZooKeeper server in the foreground"),
    Tool(
        "zookeeper-shell", ".zookeeper.zookeeper_shell", "read and change znodes: ls, get, stat, create, set, delete, …"
    ),
    Tool(
        "zookeeper-security-migration",
        ".zookeeper.zookeeper_security_migration",
        "let only brokers write Kafka's znodes, or everyone again",
    ),
    Tool("topics", ".admin.topics", "create, list, describe, alter and delete topics"),
    Tool(
        "reassign-partitions",
        ".admin.reassign_partitions",
        "move partitions to other brokers: generate, execute, verify, cancel, list",
    ),
    Tool("leader-election", ".admin.leader_election", "elect preferred leaders, or unclean ones where there is none"),
    Tool(
        "preferred-replica-election",
        ".admin.preferred_replica_election",
        "give leaderships back to the preferred replicas, through ZooKeeper",
    ),
    Tool(
        "configs",
        ".admin.configs",
        "show and change the configuration of topics, brokers and groups, and quotas of users, clients and addresses",
    ),
    Tool(
        "client-metrics",
        ".monitoring.client_metrics",
        "choose which metrics clients push to brokers, and watch what they have pushed",
    ),
    Tool(
        "features",
        ".server.features",
        "show the features that all brokers agree on, and upgrade, downgrade or disable them",
    ),
    Tool(
        "acls",
        ".admin.acls",
        "show, add and remove access control lists: who may do what with topics, groups and the cluster",
    ),
    Tool(
        "delegation-tokens",
        ".admin.delegation_tokens",
        "create, renew, expire and show delegation tokens, with which others act for a user",
    ),
    Tool("console-producer", ".console.console_producer", "send each line of standard input to a topic"),
    Tool(
        "console-consumer", ".console.console_consumer", "print a topic's messages, from now on or from the beginning"
    ),
    Tool(
        "console-share-consumer",
        ".console.console_share_consumer",
        "print messages that the members of a share group divide among them one by one",
    ),
    Tool("producer-perf-test", ".perf.producer_perf_test", "measure a producer's throughput and latency"),
    Tool(
        "verifiable-producer",
        ".verifiable.verifiable_producer",
        "send increasing numbers and report each result as JSON",
    ),
    Tool("replay-log-producer", ".console.replay_log_producer", "copy the messages of a topic to another topic"),
    Tool("consumer-perf-test", ".perf.consumer_perf_test", "measure a consumer's throughput"),
    Tool("end-to-end-latency", ".perf.end_to_end_latency", "measure the latency from producer to consumer"),
    Tool("verifiable-consumer", ".verifiable.verifiable_consumer", "consume in a group and report every event as JSON"),
    Tool("consumer-groups", ".groups.consumer_groups", "list, describe, watch, reset and delete consumer groups"),
    Tool("share-groups", ".groups.share_groups", "list, describe, reset and delete share groups"),
    Tool(
        "streams-application-reset",
        ".streams.streams_application_reset",
        "let a Streams application begin again: reset its offsets, delete its internal topics",
    ),
    Tool("streams-describe", ".streams.streams_describe", "describe or draw the topology of a Streams application"),
    Tool("mirror-maker", ".mirror.mirror_maker", "copy topics to another cluster, until it is stopped"),
    Tool(
        "ureplicator-worker",
        ".mirror.ureplicator_worker",
        "copy the partitions that uReplicator's controller assigns, until it is stopped",
    ),
    Tool(
        "ureplicator-controller",
        ".mirror.ureplicator_controller",
        "tell uReplicator's workers which partitions to copy to another cluster",
    ),
    Tool(
        "connect-mirror-maker",
        ".mirror.connect_mirror_maker",
        "mirror clusters with MirrorMaker 2, all ways of one file",
    ),
    Tool("connect-distributed", ".connect.connect_distributed", "run a worker of a group that shares connectors"),
    Tool("connect-standalone", ".connect.connect_standalone", "run connectors in one process, a worker by itself"),
    Tool(
        "connect",
        ".connect.connect",
        "list, describe, create, pause, stop, resume, restart and delete connectors, and watch them",
    ),
    Tool("transactions", ".transactions.transactions", "list, describe and end transactions, and find hanging ones"),
    Tool(
        "consumer-offset-checker",
        ".groups.consumer_offset_checker",
        "show the offsets and owners of a group of old consumers",
    ),
    Tool(
        "export-zk-offsets",
        ".groups.export_zk_offsets",
        "export the offsets of old consumers from ZooKeeper to a file",
    ),
    Tool(
        "import-zk-offsets",
        ".groups.import_zk_offsets",
        "import offsets of old consumers into ZooKeeper from a file",
    ),
    Tool(
        "update-offsets-in-zk",
        ".groups.update_offsets_in_zk",
        "reset a group of old consumers to the beginning or the end of a topic",
    ),
    Tool(
        "verify-consumer-rebalance",
        ".groups.verify_consumer_rebalance",
        "check that a group of old consumers owns every partition of its topics",
    ),
    Tool(
        "simple-consumer-shell",
        ".console.simple_consumer_shell",
        "print the messages of one replica of a partition",
    ),
    Tool(
        "get-offsets",
        ".admin.get_offsets",
        "show the latest or earliest offsets of partitions, or those at a given time",
    ),
    Tool("delete-records", ".admin.delete_records", "delete the records below given offsets"),
    Tool("log-dirs", ".admin.log_dirs", "show the brokers' log directories and the size of each partition"),
    Tool("dump-log", ".log_files.dump_log", "show the contents of log files and check their indexes"),
    Tool(
        "replica-verification",
        ".admin.replica_verification",
        "check that all replicas of partitions have the same messages",
    ),
    Tool("broker-api-versions", ".admin.broker_api_versions", "show the API versions that each broker supports"),
    Tool(
        "top",
        ".monitoring.top",
        "watch a broker (topics, rates, request times by phase) or a cluster (leaders, ISRs, consumer lag)",
    ),
    Tool("jmx", ".monitoring.jmx_tool", "print a broker's metrics as CSV under Kafka's JMX names"),
    Tool(
        "where",
        ".where",
        "find a class: its module, its tests, its file in Kafka, its sections in the book, its page and its lab",
    ),
    Tool("labs", "kafka_learn.labs.command", "graded labs in which you write parts of the broker"),
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
    parser = ToolArgumentParser(prog=f"{PROGRAM} {tool.name}", description=_description(tool))
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
    return f"{PROGRAM}: unknown tool {name!r}.{meant} `{PROGRAM} --help` lists all tools."


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

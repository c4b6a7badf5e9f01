"""The site's reference pages, generated from the code: configuration, APIs, metrics, command line, labs.

Each public function takes the page's language and returns Markdown, for a ``generated`` directive.
"""

from __future__ import annotations

import argparse
import importlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from kafka_learn.labs.lab import Lab, all_labs
from kafka_learn.labs.way.lab_order import by_chapter, hours
from kafka_lite.common.config_def import ConfigKey
from kafka_lite.consumer import consumer_config
from kafka_lite.log.log_config import LOG_CONFIG_DEF
from kafka_lite.old_consumer import consumer_config as old_consumer_config
from kafka_lite.old_producer import producer_config as old_producer_config
from kafka_lite.producer import producer_config
from kafka_lite.protocol.api_keys import API_SPECS
from kafka_lite.server.config.not_yet_applied import UNSERVED, part_to_come
from kafka_lite.server.config.server_topic_config_synonyms import TOPIC_CONFIG_SYNONYMS
from kafka_lite.server.dynamic.dynamic_broker_config import DYNAMIC_BROKER_CONFIGS
from kafka_lite.server.kafka_apis import SERVED_VERSIONS
from kafka_lite.server.kafka_config import CONFIG_GROUPS, DEVIATIONS
from kafka_lite.server.metrics.bean_catalogue import BEANS
from kafka_lite.server.metrics.bean_declaration import BeanDeclaration

COMMAND_LINE = "kafka_lite.tools.main"
"""Imported by name when the page is built, because the tools are in a layer above this package."""

_WORDS = {
    "type": ("type", "类型"),
    "default": ("default", "默认值"),
    "valid": ("valid", "有效值"),
    "importance": ("importance", "重要性"),
    "deviation": ("Kafka 0.10.2 has", "Kafka 0.10.2 的默认值是"),
    "unserved": ("only this value is accepted", "目前只接受这个值"),
    "to come": ("without effect until there is", "暂不生效，有待实现："),
    "dynamic": ("can be changed while the broker runs", "可以在 broker 运行时修改"),
    "served": ("served", "提供的版本"),
    "known": ("the codec knows", "编解码器认识的版本"),
    "name": ("name", "名字"),
    "tags": ("tags", "标签"),
    "kind": ("kind or attributes", "类型或属性"),
    "meaning": ("what it tells", "含义"),
    "lab": ("lab", "实验"),
    "labs": ("{} labs", "{} 个实验"),
    "title": ("title", "标题"),
    "tasks": ("tasks", "任务数"),
    "time": ("time", "时间"),
    "minutes": ("min", "分钟"),
    "difficulty": ("difficulty", "难度"),
    "in page": ("in a page", "在网页里"),
    "write it": ("[write it]({}.md#in-this-page)", "[开始写]({}.md#in-this-page)"),
    "easy": ("easy", "容易"),
    "medium": ("medium", "中等"),
    "hard": ("hard", "较难"),
}
"""English and Chinese."""


def _word(name: str, language: str) -> str:
    return _WORDS[name][language == "zh"]


# -- configuration ----------------------------------------------------------------------------------------------------


def broker_configuration(language: str) -> str:
    """Every key of ``server.properties``, by group."""
    return "\n\n".join(f"## {name}\n\n{_keys(definition, language)}" for name, definition in CONFIG_GROUPS.items())


def topic_configuration(language: str) -> str:
    """Every key that a topic may override."""
    return "\n\n".join(_entry(key, _notes_of_a_topic(key, language), language) for key in _sorted(LOG_CONFIG_DEF))


def producer_configuration(language: str) -> str:
    """Every key of the new producer."""
    return "\n\n".join(_entry(key, [], language) for key in _sorted(producer_config.CONFIG))


def consumer_configuration(language: str) -> str:
    """Every key of the new consumer, with the reason for each default that differs from 0.10.2's."""
    return "\n\n".join(
        _entry(key, _deviation(key.name, consumer_config.DEVIATIONS, language), language)
        for key in _sorted(consumer_config.CONFIG)
    )


def old_producer_configuration(language: str) -> str:
    """Every key of the old producer."""
    return "\n\n".join(_entry(key, [], language) for key in _sorted(old_producer_config.CONFIG))


def old_consumer_configuration(language: str) -> str:
    """Every key of the old consumer."""
    return "\n\n".join(_entry(key, [], language) for key in _sorted(old_consumer_config.CONFIG))


def spark_read_options(language: str) -> str:
    """Every option of ``spark.read`` and ``spark.readStream``."""
    from kafka_lite.spark.option_table import CONSUMER_CONFIGS, KAFKA_PREFIX, READ_OPTIONS  # it needs PySpark

    clients = [replace(key, name=f"{KAFKA_PREFIX}{key.name}") for key in CONSUMER_CONFIGS]
    return "\n\n".join(_entry(key, [], language) for key in (*READ_OPTIONS, *clients))


def spark_write_options(language: str) -> str:
    """Every option of ``df.write`` and ``df.writeStream`` except the producer's."""
    from kafka_lite.spark.option_table import WRITE_OPTIONS

    return "\n\n".join(_entry(key, [], language) for key in WRITE_OPTIONS)


def _sorted(keys: Iterable[ConfigKey]) -> list[ConfigKey]:
    return sorted(keys, key=lambda key: key.name)


def _keys(keys: Iterable[ConfigKey], language: str) -> str:
    return "\n\n".join(_entry(key, _notes_of_the_broker(key, language), language) for key in _sorted(keys))


def _entry(key: ConfigKey, notes: Iterable[str], language: str) -> str:
    facts = [f"{_word('type', language)} {key.type.value}", f"{_word('default', language)} `{key.default_text}`"]
    if key.validator is not None:
        facts.append(f"{_word('valid', language)} {_escaped(str(key.validator))}")
    facts.append(f"{_word('importance', language)} {key.importance.value}")
    text = " ".join([_escaped(key.doc), *notes])
    return f"`{key.name}`\n:   {text}<br>\n    <small>{' · '.join(facts)}</small>"


def _note(words: str, language: str) -> str:
    """A sentence in italics, which Chinese does not have."""
    return f"{words}。" if language == "zh" else f"*{words}.*"


def _deviation(name: str, deviations: Mapping[str, tuple[str, str]], language: str) -> list[str]:
    if name not in deviations:
        return []
    there, why = deviations[name]
    return [_note(f"{_word('deviation', language)} `{there}`: {_escaped(why)}", language)]


def _notes_of_the_broker(key: ConfigKey, language: str) -> list[str]:
    notes = _deviation(key.name, DEVIATIONS, language)
    if key.name in UNSERVED:
        notes.append(_note(f"{_word('unserved', language)}: {_escaped(UNSERVED[key.name][1])}", language))
    part = part_to_come(key.name)
    if part is not None:
        notes.append(_note(f"{_word('to come', language)} {part}", language))
    if key.name in DYNAMIC_BROKER_CONFIGS:
        notes.append(_note(_word("dynamic", language), language))
    return notes


def _notes_of_a_topic(key: ConfigKey, language: str) -> list[str]:
    """A topic's default is the broker's, so it deviates for the same reason."""
    broker_keys = TOPIC_CONFIG_SYNONYMS.get(key.name, ())
    deviations = [note for each in broker_keys for note in _deviation(each.name, DEVIATIONS, language)]
    return deviations + _notes_of_the_broker(key, language)


# -- the wire ---------------------------------------------------------------------------------------------------------


def served_apis(language: str) -> str:
    """The versions in the ApiVersions response and those that the codec supports."""
    rows = []
    for key, served in sorted(SERVED_VERSIONS.items()):
        spec = API_SPECS[key]
        name = spec.request.__name__.removesuffix("Request")
        known = _range(spec.min_version, spec.max_version)
        rows.append([str(int(key)), f"`{name}`", _range(served.min_version, served.max_version), known])
    return table(["", "API", _word("served", language), _word("known", language)], rows)


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}–{high}"


# -- metrics ----------------------------------------------------------------------------------------------------------


def beans(language: str) -> str:
    """Every bean, by domain and type."""
    types: dict[str, list[BeanDeclaration]] = {}
    for bean in BEANS:
        types.setdefault(f"{bean.group}:type={bean.type}", []).append(bean)
    head = [_word(name, language) for name in ("name", "tags", "kind", "meaning")]
    return "\n\n".join(
        f"### {name} {{ data-toc-label='{name.partition('=')[2]}' }}\n\n"
        + table(head, [_bean_row(bean, language) for bean in of_type])
        for name, of_type in types.items()
    )


def _bean_row(bean: BeanDeclaration, language: str) -> list[str]:
    name = f"`{bean.name}`" if bean.name else "–"
    return [name, ", ".join(bean.tags), bean.kind, bean.zh if language == "zh" else bean.en]


# -- the command line -------------------------------------------------------------------------------------------------


def command_line(_language: str) -> str:
    """Each subcommand of ``kafka-lite`` with its options, from its parser."""
    parser = importlib.import_module(COMMAND_LINE).build_parser()
    return "\n\n".join(_command(name, command) for name, command in _commands(parser))


def _commands(parser: argparse.ArgumentParser, prefix: str = "") -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """The subcommands in order, each followed by its own subcommands."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, command in action.choices.items():
                yield f"{prefix}{name}", command
                yield from _commands(command, f"{prefix}{name} ")


def _command(name: str, parser: argparse.ArgumentParser) -> str:
    usage = re.sub(r"\s+", " ", parser.format_usage()).strip().removeprefix("usage: ")
    options = [
        [
            f"`{', '.join(action.option_strings) or action.metavar or action.dest}{_metavar(action)}`",
            _escaped(_help(action, parser)),
        ]
        for action in parser._actions
        if not isinstance(action, argparse._HelpAction | argparse._SubParsersAction)
    ]
    about = _escaped(parser.description or "")
    listed = "\n\n".join(f"{option}\n:   {text}" for option, text in options)
    level = "###" if " " in name else "##"
    return "\n\n".join(filter(None, [f"{level} {name}", about, f"```text\n{usage}\n```", listed]))


def _help(action: argparse.Action, parser: argparse.ArgumentParser) -> str:
    text = action.help or ""
    return text % {**vars(action), "prog": parser.prog} if text and text != argparse.SUPPRESS else "–"


def _metavar(action: argparse.Action) -> str:
    if action.nargs == 0 or not action.option_strings:
        return ""
    name = action.metavar or action.dest.upper()
    return f" {name if isinstance(name, str) else ' '.join(name)}"


# -- labs -------------------------------------------------------------------------------------------------------------


def labs(language: str) -> str:
    """The labs by chapter, and then those on Spark; below each chapter its sums."""
    rows: list[list[str]] = []
    for _, found in by_chapter(all_labs()):
        rows += [_lab_row(lab, language) for lab in found]
        tasks, minutes = sum(len(lab.tasks) for lab in found), sum(lab.minutes for lab in found)
        sums = [_word("labs", language).format(len(found)), "", "", str(tasks), hours(minutes, language)]
        rows.append([f"**{each}**" if each else "" for each in sums] + ["", ""])
    words = [_word(name, language) for name in ("lab", "title", "tasks", "time", "difficulty", "in page")]
    return table([words[0], "§", *words[1:]], rows)


def _lab_row(lab: Lab, language: str) -> list[str]:
    return [
        f"[{lab.name}]({lab.name}.md)",
        lab.section,
        lab.title_in(language),
        str(len(lab.tasks)),
        f"{lab.minutes} {_word('minutes', language)}",
        _word(lab.difficulty, language),
        _word("write it", language).format(lab.name) if lab.in_page else "",
    ]


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _escaped(text: str) -> str:
    """Plain text as Markdown: markup and tags are escaped, except in backticks."""
    parts = re.split(r"(`[^`]+`)", re.sub(r"\s+", " ", text))
    return "".join(part if part.startswith("`") else re.sub(r"([\\`*_{}\[\]<>|])", r"\\\1", part) for part in parts)

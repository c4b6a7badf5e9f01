"""The verbs of ``kafka-lite labs``: what all of them have in common, above all the language in which they answer.

The language is the one that was asked for (``--lang``, ``--zh``), else the one that ``--lang`` chose last, else that of
the terminal (``LC_ALL``, ``LC_MESSAGES``, ``LANG``), else English.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path

from kafka_learn.labs.workspace import default_base

LANGUAGES = ("en", "zh")
REMEMBERED = ".language"
"""The file of the chosen language, beside the working folders."""


def add_verb(
    verbs: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    description: str,
    run_verb: Callable[[argparse.Namespace], int],
    *,
    of_a_lab: bool = False,
) -> argparse.ArgumentParser:
    """Add a verb with the options of all verbs; ``of_a_lab``: it takes a lab and its working folder as well."""
    parser = verbs.add_parser(name, help=description, description=description)
    if of_a_lab:
        parser.add_argument("lab", help="the lab's name, or its beginning, such as ch06-off")
        parser.add_argument("--dir", type=Path, help="the working folder (default: labs-work/LAB in the clone)")
    add_language_arguments(parser)
    parser.set_defaults(run_verb=run_verb)
    return parser


def add_language_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--lang`` and ``--zh``. They may stand before the verb, too: a verb's default must not overwrite them."""
    unset = argparse.SUPPRESS
    parser.add_argument("--lang", choices=LANGUAGES, default=unset, help="the language, from now on (default: LANG's)")
    parser.add_argument("--zh", action="store_true", default=unset, help="in Chinese, this time")


def choose_language(options: argparse.Namespace) -> str:
    """The language to answer in, ``en`` or ``zh``; one that ``--lang`` names is remembered in the clone."""
    remembered = default_base() / REMEMBERED
    if asked := getattr(options, "lang", None):
        remembered.parent.mkdir(parents=True, exist_ok=True)
        remembered.write_text(asked, encoding="utf-8")
        return str(asked)
    if getattr(options, "zh", False):
        return "zh"
    if remembered.is_file() and (chosen := remembered.read_text(encoding="utf-8").strip()) in LANGUAGES:
        return chosen
    return _of_the_terminal()


def _of_the_terminal() -> str:
    """The first variable that is set decides, as in every program of a POSIX system."""
    names = ("LC_ALL", "LC_MESSAGES", "LANG")
    locale = next((value for name in names if (value := os.environ.get(name))), "")
    return "zh" if locale.lower().startswith("zh") else "en"

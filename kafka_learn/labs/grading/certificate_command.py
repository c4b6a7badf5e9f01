"""``kafka-lite labs certificate``: a page that says what a student has done, made of a signed report."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from kafka_learn.labs.grading.certificate import NothingDoneError, certificates
from kafka_learn.labs.grading.gradebook import SIGNATURE, NotSignedError, verified, write
from kafka_learn.labs.lab import all_labs
from kafka_learn.labs.way.verbs import add_verb


def add_certificate(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to those of ``labs``."""
    parser = add_verb(verbs, "certificate", "make a page of what students have done, from a signed report", _certify)
    parser.add_argument("report", type=Path, help="what labs grade --json has written")
    parser.add_argument("--student", default="", help="only this one (default: a sheet for each)")
    parser.add_argument(
        "--html", type=Path, default=Path("certificate.html"), metavar="FILE", help="the page (default: %(default)s)"
    )


def _certify(options: argparse.Namespace) -> int:
    """0: the page is written; 2: the report is not this grader's, or has nothing to certify."""
    try:
        text = options.report.read_text(encoding="utf-8")
        report = verified(text)
        page = certificates(
            report, json.loads(text)[SIGNATURE], all_labs(),
            student=options.student, language="zh" if options.zh else "en",
        )  # fmt: skip
    except (OSError, UnicodeError, NotSignedError, NothingDoneError) as error:
        sys.stderr.write(f"{options.report}: {error}\n")
        return 2
    write(page, options.html)
    sys.stdout.write(f"{options.html}: {page.count('<section>')} students\n")
    return 0

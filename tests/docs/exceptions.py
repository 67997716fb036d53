"""What the tests of the pages do not run as written, and why.

Each entry is an expression that is searched in `page: command`, so it may be for one page or for
all. A test demands that each still finds a command on some page.
"""

from __future__ import annotations

import re
import shutil
from typing import Any

from tests.docs.steps import Step

CANNOT_RUN: dict[str, str] = {
    r": pip install ": "the package is installed already, and tests do not load packages",
    r": make ": "the targets of make build or test the whole project",
    r": jupyter ": "waits for somebody in the browser",
    r"s3://": "needs an account",
    r"spark://HOST|NAMENODE|k8s://|spark-class|spark-submit": "needs a Spark cluster",
    r"^README.md: .*--engine spark": "the guide to Spark runs the same, and Java starts slowly",
    r"spark.md: .*-o corpus-out": "the next command of the page is the same",
    r"spark.md: [\s\S]*neardup\.spark": "run by tests/deploy/test_spark_guide.py",
    r"aws emr-serverless": "needs an account",
    r"benchmark (core|news-copy) ": "needs a data set of somebody else, to be downloaded",
    r"python -m tests\.": "is run in the repository",
    r"docs/guides/dedup.md: .*corpus-out --resume": "shows Ctrl-C in the middle of a run",
    r"/jobs/2026": "needs the id of a job, which is another each time",
}

# The whole page is run by a test module of its own.
RUN_ELSEWHERE: dict[str, str] = {
    "docs/guides/serve.md": "tests/deploy/test_serve_guide.py",
    "docs/guides/clients.md": "tests/client/test_guide.py",
    "docs/guides/tables.md": "tests/read/foreign/test_guide.py",
    "docs/reference/python-api.md": "tests/test_doc_pages.py",
}

# Commands whose exit code tells something else than success.
EXIT_CODES: dict[str, tuple[int, str]] = {}

# The output on the page is that of other data.
PRINTS_OTHER: dict[str, str] = {
    r"dedup.md: neardup dedup march.parquet": "55,760 abstracts",
    r"decisions.md: neardup decisions out$": "the decision of a person",
    r"spark.md: ": "Java prints what it finds on a machine",
    r"labels.md: neardup review": "the keys are read from a file, which shows no prompt",
}

# Code between backquotes that begins with `neardup` and is no command.
NO_COMMAND: dict[str, str] = {
    r"^neardup (fingerprints|pairs|groups|idf) 1$": "the value that tells what a file is",
}


def reason(step: Step) -> str | None:
    """Why a step is not run here, or None."""
    if step.page in RUN_ELSEWHERE:
        return f"run by {RUN_ELSEWHERE[step.page]}"
    if "--engine spark" in step.text and shutil.which("java") is None:
        return "there is no Java"
    return _found(CANNOT_RUN, step)


def exit_code(step: Step) -> int:
    """The exit code that a command should have."""
    found = _found(EXIT_CODES, step)
    return 0 if found is None else found[0]


def prints_other(step: Step) -> bool:
    """Whether the output on the page is that of other data."""
    return _found(PRINTS_OTHER, step) is not None


def is_no_command(mention: str) -> bool:
    """Whether code that begins with `neardup` is something else than a call."""
    return any(re.search(expression, mention) for expression in NO_COMMAND)


def finds(expression: str, step: Step) -> bool:
    """Whether an entry is about a step."""
    return bool(re.search(expression, f"{step.page}: {step.text}"))


def _found(table: dict[str, Any], step: Step) -> Any:
    return next((each for one, each in table.items() if finds(one, step)), None)

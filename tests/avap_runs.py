"""Shared by the tests of execution: a program in, what it comes to out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from avap_language import vocabulary

from core.avap import Parsed, parse
from core.avap.execution import Execution, Inputs, Limits, execute
from core.model.syntax import Dialect, Validity


def parsed(code: str, words: str = "lrm-2026.04", dialect: Dialect = Dialect.STRICT) -> Parsed:
    found = parse(code, vocabulary(words), dialect)
    assert found.result.verdict is Validity.VALID, "\n".join(found.result.trace)
    return found


def run(
    code: str,
    inputs: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
    words: str = "lrm-2026.04",
    dialect: Dialect = Dialect.STRICT,
) -> Execution:
    """Run `code`; parameters of the request and the reserved names stand in `inputs`."""
    tree = parsed(code, words, dialect).tree
    return execute(tree, Inputs.from_mapping(inputs or {}), limits, dialect=dialect)


def value(code: str, inputs: Mapping[str, Any] | None = None, words: str = "lrm-2026.04") -> Any:
    """What `x` is after `code`, which must come to its end."""
    done = run(code, inputs, words=words)
    assert done.error is None, done.error
    return done.variables["x"]


def failure(code: str, inputs: Mapping[str, Any] | None = None, words: str = "lrm-2026.04") -> str:
    """`line kind: text` of the error that ends `code`."""
    done = run(code, inputs, words=words)
    assert done.error is not None, done.variables
    assert done.status == 500
    return f"{done.error.line} {done.error.kind}: {done.error.text}"

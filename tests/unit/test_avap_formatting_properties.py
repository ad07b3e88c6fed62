"""Properties of the canonical form: printing a tree and parsing it again gives the same tree, comments and all."""

from __future__ import annotations

import re
from collections import Counter

from avap_language import vocabulary
from avap_programs import Lines, programs, scrawled, written
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.avap import parse
from core.avap.formatting import format_program, same_tree
from core.model.syntax import Dialect, Validity

quick = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
whole = programs(vocabulary())
scrawls = whole.flatmap(lambda lines: scrawled(lines).map(lambda text: (lines, text)))


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text))


@given(scrawls, st.sampled_from(Dialect))
@quick
def test_a_scrawl_is_valid_and_its_canonical_form_means_the_same(pair: tuple[Lines, str], dialect: Dialect) -> None:
    lines, text = pair
    parsed = parse(text, vocabulary(), dialect)
    assert parsed.result.verdict is Validity.VALID, parsed.result.trace
    assert same_tree(parsed.tree, parse(written(lines), vocabulary(), dialect).tree)
    formatted = format_program(text, vocabulary(), dialect).text
    assert formatted is not None
    again = parse(formatted, vocabulary(), dialect)
    assert same_tree(parsed.tree, again.tree)
    assert Counter(found.text for found in parsed.tree.comments) == Counter(found.text for found in again.tree.comments)
    assert format_program(formatted, vocabulary(), dialect).text == formatted
    assert formatted.endswith("\n")
    assert "\n\n\n" not in formatted


@given(whole)
@quick
def test_what_is_written_plainly_has_one_line_a_statement(lines: Lines) -> None:
    formatted = format_program(written(lines), vocabulary(), Dialect.STRICT).text
    assert formatted is not None
    assert words(formatted) == words(written(lines))
    for line in formatted.splitlines():
        assert line == line.rstrip()

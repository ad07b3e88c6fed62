"""Text to search terms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.adapters.index.terms import terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("¿Cómo añado una función?", "como anado una funcion"),
        ("registerEndpoint(path)", "registerendpoint register endpoint path"),
        ("AddVariableToJSON", "addvariabletojson add variable to json"),
        ("encodeSHA256", "encodesha256 encode sha 256"),
        ("__last_error__", "__last_error__ last error"),
        ("if_mode1", "if_mode1 if mode 1"),
        ("x" * 81, ""),
        ("ＦＵＬＬ width", "full width"),
    ],
)
def test_worked_examples(text: str, expected: str) -> None:
    assert terms(text) == expected.split()


@given(st.text())
def test_terms_never_hold_a_space_and_come_out_again(text: str) -> None:
    found = terms(text)
    assert " ".join(found).split() == found
    assert all(term and len(term.split()) == 1 for term in found)

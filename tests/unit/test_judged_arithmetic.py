"""The four judged metrics against numbers that ragas 0.4.3 itself gave, and against bad input."""

from __future__ import annotations

import gzip
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.measure.judged import answer_relevancy, context_precision, context_recall, faithfulness

TAPES = Path(__file__).parents[1] / "data" / "ragas-0.4.3-tapes.jsonl.gz"
METRICS = {
    "faithfulness": (faithfulness, ("verdicts",)),
    "answer_relevancy": (answer_relevancy, ("question", "generated", "noncommittal")),
    "context_recall": (context_recall, ("attributed",)),
    "context_precision": (context_precision, ("verdicts",)),
}


def tapes() -> list[dict[str, Any]]:
    with gzip.open(TAPES, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.parametrize("metric", METRICS)
def test_equals_ragas_on_every_tape(metric: str) -> None:
    function, arguments = METRICS[metric]
    rows = [row for row in tapes() if row["metric"] == metric]
    assert len(rows) == 250
    for row in rows:
        score = function(*(row[name] for name in arguments))  # type: ignore[operator]
        if row["expected"] is None:
            assert score is None, row
        else:
            assert score is not None, row
            assert abs(score - row["expected"]) <= 1e-12, row


def test_numpy_arrays_do_as_well_as_lists() -> None:
    question = np.array([1.0, 2.0], dtype=np.float32)
    generated = np.array([[2.0, 4.0], [-2.0, 1.0]], dtype=np.float32)
    assert answer_relevancy(question, generated, np.array([0, 1])) == pytest.approx(0.5, abs=1e-12)
    assert faithfulness(np.array([1, 0, 1, 1])) == 0.75
    assert context_precision(np.array([True, False])) == pytest.approx(1.0, abs=1e-9)


def test_nothing_to_judge_is_unscored_but_no_generated_question_is_zero() -> None:
    assert faithfulness([]) is None
    assert context_recall([]) is None
    assert context_precision([]) is None
    assert answer_relevancy([1.0], [], []) == 0.0


def test_a_vector_without_direction_is_unscored() -> None:
    assert answer_relevancy([0.0, 0.0], [[1.0, 0.0]], [0]) is None
    assert answer_relevancy([1.0, 0.0], [[1.0, 0.0], [0.0, 0.0]], [0, 0]) is None


def test_relevancy_is_zero_only_if_every_question_is_noncommittal() -> None:
    same = [[1.0, 0.0], [1.0, 0.0]]
    assert answer_relevancy([1.0, 0.0], same, [1, 1]) == 0.0
    assert answer_relevancy([1.0, 0.0], same, [1, 0]) == 1.0


@pytest.mark.parametrize("bad", [2, -1, 0.5, math.nan, math.inf, "1", None])
@pytest.mark.parametrize("function", [faithfulness, context_recall, context_precision])
def test_a_verdict_that_is_not_0_or_1_is_an_error(function: Any, bad: Any) -> None:
    with pytest.raises(ValueError, match=r"\[1\].*0 or 1"):
        function([1, bad])


@pytest.mark.parametrize(
    ("question", "generated", "noncommittal"),
    [
        ([1.0], [[1.0], [1.0]], [0]),
        ([1.0], [[1.0]], [0, 0]),
        ([1.0], [], [0]),
        ([1.0, 2.0], [[1.0]], [0]),
        ([math.nan, 1.0], [[1.0, 1.0]], [0]),
        ([1.0], [[math.inf]], [0]),
        ([1.0], [[1.0]], [2]),
        ([], [], []),
        ([], [[]], [0]),
    ],
)
def test_relevancy_refuses_bad_input(question: Any, generated: Any, noncommittal: Any) -> None:
    with pytest.raises(ValueError, match=r"dimensions|flags|finite|0 or 1"):
        answer_relevancy(question, generated, noncommittal)


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=6), st.floats(1e-3, 1e3))
def test_relevancy_ignores_length(vector: list[float], factor: float) -> None:
    longer = [value / factor for value in vector]
    score = answer_relevancy(vector, [longer], [0])
    if score is not None:
        assert score == pytest.approx(1.0, abs=1e-9)


@given(st.lists(st.integers(0, 1), min_size=1, max_size=20))
def test_precision_rewards_useful_passages_that_come_first(verdicts: list[int]) -> None:
    best = context_precision(sorted(verdicts, reverse=True))
    score = context_precision(verdicts)
    assert score is not None
    assert best is not None
    assert 0.0 <= score <= best <= 1.0


def test_the_arithmetic_needs_neither_numpy_nor_scipy() -> None:
    program = "import sys, core.measure.judged; print([m for m in ('numpy', 'scipy', 'pydantic') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"

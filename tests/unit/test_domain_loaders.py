"""Golden questions and examples: what is refused, and how it is named."""

from pathlib import Path

import pytest

from core.adapters.domain import leaked, load_examples, load_golden
from core.errors import ConfigError

QUESTION = """
  - id: GD-C-001
    type: CODE_GENERATION
    language: es
    question: ¿Cómo sumo?
    ground_truth: |
      Así:
      ```avap
      // suma
      total = a + b
      ```
    gold_passages: [reference/expressions#sum]
"""
EXAMPLE = """
  - id: EX-001
    language: en
    description: Add two numbers
    code: |
      total = a+b
    constructs: [assign]
"""


def golden(folder: Path, text: str) -> Path:
    file = folder / "golden.yaml"
    file.write_text(text, "utf-8")
    return file


def test_questions_and_examples_are_read_in_order(tmp_path: Path) -> None:
    questions = load_golden(golden(tmp_path, "questions:" + QUESTION + QUESTION.replace("001", "002")))
    assert [question.id for question in questions] == ["GD-C-001", "GD-C-002"]
    pool = tmp_path / "pool"
    pool.mkdir()
    (pool / "b.yaml").write_text("examples:" + EXAMPLE.replace("001", "002"), "utf-8")
    (pool / "a.yaml").write_text("examples:" + EXAMPLE, "utf-8")
    examples = load_examples(pool)
    assert [example.id for example in examples] == ["EX-001", "EX-002"]
    assert leaked(examples[:1], questions) == {"EX-001"}


def test_other_code_is_no_leak(tmp_path: Path) -> None:
    questions = load_golden(golden(tmp_path, "questions:" + QUESTION))
    (tmp_path / "pool").mkdir()
    (tmp_path / "pool/a.yaml").write_text("examples:" + EXAMPLE.replace("a+b", "a-b"), "utf-8")
    assert leaked(load_examples(tmp_path / "pool"), questions) == frozenset()


@pytest.mark.parametrize(
    ("text", "words", "path"),
    [
        ("questions:" + QUESTION + QUESTION, "'GD-C-001' is already used", "id"),
        ("questions:" + QUESTION.replace("type: CODE_GENERATION", "type: CODE"), "GD-C-001", "questions.0.type"),
        ("questions:" + QUESTION.replace("language", "lang"), "GD-C-001", "questions.0.language"),
        ("questions:" + QUESTION.replace("¿Cómo sumo?", "' '"), "question is empty", "questions.0.question"),
        ("questions: [3]", "questions.0", "questions.0"),
        ("questions: []", "at least one", "questions"),
        ("answers: []", "`questions:`", "questions"),
        ("", "`questions:`", "questions"),
    ],
)
def test_a_faulty_item_is_named_by_file_item_and_field(tmp_path: Path, text: str, words: str, path: str) -> None:
    file = golden(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_golden(file)
    assert str(file) in str(caught.value)
    assert words in str(caught.value)
    assert (caught.value.file, caught.value.path) == (str(file), path)


def test_broken_yaml_is_named_by_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_golden(golden(tmp_path, "questions:\n  - id: [\n"))
    assert caught.value.line == 3


def test_an_absent_file_and_an_empty_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_golden(tmp_path / "none.yaml")
    with pytest.raises(ConfigError, match=r"no \*\.yaml"):
        load_examples(tmp_path)

"""Old evaluation files: refused with their line where they mean nothing certain, else read without guessing."""

from __future__ import annotations

import contextlib
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.adapters.languages import load_vocabulary
from core.adapters.legacy import evaluation, load_mapping, parsed, read_file, text
from core.adapters.legacy.evaluation import Instruments, Source
from core.adapters.legacy.places import joined, plain
from core.avap import check
from core.errors import ConfigError
from core.measure.published import recomputation
from core.model.legacy import Fact, LegacyEvaluation, LegacyMetric, ScaleRead, Visible
from core.model.specs import LanguageSpec

HERE = Path("evaluation_x.json")
LANGUAGE = LanguageSpec()


@pytest.fixture(scope="module")
def tools(configs: Path) -> Instruments:
    vocabulary = load_vocabulary(LANGUAGE.vocabulary, configs / "languages" / "avap")
    return Instruments(
        mapping=load_mapping(configs / "legacy.yaml"),
        language=LANGUAGE,
        check=lambda code: check(code, vocabulary, LANGUAGE.dialect),
        retired={"old-judge-20250101": date(2026, 6, 15)}.get,
        recompute=recomputation,
        today="2026-11-22T00:00:00Z",
    )


def taken(tools: Instruments, data: Any) -> LegacyEvaluation:
    content = json.dumps(data).encode()
    return evaluation(parsed(content, HERE), Source(HERE.name, "f" * 64, len(content)), tools)


def scores(found: LegacyEvaluation) -> dict[LegacyMetric, float | None]:
    return {metric: score.score for metric, score in found.scores.items()}


class TestText:
    @pytest.mark.parametrize(
        ("content", "line", "said"),
        [
            (b'{"a": 1,\n"b": }', 2, "not JSON: Expecting value, column 6"),
            (b"", 1, "not JSON"),
            (b'{"a": 1}\n{"a": 2}', 2, "not JSON: Extra data"),
            (b'{"a": {"x": 1,\n"x": 1}}', 2, 'the key "x" is there twice in one object'),
            (b'[{"x": 1},\n {"x": 1},\n {"x": [{"y": 1, "y": 2}]}]', 3, 'the key "y" is there twice'),
            (b'{"faithfulness":\n\n NaN}', 3, "NaN is no number of JSON"),
            (b'{"a": -Infinity}', 1, "-Infinity is no number"),
            (b'{"a":\n 1e999}', 2, "the number 1e999 is beyond"),
            (b'{"a":\n ' + b"9" * 5000 + b"}", 2, "is beyond what can be held"),
            (b'{"a":\n "\\ud800"}', 2, "half of a character"),
            (b'{"a": 1,\n "b": "caf\xe9"}', 2, "not UTF-8: byte 0xe9"),
            ("\ufeff{}".encode("utf-16"), 1, "is UTF-16"),
            (b"\x1f\x8b\x08\x00", 1, "is compressed with gzip"),
            (b"[" * 200 + b"]" * 200, 1, "nested too deeply"),
        ],
    )
    def test_that_means_nothing_certain_is_refused_with_its_line(self, content: bytes, line: int, said: str) -> None:
        with pytest.raises(ConfigError) as caught:
            parsed(content, HERE)
        assert str(caught.value).startswith(f"{HERE}:{line}: ")
        assert said in str(caught.value)
        assert (caught.value.file, caught.value.line) == (str(HERE), line)
        assert caught.value.remedy

    def test_of_any_depth_is_refused_and_not_crashed_on(self) -> None:
        with pytest.raises(ConfigError, match="nested too deeply"):
            parsed(b"[" * 100_000 + b"]" * 100_000, HERE)

    def test_with_a_byte_order_mark_of_utf_8_is_read(self) -> None:
        assert parsed(b'\xef\xbb\xbf{"a": 1}', HERE) == {"a": 1}

    def test_may_hold_what_looks_like_a_fault_inside_its_strings(self) -> None:
        data = {"NaN": 'a "b": {NaN, "b"', "é\\": "\\ud83d", "😀": ["1e999"]}
        assert parsed(json.dumps(data).encode(), HERE) == data

    def test_that_is_too_large_is_not_even_opened(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(text, "LARGEST", 10)
        (tmp_path / "big.json").write_bytes(b" " * 11)
        with pytest.raises(ConfigError, match=r"big.json: has 11 bytes, more than the 10"):
            read_file(tmp_path / "big.json")

    def test_that_is_not_there_or_a_folder_is_told(self, tmp_path: Path) -> None:
        for place in (tmp_path, tmp_path / "none.json"):
            with pytest.raises(ConfigError, match="cannot be read"):
                read_file(place)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(-1e9, 1e9) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@given(JSON)
def test_whatever_is_json_is_read_as_json_reads_it(value: Any) -> None:
    try:
        content = json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return
    assert parsed(content, HERE) == value


@given(st.binary(max_size=200))
def test_bytes_are_read_or_refused(content: bytes) -> None:
    with contextlib.suppress(ConfigError):
        json.dumps(parsed(content, HERE), allow_nan=False)


NAMES = st.sampled_from([
    "faithfulness", "Answer-Relevancy", "contextRecall", "context_precision", "global_score", "scores", "results",
    "model",
    "judge", "metadata", "entries", "id", "question", "answer", "answer_preview", "seed", "runs", "date", "mean", "x",
])  # fmt: skip
VALUES = (
    st.none() | st.booleans() | st.integers(-3, 200) | st.floats(-2, 110)
    | st.sampled_from(["0.5", "62 %", "n/a", "ACCEPTABLE", "```avap\npackage main\n", "2026-04-06"])
)  # fmt: skip
FILES = st.recursive(
    VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=6),
    max_leaves=25,
)


@given(FILES)
def test_any_file_is_taken_or_refused_and_every_value_is_accounted_for(tools: Instruments, data: Any) -> None:
    try:
        found = taken(tools, data)
    except ConfigError:
        return
    assert found.non_binding
    read = [*found.scores.values(), *(s for entry in found.entries for s in entry.scores.values())]
    assert all(score.score is None or -1.0 <= score.score <= 1.0 for score in read)
    if found.scale is ScaleRead.UNDECIDED:
        assert all(not score.score or "%" in str(score.written) for score in read)
    assert LegacyEvaluation.model_validate_json(found.model_dump_json()) == found
    assert taken(tools, data) == found


WHOLE = {
    "metadata": {"model": "qwen3:1.7b", "judgeModel": "old-judge-20250101", "Index Name": "avap-docs-test-v4-bge"},
    "faithfulness": 0.5843,
    "scores": {"answer-relevancy": {"mean": 0.84, "std": 0.1}, "contextRecall": 0.6067},
    "summary": {"scores": {"context_precision": "0.6384"}},
    "global_score": 0.6681,
    "mystery": {"a": [1, 2], "b": None},
}


class TestFields:
    def test_are_found_under_many_names_and_places(self, tools: Instruments) -> None:
        found = taken(tools, WHOLE)
        assert {fact: each.value for fact, each in found.facts.items()} == {
            Fact.GENERATOR: "qwen3:1.7b",
            Fact.JUDGE: "old-judge-20250101",
            Fact.INDEX: "avap-docs-test-v4-bge",
        }
        assert scores(found) == {
            LegacyMetric.FAITHFULNESS: 0.5843,
            LegacyMetric.ANSWER_RELEVANCY: 0.84,
            LegacyMetric.CONTEXT_RECALL: 0.6067,
            LegacyMetric.CONTEXT_PRECISION: 0.6384,
            LegacyMetric.GLOBAL: 0.6681,
        }
        assert found.scores[LegacyMetric.ANSWER_RELEVANCY].place == "scores.answer-relevancy.mean"
        assert found.complaints == ()

    def test_that_no_name_stands_for_are_listed(self, tools: Instruments) -> None:
        assert taken(tools, WHOLE).unknown == {"mystery.a.*": 2, "mystery.b": 1, "scores.answer-relevancy.std": 1}

    def test_give_the_reasons_why_the_file_is_not_binding(self, tools: Instruments) -> None:
        said = "\n".join(taken(tools, WHOLE).non_binding)
        for reason in ("not written by Assay", "no syntactic_validity", "retired on 2026-06-15", "seed", "digest"):
            assert reason in said

    def test_that_agree_twice_are_taken_and_those_that_do_not_are_not(self, tools: Instruments) -> None:
        found = taken(
            tools, {"faithfulness": 0.5, "scores": {"faithfulness": 0.5}, "model": "a", "config": {"model": "b"}}
        )
        assert scores(found) == {LegacyMetric.FAITHFULNESS: 0.5}
        assert Fact.GENERATOR not in found.facts
        [said] = found.complaints
        assert said == "generator stands there with different values, none is taken: model = 'a', config.model = 'b'"
        other = taken(tools, {"faithfulness": 0.5, "scores": {"faithfulness": 0.6}})
        assert scores(other) == {}
        assert "faithfulness = 0.5, scores.faithfulness = 0.6" in other.complaints[0]

    def test_that_are_no_scores_are_told(self, tools: Instruments) -> None:
        found = taken(tools, {"faithfulness": "n/a", "context_recall": True, "answer_relevancy": "62,5"})
        assert scores(found) == {}
        assert len(found.complaints) == 3
        assert "faithfulness: 'n/a' is no score" in found.complaints

    def test_of_a_record_that_was_kept_leave_only_what_cannot_be_checked(self, tools: Instruments) -> None:
        kept = {
            "model": "qwen3:1.7b", "judge": "claude-opus-4-5-20251101", "runs": 5, "seed": 1, "temperature": 0,
            "index": {"name": "i", "version": "v1", "pipeline": "p@1"}, "image_digest": "sha256:1", "commit": "c",
            "syntactic_validity": 0.9,
        }  # fmt: skip
        found = taken(tools, kept)
        assert found.unknown == {}
        assert found.non_binding == (
            "it was not written by Assay: nothing that it says of itself can be checked",
            "not known whether it was executed from a notebook",
        )

    def test_that_say_nonsense_count_as_not_recorded(self, tools: Instruments) -> None:
        conduct = taken(tools, {"seed": "9" * 40, "runs": 0, "temperature": "cold"}).conduct
        assert (conduct.seed, conduct.runs, conduct.temperature) == (None, None, None)

    @pytest.mark.parametrize("data", [{}, [], 3, None, "text", {"a": {"b": 1}}, [[1], 2]])
    def test_of_nothing_known_are_refused(self, tools: Instruments, data: Any) -> None:
        with pytest.raises(ConfigError, match="finds anything in it"):
            taken(tools, data)


class TestScale:
    def test_is_that_of_all_scores_together(self, tools: Instruments) -> None:
        percent = taken(tools, {"faithfulness": 53.29, "entries": [{"id": "a", "faithfulness": 0}]})
        assert percent.scale is ScaleRead.PERCENT
        assert scores(percent) == {LegacyMetric.FAITHFULNESS: pytest.approx(0.5329)}
        assert percent.entries[0].scores[LegacyMetric.FAITHFULNESS].score == 0.0

    def test_that_could_be_either_is_not_chosen(self, tools: Instruments) -> None:
        found = taken(tools, {"faithfulness": 53.29, "context_recall": 0.9, "context_precision": "40 %"})
        assert found.scale is ScaleRead.UNDECIDED
        assert scores(found) == {
            LegacyMetric.FAITHFULNESS: None,
            LegacyMetric.CONTEXT_RECALL: None,
            LegacyMetric.CONTEXT_PRECISION: pytest.approx(0.4),
        }
        assert "say --scale" in found.complaints[0]

    def test_can_be_said(self, tools: Instruments) -> None:
        said = Instruments(**{**vars(tools), "scale": ScaleRead.PERCENT})
        found = taken(said, {"faithfulness": 53.29, "context_recall": 0.9})
        assert scores(found)[LegacyMetric.CONTEXT_RECALL] == pytest.approx(0.009)

    def test_has_ends(self, tools: Instruments) -> None:
        found = taken(tools, {"faithfulness": -0.2, "answer_relevancy": -0.2, "global_score": 0.5})
        assert scores(found)[LegacyMetric.FAITHFULNESS] is None
        assert scores(found)[LegacyMetric.ANSWER_RELEVANCY] == -0.2
        assert found.complaints == ("faithfulness: -0.2 is outside of what faithfulness can be",)

    def test_does_not_hide_a_wrong_mean(self, tools: Instruments) -> None:
        plain_file = taken(tools, WHOLE).recomputed
        assert plain_file is not None
        assert (plain_file.agrees, plain_file.mean) == (False, 0.66735)
        right = taken(tools, {**WHOLE, "global_score": 0.6673}).recomputed
        assert right is not None
        assert right.agrees
        assert taken(tools, {"global_score": 0.6}).recomputed is None


class TestEntries:
    @pytest.mark.parametrize("place", ["entries", "results", "details"])
    def test_stand_in_a_list_somewhere(self, tools: Instruments, place: str) -> None:
        found = taken(
            tools, {place: [{"id": "GD-V-001", "Faithfulness": 1.0, "latency": 3}, {"question_id": 7}, "what"]}
        )
        assert [(entry.position, entry.id) for entry in found.entries] == [(0, "GD-V-001"), (1, "7")]
        assert found.unknown == {f"{place}.*": 1, f"{place}.*.latency": 1}
        assert found.complaints == (f"{place}.2: an entry that is no object",)

    def test_may_be_the_whole_file_or_an_object_by_id(self, tools: Instruments) -> None:
        assert taken(tools, [{"id": "a", "scores": {"faithfulness": 0.5}}]).entries[0].scores
        by_id = taken(
            tools, {"results": {"GD-V-001": {"answer": "x", "question": "why?"}, "GD-V-002": {"answer": "y"}}}
        )
        assert [entry.id for entry in by_id.entries] == ["GD-V-001", "GD-V-002"]
        assert by_id.entries[0].question == "why?"

    def test_are_not_statistics_by_metric(self, tools: Instruments) -> None:
        found = taken(tools, {"results": {"faithfulness": {"mean": 0.5}, "context_recall": {"mean": 0.6}}})
        assert found.entries == ()
        assert len(found.scores) == 2

    def test_that_are_there_twice_are_told(self, tools: Instruments) -> None:
        found = taken(tools, {"entries": [{"id": "a"}, {"id": "a"}], "samples": [{"id": "b"}]})
        assert found.complaints == (
            "samples: entries are taken from entries, these are left out",
            "the entry a is there 2 times",
        )
        assert found.unknown == {"samples.*.id": 1}

    def test_may_lack_scores(self, tools: Instruments) -> None:
        found = taken(tools, {"entries": [{"id": "a", "faithfulness": None}]})
        assert found.entries[0].scores == {}
        assert found.unknown == {}


GO = '```avap\npackage main\nimport "fmt"\nfunc main() {\n  fmt.Pr'
INVENTED = "```avap\nx = getSHA256(y)\naddResult(x)\nadd"
VALID = "```avap\nx = 1\naddResult(x)\n```\n"
OPEN = "```avap\nx = 1\nif(x, 1, '==')\n    addRes"


class TestVisibleCode:
    @pytest.mark.parametrize(
        ("answer", "verdict", "cut"),
        [
            (GO, Visible.INVALID, True),
            (INVENTED, Visible.SUSPECTED, True),
            (INVENTED + "Result(x)\n```\n", Visible.INVALID, False),
            (OPEN, Visible.UNDECIDED, True),
            (VALID + "and so on...", Visible.CLEAN, False),
            (VALID + OPEN, Visible.UNDECIDED, True),
            ("```avap\nfor (let i = 0", Visible.UNDECIDED, True),
        ],
    )
    def test_of_a_preview_is_judged_as_far_as_it_is_certain(
        self, tools: Instruments, answer: str, verdict: Visible, cut: bool
    ) -> None:
        [entry] = taken(tools, {"entries": [{"id": "a", "answer_preview": answer}]}).entries
        assert entry.is_preview
        assert entry.code is not None
        assert (entry.code.verdict, entry.code.cut) == (verdict, cut)
        assert bool(entry.code.message) is (verdict in {Visible.INVALID, Visible.SUSPECTED})

    def test_of_a_whole_answer_is_judged_as_the_gate_would(self, tools: Instruments) -> None:
        [entry] = taken(tools, {"entries": [{"id": "a", "answer": OPEN, "answer_preview": "x"}]}).entries
        assert entry.code is not None
        assert (entry.code.verdict, entry.code.cut, entry.is_preview) == (Visible.INVALID, False, False)

    def test_without_a_label_counts_where_the_entry_says_its_type(self, tools: Instruments) -> None:
        bare = "```\nx = 1\n```\n"
        kinds = [{"answer": bare, "type": "code_generation"}, {"answer": bare}, {"answer": "no code"}]
        found = taken(tools, {"entries": kinds})
        assert [entry.code is not None for entry in found.entries] == [True, False, False]

    def test_is_counted(self, tools: Instruments) -> None:
        answers = [GO, GO, INVENTED, VALID, OPEN, "prose"]
        code = taken(tools, {"entries": [{"answer_preview": answer} for answer in answers]}).code
        assert (code.answers, code.previews, code.code_bearing) == (6, 6, 5)
        assert dict(code.verdicts) == {
            Visible.INVALID: 2, Visible.SUSPECTED: 1, Visible.UNDECIDED: 1, Visible.CLEAN: 1,
        }  # fmt: skip


@given(st.integers(0, len(GO)), st.sampled_from([VALID, VALID.replace("x = 1", "// note\nx = [i for i in range(3)]")]))
def test_no_cut_makes_valid_code_invalid(tools: Instruments, length: int, answer: str) -> None:
    [entry] = taken(tools, {"entries": [{"id": "a", "answer_preview": answer[:length]}]}).entries
    assert entry.code is None or entry.code.verdict is not Visible.INVALID


class TestMapping:
    @pytest.mark.parametrize(
        ("content", "said"),
        [
            ("facts: {generater: [x]}", "facts.generater"),
            ("version: legacy@1\nfacts: [", ":2: not YAML"),
            ("version: 1", "version"),
            ("[]", "the file"),
        ],
    )
    def test_that_is_wrong_is_told_with_its_place(self, tmp_path: Path, content: str, said: str) -> None:
        (tmp_path / "mine.yaml").write_text(content)
        with pytest.raises(ConfigError) as caught:
            load_mapping(tmp_path / "mine.yaml")
        assert said in str(caught.value)

    def test_is_compared_by_letters_and_digits(self) -> None:
        assert {plain(name) for name in ("Answer-Relevancy", "answerRelevancy", "answer relevancy")} == {
            "answerrelevancy"
        }
        assert joined("a.b", "c.d") == "a.b.c\\.d"

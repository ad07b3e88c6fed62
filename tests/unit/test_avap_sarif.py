"""SARIF 2.1.0: the structure that the standard asks for, checked key by key."""

from __future__ import annotations

import json
import re
from typing import Any

from avap_language import judge

from core.avap import PARSER_VERSION
from core.avap.sarif import Judged, sarif_log
from core.model.syntax import Category

BAD = "x = 1\nfor i in x:\ny = getSHA256(x)\nend()\naddResult(a + b)\nz = (1"


def written(*files: Judged, unreadable: tuple[str, ...] = ()) -> Any:
    return json.loads(sarif_log(files, unreadable).to_json())


def test_one_run_of_one_tool_with_a_rule_per_category() -> None:
    log = written(Judged(uri="good.avap", result=judge("x = 1")))
    assert set(log) == {"$schema", "version", "runs"}
    assert log["version"] == "2.1.0"
    assert re.fullmatch(r"https://.*/sarif-schema-2\.1\.0\.json", log["$schema"])
    (run,) = log["runs"]
    assert set(run) == {"tool", "invocations", "artifacts", "columnKind", "results"}
    assert run["columnKind"] == "unicodeCodePoints"
    assert run["results"] == []
    assert run["artifacts"] == [{"location": {"uri": "good.avap"}}]
    assert run["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("assay-avap", PARSER_VERSION)
    assert [rule["id"] for rule in driver["rules"]] == [category.value for category in Category]
    for rule in driver["rules"]:
        assert set(rule) == {"id", "name", "shortDescription", "help"}
        assert rule["name"].isalpha()
        assert rule["shortDescription"]["text"].endswith(".")
        assert "```avap" in rule["help"]["markdown"]
        assert rule["help"]["text"]


def test_each_fault_is_a_result_with_its_region() -> None:
    log = written(Judged(uri="a%20b.avap", result=judge(BAD)), Judged(uri="empty.avap", result=judge("")))
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert set(result) == {"ruleId", "ruleIndex", "level", "message", "locations", "properties"}
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] == "error"
        assert all(isinstance(value, str) for value in result["properties"].values())
    *places, empty = [result["locations"][0]["physicalLocation"] for result in run["results"]]
    assert [place["region"] for place in places] == [
        {"startLine": 2, "startColumn": 1, "endColumn": 4},
        {"startLine": 3, "startColumn": 5, "endColumn": 14},
        {"startLine": 5, "startColumn": 11, "endColumn": 12},
        {"startLine": 6, "startColumn": 5, "endColumn": 6},
    ]
    assert {place["artifactLocation"]["uri"] for place in places} == {"a%20b.avap"}
    assert empty == {"artifactLocation": {"uri": "empty.avap"}, "region": {"startLine": 1, "startColumn": 1}}
    messages = [result["message"]["text"] for result in run["results"]]
    assert messages[1] == "unknown command 'getSHA256' — did you mean 'encodeSHA256'?"


def test_braces_of_a_message_are_doubled_as_the_standard_asks() -> None:
    (run,) = written(Judged(uri="x.avap", result=judge("x = {1}")))["runs"]
    assert run["results"][0]["message"]["text"].startswith("AVAP has dicts")
    (run,) = written(Judged(uri="x.avap", result=judge("x = 1 }")))["runs"]
    assert run["results"][0]["message"]["text"] == "'}}' closes nothing: no function is open here"


def test_a_file_that_could_not_be_judged_makes_the_run_unsuccessful() -> None:
    (run,) = written(unreadable=("cannot read x.avap",))["runs"]
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    assert invocation["toolExecutionNotifications"] == [{"level": "error", "message": {"text": "cannot read x.avap"}}]

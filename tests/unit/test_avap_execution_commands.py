"""What each command of both vocabularies does."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from avap_language import vocabulary
from avap_runs import failure, run, value

from core.avap.execution import Inputs
from core.avap.execution.commands import OPERATIONS
from core.errors import ConfigError

DEFINITIONS = "definitions-2026.03"
NOW = {"__now__": "2026-04-06T23:30:15Z"}


def test_every_command_of_both_vocabularies_can_be_executed() -> None:
    known = set(OPERATIONS) | {"go", "addResult"}
    assert known == set(vocabulary().commands) | set(vocabulary(DEFINITIONS).commands)


def test_every_parameter_is_one_of_the_function_that_carries_the_command_out() -> None:
    for command in vocabulary(DEFINITIONS).commands.values():
        if command.name in {"go", "addResult"}:
            continue
        operation = OPERATIONS[command.name]
        accepted = set(operation.run.__code__.co_varnames[1 : operation.run.__code__.co_argcount])
        for form in command.forms:
            assert {parameter.name for parameter in form} - {"target"} <= accepted
        assert operation.variables | operation.names <= accepted


def test_variables_and_parameters() -> None:
    assert value("addVar(x, 1 + 1)") == 2
    assert value('addParam("first name", x)', {"first name": "ada"}) == "ada"
    assert value('x = addParam("missing")') is None
    assert value('getQueryParamList("t", x)', {"t": ["a", "b"]}) == ["a", "b"]
    assert value('getQueryParamList("t", x)', {"t": "a"}) == ["a"]
    assert value('getQueryParamList("t", x)') == []
    assert value("getQueryParamList(x)", {"t": ["a", "b"], "u": "c"}) == ["a", "b", "c"]
    assert value("x = getQueryParamList()", {"u": "c"}) == ["c"]


def test_lists() -> None:
    assert value('y = [1, 2]\ngetListLen("y", x)') == 2
    assert value('y = "año"\nx = getListLen(y)') == 3
    assert failure("y = 5\ngetListLen(y, x)") == "2 type: getListLen needs a list, not a number"
    assert failure("getListLen(y, x)") == "1 name: variable 'y' has no value here"
    assert [value(f"variableToList({v}, x)") for v in ("[1]", "(1, 2)", '"a"', "None")] == [[1], [1, 2], ["a"], [None]]
    assert value('y = [1, 2]\nitemFromList(y, "1", x)') == 2
    assert value("y = [1, 2]\nx = itemFromList(y, -1)") == 2
    assert failure("y = [1]\nitemFromList(y, 1, x)") == "2 value: index 1 is outside a list of 1"
    assert failure("y = [1]\nitemFromList(y, 1.5, x)").endswith("must be a whole number, not a number")
    assert failure("y = {}\nitemFromList(y, 0, x)") == "2 type: itemFromList needs a list, not a dict"


def test_json_objects() -> None:
    assert value('AddVariableToJSON("a", 1, x)\nAddvariableToJSON("b", [True, None], x)') == {"a": 1, "b": [True, None]}
    assert value('x = {"a": 1}\nAddVariableToJSON("a", 2.5, x)') == {"a": 2.5}
    assert failure('x = "text"\nAddVariableToJSON("a", 1, x)') == (
        "2 type: AddVariableToJSON needs a JSON object to add to, not a text"
    )
    assert failure("AddVariableToJSON([1], 1, x)") == "1 type: a list cannot be the key of a dict"
    assert value('x = AddVariableToJSON("a", 1)\nx = AddVariableToJSON("b", 2)') == {"a": 1, "b": 2}


def test_an_object_that_was_passed_on_does_not_change() -> None:
    code = 'all = []\nstartLoop(i, 1, 2)\nAddVariableToJSON("i", i, one)\nall = all + [one]\nendLoop()\nx = all'
    assert value(code) == [{"i": 1}, {"i": 2}]


def test_values_of_json_texts() -> None:
    assert value('variableFromJSON("{\\"a\\": [1, 2.5]}", "a", x)', words=DEFINITIONS) == [1, 2.5]
    assert value('d = {"a": 1}\nvariableFromJSON(d, "b", x)', words=DEFINITIONS) is None
    for text in ('"[1]"', '"{"', '"{\\"a\\": NaN}"', '"{\\"a\\": 1e999}"', '"[" * 5000', "5"):
        assert failure(f"y = {text}\nvariableFromJSON(y, 'a', x)", words=DEFINITIONS).startswith("2 ")


def test_hashes() -> None:
    assert value('encodeSHA256("añ" + "o", x)') == hashlib.sha256("año".encode()).hexdigest()
    assert value("x = encodeMD5(42)") == hashlib.md5(b"42").hexdigest()


def test_replacing_is_literal() -> None:
    assert value('replace("a.b.c", ".", "-", x)') == "a-b-c"
    assert value('replace(1001, 0, "", x)') == "11"
    assert value('replace("abc", "", "-", x)') == "abc"


def test_random_texts_come_from_the_seed() -> None:
    code = 'randomString("[A-F0-9]", 12, x)\nrandomString("[A-F0-9]", 12, y)'
    first, again, other = (run(code, {"__seed__": seed}).variables for seed in (1, 1, 2))
    assert first == again
    assert first["x"] != first["y"]
    assert first["x"] != other["x"]
    assert len(first["x"]) == 12
    assert set(first["x"]) <= set("ABCDEF0123456789")
    assert value("randomString(20, x)").isalnum()
    assert value('randomString("[a-b][0-1]", "5", x)').strip("ab01") == ""
    assert value('randomString("\\\\d", 5, x)').isdigit()
    assert value('randomString("[^a-z]", 50, x)').lower() != ""
    assert value("x = randomString(0)") == ""
    assert failure("randomString(-1, x)") == "1 value: the length of a random text is not negative"
    assert failure('randomString("ñ", 3, x)') == "1 value: the pattern of a random text names no printable sign"
    assert failure('randomString("[", 3, x)').startswith("1 value: the pattern cannot be used")


def test_every_allowed_sign_is_drawn_about_as_often() -> None:
    drawn = value('randomString("[a-d]", 4000, x)')
    assert all(880 < drawn.count(sign) < 1120 for sign in "abcd")


def test_the_present_is_given() -> None:
    assert value('getDateTime("%Y-%m-%d %H:%M:%S", 0, "UTC", x)', NOW) == "2026-04-06 23:30:15"
    assert value('getDateTime("%d/%m/%y %I:%M %p", 3600, "UTC", x)', NOW) == "07/04/26 12:30 AM"
    assert value('getDateTime("%H:%M %z %Z", 0, "Europe/Madrid", x)', NOW) == "01:30 +0200 CEST"
    assert value('getDateTime("%H:%M%z", "-60", "-05:30", x)', NOW) == "17:59-0530"
    assert value('getDateTime("%A %a %B %b %j %%", 0, "GMT", x)', NOW) == "Monday Mon April Apr 096 %"
    assert value('getDateTime("%s %F %T %f", 0, "", x)', NOW) == "1775518215 2026-04-06 23:30:15 000000"
    assert value('getDateTime("%Y", 0, "UTC", x)') == "2026"
    assert value('getDateTime("%H", 0, "UTC", x)', {"__now__": "2026-04-06T12:00:00+02:00"}) == "10"


@pytest.mark.parametrize("zone", ["Mars/Phobos", "../../etc/passwd", "/etc/passwd", "Europe", "+99:00", "a\\0b"])
def test_unknown_zones_are_errors(zone: str) -> None:
    assert failure(f'getDateTime("%Y", 0, "{zone}", x)').startswith("1 value: unknown time zone")


def test_dates_that_do_not_exist_are_errors() -> None:
    assert failure('getDateTime("%Q", 0, "UTC", x)') == "1 value: unknown date code '%Q'"
    assert failure('getDateTime("%9999Y", 0, "UTC", x)') == "1 value: unknown date code '%9'"
    assert failure('getDateTime("%Y", 10 ** 15, "UTC", x)') == "1 value: the date lies outside the years 1 to 9999"
    assert failure('stampToDatetime(10 ** 12, "%Y", 0, x)') == "1 value: the date lies outside the years 1 to 9999"
    assert failure('getDateTime("%Y", -63911115000, "-12:00", x)', NOW).startswith("1 value: the date lies outside")
    assert failure('stampToDatetime("soon", "%Y", 0, x)') == "1 type: a timestamp must be a number, not the text 'soon'"


def test_timestamps() -> None:
    assert value('stampToDatetime(0, "%Y-%m-%d %H:%M", 3600, x)') == "1970-01-01 01:00"
    assert value('stampToDatetime("1767225600.5", "%F %T.%f", 0, x)') == "2026-01-01 00:00:00.500000"
    assert value('getTimeStamp("2026-01-01 01:00", "%Y-%m-%d %H:%M", -3600, x)', words=DEFINITIONS) == 1767225600
    assert value('getTimeStamp("(2026-01-01)", "(%F)", 0, x)', words=DEFINITIONS) == 1767225600
    for text, form in (
        ("2026-13-01", "%Y-%m-%d"),
        ("x", "%Y"),
        ("2026", "%B"),
        ("2026 2026", "%Y %Y"),
        ("", "%" * 999),
    ):
        assert failure(f'getTimeStamp("{text}", "{form}", 0, x)', words=DEFINITIONS).startswith("1 value")


TABLE = 'ormCreateTable("id, name, price", "INTEGER, VARCHAR(20), DECIMAL(10, 2)", "goods", made)\n'
ROWS = TABLE + 'v = [1, "pen", 1.5]\normAccessInsert("id, name, price", v, "goods", w)\nv = {"id": 2, "name": "ink"}\n'
ROWS += 'ormAccessInsert(["id", "name"], v, "goods", w)\n'


def test_tables_are_there_after_they_were_made() -> None:
    code = 'ormCheckTable("goods", a)\n' + TABLE + 'ormCheckTable("Goods", b)\n' + TABLE.replace("made", "again")
    done = run(code)
    assert [done.variables[name] for name in ("a", "b", "made", "again")] == ["False", "True", "True", "False"]


def test_rows_are_written_and_read() -> None:
    assert value(ROWS + 'ormAccessSelect("name, price", "goods", x)') == [
        {"name": "pen", "price": 1.5},
        {"name": "ink", "price": None},
    ]
    assert value(ROWS + 'ormAccessSelect("*", "goods", x, `name = \'ink\'`)') == [
        {"id": 2, "name": "ink", "price": None}
    ]
    assert value(ROWS + 'x = ormAccessSelect("count(*) AS n", "goods", "id > 5")') == [{"n": 0}]
    code = (
        ROWS
        + 'u = [9]\normAccessUpdate("price", u, "goods", "id = 2", w)\n'
        + 'x = ormDirect("SELECT sum(price) AS s FROM goods")'
    )
    assert value(code) == [{"s": 10.5}]
    assert value(ROWS + 'u = 3\nx = ormAccessUpdate("price", u, "goods", "")') == "True"


def test_writes_say_whether_the_table_took_them() -> None:
    assert value('v = [1]\nx = ormAccessInsert("a", v, "nowhere")') == "False"
    assert value('x = ormDirect("DELETE FROM nowhere")') == "False"
    assert value(TABLE + 'x = ormDirect("DELETE FROM goods")') == "True"
    assert (
        value(
            'ormDirect("CREATE TABLE t (a UNIQUE)", y)\nv = 1\n'
            'z = ormAccessInsert("a", v, "t")\nx = ormAccessInsert("a", v, "t")'
        )
        == "False"
    )


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('ormAccessSelect("*", "nowhere", x)', "1 table: SQL: no such table: nowhere"),
        ('ormDirect("SELEKT 1", x)', '1 table: SQL: near "SELEKT": syntax error'),
        ('ormDirect("SELECT 1; SELECT 2", x)', "1 table: SQL: You can only execute one statement at a time."),
        ('ormCreateTable("a, b", "TEXT", "t", x)', "1 table: 2 fields have 1 types"),
        ('ormCreateTable("a", "TEXT); DROP", "t", x)', "1 table: 'TEXT); DROP' are no field types"),
        ('ormCreateTable("a b", "TEXT", "t", x)', "1 table: 'a b' is no name of a field"),
        ('ormCheckTable(1, y)\nx = ormAccessSelect("a", "t; --")', "2 table: 't; --' is no name of a table"),
        (ROWS + 'v = [1]\nx = ormAccessInsert("id, name", v, "goods")', "7 table: 2 fields have 1 values"),
        (ROWS + 'v = {"id": 1}\nx = ormAccessInsert("id, name", v, "goods")', "7 table: the values have no 'name'"),
        ("x = ormAccessSelect(5, 't')", "1 type: fields are a text with commas, not a number"),
    ],
)  # fmt: skip
def test_faulty_table_commands_are_errors(code: str, expected: str) -> None:
    assert failure(code) == expected


def test_values_that_no_column_holds_are_not_written() -> None:
    assert value(TABLE + 'v = 10 ** 30\nx = ormAccessInsert("id", v, "goods")') == "False"
    assert value(
        TABLE
        + 'v = [[1, 2], True]\ny = ormAccessInsert("name, id", v, "goods")\nx = ormDirect("SELECT id, name FROM goods")'
    ) == [{"id": 1, "name": "[1, 2]"}]


def test_what_a_column_holds_is_a_value_of_the_language() -> None:
    assert value("ormDirect(\"SELECT x'0aff' AS a, 'b' AS b, 2.5 AS c\", x)") == [{"a": "0aff", "b": "b", "c": 2.5}]
    assert failure('ormDirect("SELECT 1e999 AS a", x)') == (
        "1 table: SQL: the result is too large for a decimal number"
    )


def test_triggers_are_refused() -> None:
    code = TABLE + 'ormDirect("CREATE TRIGGER a AFTER INSERT ON goods BEGIN SELECT 1; END", x)'
    assert failure(code) == "2 table: SQL: not authorized"


@pytest.mark.parametrize(
    "sql",
    [
        "ATTACH '/tmp/assay-test.db' AS other",
        "DETACH main",
        "PRAGMA database_list",
        "SELECT * FROM pragma_database_list",
        "SELECT load_extension('x')",
        "SELECT writefile('/tmp/x', 'y')",
        "SELECT zeroblob(100)",
        "SELECT randomblob(100)",
        "VACUUM INTO '/tmp/assay-test.db'",
        "CREATE VIRTUAL TABLE t USING fts5(a)",
        "CREATE TEMP TABLE t(a)",
        "SELECT datetime('now', 'localtime')",
    ],
)
def test_sql_reaches_nothing_but_tables(sql: str) -> None:
    assert "table: SQL:" in failure(f'ormDirect("{sql}", x)')


def test_sql_has_the_given_moment_and_the_given_chance() -> None:
    columns = "date('now') AS a, datetime() AS b, current_timestamp AS c, strftime('%Y') AS d"
    code = f"ormDirect(\"SELECT {columns}, date('2026-01-31', '+1 day') AS e\", x)"
    assert value(code, NOW) == [
        {"a": "2026-04-06", "b": "2026-04-06 23:30:15", "c": "2026-04-06 23:30:15", "d": "2026", "e": "2026-02-01"}
    ]
    draw = 'ormDirect("SELECT random() AS r", x)'
    assert value(draw) == value(draw) != value(draw, {"__seed__": 5})


def test_requests_get_the_replies_that_were_given() -> None:
    inputs = {"__http__": {"https://a.b/c": {"n": 1}, "POST https://a.b/d": [1], "https://a.b/c?q=1": "two"}}
    assert value('RequestGet("https://a.b/c", "", {}, x)', inputs) == {"n": 1}
    assert value('x = RequestGet("https://a.b/c", None, None, 500)', inputs) == {"n": 1}
    assert value('RequestPost("https://a.b/d", "", "", {"k": 1}, x, 100)', inputs) == [1]
    assert failure('RequestGet("https://a.b/d", "", "", x)', inputs) == (
        "1 request: no reply is given for GET https://a.b/d (__http__)"
    )
    exact = {"__http__": [{"url": "https://a.b/c?q=1", "body": "two"}]}
    assert value('RequestGet("https://a.b/c", "q=1", "", x)', exact) == "two"
    assert value('RequestGet("https://a.b/c", {"q": 1}, "", x)', exact) == "two"
    assert failure('RequestGet("https://a.b/c", "q=2", "", x)', exact).startswith("1 request")


def test_replies_come_in_order_and_the_last_one_stays() -> None:
    replies = [{"url": "u", "body": "wait"}, {"url": "u", "method": "GET", "body": "done"}]
    code = 'x = []\nstartLoop(i, 1, 3)\nRequestGet("u", "", "", r)\nx = x + [r]\nendLoop()'
    assert value(code, {"__http__": replies}) == ["wait", "done", "done"]


def test_slow_and_failed_replies_are_errors_that_can_be_caught() -> None:
    slow = {"__http__": [{"url": "u", "delay_ms": 300}]}
    assert failure('RequestGet("u", "", "", x, 200)', slow) == "1 request: GET u: no reply within 200 ms"
    assert value('RequestGet("u", "", "", x, 300)', slow) is None
    down = {"__http__": [{"url": "u", "status": 503}]}
    assert value('try()\nRequestGet("u", "", "", r)\nexception(e)\nx = e\nend()', down) == "GET u: status 503"
    assert failure('RequestGet(5, "", "", x)') == "1 type: the address of a request is a text, not a number"
    assert failure('RequestGet("u", "", 5, x)') == "1 type: the headers of a request are a dict, not a number"
    assert failure('RequestGet("u", 5, "", x)') == "1 type: the query string of a request is a text or a dict"


@pytest.mark.parametrize(
    ("inputs", "path"),
    [
        ({"__now__": "yesterday"}, "now"),
        ({"__seed__": "x"}, "seed"),
        ({"__http__": 5}, "http"),
        ({"__http__": [{"body": 1}]}, "http.0.url"),
        ({"__connectors__": {"a": 5}}, "connectors.a"),
        ({"__request__": {"verb": "GET"}}, "request.path"),
        ({"n": float("nan")}, "n"),
        ({"n": {1, 2}}, "n"),
        ({"n": [[float("inf")]]}, "n"),
    ],
)
def test_faulty_test_inputs_are_told_by_field(inputs: dict[str, Any], path: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Inputs.from_mapping(inputs)
    assert caught.value.path == path


def test_test_inputs_that_are_too_deep_are_refused() -> None:
    deep: Any = 1
    for _ in range(100):
        deep = [deep]
    with pytest.raises(ConfigError, match="too large"):
        Inputs.from_mapping({"n": deep})
    with pytest.raises(ConfigError):
        Inputs.from_json('{"n": ' + "[" * 100_000)
    with pytest.raises(ConfigError, match="one JSON object"):
        Inputs.from_json("[]")

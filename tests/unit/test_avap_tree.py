"""The tree: what an interpreter and a formatter will stand on."""

from __future__ import annotations

from avap_language import vocabulary

from core.avap import parse, tree
from core.avap.tree import Span
from core.model.syntax import Dialect, Validity


def program(code: str, dialect: Dialect = Dialect.STRICT) -> tree.Program:
    parsed = parse(code, vocabulary(), dialect)
    assert parsed.result.verdict is Validity.VALID, parsed.result.trace
    return parsed.tree


def expression(text: str) -> tree.Expression:
    (statement,) = program(f"x = {text}").body
    assert isinstance(statement, tree.Assign)
    return statement.value


def shown(node: object) -> object:  # noqa: PLR0911
    """An expression in Python's own terms: names as text, operators as nested tuples."""
    match node:
        case tree.Name() | tree.Global():
            return node.id
        case tree.Number() | tree.Constant() | tree.String():
            return node.value
        case tree.Group():
            return shown(node.inner)
        case tree.Unary():
            return (*node.operators, shown(node.operand))
        case tree.Arithmetic() | tree.Comparison():
            operands = [shown(item) for item in node.operands]
            return tuple(part for pair in zip(operands, (*node.operators, None), strict=True) for part in pair)[:-1]
        case tree.Boolean():
            return (node.operator, *map(shown, node.operands))
        case tree.Conditional():
            return ("if", *((shown(a), shown(c)) for a, c in node.branches), shown(node.otherwise))
    raise AssertionError(node)


def test_precedence_is_that_of_python() -> None:
    assert shown(expression("1 + 2 * 3 - 4")) == (1, "+", (2, "*", 3), "-", 4)
    assert shown(expression("-2 ** 2")) == ("-", (2, "**", 2))
    assert shown(expression("2 ** -1 * 3")) == ((2, "**", ("-", 1)), "*", 3)
    assert shown(expression("not a == b and c or d")) == ("or", ("and", ("not", ("a", "==", "b")), "c"), "d")
    assert shown(expression("a < b + 1 not in c")) == ("a", "<", ("b", "+", 1), "not in", "c")
    assert shown(expression("a if b or c else d if e else f")) == ("if", ("a", ("or", "b", "c")), ("d", "e"), "f")
    assert shown(expression("(1 + 2) * 3")) == ((1, "+", 2), "*", 3)
    assert shown(expression("not not a")) == ("not", "not", "a")


def test_access_is_a_base_and_its_trailers() -> None:
    value = expression("rows[0].name[1:][k](a, 'b')")
    assert isinstance(value, tree.Access)
    assert shown(value.base) == "rows"
    index, attribute, piece, key, call = value.trailers
    assert isinstance(index, tree.Index)
    assert shown(index.key) == 0
    assert isinstance(attribute, tree.Attribute)
    assert attribute.name == "name"
    assert isinstance(piece, tree.Slice)
    assert (shown(piece.start), piece.stop, piece.step) == (1, None, None)
    assert isinstance(key, tree.Index)
    assert isinstance(call, tree.Call)
    assert [shown(item) for item in call.arguments] == ["a", "b"]


def test_displays() -> None:
    pairs = expression("{'a': 1, b: [2, (3, 4)]}")
    assert isinstance(pairs, tree.DictDisplay)
    assert [(shown(key)) for key, _ in pairs.items] == ["a", "b"]
    values = pairs.items[1][1]
    assert isinstance(values, tree.ListDisplay)
    assert isinstance(values.items[1], tree.TupleDisplay)
    assert isinstance(expression("()"), tree.TupleDisplay)
    assert isinstance(expression("(1)"), tree.Group)


def test_comprehension() -> None:
    value = expression("[a + b for a in xs if a for b, c in a]")
    assert isinstance(value, tree.Comprehension)
    assert shown(value.element) == ("a", "+", "b")
    first, second = value.clauses
    assert [token.text for token in first.names] == ["a"]
    assert [shown(item) for item in first.conditions] == ["a"]
    assert [token.text for token in second.names] == ["b", "c"]
    assert shown(second.source) == "a"


def test_texts() -> None:
    value = expression(r'"a\n\"b\" \\ \q"')
    assert isinstance(value, tree.String)
    assert value.value == 'a\n"b" \\ q'
    template = expression(r"`Hi ${user.name}\n${x}!`")
    assert isinstance(template, tree.Template)
    texts = [part if isinstance(part, str) else part.path for part in template.parts]
    assert texts == ["Hi ", ("user", "name"), "\n", ("x",), "!"]


def test_blocks() -> None:
    code = """if(a, 1, ">=")
  x = 1
else()
  x = 2
  y = 3
end()
startLoop(i, 0, n)
  addResult(i)
endLoop()
try()
  z = 1
exception(err)
  addResult(err)
end()
function f(a, b){ return(a) }
if(None, None, `a // 2 > 1`)
end()
"""
    choice, loop, attempt, function, second = program(code).body
    assert isinstance(choice, tree.If)
    assert isinstance(choice.condition, tree.Compare)
    assert choice.condition.operator == ">="
    assert len(choice.body) == 1
    assert choice.otherwise is not None
    assert len(choice.otherwise.body) == 2
    assert choice.span == Span(1, 1, 6, 6)
    assert isinstance(loop, tree.Loop)
    assert (loop.variable, shown(loop.start), shown(loop.stop)) == ("i", 0, "n")
    assert isinstance(attempt, tree.Try)
    assert attempt.handler is not None
    assert (attempt.handler.variable, attempt.handler.line) == ("err", 12)
    assert isinstance(function, tree.Function)
    assert (function.name, function.parameters, len(function.body)) == ("f", ("a", "b"), 1)
    assert isinstance(second, tree.If)
    assert isinstance(second.condition, tree.Evaluate)
    assert shown(second.condition.expression) == (("a", "//", 2), ">", 1)
    assert second.condition.expression.first.column == 17


def test_statements() -> None:
    code = """h = encodeSHA256(x)
RequestGet(u, q, h, r, 5)
f(1)
r = $c.read(1, 2)
import <std/io>
function f(a){
return a + 1
}
"""
    digest, request, call, connector, module, function = program(code).body
    assert isinstance(digest, tree.Command)
    assert (digest.name, digest.parameters, digest.target) == ("encodeSHA256", ("value",), "h")
    assert digest.span == Span(1, 1, 1, 20)
    assert isinstance(request, tree.Command)
    assert request.parameters == ("url", "query", "headers", "target", "timeout_ms")
    assert request.target is None
    assert isinstance(call, tree.FunctionCall)
    assert call.name == "f"
    assert isinstance(connector, tree.ConnectorCall)
    assert (connector.method, connector.target, len(connector.arguments)) == ("read", "r", 2)
    assert isinstance(module, tree.Module)
    assert (module.keyword, module.target, module.quoted) == ("import", "std/io", False)
    assert isinstance(function, tree.Function)
    assert isinstance(function.body[0], tree.Return)


def test_aliases_have_one_name_and_bare_arguments_their_text() -> None:
    json, request = program("AddvariableToJSON('k', two words, d)\nRequestGet(u, , , r)", Dialect.LENIENT).body
    assert isinstance(json, tree.Command)
    assert json.name == "AddVariableToJSON"
    bare = json.arguments[1]
    assert isinstance(bare, tree.BareText)
    assert (bare.value, bare.span) == ("two words", Span(1, 24, 1, 33))
    assert isinstance(request, tree.Command)
    assert isinstance(request.arguments[1], tree.Missing)


def test_comments_and_lines_are_kept() -> None:
    read = program("/// title\nx = 1 // why\n/* a\nb */ y = 2\r\n")
    assert [(comment.text, comment.line, comment.column) for comment in read.comments] == [
        ("/// title", 1, 1),
        ("// why", 2, 7),
        ("/* a\nb */", 3, 1),
    ]
    assert read.lines == ("/// title", "x = 1 // why", "/* a", "b */ y = 2", "")


def test_walk_visits_every_node_in_order_however_deep() -> None:
    read = program("x = y")
    assert [type(node).__name__ for node in tree.walk(read)] == ["Assign", "Name"]
    deep = program("x = " + "(" * 200 + "y" + ")" * 200)
    assert sum(isinstance(node, tree.Group) for node in tree.walk(deep)) == 200
    code = 'if(a, b, "=")\nc = [d, {e: `${f}`}]\nelse()\ng(h[i])\nend()\nfunction g(p){\n}'
    names = [node.id for node in tree.walk(program(code)) if isinstance(node, tree.Name)]
    assert names == ["a", "b", "d", "e", "h", "i"]


def test_spans_cover_the_text_of_each_node() -> None:
    code = "total = price * (1 + rate) - discount[0].value"
    (statement,) = program(code).body
    assert isinstance(statement, tree.Assign)
    for node in tree.walk(program(code)):
        assert node.span.line == node.span.end_line == 1
        assert code[node.span.column - 1 : node.span.end_column - 1].strip()
    span = statement.value.span
    assert code[span.column - 1 : span.end_column - 1] == "price * (1 + rate) - discount[0].value"

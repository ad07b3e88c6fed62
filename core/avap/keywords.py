"""The rules of the grammar's own words: blocks, functions, return and modules."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from core.avap import tokens as t
from core.avap import tree
from core.avap.blocks import Block, Header
from core.avap.diagnostics import Mistake, malformed, misplaced, quoted
from core.avap.expressions import read_arguments, read_expression
from core.avap.refusals import refused
from core.avap.shapes import name_in
from core.avap.statements import Rule, Statements
from core.avap.texts import string_value
from core.avap.tokens import END, Token, end_token, tokens_of_expression

OPERATORS: Final = frozenset({"=", "==", "!=", ">", "<", ">=", "<=", "in"})
_SIGNS: Final = OPERATORS | {"===", "!==", "<>", "&&", "||", "!", "is", "not", "and", "or", "+", "-", "*", "/", "%"}
"""What can be taken for an operator in its place."""
_IF_FORMS: Final = 'if(a, b, "==")'


def _arguments(reading: Statements, tokens: list[Token], usage: str) -> tuple[tree.Expression, ...]:
    """The arguments of a keyword that is written like a command, and that must fill its line."""
    word = tokens[0]
    if tokens[1].kind != "(":
        raise misplaced(word, f"{quoted(word.text)} needs its brackets", usage)
    arguments, index = read_arguments(tokens, 1, reading.calls)
    if tokens[index].kind != END:
        raise refused(tokens[index])
    return arguments


def _arity(word: Token, arguments: tuple[tree.Expression, ...], count: int, usage: str) -> None:
    if len(arguments) != count:
        plural = "" if count == 1 else "s"
        raise misplaced(word, f"{word.text} takes {count or 'no'} argument{plural}, not {len(arguments)}", usage)


def _if(reading: Statements, tokens: list[Token]) -> None:
    condition: tree.Compare | tree.Evaluate | None = None
    try:
        condition = _condition(reading, tokens)
        reading.counts["if_mode2" if isinstance(condition, tree.Evaluate) else "if_mode1"] += 1
    finally:
        reading.blocks.open(Block.IF, tokens[0], Header(condition=condition))


def _condition(reading: Statements, tokens: list[Token]) -> tree.Compare | tree.Evaluate:
    word = tokens[0]
    place = _bare_operator(tokens)
    if place is not None:
        if tokens[place + 1].kind == ",":
            raise misplaced(word, "if takes 3 arguments, the operator last", _IF_FORMS)
        _known_operator(tokens[place], tokens[place].text)
        arguments = _arguments(reading, [*tokens[: place - 1], *tokens[place + 1 :]], _IF_FORMS)
        if len(arguments) != 2:
            raise misplaced(word, f"if takes 3 arguments, not {len(arguments) + 1}", _IF_FORMS)
        left, right = arguments
        return tree.Compare(left.first, tokens[place], left, tokens[place].text, right)
    arguments = _arguments(reading, tokens, _IF_FORMS)
    _arity(word, arguments, 3, _IF_FORMS)
    left, right, third = arguments
    if all(isinstance(side, tree.Constant) and side.value is None for side in (left, right)):
        return _evaluate(reading, third)
    if not isinstance(third, tree.String):
        raise misplaced(third.first, "the third argument of if(...) is a comparison operator", '"=="')
    _known_operator(third.first, third.value)
    return tree.Compare(left.first, third.last, left, third.value, right)


def _bare_operator(tokens: list[Token]) -> int | None:
    """Where an operator stands as an argument of its own, without quotes."""
    for place in range(3, len(tokens) - 1):
        if tokens[place].kind in _SIGNS and tokens[place - 1].kind == "," and tokens[place + 1].kind in {",", ")"}:
            return place
    return None


def _known_operator(token: Token, operator: str) -> None:
    if operator not in OPERATORS:
        known = "= == != > < >= <= in"
        suggestion = {"===": "==", "!==": "!=", "<>": "!="}.get(operator)
        raise misplaced(token, f"{quoted(operator)} is no comparison: if(...) knows {known}", suggestion)


def _evaluate(reading: Statements, text: tree.Expression) -> tree.Evaluate:
    """The condition of mode 2: the text of a template or string, read as an expression."""
    place = text.first
    if not isinstance(text, (tree.Template, tree.String)):
        raise misplaced(
            place, "the expression of a mode-2 if(...) stands in back-ticks", "if(None, None, `expression`)"
        )
    source = string_value(place.text)
    tokens = tokens_of_expression(source, place.line, place.column + 1)
    if not tokens:
        raise malformed(place, "the expression of this if(...) is empty")
    tokens.append(end_token(tokens))
    expression, index = read_expression(tokens, 0, reading.calls)
    if tokens[index].kind == "=":
        raise malformed(tokens[index], "a single '=' compares nothing here", "==")
    if tokens[index].kind != END:
        raise refused(tokens[index])
    return tree.Evaluate(place, place, source, expression)


def _else(reading: Statements, tokens: list[Token]) -> None:
    mistake = _without_arguments(reading, tokens, "else()")
    reading.blocks.otherwise(tokens[0])
    reading.counts["else"] += 1
    if mistake is not None:
        raise mistake


def _end(reading: Statements, tokens: list[Token]) -> None:
    mistake = _without_arguments(reading, tokens, "end()")
    reading.blocks.end(tokens[0], tokens[-2])
    if mistake is not None:
        raise mistake


def _end_loop(reading: Statements, tokens: list[Token]) -> None:
    mistake = _without_arguments(reading, tokens, "endLoop()")
    reading.blocks.end_loop(tokens[0], tokens[-2])
    if mistake is not None:
        raise mistake


def _without_arguments(reading: Statements, tokens: list[Token], usage: str) -> Mistake | None:
    """What is wrong with a `word()`; returned, since the word does its work on the blocks all the same."""
    try:
        _arity(tokens[0], _arguments(reading, tokens, usage), 0, usage)
    except Mistake as mistake:
        return mistake
    return None


def _start_loop(reading: Statements, tokens: list[Token]) -> None:
    usage = "startLoop(variable, from, to)"
    header = Header()
    try:
        arguments = _arguments(reading, tokens, usage)
        _arity(tokens[0], arguments, 3, usage)
        variable, header.start, header.stop = arguments
        if not isinstance(variable, tree.Name):
            raise misplaced(
                variable.first, "the first argument of startLoop(...) is the plain name of a variable", usage
            )
        header.variable = variable.id
        reading.counts["startLoop"] += 1
    finally:
        reading.blocks.open(Block.LOOP, tokens[0], header)


def _try(reading: Statements, tokens: list[Token]) -> None:
    mistake = _without_arguments(reading, tokens, "try()")
    reading.counts["try"] += 1
    reading.blocks.open(Block.TRY, tokens[0])
    if mistake is not None:
        raise mistake


def _exception(reading: Statements, tokens: list[Token]) -> None:
    variable: str | None = None
    try:
        arguments = _arguments(reading, tokens, "exception(error)")
        if arguments:
            _arity(tokens[0], arguments, 1, "exception(error)")
            variable = name_in(arguments[0])
            if variable is None:
                raise misplaced(arguments[0].first, "exception(...) takes the name of a variable", "exception(error)")
    finally:
        reading.blocks.exception(tokens[0], variable)


def _function(reading: Statements, tokens: list[Token]) -> None:
    usage = "function name(a, b){"
    header = Header(braced=any(token.kind is t.BLOCK_OPEN for token in tokens))
    name = tokens[1]
    try:
        if reading.blocks.in_function:
            raise misplaced(tokens[0], "a function cannot be declared inside a function")
        if name.kind is not t.NAME or tokens[2].kind != "(":
            raise misplaced(tokens[0], "a function is declared with its name and brackets", usage)
        header.variable = name.text
        header.parameters = _parameters(tokens)
        if name.text in reading.names.functions:
            raise misplaced(name, f"function {quoted(name.text)} is declared twice")
        reading.counts["function"] += 1
    finally:
        if name.kind is t.NAME:
            known = reading.names.functions
            known[name.text] = known.get(name.text, len(header.parameters) if header.variable else None)
        reading.blocks.open(Block.FUNCTION, tokens[0], header)
    if not header.braced:
        raise misplaced(tokens[0], "the body of a function stands in braces", usage)


def _parameters(tokens: list[Token]) -> tuple[str, ...]:
    """The names between the brackets of a function's header. Raises Mistake for anything else there."""
    names: list[str] = []
    index = 3
    while tokens[index].kind != ")" or names:
        token, after = tokens[index], tokens[min(index + 1, len(tokens) - 1)]
        if token.kind is not t.NAME:
            raise (
                malformed(token, "the parameters of a function are plain names")
                if token.kind != END
                else refused(token)
            )
        if token.text in names:
            raise misplaced(token, f"parameter {quoted(token.text)} is named twice")
        names.append(token.text)
        index += 2
        if after.kind == ")":
            index -= 1
            break
        if after.kind != ",":
            raise malformed(after, "the parameters of a function are plain names, without types or defaults")
    after = tokens[min(index + 1, len(tokens) - 1)]
    if after.kind not in {t.BLOCK_OPEN, END}:
        raise refused(after)
    return tuple(names)


def _return(reading: Statements, tokens: list[Token]) -> None:
    word = tokens[0]
    if not reading.blocks.in_function:
        raise misplaced(word, "return stands only inside a function")
    if tokens[1].kind == END:
        raise misplaced(word, "return needs its brackets", "return()")
    value: tree.Expression | None = None
    if [token.kind for token in tokens[1:]] != ["(", ")", END]:
        value, index = read_expression(tokens, 1, reading.calls)
        if tokens[index].kind != END:
            raise refused(tokens[index])
        if isinstance(value, tree.TupleDisplay):
            raise misplaced(word, f"return takes one value, not {len(value.items)}", "return([...])")
    reading.add(tree.Return(word, tokens[-2], value), "return")


def _module(reading: Statements, tokens: list[Token]) -> None:
    """`import` and `include`. Their shape is not verified against the manual: all of it is here."""
    word, target = tokens[0], tokens[1]
    quoted_file = target.kind is t.STRING
    end = 2
    reading.names.saw_import = True
    if target.kind == "<":
        end = next((place for place, token in enumerate(tokens) if token.kind == ">"), 0) + 1
        inner = tokens[2 : end - 1]
        if not inner or any(token.kind not in {t.NAME, ".", "/", "-"} for token in inner):
            raise malformed(target, f"'<' of {word.text} takes one name and '>'", f"{word.text} <name>")
        text = "".join(token.text for token in inner)
    elif target.kind is t.NAME or quoted_file:
        text = string_value(target.text) if quoted_file else target.text
    else:
        raise misplaced(word, f"{word.text} takes a name or a quoted file, without brackets", f'{word.text} "file"')
    if tokens[end].kind != END:
        raise refused(tokens[end])
    if not text:
        raise malformed(target, f"{word.text} of an empty file name", f'{word.text} "file"')
    if not quoted_file:
        reading.names.imported.add(text)
    reading.add(tree.Module(word, tokens[end - 1], word.text, text, quoted_file), word.text)


RULES: Final = MappingProxyType[str, Rule](
    {
        "if": _if,
        "else": _else,
        "end": _end,
        "startLoop": _start_loop,
        "endLoop": _end_loop,
        "try": _try,
        "exception": _exception,
        "function": _function,
        "return": _return,
        "import": _module,
        "include": _module,
    }
)

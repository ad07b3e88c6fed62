"""One logical line to one statement: what leads it decides which rule reads it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

from core.avap import foreign, tree
from core.avap import tokens as t
from core.avap.bare import BareCall, read_bare_call
from core.avap.blocks import Block, Blocks
from core.avap.diagnostics import MAX_DIAGNOSTICS, Fault, Mistake, at, malformed, misplaced, quoted
from core.avap.expressions import read_arguments, read_expression
from core.avap.frames import CallSite
from core.avap.hints import AUGMENTED, VALUE_ALONE, after_call, after_value, increment, value_alone
from core.avap.lines import LogicalLine
from core.avap.names import Names, Pending
from core.avap.shapes import name_in, parameters_of, usage
from core.avap.tokens import END, Token, end_token
from core.avap.vocabulary import BUILTINS, KEYWORDS, Command, ParameterKind, Vocabulary
from core.model.syntax import Category, Dialect

ACCEPTED_BY_LENIENT: Final = "accepted by dialect lenient"
_BLOCK_BRACES: Final = frozenset({t.BLOCK_OPEN, t.BLOCK_CLOSE})
_LEADING: Final = 16
"""Tokens that show whether a statement begins as another language's would."""
_ODD_STARTS: Final = frozenset({t.HASH, "else"})
_ASKED_OF_A_VALUE: Final = frozenset({".", "[", *AUGMENTED})
"""After one of these a keyword is taken for a variable."""


Rule = Callable[["Statements", list[Token]], None]
"""Reads a line led by one keyword. Raises Mistake."""


class Statements:
    """Reads the logical lines of one program in order, into `blocks`, `names`, `counts` and `faults`."""

    def __init__(
        self,
        texts: tuple[str, ...],
        vocabulary: Vocabulary,
        dialect: Dialect,
        names: Names,
        rules: Mapping[str, Rule],
    ) -> None:
        self.faults: list[Fault] = []
        self.counts: Counter[str] = Counter()
        self.names = names
        self.blocks = Blocks(self.faults.append)
        self.vocabulary = vocabulary
        self.calls: list[CallSite] = []
        """Names called by the expressions of the line at hand."""
        self._texts = texts
        self._dialect = dialect
        self._rules = rules
        self._language: str | None = None
        """The language of the last foreign construct."""

    def read(self, line: LogicalLine) -> None:
        """Take in one line. Raises LimitReached when blocks nest too deeply."""
        tokens = line.tokens
        if (
            line.bare is not None
            and self._dialect is Dialect.LENIENT
            and line.bare.word.text in self.vocabulary.spellings
        ):
            self._bare_call(line.bare)
        elif line.notable:
            self._notable(tokens)
        elif tokens[0].text in foreign.LEADS or tokens[-1].kind == ":" or tokens[0].kind in _ODD_STARTS:
            found = foreign.find(tokens)
            if found is None:
                self._one(tokens)
            else:
                self._foreign(tokens, found)
        else:
            self._one(tokens)

    def text_of(self, token: Token) -> str:
        """The physical line that `token` stands on."""
        return self._texts[token.line - 1]

    def between(self, first: Token, last: Token) -> str:
        """The source from `first` to `last`; of several lines only the first."""
        text = self.text_of(first)
        return text[first.column - 1 : last.end_column - 1 if last.line == first.line else None].rstrip()

    def report(self, fault: Fault) -> None:
        """Keep a fault."""
        self.faults.append(fault)

    def add(self, statement: tree.Statement, node_type: str | None) -> None:
        """Keep a statement, counted under `node_type`."""
        self.blocks.body.append(statement)
        if node_type is not None:
            self.counts[node_type] += 1

    # Lines with braces or signs of other languages

    def _notable(self, tokens: list[Token]) -> None:
        """Read a line that may hold several statements, since braces divide it.

        Takes time linear in the line: its rest is given up when it has as many faults as are ever told.
        """
        mark = len(self.faults)
        start = self._after_closers(tokens, 0)
        if start == len(tokens) or (start == len(tokens) - 1 and self.blocks.accept_brace(tokens[start])):
            return
        found = foreign.find(tokens[start:])
        while found is None:
            stop = next((place for place in range(start, len(tokens)) if tokens[place].kind in _BLOCK_BRACES), None)
            if stop is not None and tokens[stop].kind is t.BLOCK_OPEN:
                stop += 1
            self._one(tokens[start:stop])
            start = len(tokens) if stop is None else self._after_closers(tokens, stop)
            if start == len(tokens) or len(self.faults) - mark > MAX_DIAGNOSTICS:
                return
            found = foreign.find_leading(tokens[start : start + _LEADING], tokens[-1])
        self._foreign(tokens[start:], found)

    def _after_closers(self, tokens: list[Token], start: int) -> int:
        """Where the closing braces that begin at `start` end; with a foreign brace, brackets of its call go too."""
        place, stray = start, None
        while place < len(tokens) and tokens[place].kind is t.BLOCK_CLOSE:
            closed = None if stray else self.blocks.close_brace(tokens[place])
            if closed is None:
                stray = stray or tokens[place]
            place += 1
            if closed is not Block.FUNCTION:
                while place < len(tokens) and tokens[place].kind in {")", ";", ",", "]"}:
                    place += 1
        if stray is not None:
            self.report(at(stray, Category.UNEXPECTED_CONSTRUCT, "'}' closes nothing: no function is open here"))
        ends = place > start and place == len(tokens) - 1 and tokens[place].kind == ";"
        return len(tokens) if ends else place

    def _foreign(self, tokens: list[Token], found: foreign.Found) -> None:
        self._language = foreign.language_of(self.text_of(tokens[0]), found.construct, self._language)
        self.report(foreign.fault_of(found.token, found.construct, self._language))
        opened = [token for token in tokens if token.kind is t.BLOCK_OPEN]
        closed = sum(token.kind is t.BLOCK_CLOSE for token in tokens)
        for token in opened[closed:]:
            self.blocks.open(Block.BRACE, token)
        if opened:
            self.blocks.owed += tokens[0].text in {"if", "startLoop", "try"}
        elif found.construct.owes_closer:
            self.blocks.owed += 1

    # One statement

    def _one(self, tokens: list[Token]) -> None:
        mark = len(self.faults)
        self.calls = []
        if tokens[-1].kind == ";":
            if len(tokens) == 1:
                self.report(at(tokens[0], Category.SYNTAX_ERROR, "a ';' alone is no statement"))
                return
            tokens = tokens[:-1]
        tokens.append(end_token(tokens))
        try:
            self._dispatch(tokens)
        except Mistake as mistake:
            self.report(mistake.fault)
        self._resolve_calls()
        if len(self.faults) > mark:
            self._reread(tokens[0], mark)

    def _dispatch(self, tokens: list[Token]) -> None:
        first, second = tokens[0], tokens[1].kind if len(tokens) > 1 else END
        word = first.text
        if first.kind is t.NAME:
            if second == "=":
                self._assignment(tokens)
                return
            if second == "(":
                command = self.vocabulary.spellings.get(word)
                if command is not None:
                    self._command(tokens, command)
                    return
            rule = self._rules.get(word)
            if rule is not None and (second not in _ASKED_OF_A_VALUE or (second == "[" and word == "return")):
                rule(self, tokens)
            elif second == "(":
                self._call(tokens)
            elif second in {t.NAME, END} and self._respelled(tokens):
                return
            else:
                self._bare_line(tokens)
        elif first.kind in {"if", "else"}:
            self._rules[word](self, tokens)
        else:
            self._bare_line(tokens)

    def _command(self, tokens: list[Token], command: Command) -> None:
        arguments, index = read_arguments(tokens, 1, self.calls)
        if tokens[index].kind != END:
            raise after_call(tokens[index])
        self.command(command, tokens[0], arguments, (tokens[0], tokens[index - 1]), None)

    def command(
        self,
        command: Command,
        word: Token,
        arguments: tuple[tree.Expression, ...],
        ends: tuple[Token, Token],
        target: str | None,
    ) -> None:
        """Check a command against its shape and keep it. Raises Mistake."""
        forms = command.forms if target is None else command.assigned_forms
        if not forms:
            raise misplaced(word, f"{word.text} gives no result to assign", usage(command, command.forms))
        parameters = parameters_of(command, word, arguments, forms)
        for parameter, argument in zip(parameters, arguments, strict=True):
            if parameter.kind is ParameterKind.FUNCTION:
                given = len(arguments) - 1 if parameters[-1].repeated or command.forms[0][-1].repeated else None
                self._function_named(argument, given)
        names = tuple(parameter.name for parameter in parameters)
        self.add(tree.Command(*ends, command.name, arguments, names, target), command.node_type)

    def _function_named(self, argument: tree.Expression, given: int | None) -> None:
        name = name_in(argument)
        assert name is not None
        self._pending(Pending(argument.first, name, given, "function"))

    def _pending(self, pending: Pending) -> None:
        fault = self.names.call(pending)
        if fault is not None:
            self.report(fault)

    def _assignment(self, tokens: list[Token]) -> None:
        target, third = tokens[0].text, tokens[2]
        after = tokens[3].kind if len(tokens) > 3 else END
        if after == "(" and third.text in _NEVER_ASSIGNED:
            raise misplaced(third, f"{quoted(third.text)} gives no value to assign")
        command = self.vocabulary.spellings.get(third.text) if after == "(" else None
        if command is not None:
            arguments, index = read_arguments(tokens, 3, self.calls)
            if tokens[index].kind != END:
                self.calls.insert(0, CallSite(third))
                read_expression(tokens, 2, [])
                return
            self.command(command, third, arguments, (tokens[0], tokens[index - 1]), target)
            return
        value, index = read_expression(tokens, 2, self.calls)
        if tokens[index].kind != END:
            raise after_value(tokens, index, self.between)
        self._assigned(tokens[0], value)

    def _assigned(self, target: Token, value: tree.Expression) -> None:
        call = connector_call(value, target)
        if call is not None:
            self.add(call, "connector_call")
        else:
            self.add(tree.Assign(target, value.last, target.text, value), "assign")

    def _call(self, tokens: list[Token]) -> None:
        """`word(...)` where the vocabulary has no such command: a function, or a slip."""
        word = tokens[0]
        if word.text in _GO_ASYNC:
            self.blocks.open(Block.GO_ASYNC, word)
            raise misplaced(word, "the go_async(...) block is gone: start a function with go", "id = go(function_name)")
        if self._respelled(tokens):
            return
        self.calls.append(CallSite(word))
        arguments, index = read_arguments(tokens, 1, self.calls)
        self.calls[0].arguments = len(arguments)
        if tokens[index].kind != END:
            raise after_call(tokens[index])
        if word.text in BUILTINS and word.text not in self.names.functions:
            raise malformed(word, VALUE_ALONE, f"name = {self.between(word, tokens[index - 1])}")
        self.add(tree.FunctionCall(word, tokens[index - 1], word.text, arguments), None)

    def _respelled(self, tokens: list[Token]) -> bool:
        """Read a line led by a slip of a keyword as if it were right, its fault told; False when it is none."""
        word = tokens[0]
        meant = self.names.keyword_meant(word.text)
        if meant is None:
            return False
        self.report(self.names.unknown(word, word.text))
        right = word._replace(text=meant, kind=meant if meant in t.WORD_OPERATORS else t.NAME)
        self._rules[meant](self, [right, *tokens[1:]])
        return True

    def _resolve_calls(self) -> None:
        for site in self.calls:
            name = site.token.text
            if name in self.vocabulary.spellings or name in KEYWORDS:
                message = f"{name}(...) is a statement of its own and cannot stand inside an expression"
                self.report(at(site.token, Category.UNEXPECTED_CONSTRUCT, message))
            else:
                self._pending(Pending(site.token, name, site.arguments))

    # Lines that are no statement

    def _bare_line(self, tokens: list[Token]) -> None:
        mistake = increment(tokens)
        if mistake is not None:
            raise mistake
        value, index = read_expression(tokens, 0, self.calls)
        if tokens[index].kind != END:
            raise after_value(tokens, index, self.between)
        call = connector_call(value, None)
        if call is None:
            raise value_alone(value, self.between(value.first, value.last), self.vocabulary)
        self.add(call, "connector_call")

    # Bare text

    def _reread(self, first: Token, mark: int) -> None:
        """Where reading the line that `first` begins has failed, see whether bare text explains it."""
        if not any(fault.category is Category.SYNTAX_ERROR for fault in self.faults[mark:]):
            return
        text = self.text_of(first)
        call = None if text[: first.column - 1].strip() else read_bare_call(text, first.line)
        if call is None or call.word.text not in self.vocabulary.spellings:
            return
        strict = self.faults[mark:]
        del self.faults[mark:]
        kept = len(self.blocks.body)
        self._bare_call(call)
        if self._dialect is Dialect.LENIENT:
            return
        accepted = len(self.faults) == mark
        del self.blocks.body[kept:]
        self.faults[mark:] = [_bare_fault(call)] if accepted else strict

    def _bare_call(self, call: BareCall) -> None:
        self.calls = list(call.calls)
        target = call.target.text if call.target else None
        command = self.vocabulary.spellings[call.word.text]
        try:
            self.command(command, call.word, call.arguments, (call.target or call.word, call.last), target)
        except Mistake as mistake:
            self.report(mistake.fault)
        self._resolve_calls()


def _bare_fault(call: BareCall) -> Fault:
    bare = call.first_bare
    if isinstance(bare, tree.Missing):
        return at(bare.first, Category.SYNTAX_ERROR, f"an argument is empty ({ACCEPTED_BY_LENIENT})", '""', ",")
    text = bare.first.text
    suggestion = '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return at(bare.first, Category.SYNTAX_ERROR, f"text without quotes ({ACCEPTED_BY_LENIENT})", suggestion)


def connector_call(value: tree.Expression, target: Token | None) -> tree.ConnectorCall | None:
    """`value` as `name.method(args)`, or None when it is anything else."""
    if not isinstance(value, tree.Access) or len(value.trailers) != 2:
        return None
    method, call = value.trailers
    if not isinstance(method, tree.Attribute) or not isinstance(call, tree.Call):
        return None
    if not isinstance(value.base, (tree.Name, tree.Global)):
        return None
    first, name = (target, target.text) if target else (value.first, None)
    return tree.ConnectorCall(first, value.last, value.base, method.name, call.arguments, name)


_GO_ASYNC: Final = frozenset({"go_async", "goAsync"})
_NEVER_ASSIGNED: Final = _GO_ASYNC | KEYWORDS

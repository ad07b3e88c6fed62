"""The shape of a command: number and kind of its arguments, as the vocabulary has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from core.avap import tree
from core.avap.diagnostics import misplaced, quoted
from core.avap.tokens import Token
from core.avap.vocabulary import Command, Form, Parameter, ParameterKind

METHODS: Final = ("GET", "POST", "PUT", "DELETE")
_NAMES: Final = frozenset({ParameterKind.TARGET, ParameterKind.VARIABLE, ParameterKind.FUNCTION})
_WANTED: Final = {
    ParameterKind.TARGET: "the name of the variable that receives the result",
    ParameterKind.VARIABLE: "the name of a variable",
    ParameterKind.FUNCTION: "the name of a function",
    ParameterKind.REQUEST_PARAMETER: "the name of a request parameter",
}


def parameters_of(
    command: Command, word: Token, arguments: Sequence[tree.Expression], forms: Sequence[Form]
) -> tuple[Parameter, ...]:
    """The parameter that each argument fills.

    Raises Mistake when no form takes that many arguments or an argument is of the wrong kind.
    """
    count = len(arguments)
    for form in forms:
        repeated = bool(form) and form[-1].repeated
        if count == len(form) and not repeated:
            matched = form
            break
        if _least(form) <= count and (count <= len(form) or repeated):
            matched = form[:count] if not repeated else (*form[:-1], *(form[-1:] * (count - len(form) + 1)))
            break
    else:
        raise misplaced(word, f"{word.text} takes {_counts(forms)}, not {count}", usage(command, forms))
    for parameter, argument in zip(matched, arguments, strict=True):
        if parameter.kind is not ParameterKind.VALUE:
            _check_kind(command, parameter, argument)
    return matched


def name_in(argument: tree.Expression) -> str | None:
    """The name that an argument gives, bare or quoted; None when it is anything else."""
    if isinstance(argument, tree.Name):
        return argument.id
    if isinstance(argument, tree.String) and argument.value.isidentifier():
        return argument.value
    return None


def usage(command: Command, forms: Sequence[Form]) -> str:
    """How the first form is written, for a suggestion."""
    form = forms[0]
    written = ", ".join(f"[{item.name}]" if item.optional else item.name for item in form)
    prefix = "" if forms is command.forms else "target = "
    return f"{prefix}{command.name}({written})"


def _least(form: Form) -> int:
    return sum(not parameter.optional for parameter in form)


def _counts(forms: Sequence[Form]) -> str:
    """`2 arguments`, `4 or 5 arguments`, `1 argument or more`."""
    if any(form and form[-1].repeated for form in forms):
        least = min(_least(form) for form in forms)
        return f"{least} argument{'s' * (least != 1)} or more"
    counts = sorted({count for form in forms for count in range(_least(form), len(form) + 1)})
    return f"{' or '.join(map(str, counts))} argument{'s' * (counts != [1])}"


def _check_kind(command: Command, parameter: Parameter, argument: tree.Expression) -> None:
    kind = parameter.kind
    if kind is ParameterKind.METHOD:
        if isinstance(argument, tree.String) and argument.value not in METHODS:
            near = argument.value.upper()
            raise misplaced(
                argument.first,
                f"{command.name} knows the methods {', '.join(METHODS)}, not {quoted(argument.value)}",
                near if near in METHODS else None,
            )
        return
    if kind is ParameterKind.REQUEST_PARAMETER:
        fits = isinstance(argument, tree.Name) or (isinstance(argument, tree.String) and bool(argument.value))
    else:
        fits = name_in(argument) is not None
    if not fits:
        raise misplaced(argument.first, f"{command.name}: argument '{parameter.name}' must be {_WANTED[kind]}")

"""ADR-0007's three failure modes, committed on purpose on the code of an answer.

Each makes code that AVAP cannot accept by the language's own rules. Nothing here asks the parser, since the parser
is what a rehearsal measures.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from core.model.specs import Fault
from core.serving.rehearsal.draws import Draws
from core.serving.rehearsal.foreign import PROGRAMS, STRUCTURES


@dataclass(frozen=True)
class Spoiled:
    """Code that was spoiled, how, and with what."""

    fault: Fault
    detail: str
    code: str


INVENTED: Mapping[str, tuple[str, ...]] = {
    "encodeSHA256": ("getSHA256", "generateSHA256Hash"),
    "addParam": ("readParam", "ifParam"),
    "addResult": ("returnResult",),
    "exception": ("except",),
    "RequestGet": ("httpGet",),
    "getQueryParamList": ("getListParamList",),
}
"""Real command -> invented ones that stand in for it with the same arguments."""

INVENTED_LINES = {
    "confirmPassword": "confirmPassword(password, stored, matches)",
    "getTimeStamp": "moment = getTimeStamp()",
    "variableFromJSON": "field = variableFromJSON(payload)",
    "getListParamList": 'getListParamList("items", items)',
    "httpGet": 'httpGet("https://api.example.com/items", response)',
}
"""Invented command -> a line that calls it. The second and third exist in the vocabulary `definitions-2026.03`, but
never with so few arguments, so that these lines fail there too."""

_NOT_CODE = re.compile(
    r'"(?:\\.|[^"\\\n])*"' r"|'(?:\\.|[^'\\\n])*'" r"|`(?:\\.|[^`\\\n])*`" r"|//[^\n]*" r"|/\*.*?(?:\*/|\Z)", re.DOTALL
)


def fault_for(draws: Draws, shares: Mapping[Fault, float]) -> Fault | None:
    """Which fault this reply commits, if any: each with the probability of its share."""
    drawn = draws.share("fault")
    for fault in Fault:
        share = shares.get(fault, 0.0)
        if drawn < share:
            return fault
        drawn -= share
    return None


def spoil(code: str, fault: Fault, draws: Draws) -> Spoiled:
    """`code` with `fault` in it."""
    match fault:
        case Fault.FOREIGN_LANGUAGE:
            return _foreign_language(draws)
        case Fault.HALLUCINATED_COMMAND:
            return _hallucinated_command(code, draws)
        case Fault.FOREIGN_STRUCTURE:
            return _foreign_structure(code, draws)


def _foreign_language(draws: Draws) -> Spoiled:
    spoken = draws.pick(sorted(PROGRAMS), "language")
    program = draws.pick(PROGRAMS[spoken], "program", spoken)
    return Spoiled(Fault.FOREIGN_LANGUAGE, spoken, program)


def _hallucinated_command(code: str, draws: Draws) -> Spoiled:
    calls = [match for match in re.finditer(r"\b([A-Za-z]\w*)(?=\s*\()", _masked(code)) if match[1] in INVENTED]
    if not calls:
        invented = draws.pick(sorted(INVENTED_LINES), "invented")
        return Spoiled(Fault.HALLUCINATED_COMMAND, invented, f"{INVENTED_LINES[invented]}\n{code}")
    call = draws.pick(calls, "call")
    invented = draws.pick(INVENTED[call[1]], "invented")
    return Spoiled(Fault.HALLUCINATED_COMMAND, invented, f"{code[: call.start()]}{invented}{code[call.end() :]}")


def _masked(code: str) -> str:
    """`code` with strings and comments blanked, so that positions in it are positions in `code`."""
    return _NOT_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), code)


def _foreign_structure(code: str, draws: Draws) -> Spoiled:
    name = draws.pick(sorted(STRUCTURES), "structure")
    before, after = STRUCTURES[name]
    indented = "\n".join(f"    {line}" for line in code.splitlines()) if after else code
    return Spoiled(Fault.FOREIGN_STRUCTURE, name, "\n".join(filter(None, (before, indented, after))))

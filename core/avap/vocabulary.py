"""A vocabulary: the commands of one edition of the language, as data that a user can swap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Final

from pydantic import Field, ValidationError

from core.errors import ConfigError
from core.model.frozen import Frozen, digest
from core.model.syntax import VocabularyInfo

KEYWORDS: Final = frozenset(
    {"if", "else", "end", "startLoop", "endLoop", "try", "exception", "function", "return", "import", "include"}
)
"""Words of the grammar itself; a vocabulary names everything else that can be called."""
BUILTINS: Final = frozenset({"str", "int", "float", "len"})


class ParameterKind(StrEnum):
    """What may stand in a command's argument."""

    VALUE = "value"
    """Any expression."""
    TARGET = "target"
    """The name of the variable that receives the result, bare or quoted."""
    VARIABLE = "variable"
    """The name of a variable, bare or quoted."""
    REQUEST_PARAMETER = "request_parameter"
    """The name of a parameter of the request, bare or quoted."""
    METHOD = "method"
    """An HTTP method; one written out must be GET, POST, PUT or DELETE."""
    FUNCTION = "function"
    """The name of a declared function, bare or quoted."""


class Parameter(Frozen):
    """One parameter of a command."""

    name: str
    kind: ParameterKind = ParameterKind.VALUE
    optional: bool = False
    repeated: bool = False
    """Any number of arguments; only the last parameter can be."""


Form = tuple[Parameter, ...]


class _CommandData(Frozen):
    section: str
    node_type: str | None = None
    parameters: Form | None = None
    forms: tuple[Form, ...] | None = None
    result: bool = False
    aliases: tuple[str, ...] = ()


class _VocabularyData(Frozen):
    id: str = Field(min_length=1)
    description: str = ""
    node_types: tuple[str, ...]
    keywords: Mapping[str, str] = {}
    commands: Mapping[str, _CommandData]
    hallucinations: Mapping[str, str | None] = {}


@dataclass(frozen=True)
class Command:
    """A command: its name, manual section, node type and every accepted list of parameters."""

    name: str
    section: str
    node_type: str
    forms: tuple[Form, ...]
    """Parameter lists when the command stands alone; told apart by the number of arguments."""
    assigned_forms: tuple[Form, ...]
    """Parameter lists when the result stands on the left; empty where it cannot."""
    aliases: tuple[str, ...]


@dataclass(frozen=True)
class Vocabulary:
    """The words of one edition of AVAP. Build it with `from_mapping`."""

    id: str
    sha256: str
    """Digest of the canonical data: two files that say the same have the same."""
    description: str
    node_types: frozenset[str]
    keywords: Mapping[str, str]
    """Word of the grammar -> manual section."""
    commands: Mapping[str, Command]
    """Canonical name -> command."""
    hallucinations: Mapping[str, str | None]
    """Name that models invent -> what they should have written, or None where nothing corresponds."""

    @classmethod
    def from_mapping(cls, data: Mapping[str, Any]) -> Vocabulary:
        """Build a vocabulary from the content of its YAML file.

        Raises ConfigError naming the field at fault.
        """
        try:
            read = _VocabularyData.model_validate(data)
        except ValidationError as error:
            first = error.errors()[0]
            path = ".".join(str(step) for step in first["loc"])
            raise ConfigError(f"vocabulary: {first['msg']}", path=path, remedy="correct that field") from error
        commands = {name: _command(name, item) for name, item in read.commands.items()}
        _require_consistency(read, commands)
        return cls(
            id=read.id,
            sha256=digest(data),
            description=read.description,
            node_types=frozenset(read.node_types),
            keywords=dict(read.keywords),
            commands=commands,
            hallucinations=dict(read.hallucinations),
        )

    @cached_property
    def spellings(self) -> Mapping[str, Command]:
        """Every accepted spelling of a command, aliases included."""
        return {name: item for item in self.commands.values() for name in (item.name, *item.aliases)}

    @cached_property
    def folded(self) -> Mapping[str, str]:
        """Case-folded spelling -> right spelling, of commands and keywords; a keyword wins."""
        return {name.casefold(): name for name in (*self.commands, *sorted(KEYWORDS))}

    @cached_property
    def inventions(self) -> Mapping[str, str | None]:
        """`hallucinations` by case-folded name."""
        return {name.casefold(): meant for name, meant in self.hallucinations.items()}

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Everything that can be suggested for an unknown name, sorted."""
        return tuple(sorted({*self.commands, *KEYWORDS, *BUILTINS}))

    def info(self) -> VocabularyInfo:
        """What a parser service says of this vocabulary."""
        return VocabularyInfo(
            id=self.id, sha256=self.sha256, commands=len(self.commands), node_types=len(self.node_types)
        )


def _command(name: str, data: _CommandData) -> Command:
    where = f"commands.{name}"
    if (data.parameters is None) == (data.forms is None):
        raise ConfigError(f"command {name} needs either 'parameters' or 'forms'", path=where, remedy="give one of them")
    forms = data.forms if data.forms is not None else (data.parameters or (),)
    for form in forms:
        if any(parameter.repeated for parameter in form[:-1]):
            raise ConfigError("only the last parameter can be repeated", path=where, remedy="move it to the end")
    assigned = forms if data.result else tuple(filter(None, (_without_target(form) for form in forms)))
    bare_target = any(len(form) == 1 and form[0].kind is ParameterKind.TARGET for form in forms)
    return Command(
        name=name,
        section=data.section,
        node_type=data.node_type or name,
        forms=forms,
        assigned_forms=(*assigned, ()) if bare_target else assigned,
        aliases=data.aliases,
    )


def _without_target(form: Form) -> Form | None:
    """`form` with its target left out, or None where the target stands first or nowhere."""
    places = [place for place, parameter in enumerate(form) if parameter.kind is ParameterKind.TARGET]
    if not places or places[-1] == 0:
        return None
    return form[: places[-1]] + form[places[-1] + 1 :]


def _require_consistency(data: _VocabularyData, commands: Mapping[str, Command]) -> None:
    known = set(data.node_types)
    if len(known) != len(data.node_types):
        raise ConfigError("a node type is listed twice", path="node_types", remedy="remove the repetition")
    for command in commands.values():
        if command.node_type not in known:
            raise ConfigError(
                f"node type {command.node_type!r} of {command.name} is not listed",
                path=f"commands.{command.name}.node_type",
                remedy="add it to node_types",
            )
    clashes = sorted(KEYWORDS & set(commands)) or sorted(set(data.hallucinations) & set(commands))
    if clashes:
        raise ConfigError(
            f"{clashes[0]!r} is a command and also a keyword or a hallucination", path="commands", remedy="keep one"
        )

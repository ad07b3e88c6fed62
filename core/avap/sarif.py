"""Verdicts as SARIF 2.1.0 (OASIS, 2020), the form in which editors and CI services read diagnostics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from core.avap.explaining.explain import CATEGORY_HELP, lesson_about, lessons_of
from core.avap.parser import PARSER_VERSION
from core.model.frozen import Frozen
from core.model.syntax import Category, Diagnostic, ParseResult

TOOL: Final = "assay-avap"
_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


class _Object(Frozen):
    """An object of the format: its keys are in camelCase."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class Text(_Object):
    """A message for people."""

    text: str
    markdown: str | None = None


class Rule(_Object):
    """A category of faults."""

    id: str
    name: str
    short_description: Text
    help: Text


class Driver(_Object):
    """The program that found the faults."""

    name: str
    version: str
    semantic_version: str
    rules: tuple[Rule, ...]


class Tool(_Object):
    """The program that found the faults, and its extensions, of which there are none."""

    driver: Driver


class ArtifactLocation(_Object):
    """A file."""

    uri: str


class Region(_Object):
    """A piece of one line; columns count code points from 1, the end exclusive."""

    start_line: int
    start_column: int
    end_column: int | None


class PhysicalLocation(_Object):
    """A place in a file."""

    artifact_location: ArtifactLocation
    region: Region


class Location(_Object):
    """Where a fault is."""

    physical_location: PhysicalLocation


class Result(_Object):
    """A fault."""

    rule_id: str
    rule_index: int
    level: Literal["error"]
    message: Text
    locations: tuple[Location, ...]
    properties: Mapping[str, str]


class Artifact(_Object):
    """A file that was judged, faulty or not."""

    location: ArtifactLocation


class Notification(_Object):
    """Something that kept a file from being judged."""

    level: Literal["error"]
    message: Text


class Invocation(_Object):
    """Whether every file could be judged."""

    execution_successful: bool
    tool_execution_notifications: tuple[Notification, ...]


class Run(_Object):
    """One call of the tool."""

    tool: Tool
    invocations: tuple[Invocation, ...]
    artifacts: tuple[Artifact, ...]
    column_kind: Literal["unicodeCodePoints"]
    results: tuple[Result, ...]


class Log(_Object):
    """A whole SARIF file. Write it with `to_json`."""

    schema_uri: str = Field(alias="$schema")
    version: Literal["2.1.0"]
    runs: tuple[Run, ...]

    def to_json(self) -> str:
        """The text of the file."""
        return self.model_dump_json(by_alias=True, exclude_none=True, indent=2)


class Judged(Frozen):
    """A file and the verdict on it."""

    uri: str
    """A URI, or a relative reference with its odd signs escaped."""
    result: ParseResult


def sarif_log(judged: Iterable[Judged], unreadable: Iterable[str] = ()) -> Log:
    """The verdicts on some files as one run; `unreadable` says of further files why they were not judged."""
    files = tuple(judged)
    problems = tuple(Notification(level="error", message=_message(text)) for text in unreadable)
    run = Run(
        tool=Tool(driver=_driver()),
        invocations=(Invocation(execution_successful=not problems, tool_execution_notifications=problems),),
        artifacts=tuple(Artifact(location=ArtifactLocation(uri=file.uri)) for file in files),
        column_kind="unicodeCodePoints",
        results=tuple(result for file in files for result in _results(file)),
    )
    return Log(schema_uri=_SCHEMA, version="2.1.0", runs=(run,))


def _driver() -> Driver:
    rules = tuple(map(_rule, Category))
    return Driver(name=TOOL, version=PARSER_VERSION, semantic_version=PARSER_VERSION, rules=rules)


def _rule(category: Category) -> Rule:
    lessons = tuple(lessons_of(category))
    return Rule(
        id=category.value,
        name="".join(word.capitalize() for word in category.value.split("_")),
        short_description=Text(text=CATEGORY_HELP[category]),
        help=Text(
            text="\n".join(f"{lesson.what} {lesson.way}" for lesson in lessons),
            markdown="\n\n".join(
                f"**{lesson.what}** {lesson.why} {lesson.way}\n\n```avap\n{lesson.example}\n```" for lesson in lessons
            ),
        ),
    )


def _message(text: str) -> Text:
    """A message without placeholders: its braces are doubled (section 3.11.5 of the standard)."""
    return Text(text=text.replace("{", "{{").replace("}", "}}"))


def _results(file: Judged) -> Iterable[Result]:
    result = file.result
    for fault, line in zip(result.diagnostics, result.trace, strict=True):
        yield Result(
            rule_id=fault.category.value,
            rule_index=list(Category).index(fault.category),
            level="error",
            message=_message(line.partition(": ")[2]),
            locations=(_location(file.uri, fault),),
            properties={
                "lesson": lesson_about(fault).id,
                "vocabulary": result.vocabulary,
                "dialect": result.dialect.value,
            },
        )


def _location(uri: str, fault: Diagnostic) -> Location:
    end = fault.column + len(fault.text) if fault.text else None
    region = Region(start_line=fault.line, start_column=fault.column, end_column=end)
    return Location(
        physical_location=PhysicalLocation(artifact_location=ArtifactLocation(uri=uri), region=region),
    )

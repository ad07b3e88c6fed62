from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ParseRequest(_message.Message):
    __slots__ = ("code", "vocabulary", "dialect")
    CODE_FIELD_NUMBER: _ClassVar[int]
    VOCABULARY_FIELD_NUMBER: _ClassVar[int]
    DIALECT_FIELD_NUMBER: _ClassVar[int]
    code: str
    vocabulary: str
    dialect: str
    def __init__(self, code: _Optional[str] = ..., vocabulary: _Optional[str] = ..., dialect: _Optional[str] = ...) -> None: ...

class ParseResponse(_message.Message):
    __slots__ = ("verdict", "category", "diagnostics", "trace", "node_types", "vocabulary", "dialect", "parser_version", "vocabulary_sha256")
    class NodeTypesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    DIAGNOSTICS_FIELD_NUMBER: _ClassVar[int]
    TRACE_FIELD_NUMBER: _ClassVar[int]
    NODE_TYPES_FIELD_NUMBER: _ClassVar[int]
    VOCABULARY_FIELD_NUMBER: _ClassVar[int]
    DIALECT_FIELD_NUMBER: _ClassVar[int]
    PARSER_VERSION_FIELD_NUMBER: _ClassVar[int]
    VOCABULARY_SHA256_FIELD_NUMBER: _ClassVar[int]
    verdict: str
    category: str
    diagnostics: _containers.RepeatedCompositeFieldContainer[Diagnostic]
    trace: _containers.RepeatedScalarFieldContainer[str]
    node_types: _containers.ScalarMap[str, int]
    vocabulary: str
    dialect: str
    parser_version: str
    vocabulary_sha256: str
    def __init__(self, verdict: _Optional[str] = ..., category: _Optional[str] = ..., diagnostics: _Optional[_Iterable[_Union[Diagnostic, _Mapping]]] = ..., trace: _Optional[_Iterable[str]] = ..., node_types: _Optional[_Mapping[str, int]] = ..., vocabulary: _Optional[str] = ..., dialect: _Optional[str] = ..., parser_version: _Optional[str] = ..., vocabulary_sha256: _Optional[str] = ...) -> None: ...

class Diagnostic(_message.Message):
    __slots__ = ("line", "column", "category", "message", "text", "suggestion")
    LINE_FIELD_NUMBER: _ClassVar[int]
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SUGGESTION_FIELD_NUMBER: _ClassVar[int]
    line: int
    column: int
    category: str
    message: str
    text: str
    suggestion: str
    def __init__(self, line: _Optional[int] = ..., column: _Optional[int] = ..., category: _Optional[str] = ..., message: _Optional[str] = ..., text: _Optional[str] = ..., suggestion: _Optional[str] = ...) -> None: ...

class ParseBatchRequest(_message.Message):
    __slots__ = ("requests",)
    REQUESTS_FIELD_NUMBER: _ClassVar[int]
    requests: _containers.RepeatedCompositeFieldContainer[ParseRequest]
    def __init__(self, requests: _Optional[_Iterable[_Union[ParseRequest, _Mapping]]] = ...) -> None: ...

class ParseBatchResponse(_message.Message):
    __slots__ = ("results",)
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[ParseResponse]
    def __init__(self, results: _Optional[_Iterable[_Union[ParseResponse, _Mapping]]] = ...) -> None: ...

class ExecuteRequest(_message.Message):
    __slots__ = ("code", "vocabulary", "dialect", "inputs", "limits")
    CODE_FIELD_NUMBER: _ClassVar[int]
    VOCABULARY_FIELD_NUMBER: _ClassVar[int]
    DIALECT_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    code: str
    vocabulary: str
    dialect: str
    inputs: str
    limits: ExecuteLimits
    def __init__(self, code: _Optional[str] = ..., vocabulary: _Optional[str] = ..., dialect: _Optional[str] = ..., inputs: _Optional[str] = ..., limits: _Optional[_Union[ExecuteLimits, _Mapping]] = ...) -> None: ...

class ExecuteLimits(_message.Message):
    __slots__ = ("steps", "depth", "memory", "output", "trace")
    STEPS_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    TRACE_FIELD_NUMBER: _ClassVar[int]
    steps: int
    depth: int
    memory: int
    output: int
    trace: int
    def __init__(self, steps: _Optional[int] = ..., depth: _Optional[int] = ..., memory: _Optional[int] = ..., output: _Optional[int] = ..., trace: _Optional[int] = ...) -> None: ...

class ExecuteResponse(_message.Message):
    __slots__ = ("parse", "execution")
    PARSE_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_FIELD_NUMBER: _ClassVar[int]
    parse: ParseResponse
    execution: Execution
    def __init__(self, parse: _Optional[_Union[ParseResponse, _Mapping]] = ..., execution: _Optional[_Union[Execution, _Mapping]] = ...) -> None: ...

class Execution(_message.Message):
    __slots__ = ("variables", "results", "status", "error", "limit", "executed_lines", "statement_lines", "trace")
    VARIABLES_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    EXECUTED_LINES_FIELD_NUMBER: _ClassVar[int]
    STATEMENT_LINES_FIELD_NUMBER: _ClassVar[int]
    TRACE_FIELD_NUMBER: _ClassVar[int]
    variables: str
    results: str
    status: int
    error: ExecuteError
    limit: str
    executed_lines: _containers.RepeatedScalarFieldContainer[int]
    statement_lines: _containers.RepeatedScalarFieldContainer[int]
    trace: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, variables: _Optional[str] = ..., results: _Optional[str] = ..., status: _Optional[int] = ..., error: _Optional[_Union[ExecuteError, _Mapping]] = ..., limit: _Optional[str] = ..., executed_lines: _Optional[_Iterable[int]] = ..., statement_lines: _Optional[_Iterable[int]] = ..., trace: _Optional[_Iterable[int]] = ...) -> None: ...

class ExecuteError(_message.Message):
    __slots__ = ("line", "text", "kind")
    LINE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    line: int
    text: str
    kind: str
    def __init__(self, line: _Optional[int] = ..., text: _Optional[str] = ..., kind: _Optional[str] = ...) -> None: ...

class InfoRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class InfoResponse(_message.Message):
    __slots__ = ("parser_version", "vocabularies", "dialects", "limits", "trace_templates_sha256", "default_vocabulary", "default_dialect")
    PARSER_VERSION_FIELD_NUMBER: _ClassVar[int]
    VOCABULARIES_FIELD_NUMBER: _ClassVar[int]
    DIALECTS_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    TRACE_TEMPLATES_SHA256_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_VOCABULARY_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_DIALECT_FIELD_NUMBER: _ClassVar[int]
    parser_version: str
    vocabularies: _containers.RepeatedCompositeFieldContainer[Vocabulary]
    dialects: _containers.RepeatedScalarFieldContainer[str]
    limits: Limits
    trace_templates_sha256: str
    default_vocabulary: str
    default_dialect: str
    def __init__(self, parser_version: _Optional[str] = ..., vocabularies: _Optional[_Iterable[_Union[Vocabulary, _Mapping]]] = ..., dialects: _Optional[_Iterable[str]] = ..., limits: _Optional[_Union[Limits, _Mapping]] = ..., trace_templates_sha256: _Optional[str] = ..., default_vocabulary: _Optional[str] = ..., default_dialect: _Optional[str] = ...) -> None: ...

class Vocabulary(_message.Message):
    __slots__ = ("id", "sha256", "commands", "node_types")
    ID_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    COMMANDS_FIELD_NUMBER: _ClassVar[int]
    NODE_TYPES_FIELD_NUMBER: _ClassVar[int]
    id: str
    sha256: str
    commands: int
    node_types: int
    def __init__(self, id: _Optional[str] = ..., sha256: _Optional[str] = ..., commands: _Optional[int] = ..., node_types: _Optional[int] = ...) -> None: ...

class Limits(_message.Message):
    __slots__ = ("code_bytes", "depth", "message_bytes", "batch")
    CODE_BYTES_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_BYTES_FIELD_NUMBER: _ClassVar[int]
    BATCH_FIELD_NUMBER: _ClassVar[int]
    code_bytes: int
    depth: int
    message_bytes: int
    batch: int
    def __init__(self, code_bytes: _Optional[int] = ..., depth: _Optional[int] = ..., message_bytes: _Optional[int] = ..., batch: _Optional[int] = ...) -> None: ...

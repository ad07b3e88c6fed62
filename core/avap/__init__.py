"""The AVAP language: text in, tree and diagnostics out. Pure."""

from core.avap.blocks import MAX_BLOCKS
from core.avap.diagnostics import MAX_DIAGNOSTICS, TRACE_TEMPLATES_SHA256
from core.avap.parser import MAX_BYTES, PARSER_VERSION, Parsed, check, parse
from core.avap.vocabulary import Vocabulary

__all__ = [
    "MAX_BLOCKS",
    "MAX_BYTES",
    "MAX_DIAGNOSTICS",
    "PARSER_VERSION",
    "TRACE_TEMPLATES_SHA256",
    "Parsed",
    "Vocabulary",
    "check",
    "parse",
]

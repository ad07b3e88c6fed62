"""Hashes, patterns, replacement and random text: manual section VI."""

from __future__ import annotations

import hashlib

from core.avap.execution.access import replaced_size
from core.avap.execution.commands.registry import command
from core.avap.execution.conversions import whole
from core.avap.execution.draws import DEFAULT_CLASS, signs_of
from core.avap.execution.failures import ErrorKind, Failure
from core.avap.execution.formatting import text_of
from core.avap.execution.matching import first_match
from core.avap.execution.values import Value, kind_of
from core.avap.execution.world import World


@command("encodeSHA256")
def encode_sha256(world: World, value: Value) -> Value:
    """The SHA-256 digest of the value's text, in hex."""
    return hashlib.sha256(_encoded(world, value)).hexdigest()


@command("encodeMD5")
def encode_md5(world: World, value: Value) -> Value:
    """The MD5 digest of the value's text, in hex."""
    return hashlib.md5(_encoded(world, value), usedforsecurity=False).hexdigest()


@command("getRegex", variables=("source",))
def get_regex(world: World, source: Value, pattern: Value) -> Value:
    """The first whole match in the value's text, or None; a missing value matches nothing."""
    if source is None:
        return None
    return first_match(_pattern(pattern), text_of(source, world.meter), world.meter)


@command("replace")
def replace(world: World, source: Value, old: Value, new: Value) -> Value:
    """The source's text with each literal `old` replaced by `new`; an empty `old` is found nowhere."""
    text, before, after = (text_of(value, world.meter) for value in (source, old, new))
    if not before:
        return text
    world.meter.reserve(replaced_size(text, before, after))
    return text.replace(before, after)


@command("randomString")
def random_string(world: World, length: Value, pattern: Value = None) -> Value:
    """`length` signs of the pattern's character classes, drawn from the seed; letters and digits without a pattern."""
    count = whole(length, "the length of a random text")
    if count < 0:
        raise Failure("the length of a random text is not negative")
    world.meter.reserve(count)
    world.meter.work(count)
    return world.draws.text(DEFAULT_CLASS if pattern is None else signs_of(_pattern(pattern)), count)


def _encoded(world: World, value: Value) -> bytes:
    text = text_of(value, world.meter)
    world.meter.read(text)
    return text.encode("utf-8", "surrogatepass")


def _pattern(value: Value) -> str:
    if not isinstance(value, str):
        raise Failure(f"a pattern is a text, not {kind_of(value)}", ErrorKind.TYPE)
    return value

"""How a client reaches a parser: address, encryption, token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import grpc
import grpc.aio

from core.errors import ConfigError
from core.model.specs import RuntimeSpec, TlsSpec

TOKEN_VARIABLE = "AVAP_PARSER_TOKEN"
_PLAIN, _SECURE = "grpc://", "grpcs://"
_LOOPBACK = ("127.", "localhost:", "[::1]:", "unix:")
_OPTIONS = (
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
    # gRPC would wait up to two minutes before it tries a restarted parser again.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 1000),
    ("grpc.max_reconnect_backoff_ms", 1000),
)


@dataclass(frozen=True)
class Access:
    """What a server may ask of its clients, and they of it."""

    tls: TlsSpec | None = None
    token: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, runtime: RuntimeSpec, environment: Mapping[str, str]) -> Access:
        """The access that `runtime` describes. Raises ConfigError."""
        file = runtime.parser_token_file
        text = environment.get(TOKEN_VARIABLE, "") if file is None else read_token(Path(file))
        return cls(runtime.parser_tls, text.strip() or None)

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What every call carries."""
        return () if self.token is None else (("authorization", f"Bearer {self.token}"),)


NO_ACCESS = Access()
"""Plain text, no token."""


def read_token(file: Path) -> str:
    """The token in `file`. Raises ConfigError when there is none."""
    try:
        text = file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the token file {file} cannot be read: {error}", file=str(file)) from error
    if not text.isascii() or not text.isprintable() or not text:
        raise ConfigError(f"the token file {file} holds no line of ASCII", file=str(file), remedy="write a token there")
    return text


def channel_to(target: str, access: Access) -> grpc.aio.Channel:
    """A channel to `target`: `host:port`, `grpc://host:port` or, encrypted, `grpcs://host:port`.

    Raises ConfigError when `target` is no such address, a PEM file cannot be read, or a token would travel in the clear
    to another machine.
    """
    secure = target.startswith(_SECURE) or access.tls is not None
    address = target.removeprefix(_SECURE).removeprefix(_PLAIN)
    if not address or "://" in address or "," in address:
        raise ConfigError(
            f"{target!r} is not the address of a parser", path="runtime.parser_url", remedy="write host:port"
        )
    near = address.startswith(_LOOPBACK)
    # A proxy that the environment names for the outside world cannot reach this machine's own ports.
    options = (*_OPTIONS, *((("grpc.enable_http_proxy", 0),) if near else ()))
    if secure:
        return grpc.aio.secure_channel(address, _credentials(access.tls or TlsSpec()), options=options)
    if access.token is not None and not near:
        raise ConfigError(
            f"the token would travel to {address} in the clear",
            path="runtime.parser_url",
            remedy=f"serve TLS there and write {_SECURE}{address}",
        )
    return grpc.aio.insecure_channel(address, options=options)


def _credentials(tls: TlsSpec) -> grpc.ChannelCredentials:
    return grpc.ssl_channel_credentials(
        root_certificates=_pem(tls.ca, "ca"), private_key=_pem(tls.key, "key"), certificate_chain=_pem(tls.cert, "cert")
    )


def _pem(file: str | None, name: str) -> bytes | None:
    if file is None:
        return None
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise ConfigError(
            f"{file} cannot be read: {error.strerror}", file=file, path=f"runtime.parser_tls.{name}"
        ) from error

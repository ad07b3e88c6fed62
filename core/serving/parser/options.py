"""What the two command lines of the parser service make of their options."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from pathlib import Path

from pydantic import SecretStr

from core.adapters.parser.access import TOKEN_VARIABLE, read_token
from core.errors import ConfigError
from core.serving.lifeline import announce
from core.serving.parser.server import Leaving, Listening, Tls


def announced(listening: Listening) -> None:
    """Tell whoever started this process where it answers."""
    announce(listening.port)


def leave_on(leaving: Leaving, *signals: signal.Signals) -> None:
    """Have any of `signals` give the order; for the main thread only."""
    for each in signals:
        signal.signal(each, lambda *_: leaving.give())


def token(file: Path | None, environment: Mapping[str, str]) -> SecretStr | None:
    """What callers must present: the content of `file`, else of the environment's AVAP_PARSER_TOKEN; None for nothing.

    Never an argument of a command, which every user of the machine can read. Raises ConfigError.
    """
    text = environment.get(TOKEN_VARIABLE, "").strip() if file is None else read_token(file)
    return SecretStr(text) if text else None


def tls(cert: Path | None, key: Path | None, client_ca: Path | None) -> Tls | None:
    """The security that the three options describe. Raises ConfigError when one of them is missing."""
    if cert is None and key is None and client_ca is None:
        return None
    if cert is None or key is None:
        raise ConfigError("TLS needs --tls-cert and --tls-key", remedy="give both, as PEM files")
    return Tls(cert=cert, key=key, client_ca=client_ca)

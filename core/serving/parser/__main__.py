"""The parser service as a process: `python -m core.serving.parser --port 50051`."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from core.adapters.languages import vocabulary_root
from core.adapters.parser.access import TOKEN_VARIABLE
from core.errors import AssayError, ConfigError
from core.lab.process import collect_rarely
from core.model.specs import LanguageSpec
from core.model.syntax import Dialect
from core.serving.lifeline import when_parent_leaves
from core.serving.parser.judge import Languages
from core.serving.parser.limits import Limits
from core.serving.parser.log import LEVELS, configure
from core.serving.parser.options import announced, leave_on, tls, token
from core.serving.parser.server import Leaving, ServerSpec, serve


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM or SIGINT, or, with `--lifeline`, until SIGTERM or the end of stdin; the exit code."""
    options = _options(arguments)
    configure(options.log_level)
    collect_rarely()
    leaving = Leaving()
    leave_on(leaving, signal.SIGTERM, signal.SIGINT)
    if options.lifeline:
        # Ctrl-C reaches the whole process group; a child serves its parent to the end.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        when_parent_leaves(leaving.give)
    try:
        default = LanguageSpec(vocabulary=options.vocabulary, dialect=options.dialect)
        languages = Languages.read(options.vocabulary_root or vocabulary_root(), default)
        serve(languages, _spec(options), ready=announced, leaving=leaving)
    except AssayError as error:
        print(f"parser: {error}\n  {error.remedy}".rstrip(), file=sys.stderr)
        return error.exit_code
    return 0


def _spec(options: argparse.Namespace) -> ServerSpec:
    try:
        return ServerSpec(
            host=options.host,
            port=options.port,
            limits=Limits(
                workers=options.workers, calls=options.calls, seconds=options.seconds, memory_mb=options.memory_mb
            ),
            tls=tls(options.tls_cert, options.tls_key, options.client_ca),
            # The only client of a child is its parent.
            token=None if options.lifeline else token(options.token_file, os.environ),
            metrics_port=options.metrics_port,
        )
    except ValidationError as error:
        first = error.errors()[0]
        raise ConfigError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}", remedy="see --help") from error


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    limits = Limits()
    parser = argparse.ArgumentParser(prog="python -m core.serving.parser", description="The AVAP parser over gRPC.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=50051, help="0 takes a free one (default: %(default)s)")
    parser.add_argument("--vocabulary-root", type=Path, default=None, help="folder of vocabulary files")
    parser.add_argument("--vocabulary", default=LanguageSpec().vocabulary, help="default for requests that name none")
    parser.add_argument("--dialect", type=Dialect, default=Dialect.STRICT, choices=list(Dialect), help="likewise")
    parser.add_argument("--workers", type=int, default=limits.workers, help="processes that judge; 0: none, in-process")
    parser.add_argument("--calls", type=int, default=limits.calls, help="calls admitted at once (%(default)s)")
    parser.add_argument("--seconds", type=float, default=limits.seconds, help="for one request (%(default)s)")
    parser.add_argument("--memory-mb", type=int, default=limits.memory_mb, help="MiB of a worker (%(default)s)")
    parser.add_argument("--tls-cert", type=Path, default=None, help="PEM chain of this server")
    parser.add_argument("--tls-key", type=Path, default=None, help="PEM key of this server")
    parser.add_argument("--client-ca", type=Path, default=None, help="PEM authorities that clients must come from")
    parser.add_argument("--token-file", type=Path, default=None, help=f"token of callers; else ${TOKEN_VARIABLE}")
    parser.add_argument("--metrics-port", type=int, default=None, help="Prometheus text; 0 takes a free port")
    parser.add_argument("--log-level", default="warning", choices=LEVELS, help="of JSON lines on stderr")
    parser.add_argument("--lifeline", action="store_true", help="leave when stdin closes, as a child process should")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())

"""`assay parser`: the parser as a gRPC service, and what a running one is."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core.errors import ConfigError
from core.model.specs import LanguageSpec, RuntimeSpec, TlsSpec
from core.model.syntax import Dialect, ParserInfo

if TYPE_CHECKING:
    from core.serving.parser.server import Listening

app = typer.Typer(no_args_is_help=True)

_LANGUAGE = LanguageSpec()


@app.callback()
def _parser() -> None:
    """Serve the AVAP parser over gRPC, or ask a running one what it is."""


@app.command()
def serve(  # noqa: PLR0913, PLR0917  each argument is an option of the command
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all of this machine's.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = 50051,
    vocabulary: Annotated[
        str, typer.Option(metavar="ID", help="Used for requests that name no vocabulary.")
    ] = _LANGUAGE.vocabulary,
    dialect: Annotated[Dialect, typer.Option(help="Used for requests that name no dialect.")] = _LANGUAGE.dialect,
    workers: Annotated[int, typer.Option(min=0, help="Processes that judge; 0 judges in the server itself.")] = 2,
    calls: Annotated[int, typer.Option(min=1, help="Calls admitted at once; the others are told to come back.")] = 256,
    seconds: Annotated[float, typer.Option(min=0.01, help="For one request; its worker is killed after.")] = 5.0,
    memory: Annotated[int, typer.Option(min=128, metavar="MIB", help="Memory of a worker.")] = 512,
    tls_cert: Annotated[Path | None, typer.Option(metavar="PEM", help="Certificate chain: serve TLS.")] = None,
    tls_key: Annotated[Path | None, typer.Option(metavar="PEM", help="Its key.")] = None,
    client_ca: Annotated[Path | None, typer.Option(metavar="PEM", help="Let in only clients of these (mTLS).")] = None,
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Token that callers must present; else $AVAP_PARSER_TOKEN.")
    ] = None,
    metrics_port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Show Prometheus metrics here; 0 takes a free port.")
    ] = None,
    log_level: Annotated[
        str, typer.Option(help="debug, info, warning or error; JSON lines on stderr, never with anybody's code.")
    ] = "info",
) -> None:
    """Serve the parser until Ctrl-C or SIGTERM; calls in flight are finished first.

    Offers avap.parser.v1.Parser with all vocabularies of the configs
    folder, and the standard gRPC services for health and reflection.
    When its output is not a terminal it prints one JSON line with its port.
    Operations, limits and security: docs/parser-service.md.

    Example: assay parser serve --port 50051
    and then: assay run CONFIG --set runtime.parser_url=localhost:50051
    """
    with _needs_grpc():
        from core.serving.parser import options, server
        from core.serving.parser.judge import Languages
        from core.serving.parser.limits import Limits
    from core.adapters.languages import vocabulary_root
    from core.serving.parser.log import configure

    configure(log_level)
    leaving = server.Leaving()
    options.leave_on(leaving, signal.SIGINT, signal.SIGTERM)
    spec = server.ServerSpec(
        host=host,
        port=port,
        limits=Limits(workers=workers, calls=calls, seconds=seconds, memory_mb=memory),
        tls=options.tls(tls_cert, tls_key, client_ca),
        token=options.token(token_file, os.environ),
        metrics_port=metrics_port,
    )
    languages = Languages.read(vocabulary_root(), LanguageSpec(vocabulary=vocabulary, dialect=dialect))
    banner = _Banner(host, languages.info)
    server.serve(languages, spec, ready=banner.ready if sys.stdout.isatty() else options.announced, leaving=leaving)


@app.command()
def info(  # noqa: PLR0913, PLR0917  as above
    target: Annotated[str, typer.Argument(metavar="TARGET", help="host:port of a running parser.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for scripts.")] = False,
    deadline: Annotated[float, typer.Option(min=0.001, metavar="SECONDS", help="How long to wait.")] = 2.0,
    ca: Annotated[str | None, typer.Option(metavar="PEM", help="Authorities of a grpcs:// parser.")] = None,
    cert: Annotated[str | None, typer.Option(metavar="PEM", help="Our certificate, where it wants one.")] = None,
    key: Annotated[str | None, typer.Option(metavar="PEM", help="Its key.")] = None,
    token_file: Annotated[str | None, typer.Option(metavar="FILE", help="Token; else $AVAP_PARSER_TOKEN.")] = None,
) -> None:
    """Say what a running parser is: version, vocabularies with their hashes, dialects, limits.

    A run records these facts, and they may not change while it lasts.
    Exit code 5 when nobody answers within the deadline.

    Example: assay parser info localhost:50051
    """
    with _needs_grpc():
        from core.adapters.parser.access import Access
        from core.adapters.parser.opening import ask

    if (cert is None) != (key is None):
        raise ConfigError("--cert and --key go together", remedy="give both, as PEM files")
    tls = TlsSpec(ca=ca, cert=cert, key=key) if ca or cert or key or target.startswith("grpcs://") else None
    access = Access.of(RuntimeSpec(parser_tls=tls, parser_token_file=token_file), os.environ)
    answer = asyncio.run(ask(target, deadline_s=deadline, access=access))
    typer.echo(answer.model_dump_json() if as_json else _described(answer))


class _Banner:
    """What a person at a terminal is told."""

    def __init__(self, host: str, what: ParserInfo) -> None:
        self._host = host
        self._what = what

    def ready(self, listening: Listening) -> None:
        """Say where it answers."""
        typer.echo(f"AVAP parser on {self._host}:{listening.port}  (Ctrl-C stops it)\n\n{_described(self._what)}")


@contextmanager
def _needs_grpc() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"the parser service is not installed ({error})", remedy="pip install 'assay-lab[parser]'"
        ) from error


def _described(what: ParserInfo) -> str:
    width = max((len(entry.id) for entry in what.vocabularies), default=0)
    vocabularies = [
        f"  {entry.id:<{width}}  {entry.commands} commands, {entry.node_types} node types, sha256 {entry.sha256}"
        for entry in what.vocabularies
    ]
    return "\n".join(
        [
            f"version       {what.version}",
            f"dialects      {', '.join(dialect.value for dialect in what.dialects)}",
            f"limits        {what.max_bytes} bytes of code, {what.max_depth} levels of nesting",
            f"trace texts   sha256 {what.trace_templates_sha256}",
            "vocabularies",
            *vocabularies,
        ]
    )

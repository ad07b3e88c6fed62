"""`assay rehearsal`: the rehearsal model by hand, for trying a client or watching a campaign's traffic."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.panel import Panel

from core.errors import ConfigError

app = typer.Typer(
    name="rehearsal",
    help="A local language model that costs nothing: it speaks the Anthropic Messages protocol, and repeats itself.",
    no_args_is_help=True,
)


@app.callback()
def group() -> None:
    """A local language model that costs nothing: it speaks the Anthropic Messages protocol, and repeats itself."""


Port = Annotated[int, typer.Option(help="Loopback port; 0 takes a free one.", min=0, max=65535)]
Seed = Annotated[int, typer.Option(help="Root of every choice: equal seeds give equal replies.")]
Faults = Annotated[
    str,
    typer.Option(
        help="JSON: failure mode -> share of the replies with code that are spoiled. Modes: foreign_language, "
        "hallucinated_command, foreign_structure.",
        metavar="JSON",
    ),
]
Leaks = Annotated[
    str,
    typer.Option(
        help="JSON: leak -> share. few_shot_copy: of the answers with code, copied from the nearest one; memorised: "
        "of the questions after code that are asked without documents.",
        metavar="JSON",
    ),
]
Trouble = Annotated[
    str,
    typer.Option(
        help="JSON: failure -> rate. 429, 500, 529; cut (the connection closes midway), half (half a reply that looks "
        "whole), hang (nothing comes). Drawn by request and attempt, so that a retry can succeed.",
        metavar="JSON",
    ),
]
Latency = Annotated[int, typer.Option(help="Milliseconds before each reply.", min=0)]
RetryAfter = Annotated[int, typer.Option(help="Seconds that a 429 asks its caller to wait.", min=0)]
Quota = Annotated[float, typer.Option(help="Requests per second; more are refused with a 429. 0 is no quota.", min=0)]
QuotaBurst = Annotated[int, typer.Option(help="Requests at once after a quiet time; 0 is a second's worth.", min=0)]
BatchMs = Annotated[int, typer.Option(help="Milliseconds that a message batch takes.", min=0)]
Truth = Annotated[Path | None, typer.Option(help="File that says which replies were spoiled, one JSON line each.")]


@app.command()
def serve(  # noqa: PLR0913 - a command has one argument per option
    *,
    port: Port = 8808,
    seed: Seed = 0,
    faults: Faults = "{}",
    leaks: Leaks = "{}",
    trouble: Trouble = "{}",
    latency_ms: Latency = 0,
    retry_after_s: RetryAfter = 1,
    quota: Quota = 0.0,
    quota_burst: QuotaBurst = 0,
    batch_ms: BatchMs = 0,
    truth: Truth = None,
) -> None:
    """Serve the rehearsal model until Ctrl-C.

    It answers from the context in the prompt and judges by shared words: use it to rehearse a campaign, a client or a
    gate. What it says of quality means nothing. A run starts its own; this command is for watching it by hand.
    On a pipe it prints one JSON line with its port instead of the banner.

    Example: assay rehearsal serve --faults '{"foreign_language": 0.06}' --truth truth.jsonl
    """
    with _needs_server():
        from core.serving.lifeline import announce
        from core.serving.rehearsal.server import serve as listen
        from core.serving.rehearsal.settings import Settings, read_faults, read_leaks, read_trouble
    with contextlib.suppress(KeyboardInterrupt):
        settings = Settings(
            seed=seed, faults=read_faults(faults, seed=seed), leaks=read_leaks(leaks), trouble=read_trouble(trouble),
            latency_ms=latency_ms, retry_after_s=retry_after_s, truth=truth,
            quota=quota, quota_burst=quota_burst, batch_ms=batch_ms,
        )  # fmt: skip
        listen(settings, port=port, ready=_banner if sys.stdout.isatty() else announce)


@contextlib.contextmanager
def _needs_server() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"the rehearsal server is not installed ({error})", remedy="pip install 'assay-lab[rehearsal]'"
        ) from error


def _banner(port: int) -> None:
    url = f"http://127.0.0.1:{port}"
    Console().print(
        Panel.fit(
            f"Rehearsal model on {url}\n\n"
            f'from anthropic import Anthropic\nclient = Anthropic(base_url="{url}", api_key="rehearsal")\n'
            'client.messages.create(model="rehearsal-1", max_tokens=512, messages=[...])\n\n'
            f"or in a config:  runtime: {{generator_url: {url}}}\n"
            "Ctrl-C stops it. Its results are never binding.",
            title="assay rehearsal",
        )
    )

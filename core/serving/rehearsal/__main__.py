"""`python -m core.serving.rehearsal`: the rehearsal model as a process of its own."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from core.disk import location
from core.errors import AssayError
from core.lab.process import collect_rarely
from core.serving.lifeline import announce
from core.serving.rehearsal.server import serve, serve_as_child
from core.serving.rehearsal.settings import Settings, read_faults, read_leaks, read_trouble


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until stopped; returns the exit code."""
    given = _parser().parse_args(arguments)
    collect_rarely()
    try:
        settings = Settings(
            seed=given.seed, faults=read_faults(given.faults, seed=given.seed), leaks=read_leaks(given.leaks),
            trouble=read_trouble(given.trouble),
            latency_ms=given.latency_ms, retry_after_s=given.retry_after_s, truth=given.truth,
            quota=given.quota, quota_burst=given.quota_burst, batch_ms=given.batch_ms,
        )  # fmt: skip
        if given.lifeline:
            serve_as_child(settings, port=given.port)
        else:
            serve(settings, port=given.port, ready=announce)
    except AssayError as error:
        print(f"{error}; {error.remedy}" if error.remedy else str(error), file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        pass
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m core.serving.rehearsal", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--faults", default="{}", help="JSON: failure mode -> share of the replies with code")
    parser.add_argument("--leaks", default="{}", help="JSON: few_shot_copy, memorised -> share of the answers")
    parser.add_argument("--trouble", default="{}", help="JSON: 429, 500, 529, cut, half or hang -> rate")
    parser.add_argument("--latency-ms", type=int, default=0)
    parser.add_argument("--retry-after-s", type=int, default=1)
    parser.add_argument("--quota", type=float, default=0.0, help="requests per second; 0 is no quota")
    parser.add_argument("--quota-burst", type=int, default=0, help="requests at once; 0 is a second's worth")
    parser.add_argument("--batch-ms", type=int, default=0, help="how long a batch takes")
    parser.add_argument("--truth", type=location, help="where to write down which replies were spoiled")
    parser.add_argument(
        "--lifeline", action="store_true", help="leave when stdin closes, and leave signals to the parent"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())

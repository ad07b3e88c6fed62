"""Logs as JSON lines on stderr. What users send is never in them: an event names sizes, codes and durations."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path

LEVELS = ("debug", "info", "warning", "error")


def configure(level: str) -> None:
    """Write what this process logs, from `level` (one of LEVELS) on, to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())


def event(log: logging.Logger, level: int, name: str, **facts: str | float | None) -> None:
    """Log that `name` happened, with `facts` that hold nothing a user sent."""
    log.log(level, name, extra={"facts": facts})


def failure(log: logging.Logger, name: str, error: BaseException, **facts: str | float) -> None:
    """Log an error by its type and place. Its message may quote a user's program, so that it shows at debug only."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    event(log, logging.ERROR, name, error=type(error).__name__, place=place, **facts)
    log.debug(name, exc_info=error)


class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, logger, event, facts."""

    def format(self, record: logging.LogRecord) -> str:
        """`record` as a line. Messages of libraries are kept; their tracebacks, which may quote, show at debug only."""
        moment = datetime.fromtimestamp(record.created, UTC)
        line: dict[str, object] = {
            "time": moment.isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info and record.exc_info[0]:
            line["error"] = record.exc_info[0].__name__
            if logging.getLogger().isEnabledFor(logging.DEBUG):
                line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line)

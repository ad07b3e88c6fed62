"""The child's half of core.adapters.child: say the port once, leave when stdin closes."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable


def announce(port: int) -> None:
    """Tell the parent, on stdout, that `port` answers."""
    print(json.dumps({"ready": {"port": port}}), flush=True)


def when_parent_leaves(then: Callable[[], None]) -> None:
    """Call `then` from a daemon thread once stdin reaches its end; if the process is still here 3 s later, end it."""

    def watch() -> None:
        # Not through sys.stdin: an interpreter that ends while a thread waits in its buffer aborts.
        while os.read(0, 4096):
            pass
        threading.Timer(3.0, os._exit, (0,)).start()
        then()

    threading.Thread(target=watch, name="lifeline", daemon=True).start()

"""The real worker process, with a judge that obeys programs made to misbehave: `# WORD` or `# WORD argument`."""

import os
import signal
from pathlib import Path

from core.adapters.proto.avap.parser.v1 import parser_pb2 as wire
from core.serving.parser import worker as parser_worker
from core.serving.parser.judge import Judge, Method, Reply


class Unruly(Judge):
    def answer(self, method: Method, request: bytes) -> Reply:
        match wire.ParseRequest.FromString(request).code.split(" ")[:3]:
            case ["#", "die"]:
                os._exit(9)
            case ["#", "hang"]:
                while True:
                    signal.pause()
            case ["#", "hog"]:
                raise MemoryError
            case ["#", "fault", secret]:
                raise ValueError(secret)
            case ["#", "wait", fifo]:
                Path(fifo).read_bytes()
        return super().answer(method, request)


if __name__ == "__main__":
    vars(parser_worker)["Judge"] = Unruly
    parser_worker.main()

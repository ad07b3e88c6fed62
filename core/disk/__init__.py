"""Files that are wholly there or not there at all, wherever the results root is and whatever moment a machine dies at.

Every room that keeps something durable reads and writes through here. A location is a `Path`, or a `UPath` on an object
store that stands in for one; only this package knows which. Blocking: an event loop asks a StorageQueue.
"""

from __future__ import annotations

from core.disk.anywhere import (
    dated,
    each,
    folders,
    is_file,
    listing,
    make_folder,
    move,
    read,
    read_part,
    remove,
    replace,
)
from core.disk.deadline import left_behind, within
from core.disk.faults import require_same, store_error
from core.disk.files import sync_folder
from core.disk.locations import is_object, location
from core.disk.queue import StorageQueue

__all__ = [
    "StorageQueue",
    "dated",
    "each",
    "folders",
    "is_file",
    "is_object",
    "left_behind",
    "listing",
    "location",
    "make_folder",
    "move",
    "read",
    "read_part",
    "remove",
    "replace",
    "require_same",
    "store_error",
    "sync_folder",
    "within",
]

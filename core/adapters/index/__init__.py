"""Indices behind core.ports.Index: built from a corpus once, described by a manifest, searched in three modes.

An index is a folder below the cache, named after what it was built from; its manifest is written last and the folder
renamed into place, so that what is there is whole. Which engine holds it is the config's word: a module below
`engines`.
"""

from core.adapters.index.building import build
from core.adapters.index.examples import open_examples
from core.adapters.index.hybrid import HybridIndex
from core.adapters.index.manifest import index_folder, read_manifest, wanted_manifest
from core.adapters.index.opening import open_index
from core.adapters.index.seal import verify_seal

__all__ = [
    "HybridIndex",
    "build",
    "index_folder",
    "open_examples",
    "open_index",
    "read_manifest",
    "verify_seal",
    "wanted_manifest",
]

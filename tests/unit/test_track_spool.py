"""The framing of W&B's offline files: written here by the book, read back, torn at every place."""

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.adapters.track.spool import BLOCK, HEADER, mark_uploaded, payloads, spooled, uploaded

HEAD = b":W&B\xe1\xbe\x00"


def framed(records: list[bytes]) -> bytes:
    """`records` as a LevelDB log writes them, behind W&B's header; checksums left out."""
    out = bytearray(HEAD)
    for record in records:
        rest, is_first = record, True
        while is_first or rest:
            room = BLOCK - len(out) % BLOCK
            if room < 7:
                out += b"\0" * room
                continue
            piece, rest = rest[: room - 7], rest[room - 7 :]
            kind = {(True, True): 1, (True, False): 2, (False, False): 3, (False, True): 4}[is_first, not rest]
            out += struct.pack("<IHB", 0, len(piece), kind) + piece
            is_first = False
    return bytes(out)


sizes = st.one_of(
    st.integers(0, 50), st.sampled_from([BLOCK - 21, BLOCK - 15, BLOCK - 14, BLOCK - 7, BLOCK, 3 * BLOCK])
)


@given(st.lists(sizes, max_size=6))
def test_what_was_written_is_read(lengths: list[int]) -> None:
    records = [bytes([number % 251]) * length for number, length in enumerate(lengths, start=1)]
    assert list(payloads(framed(records))) == records


@given(st.lists(sizes, min_size=1, max_size=4), st.data())
def test_a_torn_file_gives_the_records_before_the_tear(lengths: list[int], data: st.DataObject) -> None:
    records = [bytes([number]) * length for number, length in enumerate(lengths, start=1)]
    whole = framed(records)
    cut = data.draw(st.integers(HEADER, len(whole)))
    found = list(payloads(whole[:cut]))
    assert found == records[: len(found)]


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    list(payloads(HEAD + content))
    if not content.startswith(b":W&B"):
        with pytest.raises(ValueError, match="not a W&B file"):
            list(payloads(content))


def test_files_of_another_hand_are_left_out(tmp_path: Path) -> None:
    place = tmp_path / "wandb" / "offline-run-20260101_000000-a"
    place.mkdir(parents=True)
    (place / "run-a.wandb").write_bytes(b"something else")
    assert spooled(tmp_path) == ()
    (place / "run-a.wandb").write_bytes(framed([b"\xff\xff\xff no message"]))
    assert spooled(tmp_path) == ()


def test_marks_are_those_that_wandb_sync_goes_by(tmp_path: Path) -> None:
    for name in ("a", "b"):
        place = tmp_path / "wandb" / f"offline-run-20260101_000000-{name}"
        place.mkdir(parents=True)
        (place / f"run-{name}.wandb").write_bytes(HEAD)
    assert uploaded(tmp_path) == frozenset()
    mark_uploaded(tmp_path, {"b", "elsewhere"})
    assert uploaded(tmp_path) == {"b"}
    assert (tmp_path / "wandb" / "offline-run-20260101_000000-b" / "run-b.wandb.synced").exists()

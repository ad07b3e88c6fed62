"""Recordings survive kills, cuts, full disks and second writers."""

import asyncio
import contextlib
import errno
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from manual_clock import ManualClock
from object_store import memory_prefix

from core.adapters.clock import SystemClock
from core.adapters.record import SUFFIX, Recordings, recorder
from core.adapters.recording import DamagedRecording, Recording, decode, encode, key_in
from core.errors import RecordingMissing, StoreError
from core.model.frozen import canonical_json, digest
from core.model.prompt import StopReason, Usage

KEY = digest("a request")
CLOCK = SystemClock()


def recording(key: str = KEY, text: str = "¡Hola! 🙂", **fields: Any) -> Recording:
    return Recording(
        **{
            "key": key,
            "name": "test@1",
            "model": "m",
            "sdk": "s 1",
            "api_version": "v",
            "repeat": 0,
            "request_sha256": digest({"model": "m", "temperature": 0.0}),
            "request": {"model": "m", "temperature": 0.0},
            "text": text,
            "stop": StopReason.END,
            "usage": Usage(input_tokens=3, output_tokens=4),
            "served_model": "m-1",
            "message_id": "msg_1",
            "cost_usd": 0.1,
            "prices": "2026",
            **fields,
        }
    )


async def keep(recordings: Recordings, kept: Recording) -> bool:
    """Record `kept` unless its key has a reply; whether it had one."""

    @contextlib.asynccontextmanager
    async def ask() -> AsyncIterator[Recording]:
        yield kept

    return (await recordings.obtain(kept.key, ask)).replayed


async def kept_in(folder: Path, *replies: Recording, writer: str = "all") -> list[bool]:
    """What keep() says of `replies`, asked for at once by a process of their own."""
    async with recorder(folder, CLOCK, writer=writer) as recordings:
        return await asyncio.gather(*(keep(recordings, reply) for reply in replies))


def copied(source: Path, target: Path) -> None:
    for file in [file for file in source.rglob("*") if file.is_file()]:
        copy = target / file.relative_to(source).as_posix()
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())


@given(st.text(st.characters(exclude_categories=["Cs"])), st.data())
def test_any_prefix_of_a_recording_is_detected(text: str, data: st.DataObject) -> None:
    whole = encode(recording(text=text))
    assert (key_in(whole), b"\n" in whole) == (KEY, False)
    assert decode(whole, KEY) == recording(text=text)
    with pytest.raises(DamagedRecording):
        decode(whole[: data.draw(st.integers(0, len(whole) - 1))], KEY)


@given(st.data())
def test_any_changed_byte_is_detected(data: st.DataObject) -> None:
    whole = bytearray(encode(recording()))
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] ^= data.draw(st.integers(1, 255))
    try:
        changed = decode(bytes(whole), KEY)
    except DamagedRecording:
        return
    assert changed == recording(), "only spelling that means the same may pass"


def test_recordings_of_before_they_were_written_in_the_order_sent_are_read() -> None:
    """Their bytes were canonical JSON, whose digest is that of the bytes."""
    written = f'{{"recording":{canonical_json(recording())},"sha256":"{digest(recording())}"}}'.encode()
    assert decode(written, KEY) == recording()


def test_the_request_is_kept_in_the_order_it_was_sent_in() -> None:
    request = {"z": 1, "a": {"y": [1.0, None], "b": "¿"}}
    kept = decode(encode(recording(request=request)), KEY).request
    assert (list(kept), list(kept["a"])) == (["z", "a"], ["y", "b"])


def test_a_recording_under_another_name_is_detected() -> None:
    with pytest.raises(DamagedRecording, match="belongs to"):
        decode(encode(recording()), digest("another request"))


async def test_a_damaged_reply_is_absent_when_recording_and_an_error_when_replaying(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file, other = tmp_path / f"all{SUFFIX}", recording(digest("another request"))
    await kept_in(tmp_path, recording(), other)
    first, _, rest = file.read_bytes().partition(b"\n")
    file.write_bytes(first[:-9] + b"\n" + rest)
    with pytest.raises(StoreError, match="damaged") as raised:
        await keep(Recordings(tmp_path), recording())
    assert raised.value.file == str(file)
    assert raised.value.remedy
    assert await keep(Recordings(tmp_path), other)
    assert await kept_in(tmp_path, recording(), other) == [False, True]
    assert "damaged" in caplog.text
    assert await keep(Recordings(tmp_path), recording())


async def test_replies_of_before_they_shared_a_file_are_found(tmp_path: Path) -> None:
    (tmp_path / f"{KEY}.json").write_bytes(encode(recording()))
    assert await keep(Recordings(tmp_path), recording())
    assert await kept_in(tmp_path, recording(), recording(digest("new"))) == [True, False]
    assert {reply.key for reply in Recordings(tmp_path).all()} == {KEY, digest("new")}


@given(replies=st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=5), data=st.data())
async def test_whatever_a_kill_leaves_of_a_line_every_reply_before_it_is_there(
    tmp_path_factory: pytest.TempPathFactory, replies: list[str], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("replies")
    kept = [recording(digest(number), text=text) for number, text in enumerate(replies)]
    lines = [encode(reply) + b"\n" for reply in kept]
    cut = data.draw(st.integers(0, len(b"".join(lines))))
    (folder / f"all{SUFFIX}").write_bytes(b"".join(lines)[:cut])
    whole = [reply for number, reply in enumerate(kept) if len(b"".join(lines[: number + 1])) <= cut]
    assert list(Recordings(folder).all()) == sorted(whole, key=lambda reply: reply.key)
    assert await kept_in(folder, *kept) == [reply in whole for reply in kept]
    assert list(Recordings(folder).all()) == sorted(kept, key=lambda reply: reply.key)


async def test_many_replies_at_once_share_few_syncs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sync, syncs = os.fsync, 0

    def counted(descriptor: int) -> None:
        nonlocal syncs
        syncs += 1
        sync(descriptor)

    async with recorder(tmp_path, CLOCK) as recordings:
        monkeypatch.setattr("core.adapters.lines.os.fsync", counted)
        await asyncio.gather(*(keep(recordings, recording(digest(number))) for number in range(300)))
    assert len(list(Recordings(tmp_path).all())) == 300
    assert syncs < 30


async def test_replay_of_the_unknown_names_its_key(tmp_path: Path) -> None:
    with pytest.raises(RecordingMissing) as raised:
        await keep(Recordings(tmp_path / "none"), recording())
    assert raised.value.key == KEY
    assert not (tmp_path / "none").exists()


async def test_two_writers_find_each_others_replies(tmp_path: Path) -> None:
    async with recorder(tmp_path, CLOCK, writer="one") as one, recorder(tmp_path, CLOCK, writer="two") as two:
        assert not await keep(one, recording())
        assert await keep(two, recording())
        assert not await keep(two, recording(digest("another request")))
    assert len(list(Recordings(tmp_path).all())) == 2


async def test_replies_move_from_a_folder_to_a_store_and_back(tmp_path: Path) -> None:
    """As a run does that is copied by hand, object by object."""
    replies = [recording(digest(number)) for number in range(4)]
    with memory_prefix() as store:
        assert await kept_in(tmp_path, *replies[:2]) == [False, False]
        copied(tmp_path, store)
        assert await kept_in(store, *replies[:3]) == [True, True, False]
        assert [reply.key for reply in Recordings(store).all()] == sorted(reply.key for reply in replies[:3])
        copied(store, tmp_path)
    assert await kept_in(tmp_path, *replies) == [True, True, True, False]
    assert all(await kept_in(tmp_path, *replies))


async def test_one_file_has_one_writer(tmp_path: Path) -> None:
    async with recorder(tmp_path, CLOCK) as first:
        await keep(first, recording())
        with pytest.raises(StoreError, match="another process still writes"):
            async with recorder(tmp_path, ManualClock()):
                pass
    assert await kept_in(tmp_path, recording()) == [True]


@pytest.mark.parametrize("call", ["fsync", "write"])
async def test_a_full_disk_is_a_store_error_that_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    async def on_a_disk_that_fills_up() -> None:
        async with recorder(tmp_path, CLOCK) as recordings:
            monkeypatch.setattr(f"core.adapters.lines.os.{call}", full)
            await keep(recordings, recording())

    with pytest.raises(StoreError, match="No space left") as raised:
        await on_a_disk_that_fills_up()
    monkeypatch.undo()
    assert "free some space" in raised.value.remedy
    assert (tmp_path / f"all{SUFFIX}").read_bytes() == b""
    assert await kept_in(tmp_path, recording()) == [False]


async def test_a_folder_that_cannot_be_made_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError) as raised:
        await kept_in(tmp_path / "file" / "recordings")
    assert raised.value.remedy


async def test_spending_is_summed_by_model_without_damaged_replies(tmp_path: Path) -> None:
    await kept_in(tmp_path, *(recording(key=digest(n), model=model) for n, model in enumerate("aab")))
    with (tmp_path / f"all{SUFFIX}").open("ab") as file:
        file.write(b"{\n" + encode(recording(key=digest("x")))[:-9])
    recordings = Recordings(tmp_path)
    spent = recordings.spent()
    assert [(model, sums.calls, str(sums.cost_usd)) for model, sums in spent.items()] == [
        ("a", 2, "0.2"),
        ("b", 1, "0.1"),
    ]
    assert (recordings.total().tokens, str(recordings.total().usd)) == (21, "0.3")


async def test_a_waiter_that_leaves_disturbs_nobody_and_the_last_one_ends_the_work(tmp_path: Path) -> None:
    begun, go, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    @contextlib.asynccontextmanager
    async def ask() -> AsyncIterator[Recording]:
        begun.set()
        try:
            await go.wait()
        except asyncio.CancelledError:
            ended.set()
            raise
        yield recording()

    async with recorder(tmp_path, CLOCK) as recordings:
        first, second = (asyncio.ensure_future(recordings.obtain(KEY, ask)) for _ in range(2))
        await begun.wait()
        first.cancel()
        await asyncio.wait([first])
        assert not ended.is_set()
        second.cancel()
        await asyncio.wait([second])
        await ended.wait()
        go.set()
        assert not (await recordings.obtain(KEY, ask)).replayed


async def test_an_error_reaches_all_who_wait_and_is_not_remembered(tmp_path: Path) -> None:
    def fail() -> contextlib.AbstractAsyncContextManager[Recording]:
        raise StoreError("once")

    async with recorder(tmp_path, CLOCK) as recordings:
        outcomes = await asyncio.gather(*(recordings.obtain(KEY, fail) for _ in range(3)), return_exceptions=True)
        assert all(isinstance(outcome, StoreError) for outcome in outcomes)
        assert not await keep(recordings, recording())


_ENDLESS_WRITER = """
import asyncio, sys
from pathlib import Path
sys.path[:0] = {paths!r}
from test_recordings import CLOCK, keep, recording
from core.adapters.record import recorder
from core.model.frozen import digest

async def main():
    async with recorder(Path(sys.argv[1]), CLOCK) as recordings:
        for n in range(10**9):
            await keep(recordings, recording(key=digest(n), text=str(n) * 20_000))
            print(n, flush=True)

asyncio.run(main())
"""


@pytest.mark.parametrize("written", [1, 4, 9, 14])
def test_a_sigkill_while_writing_costs_no_reply_that_was_given(tmp_path: Path, written: int) -> None:
    script = _ENDLESS_WRITER.format(paths=sys.path)
    command = [sys.executable, "-W", "ignore", "-c", script, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for _ in range(written):
            assert child.stdout.readline()
        child.send_signal(signal.SIGKILL)
        given_out = written + len(child.stdout.readlines())
    kept = [recording(key=digest(n), text=str(n) * 20_000) for n in range(given_out)]
    assert all(asyncio.run(kept_in(tmp_path, *kept)))

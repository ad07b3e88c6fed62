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

from core.adapters.record import RecordingMode, Recordings
from core.adapters.recording import DamagedRecording, Recording, decode, encode
from core.errors import RecordingMissing, StoreError
from core.model.frozen import canonical_json, digest
from core.model.prompt import StopReason, Usage

KEY = digest("a request")


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


def left_in(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir()]


@given(st.text(st.characters(exclude_categories=["Cs"])), st.data())
def test_any_prefix_of_a_recording_is_detected(text: str, data: st.DataObject) -> None:
    whole = encode(recording(text=text))
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


async def test_a_damaged_file_is_absent_when_recording_and_an_error_when_replaying(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / f"{KEY}.json"
    file.write_bytes(encode(recording())[:-9])
    with pytest.raises(StoreError) as raised:
        await keep(Recordings(tmp_path, RecordingMode.REPLAY), recording())
    assert raised.value.file == str(file)
    assert raised.value.remedy
    assert not await keep(Recordings(tmp_path, RecordingMode.RECORD), recording())
    assert "damaged" in caplog.text
    assert await keep(Recordings(tmp_path, RecordingMode.REPLAY), recording())


async def test_replay_of_the_unknown_names_its_key(tmp_path: Path) -> None:
    with pytest.raises(RecordingMissing) as raised:
        await keep(Recordings(tmp_path / "none", RecordingMode.REPLAY), recording())
    assert raised.value.key == KEY
    assert not (tmp_path / "none").exists()


async def test_two_writers_of_one_key_leave_one_whole_reply(tmp_path: Path) -> None:
    """Two instances share no single flight, as two processes do not."""
    writers = [Recordings(tmp_path, RecordingMode.RECORD) for _ in range(8)]
    await asyncio.gather(*(keep(writer, recording(text=str(n) * 10_000)) for n, writer in enumerate(writers)))
    assert left_in(tmp_path) == [f"{KEY}.json"]
    assert decode((tmp_path / f"{KEY}.json").read_bytes(), KEY).text[0] in "01234567"


@pytest.mark.parametrize("call", ["fsync", "replace"])
async def test_a_full_disk_is_a_store_error_that_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, call, full)
    with pytest.raises(StoreError, match="No space left") as raised:
        await keep(Recordings(tmp_path, RecordingMode.RECORD), recording())
    assert "free some space" in raised.value.remedy
    assert not left_in(tmp_path)


async def test_a_folder_that_cannot_be_made_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError) as raised:
        await keep(Recordings(tmp_path / "file" / "recordings", RecordingMode.RECORD), recording())
    assert raised.value.remedy


async def test_spending_is_summed_by_model_without_damaged_files(tmp_path: Path) -> None:
    recordings = Recordings(tmp_path, RecordingMode.RECORD)
    for n, model in enumerate("aab"):
        await keep(recordings, recording(key=digest(n), model=model))
    (tmp_path / f"{digest('x')}.json").write_text("{")
    (tmp_path / f"{digest('x')}.json.1-0.part").write_text("{")
    spent = recordings.spent()
    assert [(model, sums.calls, str(sums.cost_usd)) for model, sums in spent.items()] == [
        ("a", 2, "0.2"),
        ("b", 1, "0.1"),
    ]
    assert (recordings.total().tokens, str(recordings.total().usd)) == (21, "0.3")


async def test_a_waiter_that_leaves_disturbs_nobody_and_the_last_one_ends_the_work(tmp_path: Path) -> None:
    recordings = Recordings(tmp_path, RecordingMode.RECORD)
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
    recordings = Recordings(tmp_path, RecordingMode.RECORD)

    def fail() -> contextlib.AbstractAsyncContextManager[Recording]:
        raise StoreError("once")

    outcomes = await asyncio.gather(*(recordings.obtain(KEY, fail) for _ in range(3)), return_exceptions=True)
    assert all(isinstance(outcome, StoreError) for outcome in outcomes)
    assert not await keep(recordings, recording())


_ENDLESS_WRITER = """
import sys
from pathlib import Path
from core.disk import replace
from core.adapters.recording import encode
sys.path.insert(0, {tests!r})
from test_recordings import recording
from core.model.frozen import digest
folder = Path(sys.argv[1])
n = 0
while True:
    replace(folder / f"{{digest(n % 5)}}.json", encode(recording(key=digest(n % 5), text=str(n) * 20_000)))
    print(n, flush=True)
    n += 1
"""


@pytest.mark.parametrize("written", [1, 4, 9, 14])
def test_a_sigkill_while_writing_leaves_no_damaged_file(tmp_path: Path, written: int) -> None:
    script = _ENDLESS_WRITER.format(tests=str(Path(__file__).parent))
    command = [sys.executable, "-W", "ignore", "-c", script, str(tmp_path)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": _root()}
    ) as child:
        assert child.stdout is not None
        for _ in range(written):
            assert child.stdout.readline()
        child.send_signal(signal.SIGKILL)
    files = list(tmp_path.glob("*.json"))
    assert len(files) == min(written, 5) or len(files) == min(written + 1, 5)
    for file in files:
        decode(file.read_bytes(), file.stem)


def _root() -> str:
    return str(Path(__file__).parent.parent.parent)

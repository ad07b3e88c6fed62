"""Leases: who may drive a run on an object store, when, and for how long."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from manual_clock import ManualClock
from object_store import memory_prefix

from core.disk import objects
from core.errors import StoreError
from core.lab import lease
from core.lab.process import is_gone, this_process


@pytest.fixture
def folder() -> Iterator[Path]:
    with memory_prefix() as root:
        yield root / "run" / "lock"


def elsewhere(folder: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> lease.Lease:
    """A lease taken on a machine of which nothing is known."""
    with monkeypatch.context() as patched:
        patched.setattr(lease, "this_process", lambda: "other-machine:1:2:3")
        return lease.take(folder, clock)


class TestTaking:
    def test_only_one_has_it(self, folder: Path) -> None:
        clock = ManualClock()
        mine = lease.take(folder, clock)
        with pytest.raises(StoreError, match=f"pid {os.getpid()} on ") as caught:
            lease.take(folder, clock)
        assert "120 s" in caught.value.remedy
        mine.release()
        lease.take(folder, clock).check()

    def test_of_two_that_ask_at_once_one_is_refused(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        clock, listed = ManualClock(), objects.names

        def slow(place: Path) -> object:
            before = listed(place)
            with monkeypatch.context() as patched:
                patched.setattr(objects, "names", listed)
                lease.take(folder, clock)
            return before

        monkeypatch.setattr(objects, "names", slow)
        with pytest.raises(StoreError, match="another process"):
            lease.take(folder, clock)

    def test_a_store_that_overwrites_is_refused(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(objects, "create", objects.put)
        with pytest.raises(StoreError, match="overwrites") as caught:
            lease.take(folder, ManualClock())
        assert "If-None-Match" in caught.value.remedy


class TestTakingOver:
    def test_not_before_it_expired(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        clock = ManualClock()
        theirs = elsewhere(folder, clock, monkeypatch)
        clock.advance(50)
        theirs.renew()
        clock.advance(lease.EXPIRED_S)
        assert lease.is_live(folder, clock)
        with pytest.raises(StoreError, match="another process"):
            lease.take(folder, clock)
        clock.advance(1)
        assert not lease.is_live(folder, clock)
        lease.take(folder, clock).check()

    def test_whoever_was_taken_over_notices_and_stays_out(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        clock = ManualClock()
        theirs = elsewhere(folder, clock, monkeypatch)
        clock.advance(lease.EXPIRED_S + 1)
        with pytest.raises(StoreError, match="could not be renewed for 121 s"):
            theirs.check()
        mine = lease.take(folder, clock)
        theirs.renew()
        with pytest.raises(StoreError, match="another driver took over"):
            theirs.check()
        theirs.release()
        mine.renew()
        mine.check()
        assert lease.is_live(folder, clock)

    def test_a_late_renewal_cannot_bring_an_old_lease_back(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        clock = ManualClock()
        theirs = elsewhere(folder, clock, monkeypatch)
        clock.advance(lease.EXPIRED_S + 1)
        lease.take(folder, clock).release()
        theirs._lost = ""
        objects.put(folder / "00000001.json", lease._note(clock, released=False))
        assert not lease.is_live(folder, clock)
        lease.take(folder, clock).check()

    def test_a_removed_lease_is_lost(self, folder: Path) -> None:
        mine = lease.take(folder, ManualClock())
        objects.remove([folder / "00000001.json"])
        mine.renew()
        with pytest.raises(StoreError, match="it was removed"):
            mine.check()

    def test_a_store_that_is_out_of_reach_for_long_ends_it(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        clock = ManualClock()
        mine = lease.take(folder, clock)

        def unreachable(*_: object) -> None:
            raise StoreError("the store cannot be reached")

        with monkeypatch.context() as patched:
            patched.setattr(objects, "put", unreachable)
            clock.advance(lease.VALID_S)
            with pytest.raises(StoreError, match="cannot be reached"):
                mine.renew()
            mine.check()
            clock.advance(1)
            with pytest.raises(StoreError, match="lost its lease"):
                mine.check()

    def test_a_dead_process_of_this_machine_is_not_waited_for(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        said = subprocess.run(
            [sys.executable, "-c", "from core.lab.process import this_process; print(this_process())"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        clock = ManualClock()
        with monkeypatch.context() as patched:
            patched.setattr(lease, "this_process", said.stdout.strip)
            lease.take(folder, clock)
        lease.take(folder, clock).check()


class TestProcess:
    def test_this_one_lives(self) -> None:
        assert this_process()
        assert not is_gone(this_process())

    @pytest.mark.parametrize("unknown", ["", "a:b:1:2", ":::", "noise"])
    def test_nothing_is_known_of_others(self, unknown: str) -> None:
        assert not is_gone(unknown)

    def test_a_pid_that_was_given_again_is_another_process(self) -> None:
        machine, _, start = this_process().rpartition(":")
        assert is_gone(f"{machine}:{int(start) + 1}")

"""W&B beside a run: whatever becomes of it, the run ends as it would have, and sending again doubles nothing.

The server is a stand-in (wandb_server); the client, its processes and its offline files are W&B's own.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from starlette.responses import Response
from tracked_runs import begun, finished
from typed import Said, Terminal
from wandb_server import DEADLINE_S, WandbServer, wandb_server

from core.adapters.track import OFFLINE, state
from core.adapters.track.spool import spooled, uploaded
from core.lab.lock import only_driver
from core.lab.store import RunFolder
from core.model.specs import TrackMode, TrackSpec
from experiments.follower import following
from experiments.publishing import publish
from experiments.registry import EXPERIMENTS
from experiments.tracking import home, views_of

TOY = Path(__file__).with_name("toy_lab.py")
HISTORY = "wandb-history.jsonl"
AT_ONCE = ("--set", "runtime.track.interval_s=0.05")


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    """Tracking offline, as for somebody without a key."""
    monkeypatch.setitem(EXPERIMENTS, "toy", "toy_lab:Toy")
    monkeypatch.setenv("ASSAY_CONFIGS", str(tmp_path / "configs"))
    monkeypatch.setenv("ASSAY_RESULTS", str(tmp_path / "results"))
    monkeypatch.delenv("WANDB_MODE")
    monkeypatch.chdir(tmp_path)
    found = Terminal(tmp_path, capsys)
    config = tmp_path / "configs" / "it.yaml"
    config.write_text(config.read_text().replace("{pool: inline}", "{pool: inline, track: {offline_wait_s: 120}}"))
    return found


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[WandbServer]:
    """A server, and the key to it."""
    with wandb_server() as backend:
        monkeypatch.setenv("WANDB_API_KEY", "k" * 40)
        monkeypatch.setenv("WANDB_BASE_URL", backend.url)
        yield backend


def trackers(parent: int | None = None) -> list[psutil.Process]:
    """The children that talk to W&B."""
    return [child for child in psutil.Process(parent).children() if _is_tracker(child)]


def _is_tracker(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):  # others come and go
        return "experiments.tracker" in process.cmdline()
    return False


def kill_tracker() -> None:
    """The child and W&B's own process, at once and without a chance to say goodbye."""
    for child in trackers():
        os.killpg(child.pid, signal.SIGKILL)


def kill_core() -> None:
    """W&B's own process alone."""
    for child in trackers():
        for process in child.children(recursive=True):
            process.kill()


def meanwhile(first: Callable[[], bool], then: Callable[[], None]) -> threading.Thread:
    """Do `then` once `first` has waited for its moment, beside the run."""

    def act() -> None:
        assert first()
        then()

    thread = threading.Thread(target=act)
    thread.start()
    return thread


def warnings(said: Said) -> list[str]:
    return [line for line in said.err.splitlines() if "the run is not affected" in line]


def states(terminal: Terminal, target: int = 0) -> set[str]:
    """How far W&B is, as `track status` says."""
    found = terminal.type("track", "status", "latest", "--json").json
    return {line["state"] for line in found["targets"][target]["runs"]}


def run_of(terminal: Terminal) -> RunFolder:
    return RunFolder(terminal.folder())


def steps(server: WandbServer) -> dict[str, list[int]]:
    """Points of every suite's curve, as the server has them."""
    suites = {name: run for name, run in server.runs.items() if run.fields.get("jobType") == "suite"}
    return {run.fields["displayName"]: [line["_step"] for line in run.history] for run in suites.values()}


class TestOffline:
    def test_is_what_happens_without_a_key_and_repeating_changes_nothing(self, terminal: Terminal) -> None:
        said = terminal.type("run", "it")
        assert said.code == 0
        assert warnings(said) == []
        place = home(run_of(terminal))
        runs = spooled(place / OFFLINE)
        assert sorted(run.steps for run in runs) == [(), (1, 2), (1, 2)]
        assert all(run.is_whole for run in runs)
        files = {file: file.stat().st_mtime_ns for file in place.rglob("*.wandb")}
        assert len(files) == 3
        assert terminal.type("track", "sync", "latest").code == 0
        assert terminal.type("run", "it").code == 0
        assert {file: file.stat().st_mtime_ns for file in place.rglob("*.wandb")} == files
        assert states(terminal) == {"sent"}

    def test_a_killed_tracker_costs_the_run_one_line(self, terminal: Terminal) -> None:
        def is_there() -> bool:
            while not trackers():
                pass
            return True

        killer = meanwhile(is_there, kill_tracker)
        said = terminal.type("run", "it", "--set", "row_ms=20")
        killer.join()
        assert said.code == 0
        [warning] = warnings(said)
        assert "killed (signal 9)" in warning
        noted = terminal.type("track", "status", "latest", "--json").json["targets"][0]
        assert "killed" in noted["failure"]
        assert {line["state"] for line in noted["runs"]} == {"not sent"}
        assert terminal.type(*warning.partition("assay ")[2].split()[:3]).code == 0
        assert sorted(run.steps for run in spooled(home(run_of(terminal)) / OFFLINE)) == [(), (1, 2), (1, 2)]
        assert terminal.type("track", "status", "latest", "--json").json["targets"][0]["failure"] == ""

    def test_files_that_take_long_are_finished_without_the_command(self, terminal: Terminal) -> None:
        before = set(trackers())
        said = terminal.type("run", "it", "--set", "runtime.track.offline_wait_s=0.001")
        assert said.code == 0
        assert warnings(said) == []
        [told] = [line for line in said.err.splitlines() if line.startswith("W&B: ")]
        name = terminal.folder().name
        assert f"assay track status {name}" in told
        assert f"assay track sync {name}" in told
        _, alive = psutil.wait_procs([child for child in trackers() if child not in before], timeout=DEADLINE_S)
        assert alive == []
        assert states(terminal) == {"sent"}

    def test_the_next_command_waits_for_a_child_left_alone(self, terminal: Terminal) -> None:
        terminal.type("run", "it", "--set", "runtime.track.offline_wait_s=0.001")
        said = terminal.type("track", "sync", "latest")
        assert (said.code, states(terminal)) == (0, {"sent"})
        terminal.type("run", "it")
        assert states(terminal) == {"sent"}

    def test_a_child_left_alone_does_not_outlive_its_deadline(self, terminal: Terminal) -> None:
        terminal.type("run", "it", "--set", "runtime.track.mode=off")
        folder = run_of(terminal)
        slow = TrackSpec(mode=TrackMode.OFFLINE, offline_wait_s=0.001, deadline_s=0.001)
        with following(folder, slow, lambda line: None):
            [child] = trackers()
            theirs = [child, *child.children(recursive=True)]
        _, alive = psutil.wait_procs(theirs, timeout=DEADLINE_S)
        assert alive == []
        assert states(terminal) == {"not sent"}
        assert terminal.type("track", "sync", "latest").code == 0
        assert states(terminal) == {"sent"}

    def test_files_that_were_lost_or_torn_are_written_again(self, terminal: Terminal) -> None:
        terminal.type("run", "it")
        spool = home(run_of(terminal)) / OFFLINE
        file = min(spool.rglob("*.wandb"))
        file.write_bytes(file.read_bytes()[:-40])
        assert states(terminal) == {"not sent"}
        assert terminal.type("track", "sync", "latest").code == 0
        assert all(run.is_whole for run in spooled(spool))
        shutil.rmtree(spool)
        assert terminal.type("track", "sync", "latest").code == 0
        assert len(spooled(spool)) == 3


class TestNotAtAll:
    def test_off_leaves_no_trace(self, terminal: Terminal) -> None:
        assert terminal.type("run", "it", "--set", "runtime.track.mode=off").code == 0
        assert not home(run_of(terminal)).exists()

    def test_online_without_a_key_is_said_and_fails_nothing(self, terminal: Terminal) -> None:
        said = terminal.type("run", "it", "--set", "runtime.track.mode=online")
        assert said.code == 0
        [warning] = warnings(said)
        assert "WANDB_API_KEY" in warning

    def test_status_tells_that_somebody_is_at_it(self, terminal: Terminal) -> None:
        terminal.type("run", "it")
        assert not terminal.type("track", "status", "latest", "--json").json["under_way"]
        with only_driver(home(run_of(terminal)) / "lock"):
            assert "is being sent or written now" in terminal.type("track", "status", "latest").out

    def test_sync_says_so_too(self, terminal: Terminal) -> None:
        terminal.type("run", "it")
        said = terminal.type("track", "sync", "latest", "--online")
        assert (said.code, "WANDB_API_KEY" in said.err) == (2, True)
        assert terminal.type("track", "sync", "latest", "--online", "--offline").code == 2

    def test_a_run_that_never_began_is_not_worth_a_word(self, terminal: Terminal) -> None:
        (terminal.root / "configs" / "it.yaml").write_text("experiment: toy\nname: it\nsuites: [{name: a}]\nfloor: x\n")
        assert warnings(terminal.type("run", "it")) == []


class TestOnline:
    def test_a_run_is_followed_and_sent_whole_once(self, terminal: Terminal, server: WandbServer) -> None:
        said = terminal.type("run", "it", *AT_ONCE)
        assert (said.code, warnings(said)) == (0, [])
        assert steps(server) == {"it/a": [1, 2], "it/b": [1, 2]}
        assert {run.fields["groupName"] for run in server.runs.values()} == {"it"}
        assert {run.exit_code for run in server.runs.values()} == {0}
        versions = len(server.artifacts)
        shutil.rmtree(home(run_of(terminal)))  # whatever is known of what was sent
        assert terminal.type("track", "sync", "latest", "--online").code == 0
        assert steps(server) == {"it/a": [1, 2], "it/b": [1, 2]}
        assert sum(run.overwritten for run in server.runs.values()) == 0
        assert len(server.artifacts) == versions
        assert server.unknown == []

    @pytest.mark.parametrize("kill", [kill_tracker, kill_core])
    def test_killed_in_the_middle_the_run_ends_well_and_sync_completes_it(
        self, terminal: Terminal, server: WandbServer, kill: Callable[[], None]
    ) -> None:
        server.stalls = lambda path, body: HISTORY in body.decode("utf-8", "replace") and path.endswith("file_stream")
        killer = meanwhile(lambda: server.stalled.wait(DEADLINE_S), kill)
        said = terminal.type("run", "it", *AT_ONCE, "--set", "row_ms=100")
        killer.join()
        assert said.code == 0
        assert len(warnings(said)) == 1
        assert sum(map(len, steps(server).values())) > 0, "a point was taken and not acknowledged"
        server.stalls = lambda path, body: False
        assert states(terminal, -1) != {"sent"}
        assert terminal.type("track", "sync", "latest", "--online").code == 0
        assert steps(server) == {"it/a": [1, 2], "it/b": [1, 2]}
        assert sum(run.overwritten for run in server.runs.values()) == 0
        assert states(terminal, -1) == {"sent"}

    @pytest.mark.parametrize("trouble", ["hangs", "refuses", "fails"])
    def test_a_server_in_trouble_holds_nothing_up(
        self, terminal: Terminal, server: WandbServer, monkeypatch: pytest.MonkeyPatch, trouble: str
    ) -> None:
        if trouble == "hangs":
            server.stalls = lambda path, body: True
        elif trouble == "fails":
            server.trouble = lambda path, operation: Response(status_code=500)
        else:
            monkeypatch.setenv("WANDB_BASE_URL", "http://127.0.0.1:9")
        said = terminal.type("run", "it", "--set", "runtime.track.deadline_s=1")
        assert said.code == 0
        [warning] = warnings(said)
        assert "within 1 s" in warning
        known = state.read(home(run_of(terminal)))
        assert all("within 1 s" in at.failure for at in known.targets.values())

    def test_a_run_under_way_is_shown_as_running_and_without_tables(
        self, terminal: Terminal, server: WandbServer
    ) -> None:
        terminal.type("run", "it", "--set", "runtime.track.mode=off")
        with only_driver(terminal.folder() / "lock"):
            assert terminal.type("track", "sync", "latest", "--online").code == 0
        assert steps(server) == {"it/a": [1, 2], "it/b": [1, 2]}
        assert {run.exit_code for run in server.runs.values()} == {None}
        assert server.artifacts == {}
        assert terminal.type("track", "sync", "latest", "--online").code == 0
        assert steps(server) == {"it/a": [1, 2], "it/b": [1, 2]}
        assert {run.exit_code for run in server.runs.values()} == {0}
        assert server.artifacts != {}

    def test_points_that_the_client_gave_up_on_are_no_success(self, terminal: Terminal, server: WandbServer) -> None:
        terminal.type("run", "it", "--set", "runtime.track.mode=off")
        refused = Response(status_code=400)
        server.trouble = lambda path, operation: refused if path.endswith("file_stream") else None
        said = terminal.type("track", "sync", "latest", "--online")
        assert said.code == 5
        assert "400" in said.err
        server.trouble = lambda path, operation: None
        assert terminal.type("track", "sync", "latest", "--online").code == 0
        assert steps(server) == {"it/a": [1, 2], "it/b": [1, 2]}

    def test_what_a_server_has_is_kept_from_wandb_sync(self, terminal: Terminal, server: WandbServer) -> None:
        assert terminal.type("run", "it", "--set", "runtime.track.mode=offline").code == 0
        spool = home(run_of(terminal)) / OFFLINE
        assert uploaded(spool) == frozenset()
        assert terminal.type("track", "sync", "latest", "--online").code == 0
        assert uploaded(spool) == frozenset(server.runs)
        shutil.rmtree(spool)
        assert terminal.type("track", "sync", "latest", "--offline").code == 0
        assert uploaded(spool) == frozenset(server.runs)


@pytest.mark.usefixtures("server")
def test_the_tracker_dies_with_its_driver(terminal: Terminal, server: WandbServer) -> None:
    server.stalls = lambda path, body: path.endswith("file_stream")
    command = [sys.executable, str(TOY), "run", "it", *AT_ONCE, "--set", "row_ms=60000"]
    driver = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert server.stalled.wait(DEADLINE_S)
    [tracker] = trackers(driver.pid)
    theirs = [tracker, *tracker.children(recursive=True)]
    assert len(theirs) > 1
    driver.kill()
    driver.wait()
    _, alive = psutil.wait_procs(theirs, timeout=DEADLINE_S)
    assert alive == []


def test_a_run_that_is_stopped_waits_for_nobody(tmp_path: Path) -> None:
    said: list[str] = []

    def stopped() -> None:
        with following(begun(tmp_path), TrackSpec(mode=TrackMode.OFFLINE), said.append):
            assert len(trackers()) == 1
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert trackers() == []
    assert said == []


class TestReport:
    def test_it_is_saved_over_the_one_of_before(self, terminal: Terminal, server: WandbServer) -> None:
        folder = finished(terminal.root / "results")
        said: list[str] = []
        publish(folder, said.append)
        publish(folder, said.append)
        [(made, report)] = server.reports.items()
        assert (report["displayName"], report["entityName"]) == ("test: NON-BINDING", "team")
        assert f"runs/{views_of(folder)[-1].id}" in report["spec"]
        links = [line for line in said if line.startswith("W&B Report: ")]
        assert len(links) == 2
        assert all(made in link for link in links)

    def test_without_a_server_page_and_tables_are_written_and_the_rest_is_said(self, terminal: Terminal) -> None:
        folder = finished(terminal.root / "results")
        said: list[str] = []
        publish(folder, said.append)
        assert "set WANDB_API_KEY" in said[-1]
        assert list((home(folder) / OFFLINE).rglob("page_report*.html"))

    def test_the_report_of_another_experiment_is_published_as_it_is(self, terminal: Terminal) -> None:
        terminal.type("run", "it", "--set", "runtime.track.mode=off")
        said = terminal.type("report", "latest", "--wandb")
        assert said.code == 0
        assert "set WANDB_API_KEY" in said.out

"""`assay replay`: the same bytes with the network shut off, or a clear word about what keeps it from that."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from main_job import MainJob

pytestmark = pytest.mark.e2e
SETTINGS = {"questions": 2, "runs": 1, "runtime.pool": "inline", "runtime.track.mode": "off"}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results root of a small run."""
    results = tmp_path_factory.mktemp("finished")
    code, output = MainJob(results, SETTINGS).run()
    assert code == 0, output
    return results


@pytest.fixture
def job(finished: Path, tmp_path: Path) -> MainJob:
    """A copy of it, to be damaged."""
    shutil.copytree(finished, tmp_path / "results")
    return MainJob(tmp_path / "results", SETTINGS)


def test_the_report_is_the_same_and_a_kept_replay_is_not_taken_for_one(job: MainJob, tmp_path: Path) -> None:
    keep = ("--keep", str(tmp_path / "kept"))
    code, output = job.run("replay", "latest", *keep)
    assert code == 0, output
    assert "2 rows replayed, nothing sent; the report is the same, byte for byte" in output
    [kept] = (tmp_path / "kept").glob("msvl/*/report.json")
    assert kept.read_bytes() == (job.folder / "report.json").read_bytes()
    before = (job.folder / "record.json").read_bytes()
    for folder in (tmp_path / "kept", job.results):
        code, output = job.run("replay", "latest", "--keep", str(folder))
        assert code == 2, output
        assert "is there already" in output
    assert (job.folder / "record.json").read_bytes() == before


def test_a_report_that_was_edited_differs(job: MainJob) -> None:
    report = job.folder / "report.json"
    edited = json.loads(report.read_text())
    edited["name"] = "another"
    report.write_text(json.dumps(edited))
    code, output = job.run("replay", "latest", "--json")
    assert code == 1, output
    assert '"name"' in output


def test_a_reply_that_was_never_recorded_is_incomplete(job: MainJob) -> None:
    [replies] = job.folder.glob("recordings/*/*.replies.jsonl")
    replies.write_bytes(b"".join(replies.read_bytes().splitlines(keepends=True)[1:]))
    code, output = job.run("replay", "latest")
    assert code == 3, output
    assert "cannot be replayed" in output
    assert "no recorded reply under" in output


def test_a_run_with_rows_missing_is_to_be_finished_first(job: MainJob) -> None:
    file = job.folder / "outcome.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"rows": 1, "status": "partial"}))
    code, output = job.run("replay", "latest")
    assert code == 3, output
    assert "has 1 of 2 rows" in output
    assert "resume" in output


def test_another_parser_is_refused(job: MainJob) -> None:
    file = job.folder / "record.json"
    record = json.loads(file.read_text())
    record["suites"][0]["parser"]["version"] = "0.0.1"
    file.write_text(json.dumps(record))
    code, output = job.run("replay", "latest")
    assert code == 2, output
    assert "suites.0.parser.version: was '0.0.1'" in output


@pytest.mark.parametrize(("reach", "refused"), [("NOWHERE", True), ("LOOPBACK", False)])
def test_what_is_shut_off_is_shut_off(reach: str, refused: bool) -> None:
    program = f"""
import asyncio, socket
from core.adapters.offline import NetworkRefused, Reach, shut_off
shut_off(Reach.{reach})
shut_off(Reach.{reach})

def tried(connect):
    try:
        connect()
    except NetworkRefused:
        return True
    except OSError:
        pass
    return False

async def asked(host):
    await asyncio.open_connection(host, 9)

for host in ("127.0.0.1", "192.0.2.1"):
    with socket.socket() as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp:
        tcp.setblocking(False)
        print(tried(lambda: tcp.connect((host, 9))), tried(lambda: udp.sendto(b"", (host, 9))))
print(tried(lambda: asyncio.run(asked("127.0.0.1"))))
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said.split() == [str(refused)] * 2 + ["True"] * 2 + [str(refused)]

"""The files that make clusters and images: valid by the schemas of those who read them, pinned, and without secrets."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
UNPINNED = f"sha256:{'0' * 64}"
DIGEST = f"sha256:{'a1' * 32}"
FILES = ("ray_cluster.yaml", "deploy/kuberay/rayjob.yaml", "compose.yaml", "Dockerfile")


def load(name: str, root: Path = ROOT) -> Any:
    return yaml.safe_load((root / name).read_text("utf-8"))


def constraint(package: str) -> str:
    found = re.search(rf"^{package}==(\S+)", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    assert found
    return found[1]


def walk(value: Any) -> Iterator[tuple[str, Any]]:
    """Every key of every mapping below `value`, with what it holds."""
    for key, item in value.items() if isinstance(value, dict) else ():
        yield str(key), item
        yield from walk(item)
    for item in value if isinstance(value, list) else ():
        yield from walk(item)


@pytest.fixture
def launcher(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Ray's own preparation and check of a cluster's file."""
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    from ray.autoscaler._private import util  # noqa: TID251 - whose schema it is

    return util


def test_rays_launcher_accepts_the_cluster(launcher: Any) -> None:
    prepared = launcher.prepare_config(load("ray_cluster.yaml"))
    launcher.validate_config({**prepared, "cluster_synced_files": []})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"max_worker": 2}, "max_worker"),
        ({"head_node_type": "boss"}, "head_node_type"),
        ({"docker": {"images": "x"}}, "x"),
    ],
    ids=["misspelt", "unknown", "misplaced"],
)
def test_rays_launcher_would_notice_a_slip(launcher: Any, change: dict[str, Any], words: str) -> None:
    spoiled = {**load("ray_cluster.yaml"), **change, "cluster_synced_files": []}
    with pytest.raises(Exception, match=words):
        launcher.validate_config(spoiled)


def test_a_cluster_costs_nothing_while_nothing_runs() -> None:
    cluster = load("ray_cluster.yaml")
    types = cluster["available_node_types"]
    assert types[cluster["head_node_type"]]["resources"] == {"CPU": 0}
    workers = {name: node for name, node in types.items() if name != cluster["head_node_type"]}
    assert {name for name, node in workers.items() if node["resources"].get("GPU")} == {"gpu"}
    assert all(node["min_workers"] == 0 for node in workers.values())
    assert 0 < cluster["idle_timeout_minutes"] <= 15


def test_images_are_pinned_and_what_the_record_will_say_is_what_runs() -> None:
    docker = load("ray_cluster.yaml")["docker"]
    image_digest = docker["image"].partition("@")[2]
    assert f"--env ASSAY_IMAGE_DIGEST={image_digest}" in docker["run_options"]
    job = load("deploy/kuberay/rayjob.yaml")
    for container in containers(job):
        digest = container["image"].partition("@")[2]
        assert re.fullmatch(r"sha256:[0-9a-f]{64}", digest)
        assert environment(container)["ASSAY_IMAGE_DIGEST"] == {"name": "ASSAY_IMAGE_DIGEST", "value": digest}
    runner = load("compose.yaml")["services"]["runner"]
    assert runner["environment"]["ASSAY_IMAGE_DIGEST"] == "${ASSAY_IMAGE_DIGEST}"
    assert re.search(r"@\$\{ASSAY_IMAGE_DIGEST:\?", runner["image"])


def containers(job: Mapping[str, Any]) -> list[dict[str, Any]]:
    cluster = job["spec"]["rayClusterSpec"]
    groups = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    return [container for group in groups for container in group["template"]["spec"]["containers"]]


def environment(container: Mapping[str, Any]) -> dict[str, Any]:
    return {entry["name"]: entry for entry in container["env"]}


def test_the_job_on_kubernetes_is_as_kuberay_wants_it() -> None:
    job = load("deploy/kuberay/rayjob.yaml")
    spec, cluster = job["spec"], job["spec"]["rayClusterSpec"]
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    assert spec["submissionMode"] in {"K8sJobMode", "HTTPMode", "SidecarMode"}
    assert spec["entrypoint"].split()[:2] == ["assay", "run"]
    assert spec["shutdownAfterJobFinishes"] is True
    assert cluster["rayVersion"] == constraint("ray")
    assert cluster["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"
    assert all(group["minReplicas"] == 0 for group in cluster["workerGroupSpecs"])
    for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
        assert all(isinstance(value, str) for value in group["rayStartParams"].values()), "KubeRay takes text alone"
        pod = group["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert {mount["name"] for mount in pod["containers"][0]["volumeMounts"]} <= {v["name"] for v in pod["volumes"]}
    for container in containers(job):
        assert container["securityContext"]["allowPrivilegeEscalation"] is False
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}


def test_secrets_are_named_and_never_written() -> None:
    for container in containers(load("deploy/kuberay/rayjob.yaml")):
        for name, entry in environment(container).items():
            secret = any(word in name for word in ("KEY", "TOKEN", "SECRET"))
            assert ("valueFrom" in entry) == secret, name
    for service in load("compose.yaml")["services"].values():
        for name, value in service["environment"].items():
            assert value.startswith("${") or name == "ASSAY_IMAGE_DIGEST", name
    looks_like_a_key = re.compile(r"sk-[A-Za-z0-9]{8}|AKIA[0-9A-Z]{12}|ghp_|-----BEGIN|(?i:password|token|api_key)=\S")
    for name in FILES:
        assert not looks_like_a_key.search((ROOT / name).read_text("utf-8")), name
    assert not any(key == "file_mounts" for key, _ in walk(load("ray_cluster.yaml")))


def test_the_runner_waits_for_a_parser_that_answers() -> None:
    services = load("compose.yaml")["services"]
    assert services["runner"]["depends_on"] == {"parser": {"condition": "service_healthy"}}
    assert services["parser"]["healthcheck"]["test"][:3] == ["CMD", "assay", "parser"]


def test_the_image_is_made_by_the_scripts_that_are_tested_and_runs_as_nobody() -> None:
    text = (ROOT / "Dockerfile").read_text("utf-8")
    assert "ARG PYTHON_IMAGE\n" in text, "no default: it would pin a build to nothing"
    assert "RUN scripts/setup parser" in text
    assert "RUN scripts/setup all" in text
    stages = re.split(r"^FROM ", text, flags=re.MULTILINE)[1:]
    for stage in (stage for stage in stages if re.match(r"\S+ AS (parser|runner)\n", stage)):
        assert "USER assay" in stage
        assert "ENTRYPOINT" not in stage
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert "*" in ignored, "everything that is not named stays outside"
    copied = {word for line in re.findall(r"^COPY (?!--)(.+) \S+$", text, re.MULTILINE) for word in line.split()}
    assert {f"!{name}" for name in copied} <= set(ignored)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of what the scripts touch, with commands of its own on the path."""
    for name in (*FILES, "scripts/image", "scripts/cluster"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "scripts" / "setup").write_text("#!/bin/sh\n")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    for name in ("docker", ".venv/bin/ray"):
        (tmp_path / name).write_text(f'#!/bin/sh\necho "{name}" "$@" >> "{tmp_path}/said"\n')
        (tmp_path / name).chmod(0o755)
    (tmp_path / "scripts" / "setup").chmod(0o755)
    (tmp_path / ".venv" / "bin" / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (tmp_path / ".venv" / "bin" / "python").chmod(0o755)
    return tmp_path


def script(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    variables = {"PATH": f"{project}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    return subprocess.run(["bash", *words], cwd=project, env=variables, text=True, capture_output=True, check=False)


def test_pinning_writes_the_digest_wherever_it_belongs(project: Path) -> None:
    done = script(project, "scripts/image", "pin", f"registry.test:5000/team/assay@{DIGEST}")
    assert done.returncode == 0, done.stderr
    for name in ("ray_cluster.yaml", "deploy/kuberay/rayjob.yaml"):
        assert UNPINNED not in (project / name).read_text()
    assert load("ray_cluster.yaml", project)["docker"]["image"] == f"registry.test:5000/team/assay@{DIGEST}"
    for container in containers(load("deploy/kuberay/rayjob.yaml", project)):
        assert container["image"] == f"registry.test:5000/team/assay@{DIGEST}"
        assert environment(container)["ASSAY_IMAGE_DIGEST"]["value"] == DIGEST
    before = (project / "ray_cluster.yaml").read_text()
    assert script(project, "scripts/image", "pin", "assay:latest").returncode == 2
    assert (project / "ray_cluster.yaml").read_text() == before


def test_a_cluster_without_an_image_is_not_started(project: Path) -> None:
    refused = script(project, "scripts/cluster", "up")
    assert refused.returncode == 2
    assert "scripts/image pin" in refused.stderr
    assert not (project / "said").exists()
    script(project, "scripts/image", "pin", f"assay@{DIGEST}")
    for words in (("up", "--yes"), ("dashboard",), ("status",), ("down", "--yes")):
        assert script(project, "scripts/cluster", *words).returncode == 0
    assert (project / "said").read_text().splitlines() == [
        ".venv/bin/ray up --yes ray_cluster.yaml",
        ".venv/bin/ray dashboard --port 8265 ray_cluster.yaml",
        ".venv/bin/ray exec ray_cluster.yaml ray status",
        ".venv/bin/ray down --yes ray_cluster.yaml",
    ]
    assert script(project, "scripts/cluster", "sideways").returncode == 2


def test_an_image_knows_the_commit_of_its_code(project: Path) -> None:
    base = f"python:3.11-slim-bookworm@{DIGEST}"
    (project / "git").write_text('#!/bin/sh\n[ "$2" = --short=12 ] && echo abcdef123456\n')
    (project / "git").chmod(0o755)
    note = f'#!/bin/sh\necho "$@" >> "{project}/said"\ncp provenance.json "{project}/seen"\n'
    (project / "docker").write_text(note)
    done = script(project, "scripts/image", "build", base, "registry.test/assay")
    assert done.returncode == 0, done.stderr
    parser, runner = (project / "said").read_text().splitlines()
    assert f"PYTHON_IMAGE={base}" in parser
    assert "--target parser --tag registry.test/assay-parser:abcdef123456" in parser
    assert "--target runner --tag registry.test/assay:abcdef123456" in runner
    assert '"code_sha256"' in (project / "seen").read_text()
    assert not (project / "provenance.json").exists()
    assert script(project, "scripts/image", "build", "python:3.11", "registry.test/assay").returncode == 2

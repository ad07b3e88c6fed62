"""Where W&B is, and when there is nothing to do."""

import importlib.util
from typing import Any

import pytest

from core.adapters.track import resolve
from core.errors import ConfigError
from core.model.specs import RuntimeSpec, TrackMode, TrackSpec

KEY = {"WANDB_API_KEY": "k"}


@pytest.mark.parametrize(
    ("asked", "environment", "mode"),
    [
        (TrackMode.AUTO, {}, TrackMode.OFFLINE),
        (TrackMode.AUTO, KEY, TrackMode.ONLINE),
        (TrackMode.AUTO, {**KEY, "WANDB_MODE": "offline"}, TrackMode.OFFLINE),
        (TrackMode.AUTO, {**KEY, "WANDB_MODE": "disabled"}, None),
        (TrackMode.OFF, KEY, None),
        (TrackMode.OFFLINE, {**KEY, "WANDB_MODE": "disabled"}, TrackMode.OFFLINE),
        (TrackMode.ONLINE, {**KEY, "WANDB_MODE": "disabled"}, TrackMode.ONLINE),
    ],
)
def test_the_key_decides_what_the_configuration_leaves_open(
    asked: TrackMode, environment: dict[str, str], mode: TrackMode | None
) -> None:
    found = resolve(TrackSpec(mode=asked), environment)
    assert (found.mode if found else None) == mode


def test_online_needs_the_key() -> None:
    with pytest.raises(ConfigError, match="WANDB_API_KEY"):
        resolve(TrackSpec(mode=TrackMode.ONLINE), {})


def test_without_the_package_only_those_who_asked_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "wandb" else real(name))
    assert resolve(TrackSpec(), KEY) is None
    with pytest.raises(ConfigError, match="package wandb"):
        resolve(TrackSpec(mode=TrackMode.OFFLINE), {})


def test_configuration_goes_before_environment() -> None:
    environment = {**KEY, "WANDB_PROJECT": "p", "WANDB_ENTITY": "e", "WANDB_BASE_URL": "https://w/"}
    found = resolve(TrackSpec(), environment)
    assert found is not None
    assert (found.project, found.entity, found.base_url, found.name) == ("p", "e", "https://w/", "https://w/e/p")
    found = resolve(TrackSpec(project="q", entity="f", base_url="https://x"), environment)
    assert found is not None
    assert found.name == "https://x/f/q"


@pytest.mark.parametrize("written", ["off", False])
def test_off_may_be_written_as_yaml_reads_it(written: Any) -> None:
    assert RuntimeSpec(track={"mode": written}).track.mode is TrackMode.OFF

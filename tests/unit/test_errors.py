"""The error tree: exit codes, and errors that survive the trip between processes."""

import copy
import pickle  # noqa: TID251  processes exchange errors this way; that is what is tested

import pytest

from core import errors
from core.errors import AssayError, ExitCode

every = [e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, AssayError)]


@pytest.mark.parametrize("kind", every)
def test_every_error_is_rebuilt_with_type_message_and_attributes(kind: type[AssayError]) -> None:
    error = kind("what happened", remedy="do this")
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is kind
        assert str(twin) == "what happened"
        assert twin.remedy == "do this"


@pytest.mark.parametrize("kind", every)
def test_every_error_can_be_made_of_nothing(kind: type[AssayError]) -> None:
    assert isinstance(kind().exit_code, ExitCode)


def test_attributes_travel() -> None:
    error = pickle.loads(pickle.dumps(errors.ConfigError("m", file="a.yaml", path="b.c", line=3)))
    assert (error.file, error.path, error.line) == ("a.yaml", "b.c", 3)


def test_exit_codes_are_the_documented_ones() -> None:
    assert [int(code) for code in ExitCode] == [0, 1, 2, 3, 4, 5]
    assert errors.EvaluationAbortedError.exit_code == 5
    assert errors.IndexMismatch.exit_code == 2
    assert errors.GateFailed.exit_code == 1
    assert errors.BudgetExhausted.exit_code == 4
    assert errors.RunIncomplete.exit_code == 3

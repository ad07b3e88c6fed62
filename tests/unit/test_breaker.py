"""The circuit breaker: ADR-0009's table, and any history against a model that cannot be wrong."""

from collections.abc import Callable

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, precondition, rule
from manual_clock import ManualClock

from core.errors import ConfigError
from core.policy.breaker import Breaker, BreakerPolicy, Permit, State

POLICY = BreakerPolicy()


def breaker(seen: list[State] | None = None) -> tuple[Breaker, ManualClock]:
    clock = ManualClock()
    return Breaker(POLICY, clock, None if seen is None else seen.append), clock


def admitted(circuit: Breaker) -> Permit:
    permit = circuit.admit()
    assert permit is not None
    return permit


def play(circuit: Breaker, clock: ManualClock, history: str) -> None:
    """f: a call fails; s: one succeeds; a: one is given up; w: the cooldown passes; r: a call is refused."""
    moves: dict[str, Callable[[], object]] = {
        "f": lambda: admitted(circuit).failed(),
        "s": lambda: admitted(circuit).succeeded(),
        "a": lambda: admitted(circuit).abandoned(),
        "w": lambda: clock.advance(POLICY.cooldown_s),
        "r": lambda: pytest.fail("admitted") if circuit.admit() else None,
    }
    for move in history:
        moves[move]()


@pytest.mark.parametrize(
    ("history", "state"),
    [
        ("", State.CLOSED),
        ("ff", State.CLOSED),
        ("fff", State.OPEN),
        ("ffsff", State.CLOSED),
        ("ffsfff", State.OPEN),
        ("ffaf", State.OPEN),
        ("fffr", State.OPEN),
        ("fffw", State.OPEN),
        ("fffws", State.CLOSED),
        ("fffwf", State.OPEN),
        ("fffwfr", State.OPEN),
        ("fffwa", State.HALF_OPEN),
        ("fffwas", State.CLOSED),
        ("fffwsff", State.CLOSED),
        ("fffwfws", State.CLOSED),
    ],
)
def test_the_table_of_the_adr(history: str, state: State) -> None:
    circuit, clock = breaker()
    play(circuit, clock, history)
    assert circuit.state is state


def test_exactly_one_probe_is_in_flight() -> None:
    circuit, clock = breaker()
    play(circuit, clock, "fffw")
    probe = admitted(circuit)
    assert [circuit.admit() for _ in range(5)] == [None] * 5
    probe.succeeded()
    assert all(circuit.admit() for _ in range(5))


def test_the_cooldown_is_exact_and_starts_again_with_a_failed_probe() -> None:
    circuit, clock = breaker()
    play(circuit, clock, "fff")
    assert passes_after(circuit, clock, 29.999, 0.001) == [False, True]
    admitted(circuit).failed()
    assert passes_after(circuit, clock, 29.0, 1.0) == [False, True]


def passes_after(circuit: Breaker, clock: ManualClock, *pauses: float) -> list[bool]:
    seen = []
    for pause in pauses:
        clock.advance(pause)
        seen.append(circuit.passes)
    return seen


@pytest.mark.parametrize("end", ["succeeded", "failed", "abandoned"])
def test_a_call_from_before_the_change_says_nothing_after_it(end: str) -> None:
    circuit, clock = breaker()
    slow = admitted(circuit)
    play(circuit, clock, "fffw")
    probe = admitted(circuit)
    getattr(slow, end)()
    assert circuit.admit() is None
    probe.succeeded()
    assert circuit.state is State.CLOSED


def test_a_second_report_is_ignored() -> None:
    circuit, _ = breaker()
    permit = admitted(circuit)
    for _ in range(POLICY.threshold):
        permit.failed()
    assert circuit.state is State.CLOSED


def test_every_change_is_told() -> None:
    seen: list[State] = []
    circuit, clock = breaker(seen)
    play(circuit, clock, "fffwfws")
    assert seen == [State.OPEN, State.HALF_OPEN, State.OPEN, State.HALF_OPEN, State.CLOSED]
    assert [state.value for state in State] == ["CLOSED", "OPEN", "HALF-OPEN"]


def test_the_names_and_defaults_are_those_of_the_adr() -> None:
    assert BreakerPolicy.from_environment({}) == BreakerPolicy(3, 30.0)
    named = {"PARSER_CB_THRESHOLD": "5", "PARSER_CB_COOLDOWN": "2.5"}
    assert BreakerPolicy.from_environment(named) == BreakerPolicy(5, 2.5)


@pytest.mark.parametrize(
    "environment",
    [
        {"PARSER_CB_THRESHOLD": "many"},
        {"PARSER_CB_THRESHOLD": "0"},
        {"PARSER_CB_THRESHOLD": "1.5"},
        {"PARSER_CB_THRESHOLD": "inf"},
        {"PARSER_CB_COOLDOWN": "-1"},
        {"PARSER_CB_COOLDOWN": "inf"},
        {"PARSER_CB_COOLDOWN": "nan"},
    ],
)
def test_numbers_that_cannot_work_are_refused(environment: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        BreakerPolicy.from_environment(environment)


class Histories(RuleBasedStateMachine):
    """Any interleaving of calls and time. The model keeps the whole history and derives the state from it."""

    permits = Bundle("permits")

    def __init__(self) -> None:
        super().__init__()
        self.clock = ManualClock()
        self.policy = BreakerPolicy(threshold=2, cooldown_s=10.0)
        self.circuit = Breaker(self.policy, self.clock)
        self.state = State.CLOSED
        self.streak = 0
        self.opened = 0.0
        self.current: set[Permit] = set()
        """Permits of the present state: the only ones whose end counts."""

    def move(self, state: State) -> None:
        self.state, self.streak, self.current = state, 0, set()

    @rule(target=permits)
    def ask(self) -> Permit | None:
        cooled = self.clock.monotonic() - self.opened >= self.policy.cooldown_s
        if self.state is State.OPEN and cooled:
            self.move(State.HALF_OPEN)
        expected = self.state is State.CLOSED or (self.state is State.HALF_OPEN and not self.current)
        assert self.circuit.passes is expected
        permit = self.circuit.admit()
        assert (permit is not None) is expected
        if permit is not None:
            self.current.add(permit)
        return permit

    @rule(permit=consumes(permits), good=st.booleans())
    def end(self, permit: Permit | None, good: bool) -> None:
        if permit is None:
            return
        (permit.succeeded if good else permit.failed)()
        if permit not in self.current:
            return
        self.current.remove(permit)
        self.streak = 0 if good else self.streak + 1
        if good and self.state is State.HALF_OPEN:
            self.move(State.CLOSED)
        elif not good and (self.state is State.HALF_OPEN or self.streak == self.policy.threshold):
            self.opened = self.clock.monotonic()
            self.move(State.OPEN)

    @rule(permit=consumes(permits))
    def give_up(self, permit: Permit | None) -> None:
        if permit is not None:
            permit.abandoned()
            self.current.discard(permit)

    @precondition(lambda self: self.state is not State.CLOSED)
    @rule(seconds=st.sampled_from([0.5, 9.5, 10.0, 25.0]))
    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @invariant()
    def agrees(self) -> None:
        assert self.circuit.state is self.state

    @invariant()
    def one_probe_at_most(self) -> None:
        assert self.state is not State.HALF_OPEN or len(self.current) <= 1


TestHistories = Histories.TestCase

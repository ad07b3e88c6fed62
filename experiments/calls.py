"""The language-model calls of a run in one line, for every view of it."""

from __future__ import annotations

from core.model.traffic import Channel, Flow, Steering, Traffic


def calls_line(traffic: Traffic, steering: Steering) -> str:
    """In flight, answered, told to slow down, spent; empty before there is a call."""
    parts = ["PAUSED"] if steering.flow is Flow.PAUSED else []
    parts += [_channel(channel) for channel in traffic.channels]
    if traffic.tokens:
        parts.append(f"{traffic.tokens:,} tokens, ${traffic.usd:.2f}")
    return "; ".join(parts)


def _channel(channel: Channel) -> str:
    words = [f"{channel.name}: {channel.in_flight}/{channel.ceiling} in flight", f"{channel.answered:,} answered"]
    words += [f"{channel.replayed:,} replayed"] if channel.replayed else []
    words += [f"{channel.limited:,} x slow down"] if channel.limited else []
    words += [f"{channel.failed:,} failed"] if channel.failed else []
    words += [f"waits {duration(channel.waiting_s)}"] if channel.waiting_s >= 1 else []
    return ", ".join(words)


def duration(seconds: float) -> str:
    """As a person says it."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{rest} s"

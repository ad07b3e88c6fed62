"""Frames between server and worker survive any cutting of the stream."""

from hypothesis import given
from hypothesis import strategies as st

from core.serving.parser.frames import Assembler, Frame, encoded

FRAMES = st.lists(st.builds(Frame, st.integers(0, 255), st.binary(max_size=40)), max_size=8)


@given(frames=FRAMES, cuts=st.lists(st.integers(1, 30), min_size=1, max_size=20))
def test_frames_come_out_as_they_went_in_however_the_bytes_are_cut(frames: list[Frame], cuts: list[int]) -> None:
    stream = b"".join(encoded(*frame) for frame in frames)
    assembler, found, place = Assembler(), [], 0
    while place < len(stream):
        for cut in cuts:
            found += list(assembler.feed(stream[place : place + cut]))
            place += cut
    assert found == frames


def test_half_a_frame_is_none() -> None:
    assembler = Assembler()
    whole = encoded(1, b"body")
    assert list(assembler.feed(whole[:-1])) == []
    assert list(assembler.feed(whole[-1:] + whole)) == [Frame(1, b"body"), Frame(1, b"body")]

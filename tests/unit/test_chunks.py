"""Cutting text into chunks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.adapters.ingest.chunks import BlockKind, blocks_of, chunks_of
from core.model.specs import ChunkingSpec

WORDS = st.lists(st.sampled_from(["alpha", "beta", "gamma", "startLoop(i,", "0,", "9)"]), min_size=1, max_size=30)
PARAGRAPH = WORDS.map(" ".join)
FENCE = WORDS.map(lambda words: "```avap\n" + "\n".join(words) + "\n```")
TEXT = st.lists(st.one_of(PARAGRAPH, FENCE), min_size=1, max_size=8).map("\n\n".join)


def test_paragraphs_and_fences_are_told_apart() -> None:
    text = "one\ntwo\n\n```avap\na = 1\n\nb = 2\n```\nthree"
    assert [(block.kind, block.text) for block in blocks_of(text)] == [
        (BlockKind.PROSE, "one\ntwo"),
        (BlockKind.FENCE, "```avap\na = 1\n\nb = 2\n```"),
        (BlockKind.PROSE, "three"),
    ]


def test_only_line_feeds_end_lines() -> None:
    assert chunks_of("one\u2028two\x0bthree", ChunkingSpec()) == ["one\u2028two\x0bthree"]


def test_a_longer_fence_holds_a_shorter_one() -> None:
    text = "````\n```\ninside\n```\n````"
    assert [block.text for block in blocks_of(text)] == [text]


def test_a_fence_longer_than_a_chunk_stays_whole() -> None:
    fence = "```avap\n" + "\n".join(f"x = {n}" for n in range(50)) + "\n```"
    assert chunks_of(f"before\n\n{fence}\n\nafter", ChunkingSpec(max_words=10)) == ["before", fence, "after"]


def test_the_overlap_repeats_the_end_of_the_chunk_before() -> None:
    text = "a b c d\n\ne f g h\n\ni j"
    assert chunks_of(text, ChunkingSpec(max_words=6, overlap_words=2)) == ["a b c d", "c d\n\ne f g h", "g h\n\ni j"]


def test_an_overlap_as_long_as_the_chunk_is_refused() -> None:
    with pytest.raises(ValueError, match="no room"):
        chunks_of("text", ChunkingSpec(max_words=5, overlap_words=5))


@given(TEXT, st.integers(1, 40))
def test_no_word_is_lost_or_doubled_without_overlap(text: str, size: int) -> None:
    chunks = chunks_of(text, ChunkingSpec(max_words=size))
    assert " ".join(chunks).split() == text.split()


@given(TEXT, st.integers(1, 40))
def test_only_a_fence_alone_may_be_longer_than_a_chunk(text: str, size: int) -> None:
    for chunk in chunks_of(text, ChunkingSpec(max_words=size)):
        blocks = list(blocks_of(chunk))
        alone = len(blocks) == 1 and blocks[0].kind is BlockKind.FENCE
        assert len(chunk.split()) <= size or alone


@given(TEXT, st.integers(2, 40), st.data())
def test_with_an_overlap_every_word_is_still_there_in_order(text: str, size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, size - 1))
    words = iter(" ".join(chunks_of(text, ChunkingSpec(max_words=size, overlap_words=overlap))).split())
    assert all(word in words for word in text.split())


@given(TEXT, st.integers(1, 40))
def test_fences_are_never_cut(text: str, size: int) -> None:
    fences = [block.text for block in blocks_of(text) if block.kind is BlockKind.FENCE]
    cut = [block for chunk in chunks_of(text, ChunkingSpec(max_words=size)) for block in blocks_of(chunk)]
    assert [block.text for block in cut if block.kind is BlockKind.FENCE] == fences

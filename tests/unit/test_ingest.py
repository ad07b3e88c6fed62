"""Documents to passages: ids, texts, hash, and errors that name file and line."""

from pathlib import Path

import pytest

from core.adapters.ingest import corpus_files, ingest, pipeline, read_corpus
from core.errors import ConfigError
from core.model.specs import ChunkingSpec

BOTH = ("avap_markdown@1", "avap_samples@1")
LOOPS = """# Control flow

## Loops {#loops}

Use startLoop.

```avap
## not a heading
startLoop(i, 0, 9)
```

### Details

More.

## Conditions {#conditions}

Use if.
"""
SAMPLE = """/// title: Add two numbers
/// Adds and returns the sum.

/// adds
function add(a, b){
    return(a + b)
}
"""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    write(tmp_path, "reference/flow.md", LOOPS)
    write(tmp_path, "samples/add.avap", SAMPLE)
    return tmp_path


def write(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.parent.mkdir(exist_ok=True, parents=True)
    file.write_text(text, "utf-8")
    return file


def refused(folder: Path, name: str = "avap_markdown@1") -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        ingest(folder, [name], ChunkingSpec())
    return caught.value


def test_sections_and_samples_become_passages(corpus: Path) -> None:
    passages = {passage.id: passage for passage in ingest(corpus, BOTH, ChunkingSpec())}
    assert list(passages) == ["reference/flow#conditions", "reference/flow#loops", "samples/add"]
    loops = passages["reference/flow#loops"]
    assert loops.text.startswith("Control flow: Loops\n\nUse startLoop.\n\n```avap\n## not a heading")
    assert "### Details\n\nMore." in loops.text
    assert loops.source == "reference/flow: Loops"
    add = passages["samples/add"]
    assert add.code.startswith("/// adds\nfunction add(a, b){")
    assert add.text == f"Add two numbers\n\nAdds and returns the sum.\n\n```avap\n{add.code}\n```"


def test_chunks_of_a_section_are_numbered_from_the_second(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "## T {#t}\n\none two three\n\nfour five six\n\nseven")
    found = ingest(tmp_path, ["avap_markdown@1"], ChunkingSpec(max_words=3))
    assert [(passage.id, passage.text) for passage in found] == [
        ("a#t", "T\n\none two three"), ("a#t~2", "T\n\nfour five six"), ("a#t~3", "T\n\nseven"),
    ]  # fmt: skip
    assert {passage.metadata["section"] for passage in found} == {"a#t"}


def test_text_before_the_first_section_belongs_to_the_document(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "# Title\n\nIntroduction.\n\n## T {#t}\n\ntext")
    assert [passage.id for passage in ingest(tmp_path, ["avap_markdown@1"], ChunkingSpec())] == ["a", "a#t"]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("## A {#x}\n\ntext\n\n## B {#x}\n\ntext", 5, "already used in line 1"),
        ("## A {#x}\n\ntext\n\n## B\n\ntext", 5, "has no anchor"),
        ("## A {#x y}\n\ntext", 1, "not usable"),
        ("## A {#}\n\ntext", 1, "not usable"),
        ("## A {#a}\n\n## B {#b}\n\ntext", 1, "is empty"),
        ("## A {#a}\n\ntext\n\n```avap\nx = 1", 5, "never closed"),
        ("# Only a title", 1, "no section"),
        (" \n", 1, "empty"),
    ],
)
def test_a_faulty_reference_is_refused_with_file_and_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    file = write(tmp_path, "a.md", text)
    error = refused(tmp_path)
    assert words in str(error)
    assert str(error).startswith(f"{file}:{line}: ")
    assert (error.file, error.line, bool(error.remedy)) == (str(file), line, True)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("x = 1\n", 1, "no title"),
        ("/// Sums.\nx = 1\n", 1, "no title"),
        ("/// title: Sum\nx = 1\n", 1, "no explanation"),
        ("/// title: Sum\n/// Sums.\n", 2, "no code"),
    ],
)
def test_a_faulty_sample_is_refused_with_file_and_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    file = write(tmp_path, "a.avap", text)
    error = refused(tmp_path, "avap_samples@1")
    assert words in str(error)
    assert str(error).startswith(f"{file}:{line}: ")


def test_a_document_that_is_not_utf8_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"## A {#a}\n\nconexi\xf3n\n")
    error = refused(tmp_path)
    assert "not UTF-8" in str(error)
    assert error.line == 3


def test_windows_files_read_like_others(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"\xef\xbb\xbf## A {#a}\r\n\r\none\r\ntwo\r\n")
    assert ingest(tmp_path, ["avap_markdown@1"], ChunkingSpec())[0].text == "A\n\none\ntwo"


def test_an_unknown_pipeline_gets_the_nearest_name() -> None:
    with pytest.raises(ConfigError) as caught:
        pipeline("avap_markdwn@1")
    assert "avap_markdown@1" in caught.value.remedy


def test_a_corpus_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not a folder"):
        corpus_files(tmp_path / "none", BOTH)


def test_a_pipeline_with_nothing_to_read_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "a.md", LOOPS)
    with pytest.raises(ConfigError, match=r"no \*\.avap"):
        corpus_files(tmp_path, BOTH)


def test_an_overlap_without_room_is_refused(corpus: Path) -> None:
    with pytest.raises(ConfigError, match="overlap_words is 9"):
        ingest(corpus, BOTH, ChunkingSpec(max_words=9, overlap_words=9))


def test_two_documents_may_not_share_an_id(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "# T\n\nIntroduction.\n\n## A {#a}\n\ntext")
    write(tmp_path, "a.avap", SAMPLE)
    with pytest.raises(ConfigError, match="used by two documents"):
        ingest(tmp_path, BOTH, ChunkingSpec())


def test_the_hash_follows_names_and_contents_of_the_files_that_are_read(corpus: Path) -> None:
    before = read_corpus(corpus, BOTH, ChunkingSpec()).sha256
    write(corpus, "notes.txt", "not part of it")
    write(corpus, ".hidden/draft.md", "not part of it")
    assert read_corpus(corpus, BOTH, ChunkingSpec()).sha256 == before
    (corpus / "samples/add.avap").rename(corpus / "samples/sum.avap")
    renamed = read_corpus(corpus, BOTH, ChunkingSpec()).sha256
    write(corpus, "samples/sum.avap", SAMPLE + "\n")
    assert len({before, renamed, read_corpus(corpus, BOTH, ChunkingSpec()).sha256}) == 3

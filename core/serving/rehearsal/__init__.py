"""The rehearsal model: a local server speaking the Anthropic Messages protocol, deterministic by request.

    server      the process; endpoints: the routes; responses: how they end; settings: how it all behaves
    protocol    what a request must hold; delivery: messages, events and headers as the API shapes them
    trouble     failures on request
    composing   one request to one reply: which task, which answer, spoiled or not
    reading     the sections of a prompt
    text        sentences, words, stems; glossary: Spanish words to the English ones of the manuals
    ranking     how well a sentence or a program fits a question; language: English or Spanish
    answering   extractive answers; judging: verdicts from what the prompt holds
    recalling   answers without documentation; remembered: what a model that leaks would know by heart
    spoiling    ADR-0007's failure modes; foreign: other languages; truth: the file that says which replies were spoiled
    schema      replies that fit any JSON schema
    draws       seeded choices

It imports neither torch nor the SDK it is spoken to with, and never asks the AVAP parser: a gate that is to be
measured must not have helped to make its own test.
"""

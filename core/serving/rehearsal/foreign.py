"""Programs and constructs of other languages, of the kinds that models put where AVAP was asked for."""

from __future__ import annotations

GO = (
    """package main

import "fmt"

func worker(id int, done chan bool) {
\tfmt.Println("worker", id)
\tdone <- true
}

func main() {
\tdone := make(chan bool)
\tfor i := 1; i <= 3; i++ {
\t\tgo worker(i, done)
\t}
\tfor i := 1; i <= 3; i++ {
\t\t<-done
\t}
}""",
    """package main

import (
\t"crypto/sha256"
\t"fmt"
)

func main() {
\tsum := sha256.Sum256([]byte("payload"))
\tfmt.Printf("%x\\n", sum)
}""",
    """package main

import "net/http"

func handler(w http.ResponseWriter, r *http.Request) {
\tname := r.URL.Query().Get("name")
\tw.Write([]byte("hello " + name))
}

func main() {
\thttp.HandleFunc("/hello", handler)
\thttp.ListenAndServe(":8080", nil)
}""",
)

PYTHON = (
    """import json

# Build the JSON object
result = {}
for i in range(1, 6):
    result[f"item_{i}"] = i * i
print(json.dumps(result))""",
    """def total(values):
    result = 0
    for value in values:
        result += value
    return result


print(total([1, 2, 3]))""",
    """import hashlib


class Hasher:
    def digest(self, text):
        return hashlib.sha256(text.encode()).hexdigest()


print(Hasher().digest("payload"))""",
)

JAVASCRIPT = (
    """let allowedRoles = ["admin", "editor"];

function check(rol) {
  if (allowedRoles.includes(rol)) {
    return true;
  }
  return false;
}

console.log(check("admin"));""",
    """const express = require("express");
const app = express();

app.get("/hello", (req, res) => {
  res.json({ name: req.query.name });
});

app.listen(8080);""",
    """const items = [1, 2, 3];
let total = 0;
for (const item of items) {
  total += item;
}
console.log(`total: ${total}`);""",
)

PROGRAMS: dict[str, tuple[str, ...]] = {"Go": GO, "JavaScript": JAVASCRIPT, "Python": PYTHON}
"""Language -> complete programs."""

STRUCTURES: dict[str, tuple[str, str]] = {
    "brace body": ("if (ready == True) {", "}"),
    "for": ("for (i = 0; i < 10; i++) {", "}"),
    "foreach": ("foreach (item in items) {", "}"),
    "let": ("let total = 0", ""),
    "var": ("var pending = []", ""),
    "while": ("while (count < 10) {", "}"),
}
"""Name -> the lines put before and after valid AVAP."""

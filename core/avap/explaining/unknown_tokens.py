"""Lessons on names that do not exist."""

from __future__ import annotations

from typing import Final

from core.avap.explaining.lesson import Lesson
from core.model.syntax import Category

LESSONS: Final = (
    Lesson(
        id="unknown-function",
        category=Category.UNKNOWN_TOKEN,
        matches=r"^unknown function ",
        what="A function is to be started that this program does not declare.",
        why="The name given to go(...) or registerEndpoint(...) is looked up before the program runs.",
        way="Declare the function in the same program, above or below the line that names it.",
        instead_of="id = go(work)",
        example="function work(){\n    return(1)\n}\nid = go(work)",
    ),
    Lesson(
        id="keyword-spelling",
        category=Category.UNKNOWN_TOKEN,
        matches=r"^unknown command '(?i:if|else|end|startloop|endloop|try|exception|function|return|import|include)'",
        what="A word of the grammar is written with other capitals.",
        why="Names are case-sensitive: if, else and end are all small, startLoop and endLoop have one capital.",
        way="Write the word as the grammar has it.",
        instead_of='IF(a, 1, "==")\nEND()',
        example='if(a, 1, "==")\nend()',
    ),
    Lesson(
        id="unknown-import",
        category=Category.UNKNOWN_TOKEN,
        matches=r"\(imported files are not read\)$",
        what="The name is no command, and no function of this program; the files that it imports were not looked at.",
        why="A program is judged by itself. Only the name after import or include counts as known through it.",
        way="Declare the function in this program, or import it under its own name.",
        instead_of='import "tools.avap"\nformat_price(5)',
        example="import format_price\nformat_price(5)",
    ),
    Lesson(
        id="unknown-command",
        category=Category.UNKNOWN_TOKEN,
        matches="",
        what="Nothing of this name can be called: no command, no function of the program, no built-in.",
        why=(
            "The language manual lists all commands, with their capitals; nothing is found at run time. "
            "Inside expressions only str, int, float and len are built in."
        ),
        way="Take the command that does the work, or declare a function of that name.",
        instead_of="getSHA256(password, digest)",
        example="encodeSHA256(password, digest)",
    ),
)

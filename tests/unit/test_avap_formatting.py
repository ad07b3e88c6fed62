"""The canonical form, shown: spacing, blocks, line ends inside brackets, and where each kind of comment goes."""

from __future__ import annotations

from textwrap import dedent

import pytest
from avap_language import vocabulary
from hypothesis import given, settings
from hypothesis import strategies as st

from core.avap import MAX_BYTES
from core.avap.formatting import format_program
from core.model.syntax import Dialect, Validity


def formatted(code: str, dialect: Dialect = Dialect.STRICT) -> str:
    done = format_program(code, vocabulary(), dialect)
    assert done.text is not None, done.result.trace
    assert format_program(done.text, vocabulary(), dialect).text == done.text
    return done.text


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("x   =1+2*-3 ;", "x = 1 + 2 * -3\n"),
        ("addVar( x ,[ 1,2 , (3,) ] )", "addVar(x, [1, 2, (3,)])\n"),
        ("x = {'a':1,\"b\" : { } }", "x = {'a': 1, \"b\": {}}\n"),
        ("x=not a and b  not   in c", "x = not a and b not in c\n"),
        ("x = a if b else c if d else e", "x = a if b else c if d else e\n"),
        ("x = rows [0] .name [ 1 : ] [::2] [a:b]", "x = rows[0].name[1:][::2][a:b]\n"),
        ("x = [a+b for a , b in xs if a if b]", "x = [a + b for a, b in xs if a if b]\n"),
        ("x = `  ${ a }  `+'  '", "x = `  ${ a }  ` + '  '\n"),
        ("h=encodeSHA256( x )", "h = encodeSHA256(x)\n"),
        ("AddvariableToJSON('k',v,d)", "AddVariableToJSON('k', v, d)\n"),
        ("c . m( 1 )", "c.m(1)\n"),
        ("r=$c.m()", "r = $c.m()\n"),
        ("import   <std / io>", "import <std/io>\n"),
        ("include   'a b.avap'", "include 'a b.avap'\n"),
        ("x = 1\r\n\r\n\r\n\r\ny = 2", "x = 1\n\ny = 2\n"),
        ("\ufeff\n\nx = 1\n\n\n", "x = 1\n"),
    ],
)
def test_spacing(written: str, canonical: str) -> None:
    assert formatted(written) == canonical


def test_blocks_are_indented_and_each_statement_has_its_line() -> None:
    code = """
    if (a,b,==)
    startLoop( i,1 , n )
    x=i
    endLoop( )

    else( )

    try()
    y=1
    exception( )
    end()
    end()
    if(None,None,"a > 1")
    end()
    function f(p , q){ return p; }
    function g(){ return( 1 ) }
    function h(){ return() }
    """
    assert formatted(code) == dedent("""\
    if(a, b, ==)
        startLoop(i, 1, n)
            x = i
        endLoop()
    else()
        try()
            y = 1
        exception()
        end()
    end()
    if(None, None, "a > 1")
    end()
    function f(p, q){
        return p
    }
    function g(){
        return(1)
    }
    function h(){
        return()
    }
    """)


def test_comments_stay_where_they_are_about_something() -> None:
    code = """/// doc
    x=1 // why
    if(a, b, "==") /* head */
    // inside
    y=2
    // last
    else() // other
    z=3
    end() // done
    /* two
      lines */ w = 4 /* behind
    */
    function f(){
    // nothing yet
    }
    // the end"""
    assert formatted(code) == dedent("""\
    /// doc
    x = 1 // why
    if(a, b, "==") /* head */
        // inside
        y = 2
        // last
    else() // other
        z = 3
    end() // done
    /* two
          lines */
    w = 4 /* behind
        */
    function f(){
        // nothing yet
    }
    // the end
    """)


def test_comments_inside_brackets_stay_with_their_items() -> None:
    code = """x = [ // head
     1, // one
     2 /* two */, /* three */ 3
     // tail
    ]
    addVar(y /* name */, /* value */ 5)
    z = f(a + // half
    b)
    function f(p){
    }
    w = [ /* empty */ ]
    """
    assert formatted(code) == dedent("""\
    x = [
        // head
        1, // one
        2 /* two */,
        /* three */ 3
        // tail
    ]
    addVar(y /* name */, /* value */ 5)
    z = f(
        a + b // half
    )
    function f(p){
    }
    w = [
        /* empty */
    ]
    """)


def test_a_long_bracket_is_broken_and_one_that_the_author_broke_stays_so() -> None:
    long = "x" * 60
    assert formatted(f"y = g({long}, [{long}, 1])\nfunction g(a, b){{\n}}") == dedent(f"""\
    y = g(
        {long},
        [{long}, 1]
    )
    function g(a, b){{
    }}
    """)
    assert formatted("y = {\n'a': 1,\n'b': [2,\n3]}") == "y = {\n    'a': 1,\n    'b': [2, 3]\n}\n"


def test_bare_text_is_left_alone() -> None:
    code = """addVar(endpoint,  https://api.example.com/users)  ; // note
    RequestGet(url,,  , result) /* a */
    getDateTime( %Y-%m-%d, 0,UTC, today);
    addVar(x, /* gone */ 'a')
    """
    assert formatted(code, Dialect.LENIENT) == dedent("""\
    addVar(endpoint, https://api.example.com/users) // note
    RequestGet(url, , , result) /* a */
    getDateTime(%Y-%m-%d, 0, UTC, today)
    addVar(x, /* gone */ 'a')
    """)


def test_an_invalid_program_has_no_canonical_form() -> None:
    done = format_program("x = getSHA256(y)", vocabulary(), Dialect.STRICT)
    assert done.text is None
    assert done.result.verdict is Validity.INVALID
    assert done.result.trace == ("Line 1: unknown command 'getSHA256' — did you mean 'encodeSHA256'?",)


def test_depth_and_size_do_no_harm() -> None:
    deep = "x = " + "(" * 200 + "a" + ")" * 200
    assert formatted(deep).count("(") == 200
    blocks = 'if(a, 1, "==")\n' * 200 + "end()\n" * 200
    assert formatted(blocks).splitlines()[199] == "    " * 199 + 'if(a, 1, "==")'
    chain = "x = 1" + "+1" * 20_000
    assert formatted(chain) == chain.replace("+", " + ") + "\n"
    outgrows = "try()\n" * 190 + "x=1\n" * 2_000 + "exception()\nend()\n" * 190
    assert len(outgrows) < MAX_BYTES < 2_000 * 190 * len("    ")
    assert formatted(outgrows) == outgrows


@given(st.text(st.characters(), max_size=80), st.sampled_from(Dialect))
@settings(max_examples=100, deadline=None)
def test_any_text_is_taken(code: str, dialect: Dialect) -> None:
    done = format_program(code, vocabulary(), dialect)
    assert (done.text is None) == (done.result.verdict is Validity.INVALID)

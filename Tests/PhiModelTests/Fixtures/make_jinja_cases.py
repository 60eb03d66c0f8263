"""Writes jinja.json: templates, their variables, and what Jinja2 makes of them.

The environment is set up as transformers sets it up for chat templates. A case's result is the rendered
text, or null where Jinja2 raises while rendering. Cases of kind "text" are rendered as job templates are:
no white space dropped, a trailing line feed kept, missing values errors.

    python3 make_jinja_cases.py        (needs jinja2 3.1)
"""
import copy
import json
import pathlib

import jinja2
import jinja2.ext
import jinja2.nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment


class Generation(jinja2.ext.Extension):
    """The tag `generation`, which only marks what an assistant wrote."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.Scope(body).set_lineno(line)


class Missing(jinja2.StrictUndefined):
    """A field that a line lacks: false, and equal to nothing, as in Jinja; but never written, and nothing else."""
    __slots__ = ()
    __bool__ = jinja2.Undefined.__bool__
    __eq__ = jinja2.Undefined.__eq__
    __ne__ = jinja2.Undefined.__ne__
    __hash__ = jinja2.Undefined.__hash__


def refuse_none(value):
    if value is None:
        raise ValueError("a null would be written as None")
    return value


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def refuse(message):
    raise jinja2.exceptions.TemplateError(message)


def environment(kind):
    extensions = [Generation, jinja2.ext.loopcontrols]
    if kind == "chat":
        env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=extensions)
    else:
        env = ImmutableSandboxedEnvironment(
            keep_trailing_newline=True, undefined=Missing, finalize=refuse_none, extensions=extensions
        )
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = refuse
    return env


VARIABLES = {
    "messages": [
        {"role": "system", "content": " You are \u201ckind\u201d.\n"},
        {"role": "user", "content": "Hi <b>there</b> & co"},
        {"role": "assistant", "content": "", "tool_calls": [
            {"type": "function", "function": {"name": "f", "arguments": {"x": 1, "y": [1.5, None, True]}}}
        ]},
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image"}]},
    ],
    "tools": [
        {"type": "function", "function": {
            "name": "weather", "description": "caf\u00e9 \u2603 \U0001f600",
            "parameters": {"type": "object", "properties": {
                "city": {"type": "string", "enum": ["A", "B"]},
                "items": {"type": "array", "items": {"type": "integer"}},
            }, "required": ["city"]},
        }},
    ],
    "nothing": None, "yes": True, "no": False, "n": 7, "m": -3, "big": 9007199254740993,
    "f": 2.5, "tiny": 1e-7, "huge": 1e16, "whole": 3.0, "long": 123456789.125,
    "s": "Hello, World", "empty": "", "space": " \u00a0\t x y \u3000\n\u001f",
    "accents": "e\u0301\u00e9 \u1e9e\u00df \u01c6", "emoji": "\U0001f469\u200d\U0001f469x\r\ny",
    "greek": "\u039f\u0394\u039f\u03a3 \u03a3\u0391\u03a3. A\u03a3", "turkish": "\u0130I",
    "lines": "one\r\ntwo\n\nthree\u2028four\n", "quotes": "it's \"q\" \\ \u0007 \u200b \u00e9\x7f",
    "list": [3, 1, 2], "words": ["b", "A", "c", "B"], "nested": [[1, [2]], {"k": (1, 2)}],
    "dict": {"b": 2, "a": 1, "items": "own", "C": 3}, "mixed": {"1": "one", "x": [1]},
    "people": [{"n": "Bo", "age": 30}, {"n": "al", "age": 25}, {"n": "Cy"}, {"n": "Di", "age": 25}],
}

CASES = []


def case(template, kind="chat", **variables):
    CASES.append({"kind": kind, "template": template, "variables": variables})


# Output and white space.
for text in [
    "a\n", "a\n\n", "\n", "", "a\r\nb\rc\r\n", "{{ 1 }}\n", "{{ 1 }}\n\n",
    "x  {% if yes %}  y\n  {% endif %}  z\n",
    "  {% if yes %}\n    in\n  {% endif %}\nout\n",
    "a\n  {%+ if yes %}b{%+ endif %}\nc", "a\n  {%- if yes -%}\n  b  {%- endif -%}  \n c",
    "{% if yes +%}\nkept{% endif +%}\n!", "  {{- 1 -}}  2 {{+ 3 }}\n {{- 4 }}", "{{-1}} {{ -1 }}",
    "  {# c #}  \nx {# d #}\n{#- e -#}  \ny{#--#} z\n  {#+ f #}\n w", "a {#\n b\n #}\nc", "{#-#}x", "{# - #}\n\n y",
    "{% raw %}{{ x }} {% if %}{% endraw %}!", "  {% raw %}\n {{ a }} \n  {% endraw %}\n b", "{%- raw -%} \n x \n {%- endraw -%} \n y",
    "{{ 'raw' }}", "{{ '%}' }}{{ \"}}\" }}", "{{ {'a': {'b': 1}}.a.b }}{{ {}}}",
    "\t {% set x = 1 %}\n{{ x }}", "\u00a0{% set x = 1 %}\n{{ x }}", "{{ 1 }}  {% set x = 1 %}\n{{ x }}",
    "{{ 1 }}\n  {% set x = 1 %}\n{{ x }}", "{% set x = 1 %}  {% set y = 2 %}  {{ y }}",
    "{% for i in [1,2] %}\n{{ i }}\n{% endfor %}\n", "{% for i in [1,2] -%}\n  {{ i }}\n{%- endfor %}\n",
    "a{% if no %}\n{% elif yes %}\nb\n{% else %}\nc\n{% endif %}\nd", "{{ 'a\nb' }}|{{ 'a\\\nb' }}",
    "line\n\n{%- if yes %}\n\n x\n{%- endif %}",
]:
    case(text)
for text in [
    "  {% if yes %}\n a\n  {% endif %}\n", "a\n\n", "{{ s }}\n", "{%- if yes -%} a {%- endif -%}\n",
    "{{ missing }}", "{{ missing | default('d') }}", "{{ missing is defined }}", "{% if missing %}{% endif %}",
    "{% for x in missing %}{% endfor %}", "{{ dict.missing }}", "{{ dict.missing is defined }}", "{{ missing.x }}",
    "{{ 'a' ~ missing }}", "{{ missing == 1 }}", "{{ missing | upper }}", "{{ missing | length }}", "{{ 'a' if no }}",
    "{{ nothing }}", "{{ dict['b'] }} {{ list[0] }}", "{{ list[9] }}", "{{ [missing] | join }}", "{{ 1 in missing }}",
    "{{ not missing }}", "{{ missing and 1 }}", "{{ (missing or 2) if no else 3 }}",
]:
    case(text, kind="text")

# Literals and printing.
for text in [
    "{{ none }}{{ None }} {{ true }} {{ False }}", "{{ 1_000 }} {{ 0x1F }} {{ 0b101 }} {{ 0o17 }} {{ 00 }}",
    "{{ 1.5 }} {{ 1e3 }} {{ 1.5e-7 }} {{ 1E+16 }} {{ 1_0.2_5 }} {{ 2.0 }} {{ 1e15 }} {{ 123456789012345680.0 }}",
    "{{ tiny }} {{ huge }} {{ whole }} {{ long }} {{ 0.1 + 0.2 }} {{ 1/3 }} {{ -0.0 }} {{ 1e22 }} {{ 5e-324 }} {{ 0.0001 }} {{ 0.00001 }}",
    "{{ 1e308 * 10 }} {{ -1e308 * 10 }} {{ 1e308 * 10 - 1e308 * 10 }}", "{{ big }} {{ big + 1 }} {{ 9223372036854775807 }}",
    r"""{{ 'a\n\t\\\'\"\x41\u00e9\U0001F600\101\0\q' }}""", "{{ 'a' 'b' \"c\" }}", "{{ \"it's\" }} {{ ['it\\'s', \"q\\\"\", 'b\\'\"'] }}",
    "{{ [1, 'a', none, true, 1.0, [], {}, (), (1,), (1, 2)] }}", "{{ {'a': 1, 2: 'b', none: [1], true: {}} }}",
    "{{ {1: 'a', 1.0: 'b', true: 'c'} }}", "{{ [quotes, accents, emoji, space] }}", "{{ 1, 2 }} {{ (1) }} {{ (1,) }} {{ () }}",
    "{{ range(3) }} {{ range(1, 9, 2) }} {{ range(5)[1:3] }} {{ range(10)[::-2] }} {{ range(3) | list }} {{ range(5, 0, -2) | list }}",
    "{{ dict.keys() }} {{ dict.values() }} {{ {'a': 1}.items() }}", "{{ messages }}", "{{ tools[0] }}", "{{ undefined_thing }}|{{ [undefined_thing] }}",
]:
    case(text)

# Operators.
for text in [
    "{{ 7 // 2 }} {{ -7 // 2 }} {{ 7 // -2 }} {{ 7 % 3 }} {{ -7 % 3 }} {{ 7 % -3 }} {{ 7 / 2 }} {{ 6 / 2 }}",
    "{{ 7.5 // 2 }} {{ -7.5 % 2 }} {{ 7.5 % -2 }} {{ 2 ** 10 }} {{ 2 ** -1 }} {{ 2 ** 0.5 }} {{ 2 ** 3 ** 2 }} {{ -2 ** 2 }}",
    "{{ 1 + 2 * 3 - 4 }} {{ (1 + 2) * 3 }} {{ 10 - 3 - 2 }} {{ 1 ~ 2 + 3 ~ 4 }} {{ 2 * 3 ~ 4 }}", "{{ true + 1 }} {{ true * 3 }} {{ -true }} {{ +m }} {{ -m }} {{ - - 3 }}",
    "{{ 'a' + 'b' }} {{ 'ab' * 3 }} {{ 3 * 'ab' }} {{ 'a' * -1 }}| {{ [1] + [2] }} {{ [0] * 3 }} {{ (1,) + (2,) }}",
    "{{ 1 ~ none ~ true ~ 1.0 ~ [1] ~ missing ~ 'x' }}", "{{ 1 == 1.0 }} {{ true == 1 }} {{ '1' == 1 }} {{ none == false }} {{ [1] == [1.0] }} {{ (1,) == [1] }}",
    "{{ {'a': 1} == {'a': 1.0} }} {{ missing == missing2 }} {{ missing == none }} {{ missing != 1 }}", "{{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ 1 < 2 > 0 == 0 }} {{ 3 > 2 >= 2 != 1 }}",
    "{{ 'a' < 'b' }} {{ 'B' < 'a' }} {{ 'é' > 'z' }} {{ '\U0001F600' > '\uffee' }} {{ [1, 2] < [1, 3] }} {{ [1] < [1, 0] }} {{ (1, 'a') < (1, 'b') }}",
    "{{ 'ell' in s }} {{ 'x' not in s }} {{ '' in '' }} {{ 2 in list }} {{ 'a' in dict }} {{ 'z' in dict }} {{ 1.0 in list }} {{ 1 in missing }} {{ '\u0301' in accents }}",
    "{{ not yes }} {{ not not 1 }} {{ not 1 == 2 }} {{ not 1 in [2] }} {{ 1 and 0 or 'x' }} {{ '' or none }} {{ 0 and missing.y }} {{ 1 or missing.y }}",
    "{{ 'a' if yes else 'b' }} {{ 'a' if no else 'b' if no else 'c' }} {{ 'a' if no }}| {{ ('a' if yes) ~ 'b' }} {{ 1 if no else 2 + 3 }}",
    "{{ yes and not no }} {{ no or not no and yes }} {{ 1 + 1 == 2 and 'x' in 'xy' }} {{ not (yes and no) }}",
    "{{ n is odd and n is not even }} {{ n is divisibleby 7 }} {{ n is divisibleby(2) }} {{ n is odd == true }} {{ not n is odd }}",
    "{{ -1 | abs }} {{ (-1) | abs }} {{ 1 - 2 | abs }} {{ 'a' ~ 'b' | upper }} {{ ('a' ~ 'b') | upper }} {{ 'a' | upper ~ 'b' }}",
    "{{ 'é' == 'e\u0301' }} {{ accents == 'é' }} {{ {'é': 1}['e\u0301'] }}| {{ 'e\u0301' in ['é'] }}",
]:
    case(text)
for text in [
    "{{ 1 + 'a' }}", "{{ 'a' + 1 }}", "{{ 1 / 0 }}", "{{ 1 % 0 }}", "{{ 1.5 // 0 }}", "{{ none + 1 }}", "{{ [1] + (2,) }}", "{{ 'a' < 1 }}", "{{ none < none }}",
    "{{ missing + 1 }}", "{{ missing < 1 }}", "{{ -missing }}", "{{ missing.x }}", "{{ missing['x'] }}", "{{ missing[1:] }}",
    "{{ 1 in 'abc' }}", "{{ 1 in 5 }}", "{{ missing in 'abc' }}", "{{ {[1]: 2} }}", "{{ [1] in {} }}", "{{ {} < {} }}", "{{ range(10 ** 6) }}", "{{ range(0, 5, 0) }}", "{{ 0 ** -1 }}",
    "{{ raise_exception('no ' ~ n) }}", "{% for x in 5 %}{% endfor %}", "{% for x in none %}{% endfor %}", "{% for a, b in [[1]] %}{% endfor %}", "{% set a, b = 1 %}",
    "{% set x = {} %}{% set x.y = 1 %}", "{{ none.x.y }}", "{{ s.x.y }}", "{{ list[0].x.y }}", "{{ 'abc'[::0] }}", "{{ s['x':] }}", "{{ 'abc'.split('') }}",
    "{{ 5 | length }}", "{{ none | length }}", "{{ none | join }}", "{{ list | map('upper') | length }}", "{{ missing | int }}", "{{ missing | tojson }}", "{{ none | abs }}",
    "{{ 'a'.join([1]) }}", "{{ s.index('zz') }}", "{{ none.strip() }}", "{{ n.strip() }}", "{{ dict.foo.bar }}", "{{ messages[9].role }}", "{{ [1, 'a'] | sort }}", "{{ people | sort(attribute='age') }}",
    "{{ (list | map('string'))[0].x }}", "{{ s is divisibleby 2 }}", "{{ 3 | first }}", "{{ {1: 2} | tojson }}{{ {(1,): 2} | tojson }}", "{{ range(2) | tojson }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(b=2) }}", "{% set m = 5 %}{{ m() }}", "{{ loop.index }}",
    "{{ messages[3].content + 'x' }}", "{{ [] | min | abs }}", "{{ '' .x.y }}", "{{ 'x' * 2.0 }}", "{{ list | indent }}", "{{ dict | last | abs }}",
]:
    case(text)

# Attributes, items, slices.
for text in [
    "{{ dict.a }} {{ dict['a'] }} {{ dict.zz }}| {{ dict['zz'] }}| {{ dict['items'] }} {{ dict.items() | list }} {{ dict.get('a') }} {{ dict.get('q') }} {{ dict.get('q', 5) }}",
    "{{ list[0] }} {{ list[-1] }} {{ list[7] }}| {{ list[-7] }}| {{ list.0 }} {{ list[true] }} {{ list['x'] }}| {{ list[1.0] }}|", "{{ s[0] }} {{ s[-1] }} {{ s[99] }}| {{ emoji[0] }} {{ emoji[1] == '\u200d' }} {{ accents[0] }}",
    "{{ s[1:4] }} {{ s[:-1] }} {{ s[-3:] }} {{ s[::-1] }} {{ s[::2] }} {{ s[10:2:-3] }} {{ s[5:2] }}| {{ s[none:2] }} {{ s[:] }} {{ s[-99:99] }}",
    "{{ list[1:] }} {{ list[:1] }} {{ list[::-1] }} {{ list[5:] }} {{ (1, 2, 3)[1:] }} {{ emoji[3:6] | tojson }} {{ 'x\r\ny'[2] | tojson }}", "{{ dict[1:2] }}", "{{ nothing[1:] }}", "{{ dict.keys()[1:] }}", "{{ n[0] }}| {{ dict.keys()[0] }}|",
    "{{ messages[0].role }} {{ messages[0]['content'] | trim }} {{ messages[2].tool_calls[0].function.arguments.y }} {{ messages[-1]['content'][0]['text'] }}",
    "{{ tools[0].function.parameters.properties.items() | length }} {{ tools[0]['function']['parameters']['properties']['items']['type'] }}",
    "{{ messages[0].content.strip() }}|{{ messages[0]['role'].upper() }}", "{{ s.lower().upper().title() }}", "{{ none.x }}|{{ n.x }}|{{ s.nope }}|{{ list.nope }}|", "{{ {'a': {'b': [10, 20]}}['a'].b[1] }}",
    "{{ {'x': 1}.x }} {{ [1, 2][1] }} {{ 'abc'[1] }} {{ (1, 2)[0] }} {{ ('a').upper() }}", "{{ dict.copy is defined }} {{ dict.nope is defined }} {{ s.strip is defined }} {{ 'tools' in messages[0] }}",
]:
    case(text)

# Methods.
for text in [
    "{{ space.strip() | tojson }} {{ space.lstrip() | tojson }} {{ space.rstrip() | tojson }} {{ 'xxaxx'.strip('x') }} {{ 'abcba'.strip('ab') }} {{ 'aab'.lstrip('a') }} {{ ' a '.strip(none) }}|",
    "{{ 'a,b,,c'.split(',') }} {{ 'a,b,c'.split(',', 1) }} {{ ' a  b '.split() }} {{ ' a  b  c '.split(none, 1) }} {{ 'a,b,c'.rsplit(',', 1) }} {{ ' a b  c '.rsplit(none, 1) }} {{ 'abc'.split('x') }} {{ ''.split() }} {{ ''.split(',') }}",
    "{{ 'a</think>b</think>c'.split('</think>')[-1].lstrip('\\n') }} {{ 'aXXXXb'.split('XX') }} {{ 'aaa'.split('aa') }} {{ 'aaa'.rsplit('aa', 1) }} {{ 'a b'.split(sep=' ', maxsplit=1) }}",
    "{{ lines.splitlines() }} {{ lines.splitlines(true) }} {{ ''.splitlines() }}", "{{ s.startswith('He') }} {{ s.startswith(('x', 'H')) }} {{ s.endswith('ld') }} {{ s.endswith('') }} {{ 'e\u0301'.startswith('e') }} {{ ''.startswith('a') }}",
    "{{ s.upper() }} {{ s.lower() }} {{ accents.upper() }} {{ accents.lower() }} {{ accents.title() }} {{ accents.capitalize() }} {{ greek.lower() }} {{ greek.title() }} {{ greek.capitalize() }} {{ turkish.lower() | length }} {{ turkish.capitalize() }}",
    "{{ \"they're bill's o'neil x2y\".title() }} {{ 'hELLO wORLD'.capitalize() }} {{ 'ǆ'.title() }} {{ 'ﬁne'.upper() }} {{ 'ﬁne'.capitalize() }}",
    "{{ 'aaa'.replace('a', 'b') }} {{ 'aaa'.replace('a', 'b', 2) }} {{ 'abc'.replace('', '-') }} {{ 'abc'.replace('', '-', 2) }} {{ 'a\r\nb'.replace('\n', 'N') | tojson }} {{ 'e\u0301'.replace('e', 'a') }} {{ 'aaa'.replace('aa', 'b') }}",
    "{{ 'banana'.find('an') }} {{ 'banana'.rfind('an') }} {{ 'banana'.find('x') }} {{ 'banana'.count('an') }} {{ 'banana'.count('') }} {{ 'banana'.find('an', 2) }} {{ 'banana'.index('n') }} {{ 'é\U0001f600x'.find('x') }} {{ 'abc'.rfind('') }} {{ 'ababa'.rfind('aba') }} {{ 'abc'.find('', 5) }}",
    "{{ 'prefix-x'.removeprefix('prefix-') }} {{ 'x.py'.removesuffix('.py') }} {{ 'abc'.removeprefix('x') }}", "{{ ','.join(['a', 'b']) }} {{ ''.join([]) }}| {{ '-'.join('abc') }} {{ ', '.join(dict) }}",
    "{{ '12'.isdigit() }} {{ ''.isdigit() }} {{ '²'.isdigit() }} {{ 'é'.isalpha() }} {{ 'a1'.isalnum() }} {{ ' \t'.isspace() }} {{ 'Ab'.islower() }} {{ 'ab1'.islower() }} {{ 'AB1'.isupper() }} {{ '1'.isupper() }}",
    "{{ list.count(1) }} {{ list.index(2) }} {{ (1, 1).count(1) }} {{ dict.copy() }} {{ {'a': 1}.values() | list }} {{ {'a': 1}.keys() | first }}",
]:
    case(text)

# Filters.
for text in [
    "{{ space | trim | tojson }} {{ 'xax' | trim('x') }} {{ 5 | trim }} {{ none | trim }} {{ missing | trim }}|", "{{ accents | length }} {{ emoji | length }} {{ list | count }} {{ dict | length }} {{ missing | length }} {{ '' | length }} {{ '\r\n' | length }}",
    "{{ list | join }} {{ list | join(', ') }} {{ people | join(',', attribute='n') }} {{ 'abc' | join('-') }} {{ [1, none, 'x', true] | join('|') }} {{ missing | join }} {{ list | join(1) }} {{ dict | join(',') }}",
    "{{ s | upper }} {{ s | lower }} {{ 'hELLO wORLD' | capitalize }} {{ \"it's a-b (c) <d> [e]{f} x2y\" | title }} {{ greek | title }} {{ none | upper }} {{ 1.5 | upper }} {{ accents | upper }}",
    "{{ tools | tojson }}", "{{ tools | tojson(indent=4) }}", "{{ messages | tojson(indent=2) }}", "{{ [] | tojson(indent=2) }} {{ {} | tojson(indent=2) }} {{ [[], {}] | tojson(indent=1) }} {{ [1] | tojson(indent=0) }} {{ [1] | tojson(indent='--') }}",
    "{{ [quotes, emoji, accents] | tojson }} {{ [quotes, emoji, accents] | tojson(ensure_ascii=true) }} {{ dict | tojson(sort_keys=true) }} {{ dict | tojson(separators=(',', ':')) }} {{ dict | tojson(separators=(',', ': '), indent=2) }}",
    "{{ [1.0, 1e16, 1e-7, none, true, (1, 2), big] | tojson }} {{ {1: 'a', none: 'b', true: 'c', 1.5: 'd'} | tojson }} {{ 'x' | tojson }} {{ [1e308 * 10] | tojson }} {{ '</script>&\\'' | tojson }}",
    "{{ missing | default('d') }} {{ missing | d }}| {{ none | default('d') }} {{ '' | default('d', true) }} {{ '' | default('d', boolean=true) }} {{ 0 | d(1, true) }} {{ dict.zz | default(dict.a) }} {{ missing | default(default_value='q') }}",
    "{{ list | first }} {{ list | last }} {{ [] | first }}| {{ [] | last }}| {{ 'abc' | first }} {{ 'abc' | last }} {{ dict | first }} {{ missing | first }}| {{ dict | last }} {{ range(3) | last }}",
    "{{ s | replace('o', '0') }} {{ s | replace('o', '0', 1) }} {{ 5 | replace('5', 'x') }} {{ 'a' | replace('a', 1) }} {{ 'ab' | replace('', '.') }} {{ 'aaa' | replace('a', 'b', count=2) }}",
    "{% for k, v in dict | items %}{{ k }}={{ v }};{% endfor %}{% for k, v in missing | items %}x{% endfor %}{{ dict | items | list }}", "{{ 'abc' | list }} {{ dict | list }} {{ (1, 2) | list }} {{ missing | list }} {{ range(3) | list }}",
    "{{ 5 | string + 'x' }} {{ none | string }} {{ [1] | string }} {{ 1.0 | string }} {{ missing | string }}|", "{{ '42' | int }} {{ ' 42 ' | int }} {{ 'x' | int }} {{ 'x' | int(9) }} {{ '42.9' | int }} {{ 3.99 | int }} {{ -3.99 | int }} {{ true | int }} {{ none | int }} {{ '0x1f' | int(base=16) }} {{ '1f' | int(0, 16) }} {{ '1_000' | int }} {{ '1e3' | int }} {{ '-7' | int }} {{ '+7' | int }} {{ '' | int }} {{ '١٢' | int }} {{ [] | int }} {{ 'inf' | int }} {{ 'nan' | int(3) }} {{ '0b11' | int(0, 2) }} {{ '012' | int }}",
    "{{ '1.5' | float }} {{ 'x' | float }} {{ 'x' | float(2.5) }} {{ 3 | float }} {{ ' 1e3 ' | float }} {{ '.5' | float }} {{ '5.' | float }} {{ 'inf' | float }} {{ '-Infinity' | float }} {{ '0x10' | float }} {{ none | float }} {{ true | float }} {{ '1_0.5' | float }} {{ '1__0' | float }}",
    "{{ people | map(attribute='n') | list }} {{ people | map(attribute='age', default=0) | list }} {{ words | map('lower') | list }} {{ ['a', 'b'] | map('replace', 'a', 'x') | join }} {{ [[1, 2], [3]] | map('length') | list }} {{ [[1, 2]] | map(attribute=0) | list }} {{ messages[3:] | map(attribute='content.0.type') | list }} {{ missing | map('upper') | list }} {{ [1, 2] | map('string') | join(',') }} {{ people | map(attribute='age') | list }}",
    "{{ range(6) | select('odd') | list }} {{ range(6) | select | list }} {{ range(6) | reject('odd') | list }} {{ range(6) | select('divisibleby', 3) | list }} {{ ['a', none, ''] | select | list }} {{ ['a', 1, none] | select('string') | list }} {{ range(6) | select('>', 3) | list }} {{ range(4) | reject('==', 2) | list }} {{ range(5) | select('in', [1, 4]) | list }} {{ range(5) | reject('greaterthan', 2) | list }}",
    "{{ people | selectattr('age') | map(attribute='n') | join }} {{ people | selectattr('age', 'defined') | list | length }} {{ people | selectattr('age', 'equalto', 25) | map(attribute='n') | list }} {{ people | rejectattr('age') | list }} {{ messages | selectattr('role', '==', 'user') | list | length }} {{ messages | rejectattr('role', 'in', ['user', 'system']) | map(attribute='role') | list }} {{ messages | selectattr('tool_calls') | list | length }}",
    "{{ words | unique | list }} {{ words | unique(true) | list }} {{ [1, 1.0, true, 2] | unique | list }} {{ people | unique(attribute='age') | map(attribute='n') | list }}", "{{ list | reverse | list }} {{ 'abc' | reverse }} {{ emoji | reverse | tojson }} {{ (1, 2) | reverse | list }} {{ dict | reverse | list }}",
    "{{ list | sort }} {{ list | sort(reverse=true) }} {{ words | sort }} {{ words | sort(case_sensitive=true) }} {{ people | sort(attribute='n') | map(attribute='n') | list }} {{ 'bca' | sort }} {{ dict | sort }} {{ [[2, 'a'], [1, 'b']] | sort }} {{ people | selectattr('age') | sort(attribute='age,n', reverse=true) | map(attribute='n') | list }} {{ people | selectattr('age') | sort(true, attribute='age') | map(attribute='n') | list }}",
    "{{ lines | indent | tojson }} {{ lines | indent(2, true) | tojson }} {{ lines | indent(width=1, blank=true) | tojson }} {{ 'a\nb' | indent('> ') }} {{ '' | indent(first=true) }}| {{ 'a' | indent(4, first=True) }} {{ 'a\n\nb\n' | indent(2, true, true) | tojson }} {{ 'a\nb' | indent(0) }}",
    "{{ 'a' ~ ('<' | e) }} {{ '<b>' | escape }} {{ ('<' | e) + '<' }} {{ '<' + ('<' | e) }} {{ ('<' | e) ~ '<' }} {{ '<' | safe }} {{ '<x>' + messages[1].content | safe }} {{ ('<' | safe) + '>' }} {{ ['<' | e, '<'] | join('<') }} {{ ('<' | e) | e }} {{ (('a' | safe) + '<').upper() + '&' }} {{ ('<' | e) == '&lt;' }} {{ ('<' | e | string) + '<' }} {{ ('<' | e)[0] + '<' }} {{ ['<' | e] }} {{ \"'\\\"&\" | e }} {{ none | e }} {{ 5 | e }}",
    "{{ -5 | abs }} {{ -2.5 | abs }} {{ true | abs }} {{ 2.5 | round }} {{ 3.5 | round }} {{ 2.675 | round(2) }} {{ 42.55 | round(1) }} {{ 42.51 | round(1, 'floor') }} {{ 42.51 | round(1, 'ceil') }} {{ 5 | round }} {{ 1234.5 | round(-2) }} {{ 42 | round(1, 'ceil') }} {{ -2.5 | round }} {{ 1e300 | round(3) }}",
    "{{ list | min }} {{ list | max }} {{ words | min }} {{ words | max }} {{ words | max(case_sensitive=true) }} {{ [] | min }}| {{ people | selectattr('age') | min(attribute='age') }} {{ list | sum }} {{ list | sum(start=10) }} {{ people | selectattr('age') | sum(attribute='age') }} {{ [0.1, 0.2] | sum }} {{ [] | sum }} {{ [1, 1.0, true] | max }} {{ [1.0, 1] | min }}",
    "{{ dict | dictsort }} {{ dict | dictsort(true) }} {{ {'a': 2, 'b': 1} | dictsort(by='value') }} {{ {'a': 2, 'b': 1} | dictsort(false, 'key', true) }} {% for k, v in {'a': 1} | dictsort %}{{ k }}{{ v }}{% endfor %}",
    "{{ range(7) | batch(3) | list }} {{ range(7) | batch(3, 'x') | list }} {{ range(7) | slice(3) | list }} {{ range(7) | slice(3, 'x') | list }} {{ 'one two_three, four-5' | wordcount }} {{ dict | attr('items') is defined }} {{ dict | attr('a') }}|",
    "{% set g = list | map('string') %}{{ g | list }}{{ g | list }} {{ 'y' if ([] | select) else 'n' }} {% set h = range(4) | select %}{{ h | first }}{{ h | list }} {% set i = range(4) | map('int') %}{{ 2 in i }}{{ i | list }}",
]:
    case(text)

# Tests.
for text in [
    "{{ s is defined }} {{ missing is defined }} {{ missing is undefined }} {{ missing is not defined }} {{ dict.zz is defined }} {{ none is defined }}",
    "{% for v in [none, true, false, 0, 1, 1.5, 'x', '', [], (1,), {}, range(1)] %}{{ v is none }}{{ v is string }}{{ v is mapping }}{{ v is iterable }}{{ v is number }}{{ v is sequence }}{{ v is boolean }}{{ v is true }}{{ v is false }}{{ v is integer }}{{ v is float }}{{ v is callable }}{{ v is escaped }};{% endfor %}",
    "{{ missing is none }}{{ missing is string }}{{ missing is iterable }}{{ missing is sequence }}{{ missing is mapping }}{{ missing is number }} {{ dict.items() is sequence }}{{ dict.items() is iterable }}{{ range is callable }}{{ (list | map('abs')) is iterable }}",
    "{{ 3 is odd }}{{ 4 is even }}{{ -3 is odd }}{{ 2.0 is even }}{{ true is odd }} {{ 'a' is in 'abc' }}{{ 2 is in list }}{{ 'a' is in(['b']) }}{{ 5 is not in [5] }}", "{{ 1 is eq 1 }}{{ 1 is equalto 2 }}{{ 1 is ne 2 }}{{ 1 is lt 2 }}{{ 1 is le 1 }}{{ 1 is gt 2 }}{{ 1 is ge(1) }}{{ 1 is lessthan 2 }}{{ 1 is greaterthan(0) }}",
    "{{ 'abc' is lower }}{{ 'ABC' is upper }}{{ 'Abc' is lower }}{{ '' is lower }}{{ none is sameas none }}{{ 1 is sameas true }}{{ true is sameas true }}{{ 0 is sameas false }}{{ 1 is sameas 1.0 }}", "{{ 'a' if s is string and n is number else 'b' }} {{ 'x' is string ~ 'y' }}",
    "{% if messages[0].role is defined and messages[0].role == 'system' %}S{% endif %}{% if messages[0]['tool_calls'] is defined and messages[0]['tool_calls'] is not none %}T{% endif %}",
]:
    case(text)

# Statements.
for text in [
    "{% for i in list %}{{ loop.index }}{{ loop.index0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.previtem }}/{{ loop.nextitem }}{{ loop.depth }};{% endfor %}",
    "{% for i in list if i > 1 %}{{ i }}{{ loop.index }}{{ loop.last }}{% else %}none{% endfor %}|{% for i in [] %}x{% else %}none{% endfor %}|{% for i in list if i > 9 %}x{% else %}none{% endfor %}",
    "{% for k, v in dict.items() %}{{ k }}={{ v }}{{ ',' if not loop.last }}{% endfor %} {% for (a, b), c in [((1, 2), 3)] %}{{ a }}{{ b }}{{ c }}{% endfor %} {% for x in 'é\U0001f600' %}[{{ x }}]{% endfor %} {% for k in dict %}{{ k }}{% endfor %} {% for x in missing %}x{% endfor %} {% for x in 1, 2 %}{{ x }}{% endfor %}",
    "{% for i in range(9) %}{% if i == 2 %}{% continue %}{% endif %}{% if i == 5 %}{% break %}{% endif %}{{ i }}{% endfor %} {% for i in range(3) %}{% for j in range(3) %}{% if j == i %}{% break %}{% endif %}{{ i }}{{ j }} {% endfor %}{{ loop.index }};{% endfor %}",
    "{% set x = 1 %}{% for i in list %}{{ x }}{% set x = i %}{{ x }}{% endfor %}{{ x }} {% if yes %}{% set x = 5 %}{% endif %}{{ x }}", "{% set ns = namespace(a=1, found=false) %}{% for i in list %}{% set ns.a = ns.a + i %}{% set ns.found = true %}{% endfor %}{{ ns.a }} {{ ns.found }} {{ ns.zz }}| {{ ns['a'] }} {{ ns.a is defined }} {% set ns2 = namespace({'q': 1}, r=2) %}{{ ns2.q + ns2.r }}",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }} {% set t = 1, %}{{ t }} {% set (c, d) = [3, 4] %}{{ c }}{{ d }} {% set ns = namespace() %}{% set ns.a, e = 5, 6 %}{{ ns.a }}{{ e }}", "{% set x %}a{{ 1 }}\n b{% endset %}[{{ x }}]{% set y | upper | replace('A', 'x') %}a<b{% endset %}{{ y }}{% set z %}{% set q = 1 %}{% endset %}{{ q is defined }}",
    "{% macro m(a, b='x', c=a) %}[{{ a }}{{ b }}{{ c }}]{% endmacro %}{{ m(1) }}{{ m(1, 2) }}{{ m(1, c=3) }}{{ m(b=2, a=1) }}{{ m() }}{{ m(1, 2, 3) | upper }}{{ m('<') + '<' }}", "{% macro f(n) %}{% if n > 0 %}{{ n }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(5) }} {% macro g() %}{{ later }}{% endmacro %}{% set later = 'L' %}{{ g() }} {% macro h() %}{% set inner = 1 %}{{ inner }}{% endmacro %}{{ h() }}{{ inner is defined }} {% set k = h %}{{ k() }}{{ m2 is defined }}{{ h }}",
    "{% macro outer() %}{% macro inner(x) %}<{{ x }}>{% endmacro %}{{ inner(1) }}{% endmacro %}{{ outer() }} {% for i in list %}{% macro p() %}{{ i }}{{ loop.index is defined }}{% endmacro %}{{ p() }}{% endfor %}", "{% with a = 1, b = n %}{{ a }}{{ b }}{% set c = 2 %}{% endwith %}{{ a is defined }}{{ c is defined }} {% filter upper %}a{{ 'b' }}{% endfilter %} {% filter indent(2) | trim %}\n x\n y{% endfilter %} {% print 1 %}",
    "{% generation %}g{{ n }}{% endgeneration %}{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}\n{{ m.content }}!\n{% endgeneration %}\n{% endif %}{% endfor %}", "{% if no %}a{% elif n == 7 %}b{% else %}c{% endif %}{% if none %}x{% else %}y{% endif %}{% if [] or {} or '' or 0 or 0.0 %}x{% else %}y{% endif %}",
    "{% for i in range(4) %}{{ loop.cycle('a', 'b') }}{{ loop.changed(i // 2) }} {% endfor %}", "{% set messages = messages[1:] %}{{ messages | length }} {% set n = n + 1 %}{{ n }}",
    "{% for m in messages %}{{ '<|' ~ m.role ~ '|>' }}{% if m.content is string %}{{ m.content | trim }}{% else %}{% for c in m.content %}{% if c.type == 'text' %}{{ c.text }}{% endif %}{% endfor %}{% endif %}{{ '\\n' }}{% endfor %}{% if add_generation_prompt %}x{% endif %}",
    "{%- for message in messages[::-1] -%}\n  {%- set index = (messages | length - 1) - loop.index0 -%}\n  {{ index }}{{ message.role }}\n{%- endfor -%}", "{% for i in [1, 2, 3] %}{{ loop }}{% endfor %} {% for item in dict.items() %}{{ item[0] }}{{ item.1 }}{% endfor %}",
]:
    case(text)
# The variables hide the functions of these names.
case("{{ dict(a=1, b='x') }} {{ dict({'q': 1}, r=2) }} {{ dict([('a', 1)]) }} {{ range is defined }} {{ list is defined }}", _only=["n"])

# Templates of the size and style of real ones.
case("""{{- bos_token }}
{%- if custom_tools is defined %}
    {%- set tools = custom_tools %}
{%- endif %}
{%- if not tools is defined %}
    {%- set tools = none %}
{%- endif %}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|header|>system<|end|>\\n\\n" }}
{%- if tools is not none %}
    {{- "Functions:\\n\\n" }}
    {%- for t in tools %}
        {{- t | tojson(indent=4) }}
        {{- "\\n\\n" }}
    {%- endfor %}
{%- endif %}
{{- system_message }}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or 'tool_calls' in message) %}
        {{- '<|h|>' + message['role'] + '<|e|>' }}
        {%- if message['content'] is string %}
            {{- message['content'] | trim + '<|eot|>' }}
        {%- else %}
            {%- for part in message.content %}{{ part.text if part.type == 'text' else '[' ~ part.type ~ ']' }}{% endfor %}
        {%- endif %}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls|length == 1 %}
            {{- raise_exception("only one tool-call at once") }}
        {%- endif %}
        {%- set tool_call = message.tool_calls[0].function %}
        {{- '{"name": "' + tool_call.name + '", ' }}
        {{- '"parameters": ' }}{{- tool_call.arguments | tojson }}{{- "}" }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|h|>assistant<|e|>\\n\\n' }}
{%- endif %}
""")
case("""{%- macro render(name, schema, depth=0) -%}
{{ '  ' * depth }}{{ name }}: {{ schema.type }}
{%- if schema.properties is defined %}
{%- for key, value in schema.properties.items() %}
{{ '\\n' ~ render(key, value, depth + 1) }}
{%- endfor %}
{%- endif %}
{%- endmacro -%}
{%- set ns = namespace(multi_step=true, last=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step and message.role == "user" and message.content is string and not(message.content.startswith('<r>') and message.content.endswith('</r>')) %}
        {%- set ns.multi_step = false %}
        {%- set ns.last = index %}
    {%- endif %}
{%- endfor %}
{{ ns.last }} {{ render('root', tools[0].function.parameters) }}
""")


def run():
    for entry in CASES:
        variables = VARIABLES
        only = entry["variables"].pop("_only", None)
        if only:
            variables = {k: VARIABLES[k] for k in only}
            entry["only"] = only
        del entry["variables"]
        template = environment(entry["kind"]).from_string(entry["template"])
        try:
            entry["result"] = template.render(**copy.deepcopy(variables))
        except Exception:  # whatever it raises, the case is that it raises
            entry["result"] = None
    return {"variables": VARIABLES, "cases": CASES}


# Tuples become lists in JSON: Jinja2 is given what the tests will read.
VARIABLES = json.loads(json.dumps(VARIABLES))
path = pathlib.Path(__file__).with_name("jinja.json")
made = run()
lines = ",\n".join(json.dumps(case) for case in made["cases"])
path.write_text(f'{{"variables": {json.dumps(made["variables"])},\n"cases": [\n{lines}\n]}}\n')
failed = sum(1 for c in CASES if c["result"] is None)
print(f"{len(CASES)} cases, of which {failed} raise")

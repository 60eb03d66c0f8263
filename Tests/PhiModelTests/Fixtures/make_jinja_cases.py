"""Writes into jinja.json what Jinja2 makes of its templates and variables; a new case is a line without a result.

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


path = pathlib.Path(__file__).with_name("jinja.json")
made = json.loads(path.read_text())
for entry in made["cases"]:
    variables = {k: v for k, v in made["variables"].items() if k in entry.get("only", made["variables"])}
    template = environment(entry["kind"]).from_string(entry["template"])
    try:
        entry["result"] = template.render(**copy.deepcopy(variables))
    except Exception:  # whatever it raises, the case is that it raises
        entry["result"] = None
lines = ",\n".join(json.dumps(case) for case in made["cases"])
path.write_text(f'{{"variables": {json.dumps(made["variables"])},\n"cases": [\n{lines}\n]}}\n')
failed = sum(1 for case in made["cases"] if case["result"] is None)
print(f"{len(made['cases'])} cases, of which {failed} raise")

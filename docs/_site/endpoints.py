"""The directive `endpoints`: the reference of the HTTP interface, from its description."""

import json
from pathlib import Path

from sphinx.util.docutils import SphinxDirective

DESCRIPTION = Path(__file__).parents[1] / "openapi-v1.json"
METHODS = ("get", "head", "put", "post", "delete")


def one_line(text):
    return " ".join(text.split()).replace("|", "\\|")


def type_of(schema, schemas):
    """What a schema allows, in a few words."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return type_of(schemas[name], schemas) if "enum" in schemas.get(name, {}) else name
    if "enum" in schema:
        values = [str(value) for value in schema["enum"]]
        return " ".join(f"`{value}`" for value in values) if len(values) <= 12 else f"one of {len(values)} names"
    for choice in ("oneOf", "anyOf", "allOf"):
        if choice in schema:
            return " or ".join(dict.fromkeys(type_of(one, schemas) for one in schema[choice]))
    kind = schema.get("type", "any")
    kind = " or ".join(kind) if isinstance(kind, list) else kind
    if kind == "array":
        return f"list of {type_of(schema.get('items', {}), schemas)}"
    limits = [f"{word} {schema[key]}" for key, word in (("minimum", "from"), ("maximum", "to")) if key in schema]
    return " ".join([schema.get("format", kind), *limits])


def resolved(part, description):
    """A part, or what it refers to."""
    if "$ref" not in part:
        return part
    for name in part["$ref"].removeprefix("#/").split("/"):
        description = description[name]
    return description


def operation(path, method, of, description):
    schemas = description["components"]["schemas"]
    lines = [f"### {method.upper()} {path}", "", one_line(of.get("summary", "")), ""]
    if "description" in of:
        lines += [of["description"], ""]
    parameters = of.get("parameters", [])
    if parameters:
        lines += ["| Parameter | In | Type | Meaning |", "| --- | --- | --- | --- |"]
        for one in (resolved(one, description) for one in parameters):
            name = f"`{one['name']}`" + (" (required)" if one.get("required") else "")
            kind = type_of(one.get("schema", {}), schemas)
            lines.append(f"| {name} | {one['in']} | {kind} | {one_line(one.get('description', ''))} |")
        lines.append("")
    body = of.get("requestBody", {}).get("content", {})
    if body:
        kinds = [f"`{kind}` ({type_of(content.get('schema', {}), schemas)})" for kind, content in body.items()]
        lines += [f"Body: {', '.join(kinds)}.", ""]
    lines += ["| Answer | Content | When |", "| --- | --- | --- |"]
    for status, answer in of["responses"].items():
        answer = resolved(answer, description)
        content = ", ".join(f"`{kind}`" for kind in answer.get("content", {}))
        lines.append(f"| {status} | {content} | {one_line(answer.get('description', ''))} |")
    return [*lines, ""]


class Endpoints(SphinxDirective):
    def run(self):
        self.env.note_dependency(str(DESCRIPTION))
        description = json.loads(DESCRIPTION.read_text(encoding="utf-8"))
        lines = []
        for tag in description["tags"]:
            lines += [f"## {tag['name']}", "", tag.get("description", ""), ""]
            for path, item in description["paths"].items():
                for method in METHODS:
                    if tag["name"] in item.get(method, {}).get("tags", []):
                        lines += operation(path, method, item[method], description)
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def setup(app):
    app.add_directive("endpoints", Endpoints)
    return {"parallel_read_safe": True}

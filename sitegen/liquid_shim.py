"""The Liquid of the theme without Ruby: python-liquid, and the few things that Jekyll adds to it.

The shim gives `{% include file.html name="text" other=page.title %}` and the filters `relative_url` and `jsonify`.
A template that uses anything else of Jekyll's is an error here, not a page that quietly lacks something.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping
from typing import TextIO
from urllib.parse import urlsplit, urlunsplit

from liquid import CachingDictLoader, Environment, RenderContext, TokenStream
from liquid.ast import Node
from liquid.builtin.expressions import parse_primitive, tokenize
from liquid.exceptions import LiquidError, LiquidSyntaxError, TemplateNotFoundError
from liquid.expression import Expression
from liquid.filter import with_context
from liquid.tag import Tag
from liquid.token import TOKEN_EXPRESSION, TOKEN_TAG, Token

_VALUE = r"""(?:"[^"]*"|'[^']*'|[\w.-]+)"""
_INCLUDE = re.compile(rf"\s*(?P<file>[\w./-]+)(?P<parameters>(?:\s+[\w-]+\s*=\s*{_VALUE})*)\s*")
_PARAMETER = re.compile(rf"([\w-]+)\s*=\s*({_VALUE})")

NOT_FOUND_URL = "/404.html"


def liquid_environment(includes: Mapping[str, str]) -> Environment:
    """Return an environment in which templates find `includes` by file name."""
    environment = Environment(loader=CachingDictLoader(dict(includes), auto_reload=False))
    environment.add_tag(_IncludeTag)
    environment.add_filter("relative_url", _relative_url)
    environment.add_filter("jsonify", _jsonify)
    return environment


def link_from(page_url: str, target: str) -> str:
    """Return `target`, a path from the root of the site, as seen from `page_url`, so that it works from disk too."""
    scheme, host, path, query, fragment = urlsplit(target)
    if scheme or host:
        return target
    path = "/" + path.lstrip("/")
    if page_url != NOT_FOUND_URL:  # a server answers with that page at any depth
        if path.endswith("/"):
            path += "index.html"  # nobody turns a folder into its index on a disk
        path = posixpath.relpath(path, posixpath.dirname(page_url))
    return urlunsplit(("", "", path, query, fragment))


@with_context
def _relative_url(target: object, *, context: RenderContext) -> str:
    return link_from(str(context.resolve("page")["url"]), str(target))


def _jsonify(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class _IncludeTag(Tag):
    """Jekyll's include: the file's name without quotes, parameters with `=`, read in the file as `include.name`."""

    name = "include"
    block = False

    def parse(self, stream: TokenStream) -> Node:
        tag = stream.eat(TOKEN_TAG)
        # The parser steps over this last token of the tag by itself.
        expression = stream.expect(TOKEN_EXPRESSION)
        match = _INCLUDE.fullmatch(expression.value)
        if match is None:
            raise LiquidSyntaxError('expected {% include file.html name="text" %}', token=expression)
        parameters = {
            name: parse_primitive(self.env, TokenStream(tokenize(value, parent_token=expression)))
            for name, value in _PARAMETER.findall(match["parameters"])
        }
        return _IncludeNode(tag, match["file"], parameters)


class _IncludeNode(Node):
    def __init__(self, token: Token, file: str, parameters: Mapping[str, Expression]) -> None:
        super().__init__(token)
        self.file = file
        self.parameters = parameters
        self.blank = False

    def render_to_output(self, context: RenderContext, buffer: TextIO) -> int:
        try:
            template = context.env.get_template(self.file, context=context)
        except TemplateNotFoundError as error:
            raise LiquidError(f"{self.file} is not in _includes", token=self.token) from error
        values = {name: expression.evaluate(context) for name, expression in self.parameters.items()}
        try:
            with context.extend({"include": values}, template=template):
                template.render_with_context(context, buffer, partial=True)
        except LiquidError as error:
            # The innermost file is the one to mend; python-liquid names it only when it cannot be parsed.
            error.template_name = error.template_name or self.file
            raise
        return True

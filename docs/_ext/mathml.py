"""Formulas as MathML, which browsers draw themselves: no script, no font, no network."""

from __future__ import annotations

from typing import Any

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml


def _inline(self: Any, node: Any) -> None:
    self.body.append(tex2mathml(node.astext(), as_block=False))
    raise SkipNode("the formula is written; its text has no other form")


def _block(self: Any, node: Any) -> None:
    self.body.append(f'<div class="formula">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise SkipNode("the formula is written; its text has no other form")


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer that `html_math_renderer` names."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Pictures of plain data as SVG and HTML: plots, and the matching behind a score. Knows no metric.

What `explain` gives as JSON (specification §17) is drawn by `explanation_html` and `match_svg`; shapes and scales for
plots are in `tesla_eval.drawing.shapes`.
"""

from __future__ import annotations

from tesla_eval.drawing.explanation import explanation_html, explanation_page, score_html
from tesla_eval.drawing.match import match_svg

__all__ = ["explanation_html", "explanation_page", "match_svg", "score_html"]

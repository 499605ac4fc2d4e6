"""Pictures of plain data as SVG and HTML: plots, and the matching behind a score. It does not depend on any metric.

What `explain` gives as JSON (specification §17) is drawn by one script, in `assets`: in reports, in notebooks, by
`tesla explain --html` and on the page of `tesla serve`. Shapes and scales for plots are in `tesla_eval.drawing.shapes`.
"""

from __future__ import annotations

from tesla_eval.drawing.explanation import drawn_data, explanation_html, explanation_page, score_html

__all__ = ["drawn_data", "explanation_html", "explanation_page", "score_html"]

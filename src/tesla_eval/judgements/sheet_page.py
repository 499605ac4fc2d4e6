"""A judging sheet as one HTML page that works from disk: no network, no outside file, texts only as text."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import chain
from string import Template

from tesla_eval.drawing.script import asset, content_policy
from tesla_eval.judgements.sheets import HIGHEST, RANKING, RATING, JudgingKey, Material, Sheet, Task, text_of

INSTRUCTIONS = {
    "rank": "Rank the texts from best (1) to worst. Texts that are equally good get the same rank.",
    "adequacy": "Adequacy: how much of the meaning is kept? 5 all of it, 4 most, 3 much, 2 little, 1 none. "
    "Do not mind clumsy language.",
    "fluency": "Fluency: how good is the language? 5 flawless, 4 good, 3 clumsy, 2 hard to follow, 1 not a sentence. "
    "Do not mind the meaning.",
    "dissimilarity": "Dissimilarity: how far do the words and their order differ from the original? 5 hardly a word in "
    "common, 1 a copy. Do not mind meaning and language.",
    "overall": "Overall: how good is the text for its purpose? A good paraphrase keeps the meaning, reads well and "
    "uses other words. 5 very good, 1 useless; a copy of the original gets at most 2.",
}
"""What judges are told about each column; the sheet as a table comes with the same words."""

_TITLES = {RANKING: "Rank the texts", RATING: "Rate the texts"}


def sheet_page(sheet: Sheet, key: JudgingKey, material: Material) -> str:
    """The page of a sheet: the judge answers, and saves a table that `tesla judge read` reads."""
    html, style, script = (asset("tesla_eval.judgements", f"sheet.{kind}") for kind in ("html", "css", "js"))
    count = len(sheet.tasks)
    sections = (
        _section(number, task, key, material, count) for number, task in enumerate(sheet.tasks, start=1)
    )
    return Template(html).substitute(
        policy=content_policy(style, script), style=style, script=script, sheet=escape(sheet.id),
        title=f"{_TITLES[key.kind]}: {count} task{'s' if count != 1 else ''}", fields=escape(" ".join(key.fields)),
        instructions="".join(f"<li>{escape(INSTRUCTIONS[name])}</li>\n" for name in key.fields),
        buttons="".join(f'<li><button type="button">Task {k + 1}</button></li>' for k in range(count)),
        tasks="".join(chain.from_iterable(sections)),
    )  # fmt: skip


def _section(number: int, task: Task, key: JudgingKey, material: Material, tasks: int) -> Iterator[str]:
    yield f'<section id="task-{number}" aria-labelledby="title-{number}">\n'
    yield f'<h2 id="title-{number}">Task {number} of {tasks}</h2>\n'
    for column, title in (("source", "Source"), ("reference", "Reference")):
        if text := text_of(material, column, task, 1):
            yield f'<div>{title}</div><blockquote dir="auto">{escape(text)}</blockquote>\n'
    highest = len(task.systems) if key.kind == RANKING else HIGHEST
    for place in range(1, len(task.systems) + 1):
        yield f'<fieldset data-task="{number}" data-place="{place}"><legend>Text {place}</legend>\n'
        yield f'<p class="text" dir="auto">{escape(text_of(material, "output", task, place))}</p>\n'
        for name in key.fields:
            group = f"{number}-{place}-{name}"
            yield f'<div data-group="{group}" role="radiogroup" aria-label="{escape(name)}">'
            yield f'<span class="field">{escape(name)}</span>'
            for value in range(1, highest + 1):
                yield f'<label><input type="radio" name="{group}" value="{value}"> {value}</label>'
            yield "</div>\n"
        yield "</fieldset>\n"
    yield "</section>\n"

"""A judging sheet as one HTML page that works from disk: no network, no outside file, texts only as text."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from html import escape

from tesla_eval.judgements.sheets import HIGHEST, RANKING, JudgingKey, Material, Sheet, Task, text_of

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

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:1rem auto;padding:0 1rem 5rem;color:#222;background:#fff}
section{border:1px solid #bbb;border-radius:6px;padding:0 1rem 1rem;margin:1rem 0}
section.done{border-color:#2a7d2a}
blockquote{margin:.3rem 0;padding:.3rem .8rem;border-left:4px solid #999;background:#f4f4f4}
fieldset{border:0;border-top:1px solid #ddd;padding:.6rem 0;margin:0}
p.text{margin:.2rem 0;font-size:1.05rem}
label{margin-right:1rem;white-space:nowrap}
span.field{display:inline-block;min-width:8rem}
footer{position:fixed;bottom:0;left:0;right:0;background:#eee;padding:.6rem 1rem;text-align:center}
footer{border-top:1px solid #999}
button{font:inherit;padding:.3rem 1rem}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}blockquote{background:#222}footer{background:#222}}
"""

# Answers stay in the browser until they are saved as a file; where the browser keeps nothing, they stay in the page.
_SCRIPT = """
"use strict";
(function () {
  const body = document.body, sheet = body.dataset.sheet, fields = body.dataset.fields.split(" ");
  const memory = "tesla-judging-" + sheet, status = document.getElementById("status");
  const groups = Array.from(document.querySelectorAll("[data-group]"));
  function answers() {
    const found = {};
    for (const input of document.querySelectorAll("input:checked")) found[input.name] = input.value;
    return found;
  }
  function show() {
    const given = answers();
    for (const section of document.querySelectorAll("section")) {
      const names = Array.from(section.querySelectorAll("[data-group]"), (group) => group.dataset.group);
      section.classList.toggle("done", names.every((name) => name in given));
    }
    status.textContent = Object.keys(given).length + " of " + groups.length + " answered";
    return given;
  }
  function table() {
    const given = answers(), lines = [["sheet", "task", "place"].concat(fields).join("\\t")];
    for (const output of document.querySelectorAll("fieldset")) {
      const task = output.dataset.task, place = output.dataset.place;
      const values = fields.map((field) => given[task + "-" + place + "-" + field] || "");
      lines.push([sheet, task, place].concat(values).join("\\t"));
    }
    return lines.join("\\n") + "\\n";
  }
  try {
    const kept = JSON.parse(localStorage.getItem(memory) || "{}");
    for (const input of document.querySelectorAll("input")) if (kept[input.name] === input.value) input.checked = true;
  } catch (error) { /* nothing is kept */ }
  document.addEventListener("change", function () {
    const given = show();
    try { localStorage.setItem(memory, JSON.stringify(given)); } catch (error) { /* nothing is kept */ }
  });
  document.getElementById("save").addEventListener("click", function () {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([table()], { type: "text/tab-separated-values" }));
    link.download = "filled-" + sheet + ".tsv";
    link.click();
    setTimeout(function () { URL.revokeObjectURL(link.href); }, 1000);
  });
  show();
})();
"""


def sheet_page(sheet: Sheet, key: JudgingKey, material: Material) -> str:
    """The page of a sheet: the judge answers, and saves a table that `tesla judge read` reads."""
    return "".join(_page(sheet, key, material))


def _page(sheet: Sheet, key: JudgingKey, material: Material) -> Iterator[str]:
    policy = (
        f"default-src 'none'; script-src '{_hash(_SCRIPT)}'; style-src '{_hash(_STYLE)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield '<meta name="referrer" content="no-referrer">\n'
    yield f"<title>Judging sheet {escape(sheet.id)}</title>\n<style>{_STYLE}</style>\n</head>\n"
    yield f'<body data-sheet="{escape(sheet.id)}" data-fields="{escape(" ".join(key.fields))}">\n'
    yield f"<h1>Judging sheet {escape(sheet.id)}</h1>\n<ul>\n"
    for name in key.fields:
        yield f"<li>{escape(INSTRUCTIONS[name])}</li>\n"
    yield "<li>Some tasks come twice. Judge them afresh.</li>\n"
    yield "<li>Your answers stay in this browser. At the end, save them and send the file back.</li>\n</ul>\n"
    for number, task in enumerate(sheet.tasks, start=1):
        yield from _section(number, task, key, material, len(sheet.tasks))
    yield '<footer><span id="status" role="status"></span> '
    yield '<button type="button" id="save">Save answers</button></footer>\n'
    yield f"<script>{_SCRIPT}</script>\n</body>\n</html>\n"


def _section(number: int, task: Task, key: JudgingKey, material: Material, tasks: int) -> Iterator[str]:
    yield f'<section id="task-{number}">\n<h2>Task {number} of {tasks}</h2>\n'
    for column, title in (("source", "Source"), ("reference", "Reference")):
        if text := text_of(material, column, task, 1):
            yield f'<div>{title}</div><blockquote dir="auto">{escape(text)}</blockquote>\n'
    highest = len(task.systems) if key.kind == RANKING else HIGHEST
    for place in range(1, len(task.systems) + 1):
        yield f'<fieldset data-task="{number}" data-place="{place}">\n'
        yield f'<p class="text" dir="auto">{escape(text_of(material, "output", task, place))}</p>\n'
        for name in key.fields:
            group = f"{number}-{place}-{name}"
            yield f'<div data-group="{group}"><span class="field">{escape(name)}</span>'
            for value in range(1, highest + 1):
                yield f'<label><input type="radio" name="{group}" value="{value}"> {value}</label>'
            yield "</div>\n"
        yield "</fieldset>\n"
    yield "</section>\n"


def _hash(content: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"

"""`tesla srl`: noun predicates and their labelled arguments, and the labeller measured on a treebank."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click

from tesla_eval.base.errors import UsageError
from tesla_eval.cli.shared.options import language_option
from tesla_eval.cli.shared.terminal import aligned, visible, warn, width, write_lines
from tesla_eval.texts.lines import LineReader
from tesla_eval_papers.srl.evaluation import evaluate_labeller, noun_predicates
from tesla_eval_papers.srl.labeller import LabelledSentence, RoleLabeller, load_labeller, read_labeller
from tesla_eval_papers.srl.nombank import read_gold
from tesla_eval_papers.syntax.tree_parser import load_tree_parser
from tesla_eval_papers.syntax.treebank import TreebankSentence

_FORMATS = ("text", "json", "conll")


def drawing(sentence: LabelledSentence) -> Iterator[str]:
    """The sentence, and below it one line per predicate with its arguments drawn under their words."""
    words = [visible(token) for token in sentence.tokens]
    starts = [0]
    for word in words:
        starts.append(starts[-1] + width(word) + 1)
    yield " ".join(words)
    for predicate in sentence.predicates:
        marks = [(predicate.index, predicate.index + 1, predicate.lemma)]
        marks += [(argument.start, argument.end, argument.label) for argument in predicate.arguments]
        rows: list[tuple[str, str]] = []
        for start, end, name in sorted(marks, key=lambda mark: (mark[0], -mark[1])):
            rule = "=" if name == predicate.lemma and start == predicate.index else "─"
            room = starts[end] - starts[start] - 1
            place = next(
                (i for i, row in enumerate(rows) if max(width(row[0]), width(row[1])) < starts[start]),
                len(rows),
            )
            if place == len(rows):
                rows.append(("", ""))
            line, label = rows[place]
            line += " " * (starts[start] - width(line)) + rule * room
            label += " " * (starts[start] - width(label)) + name
            rows[place] = (line, label)
        for line, label in rows:
            yield line
            yield label
    yield ""


def conll_rows(sentence: LabelledSentence) -> Iterator[str]:
    """One line per word: number, word, a predicate's lemma or `_`, then one column of brackets per predicate.

    A bracket that another argument of the same predicate crosses or holds is left out, because a column has no depth.
    """
    columns = []
    for predicate in sentence.predicates:
        column = ["*"] * len(sentence.tokens)
        free = [True] * len(sentence.tokens)
        spans = [(predicate.index, predicate.index + 1, "V")]
        spans += sorted(
            ((a.start, a.end, a.label) for a in predicate.arguments), key=lambda s: (s[0] - s[1], s[0])
        )
        for start, end, label in spans:
            if all(free[start:end]):
                free[start:end] = [False] * (end - start)
                column[start] = f"({label}{column[start]}"
                column[end - 1] += ")"
        columns.append(column)
    lemmas = {predicate.index: predicate.lemma for predicate in sentence.predicates}
    rows = [
        [str(place + 1), token, lemmas.get(place, "_"), *(column[place] for column in columns)]
        for place, token in enumerate(sentence.tokens)
    ]
    yield from ("\t".join(row) for row in rows)
    yield ""


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE]...")
@language_option
@click.option(
    "--format", "output", type=click.Choice(_FORMATS), default="text",
    help="Drawn under the sentence, one JSON object per sentence, or CoNLL columns.",
)  # fmt: skip
@click.option(
    "--json", "as_json", is_flag=True, help="The same as --format json; with --evaluate, the figures."
)
@click.option(
    "--evaluate", metavar="FILE",
    help="Measure the labeller on a treebank: JSON Lines with tokens, pos, tree and preds, or NomBank 1.0.",
)  # fmt: skip
@click.option(
    "--treebank", type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="With --evaluate: the file is NomBank 1.0 (one proposition per line), and this the folder of its Penn "
    "Treebank .mrg files.",
)  # fmt: skip
@click.option(
    "--predicates", type=click.Choice(("gold", "auto")), default="gold",
    help="With --evaluate: the treebank's predicates, or those that the labeller finds.",
)  # fmt: skip
@click.option(
    "--split",
    default=None,
    help="With --evaluate: only this split; of NomBank train is sections 2 to 21, dev 24, test 23.  [default: all]",
)
@click.option(
    "--trees", type=click.Choice(("gold", "auto")), default="gold",
    help="With --evaluate: the treebank's trees, or our own tags and trees over its tokens.",
)  # fmt: skip
@click.option(
    "--model", type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A labeller made by `tesla train srl` instead of the installed one.",
)  # fmt: skip
def srl(
    *,
    files: tuple[str, ...],
    language: str,
    output: str,
    as_json: bool,
    evaluate: str | None,
    treebank: Path | None,
    predicates: str,
    split: str | None,
    trees: str,
    model: Path | None,
) -> None:
    """Print the nouns of a text that have arguments, and the roles of these arguments.

    A file is raw text; it is split into sentences, tagged and parsed. `-` is standard input. Roles are PropBank's:
    ARG0 is the doer, ARG1 what it is done to; ARGM-TMP is time, ARGM-ADJ a property, ARGM-LVB a light verb.

    \b
    tesla srl article.txt
    echo "His decision to leave was sudden." | tesla srl - --json
    tesla srl --evaluate treebank.jsonl.gz --split dev --trees auto --predicates auto --json
    tesla srl --evaluate nombank.1.0 --treebank wsj --split test
    """
    if bool(files) == bool(evaluate):
        raise UsageError("give files to label, or --evaluate with a treebank")
    labeller = load_labeller(language) if model is None else read_labeller(model)
    if evaluate:
        sentences = read_gold(evaluate, treebank, split)
        _evaluate(labeller, language, sentences, trees, as_json, find_predicates=predicates == "auto")
        return
    output = "json" if as_json else output
    parser = load_tree_parser(language)
    for path in files:
        text = "\n".join(LineReader(path))
        for number, sentence in enumerate(labeller.label_text(text, parser), 1):
            if sentence.cut and output != "json":
                warn(f"{path}, sentence {number}: it is very long and was parsed in parts")
            if output == "json":
                record = {"file": path, "sentence": number, **sentence.to_dict()}
                write_lines([json.dumps(record, ensure_ascii=False)])
            else:
                write_lines(drawing(sentence) if output == "text" else conll_rows(sentence))


def _evaluate(
    labeller: RoleLabeller, language: str, sentences: list[TreebankSentence], trees: str, as_json: bool, *,
    find_predicates: bool,
) -> None:  # fmt: skip
    if not find_predicates:
        sentences = [sentence for sentence in sentences if noun_predicates(sentence)]
    if trees == "gold":
        used = [sentence.tree for sentence in sentences]
    else:
        parses = load_tree_parser(language).parse_tokens([sentence.tokens for sentence in sentences])
        used = [parse.tree for parse in parses]
    counts = evaluate_labeller(labeller, sentences, used, find_predicates=find_predicates)
    figures = counts.to_dict()
    if as_json:
        write_lines([json.dumps(figures)])
        return
    rows: list[tuple[str, ...]] = [("", "precision", "recall", "F1", "gold")]
    rows += [
        (task, *(f"{value:.4f}" for value in shares.values()), str(getattr(counts, task).gold))
        for task, shares in figures.items()
    ]
    labels = sorted(counts.by_label.items(), key=lambda item: (-item[1].gold, item[0]))
    rows += [(label, *(f"{v:.4f}" for v in c.to_dict().values()), str(c.gold)) for label, c in labels]
    write_lines(aligned(rows, numeric=(1, 2, 3, 4)))

"""Compare two versions of the package bit by bit: every registered metric and the main commands, on real texts.

python tools/compare_trees.py dump before.npz      # with the interpreter of one checkout
python tools/compare_trees.py dump after.npz       # with that of the other
python tools/compare_trees.py diff before.npz after.npz [--ignore METRIC]

The script uses only the public names of `tesla_eval` and the command line, so one copy of it serves both checkouts.
Signatures and version numbers are not compared. METEOR and TESLA-N are dumped where they are installed.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import tesla_eval
from tesla_eval import TeslaError, Token, create_metric

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

SEGMENTS = {"en": 2_000, "de": 1_000, "ru": 1_000, "zh": 1_000}
OTHER_SEGMENTS = 100  # of every other language
SUMMARIES = 40
FEW = 40  # segments that are explained, scored one by one, and compared pairwise
SLOW = {"ter": 60, "ter-char": 20, "dicomer": 25, "cremer": 25, "n": 400, "meteor": 400}
"""Metrics that get at most so many segments."""
SHORT = {("ter-char", "en"): 24, ("ter", "zh"): 24, ("ter", "en"): 120}
"""TER gets at most so many characters of each text: its time grows with more than the square of the length."""

SETS = {
    "en": ("wmt14-rr.seg.tsv.gz", "cs-en"),
    "de": ("wmt14-outofen.seg.tsv.gz", "en-de"),
    "ru": ("wmt14-outofen.seg.tsv.gz", "en-ru"),
    "zh": ("wmt24-esa-outofen-odd.seg.tsv.gz", "en-zh"),
    "fr": ("wmt14-outofen.seg.tsv.gz", "en-fr"),
    "cs": ("wmt14-outofen.seg.tsv.gz", "en-cs"),
    "hi": ("wmt14-outofen.seg.tsv.gz", "en-hi"),
    "es": ("wmt24-esa-outofen-odd.seg.tsv.gz", "en-es"),
    "ja": ("wmt24-esa-outofen-odd.seg.tsv.gz", "en-ja"),
    "uk": ("wmt24-esa-outofen-odd.seg.tsv.gz", "en-uk"),
    "ar": ("wmt25-esa-outofen-odd.seg.tsv.gz", "en-ar"),
    "und": ("wmt21-sysonly-outofen.seg.tsv.gz", "en-ha"),  # Hausa: a language without any resources
}
SUMMARY_SET = "summeval"  # eleven references, and the source

BY_LANGUAGE = {
    "de": ["m", "b", "x", "s", "celab", "chrf++", "nist", "maxsim", "rouge1", "rougelsum", "s-source", "s-x"],
    "ru": ["m", "x", "s", "s-source", "s-x"],
    "zh": ["m", "x", "s", "celab", "celab-", "bleu", "nist-char", "ter", "rouge1"],
    "fr": ["m", "b", "x", "s-source", "s-x"],
    "cs": ["m", "b", "x", "s", "s-source", "s-x"],
    "hi": ["m", "x"],
    "es": ["m", "b", "x", "s", "s-source", "s-x"],
    "ja": ["m", "x", "s", "celab", "bleu", "rougesu4"],
    "uk": ["m", "x"],
    "ar": ["m", "x", "chrf"],
    "und": ["m", "x", "s"],
}
"""What is dumped beside English, for which every registered metric is."""

ON_SUMMARIES = [
    "s", "s-recall", "s-source", "s-x", "dicomer", "cremer", "rouge1", "rouge2", "rougel", "rougelsum",
    "rougesu4", "rougelsum-recall", "x", "pem-x",
]  # fmt: skip
NEEDS_SOURCE = frozenset(
    {"s-source", "s-x"}
)  # no WMT file has sources: there the references stand in for them

OPTIONS: list[tuple[str, str, dict[str, Any]]] = [
    ("m", "en", {"alpha": 0.5}),
    ("m", "en", {"discount": 0.5, "max_n": 2}),
    ("m", "de", {"synonyms": "none"}),
    ("m", "en", {"workers": 2}),
    ("b", "en", {"pivots": ("de",), "least_probability": 0.2}),
    ("b", "de", {"least_ngram_probability": 0.1}),
    ("f", "en", {"scaled": False}),
    ("x", "en", {"scaled": False}),
    ("x", "en", {"synonyms": "none"}),
    ("x", "en", {"workers": 2}),
    ("x", "zh", {"workers": 2}),
    ("pem", "en", {"pivots": ("de",)}),
    ("s", "en", {"window": 2, "discount": 0.3, "alpha": 0.5}),
    ("s-recall", "en", {"window": 1}),
    ("s", "de", {"workers": 2}),
    ("maxsim", "en", {"discount": 0.5, "max_n": 2}),
    ("dicomer", "en", {"variant": "lin+c"}),
    ("cremer", "en", {"kernel": "linear"}),
    ("celab", "zh", {"order": 3, "f": 0.5, "discount": 0.1}),
    ("celab", "zh", {"synonyms": "none"}),
    ("celab", "zh", {"workers": 2}),
    ("celab", "ja", {"discount": 0.1}),
    ("celab-", "zh", {"order": 2}),
    ("celab-", "en", {"pre_tokenized": True}),
    ("bleu", "en", {"tok": "intl", "lc": True}),
    ("bleu", "en", {"smooth_method": "add-k", "smooth_value": 1.0, "max_ngram_order": 3, "eff": True}),
    ("bleu", "zh", {"tok": "char"}),
    ("bleu", "en", {"workers": 2}),
    ("bleu-char", "en", {"lc": True}),
    ("chrf", "en", {"char_order": 4, "beta": 3, "lc": True}),
    ("chrf++", "en", {"whitespace": True, "eps": True, "workers": 2}),
    ("ter", "en", {"normalized": True, "no_punct": True, "case_sensitive": True}),
    ("ter", "zh", {"asian_support": True, "normalized": True}),
    ("nist", "en", {"n": 3, "lc": False}),
    ("nist", "en", {"workers": 2}),
    ("meteor", "en", {"norm": False}),
    ("rouge2", "en", {"stem": False}),
    ("rougelsum", "en", {"split": False}),
    ("n", "en", {"scaled": False, "workers": 2}),
]
RENAMED: dict[str, tuple[str, dict[str, str]]] = {
    "bleu-char": ("bleu", {"tok": "char"}),
    "nist-char": ("nist", {"tok": "char"}),
    "ter-char": ("ter", {"level": "char"}),
    **{
        f"rouge{kind}-recall": (f"rouge{kind}", {"part": "recall"}) for kind in ("1", "2", "l", "lsum", "su4")
    },
}
"""Metrics that became options of others: both trees dump them under the old names."""
EDGES = [("", "A text."), ("A text.", ""), ("One", "One"), ("a b", "a"), ("...", "A text."), ("", "")]
UNCOMPARED = frozenset({"signature", "signatures", "segment_signature", "version", "command"})
"""Fields of results that may differ between versions."""

Arrays = dict[str, np.ndarray]


class Texts(NamedTuple):
    """A system's texts, the streams of references (the first one complete), and perhaps the sources."""

    hypotheses: list[str]
    references: list[list[str | None]]
    sources: list[str] | None = None

    def first(self, count: int) -> Texts:
        """The first `count` segments."""
        sources = None if self.sources is None else self.sources[:count]
        return Texts(self.hypotheses[:count], [stream[:count] for stream in self.references], sources)

    def shortened(self, length: int) -> Texts:
        """The first `length` characters of every text."""
        return Texts(
            [text[:length] for text in self.hypotheses],
            [[None if text is None else text[:length] for text in stream] for stream in self.references],
            self.sources,
        )

    def source(self, place: int) -> str | None:
        """The source of one segment, if there is one."""
        return None if self.sources is None else self.sources[place]

    def references_of(self, place: int) -> list[str]:
        """The references that one segment has."""
        return [stream[place] for stream in self.references if stream[place] is not None]  # type: ignore[misc]


class WordsAnalyser:
    """An analyser of a user's own: words between spaces, without tags or senses."""

    name = "words"

    def analyse(self, texts: Sequence[str]) -> list[list[Token]]:
        """The words of each text."""
        return [list(self._words(text)) for text in texts]

    def _words(self, text: str) -> Iterator[Token]:
        end = 0
        for word in text.split():
            start = text.index(word, end)
            end = start + len(word)
            yield Token(word, start, end, word.lower(), "NN" if len(word) > 3 else "DT", len(word) <= 3)


def wmt_rows(lang: str, count: int) -> list[dict[str, str]]:
    """Rows of the WMT file of a language, spread over its systems and segments."""
    name, lp = SETS[lang]
    rows = []
    with gzip.open(DATA / "wmt" / name, "rt", encoding="utf-8", newline="\n") as lines:
        head = next(lines).rstrip("\n").split("\t")
        for number, line in enumerate(lines):
            if line.startswith(f"{lp}\t") and number % 7 == 0:
                rows.append(dict(zip(head, line.rstrip("\n").split("\t"), strict=True)))
            if len(rows) == count:
                break
    return rows


def wmt_texts(lang: str) -> Texts:
    """A second reference: another segment's text, or the text itself with its halves swapped; a third has none."""
    rows = wmt_rows(lang, SEGMENTS.get(lang, OTHER_SEGMENTS))
    pairs = [*EDGES, *((row["hypothesis"], row["reference"]) for row in rows)]
    hypotheses = [hypothesis for hypothesis, _ in pairs]
    shifted = [*hypotheses[1:], hypotheses[0]]
    swapped = [text[len(text) // 2 :] + text[: len(text) // 2] for text in hypotheses]
    choices = zip([None] * len(pairs), shifted, swapped, strict=True)
    second = [texts[place % 3] for place, texts in enumerate(choices)]
    return Texts(hypotheses, [[reference for _, reference in pairs], second])


def summary_texts() -> Texts:
    """Summaries with their sources; each lacks some of the references."""

    def read(name: str) -> list[dict[str, Any]]:
        with gzip.open(DATA / "summaries" / SUMMARY_SET / name, "rt", encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]

    documents = {row["doc"]: row for row in read("docs.jsonl.gz")}
    rows = read("summaries.jsonl.gz")[::37][:SUMMARIES]
    given = [documents[row["doc"]] for row in rows]
    streams = [
        [document["refs"][k] if k == 0 or (place + k) % 4 else None for place, document in enumerate(given)]
        for k in range(len(given[0]["refs"]))
    ]
    return Texts([row["summary"] for row in rows], streams, [document["src"] for document in given])


def metric_names() -> list[str]:
    """All metrics of this checkout, by the names that both checkouts use."""
    try:
        listed = run_command("metrics", "--all", "--json", folder=Path.cwd())
    except subprocess.CalledProcessError:  # without --all: the list was whole
        listed = run_command("metrics", "--json", folder=Path.cwd())
    return list(dict.fromkeys([*(entry["name"] for entry in json.loads(listed)), *RENAMED]))


def make(name: str, lang: str, **options: Any) -> Any:
    """The metric that had this name in the older checkout."""
    try:
        return create_metric(name, lang, **options)
    except TeslaError:
        if name not in RENAMED:
            raise
        base, own = RENAMED[name]
        return create_metric(base, lang, **own, **options)


def run_command(*arguments: str, folder: Path) -> str:
    """The standard output of a `tesla` command."""
    run = subprocess.run(
        [sys.executable, "-m", "tesla_eval.cli", *arguments],
        cwd=folder, check=True, stdout=subprocess.PIPE, text=True, encoding="utf-8",
        env={**os.environ, "TESLA_EVAL_CACHE": str(folder / "cache"), "COLUMNS": "200"},
    )  # fmt: skip
    return run.stdout


def leaves(value: Any, numbers: list[float]) -> Any:
    """Move the numbers of plain data into a list; what is left is the structure and the texts."""
    if isinstance(value, Mapping):
        return {key: leaves(value[key], numbers) for key in sorted(value) if key not in UNCOMPARED}
    if isinstance(value, list | tuple):
        return [leaves(part, numbers) for part in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        numbers.append(float(value))
        return "number"
    return value


def plain_arrays(values: Sequence[Any]) -> Arrays:
    """Plain data as two arrays: all numbers, and for each value a hash of everything else."""
    numbers: list[float] = []
    hashes = []
    for value in values:
        rest = json.dumps(leaves(value, numbers), ensure_ascii=False, sort_keys=True)
        hashes.append(
            np.frombuffer(hashlib.sha256(rest.encode("utf-8", "surrogatepass")).digest()[:8], np.int64)
        )
    return {"numbers": np.array(numbers), "texts": np.concatenate(hashes)}


def attempt(work: Any) -> Any:
    """What `work` returns; a refusal is data too, by the class of its error."""
    try:
        return work()
    except TeslaError as error:
        return {"refused": type(error).__name__}


def measured(metric: Any, texts: Texts) -> Iterator[tuple[str, np.ndarray]]:
    """Everything that a metric says about these texts."""
    hypotheses, references, sources = texts
    corpus = [metric.corpus_score(hypotheses, streams, sources) for streams in (references[:1], references)]
    yield "score", np.array([result.score for result in corpus])
    yield "segments", np.stack([result.segments for result in corpus])
    yield "features", np.stack([result.features for result in corpus])
    yield "names", plain_arrays([list(corpus[0].feature_names)])["texts"]

    some = texts.first(FEW)
    places = range(len(some.hypotheses))
    by_segment = metric.corpus_score(
        some.hypotheses,
        [some.references_of(place) for place in places],
        some.sources,
        references_by_segment=True,
    )
    yield "by segment", np.append(by_segment.segments, by_segment.score)

    def one_by_one(place: int) -> Any:
        score = metric.sentence_score(
            some.hypotheses[place], some.references_of(place), sources=some.source(place)
        )
        return {"score": score.score, "features": dict(score.features)}

    def explanation(place: int) -> Any:
        return metric.explain(
            some.hypotheses[place], some.references_of(place), sources=some.source(place)
        ).to_dict()

    def pairwise(columns: list[str]) -> Any:
        return metric.pairwise(some.hypotheses, columns).tolist()

    several = {
        "sentences": [attempt(lambda place=place: one_by_one(place)) for place in places],
        "explanations": [attempt(lambda place=place: explanation(place)) for place in places],
        "pairwise": [attempt(lambda: pairwise([text or "" for text in some.references[0]]))],
        "pairwise with itself": [attempt(lambda: pairwise(some.hypotheses))],
    }
    for what, values in several.items():
        for kind, array in plain_arrays(values).items():
            yield f"{what}, {kind}", array


def cases(names: Sequence[str]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Metric, language (or "summaries") and options of everything that is dumped."""
    yield from ((name, "en", {}) for name in names if name not in NEEDS_SOURCE)
    for lang, of_language in BY_LANGUAGE.items():
        yield from ((name, lang, {}) for name in of_language if name in names)
    yield from ((name, "summaries", {}) for name in ON_SUMMARIES if name in names)
    yield from (case for case in OPTIONS if case[0] in names)
    if "s-source" in names:
        yield "s-source", "summaries", {"window": 2, "discount": 0.5}
    for name in ("m", "s"):
        yield name, "en", {"analyser": WordsAnalyser()}


def shown(options: Mapping[str, Any]) -> str:
    """Options as a part of a name."""
    return ",".join(
        f"{name}={'words' if name == 'analyser' else value if not isinstance(value, tuple) else '+'.join(value)}"
        for name, value in options.items()
    )


def command_arrays() -> Iterator[tuple[str, Arrays]]:
    """The results of commands that print JSON: the number of every field, and a hash of the rest."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = wmt_rows("en", 60)
        columns = {"ref": [row["reference"] for row in rows], "a": [row["hypothesis"] for row in rows]}
        columns["b"] = [" ".join(reversed(text.split(" "))) for text in columns["a"]]
        columns["c"] = [text[: len(text) * 2 // 3] for text in columns["ref"]]
        columns["ref2"] = ["" if place % 3 == 0 else text for place, text in enumerate(columns["a"])]
        for stem, texts in columns.items():
            (folder / f"{stem}.txt").write_text("".join(f"{text}\n" for text in texts), "utf-8")
        judged = ["lp\ttestset\tsystem\tseg_id\thuman_score\thypothesis\treference"]
        judged += [
            f"cs-en\tnews\t{system}\t{place + 1}\t{(7 * place + 3 * rank) % 11}\t{columns[system][place]}\t{text}"
            for place, text in enumerate(columns["ref"])
            for rank, system in enumerate("abc")
        ]
        (folder / "judged.seg.tsv").write_text("".join(f"{line}\n" for line in judged), "utf-8")
        systems = ("-l", "en", "-r", "ref.txt", "a.txt", "b.txt", "c.txt")
        metrics = ("-m", "m,x,s,bleu,chrf,ter,nist,rougel")
        two = ("-r", "ref2.txt")
        commands = {
            "score": ("score", *systems, *two, *metrics, "--json", "--segments", "--ci"),
            "compare": ("compare", *systems, *metrics, "--json"),
            "compare, baseline": ("compare", *systems, *two, "-m", "m,bleu", "--baseline", "b.txt", "--json"),
            "meta": (
                "meta", "-l", "en", "--segments", "judged.seg.tsv", "-m", "m,x,bleu,ter", "--format", "json",
                "--significance", "kendall", "--significance", "system:pearson",
            ),
            "mbr": ("mbr", "-l", "en", "-m", "m", str(EXAMPLES / "samples.jsonl"), "--format", "json"),
        }  # fmt: skip
        for label, arguments in commands.items():
            printed = run_command(*arguments, folder=folder)
            lines = printed.splitlines() if label == "mbr" else [printed]
            yield label, plain_arrays([json.loads(line) for line in lines])
        explained = run_command("explain", *systems[:5], "-m", "x", "--json", folder=folder)
        yield "explain", plain_arrays([json.loads(line) for line in explained.splitlines()])
        run_command("report", *systems, *two, "-m", "m,x,bleu", "-o", "page.html", folder=folder)
        extracted = run_command("report", "--extract", "page.html", folder=folder)
        yield "report", plain_arrays([json.loads(extracted)])


def dump(path: str) -> None:
    """Measure everything with the package of this interpreter."""
    arrays: Arrays = {}
    print(f"the package in {Path(tesla_eval.__file__).parent}, version {tesla_eval.__version__}")
    names = metric_names()
    texts: dict[str, Texts] = {"summaries": summary_texts()}
    skipped: dict[str, str] = {}
    for name, data, options in cases(names):
        if data not in texts:
            texts[data] = wmt_texts(data)
        start = time.process_time()
        key = " | ".join([name, data, shown(options)])
        given = texts[data].first(SLOW.get(name, len(texts[data].hypotheses)))
        if name in NEEDS_SOURCE and given.sources is None:
            given = given._replace(sources=list(map(str, given.references[0])))
        if (name, data) in SHORT:
            given = given.shortened(SHORT[name, data])
        try:
            metric = make(name, "en" if data == "summaries" else data, **options)
            arrays |= {f"{key} | {what}": array for what, array in measured(metric, given)}
        except (
            TeslaError,
            TypeError,
        ) as error:  # a missing jar, or an option that this version does not have
            skipped[key] = str(error)
            continue
        seconds = time.process_time() - start
        print(f"{seconds:6.1f} s  {key}", *arrays[f"{key} | score"], flush=True)
    for label, results in command_arrays():
        arrays |= {f"command {label} | {kind}": array for kind, array in results.items()}
        print(f"command {label}: {results['numbers'].size:,} numbers", flush=True)
    for key, reason in skipped.items():
        print(f"skipped {key}: {reason}")
    np.savez_compressed(path, **arrays)
    print(f"{len(arrays)} arrays, {sum(array.size for array in arrays.values()):,} numbers")


def metric_of(name: str) -> str:
    """The metric or command that an array belongs to."""
    return name.partition(" | ")[0]


def difference(x: np.ndarray, y: np.ndarray) -> str:
    """How two arrays differ; empty if they are equal to the last bit."""
    if x.shape != y.shape or x.dtype != y.dtype:
        return f"{x.dtype} {x.shape} is now {y.dtype} {y.shape}"
    unequal = x.view(np.int64) != y.view(np.int64)
    if x.dtype == np.float64:  # a missing value is NaN, whatever the sign that NaN has
        unequal &= ~(np.isnan(x) & np.isnan(y))
        with np.errstate(invalid="ignore"):
            largest = float(np.nanmax(np.abs(x - y), where=unequal, initial=0.0))
        detail = f", by up to {largest:.3g}"
    else:
        detail = ""
    return f"{int(unequal.sum())} of {x.size} numbers differ{detail}" if unequal.any() else ""


def diff(before: str, after: str, ignored: Sequence[str]) -> int:
    """Print what differs between two dumps; the exit status is 1 if anything does."""
    first, second = np.load(before), np.load(after)
    names = [
        {name for name in archive.files if metric_of(name) not in ignored} for archive in (first, second)
    ]
    metrics = [{metric_of(name) for name in one} for one in names]
    lines = []
    for path, here, elsewhere in ((before, 0, 1), (after, 1, 0)):
        lone = metrics[here] - metrics[elsewhere]
        lines += [f"{metric}: only in {path} (--ignore {metric!r} leaves it out)" for metric in sorted(lone)]
        lines += [
            f"{name}: only in {path}"
            for name in sorted(names[here] - names[elsewhere])
            if metric_of(name) not in lone
        ]
    numbers = 0
    for name in sorted(names[0] & names[1]):
        x = first[name]
        numbers += x.size
        if told := difference(x, second[name]):
            lines.append(f"{name}: {told}")
    for line in lines:
        print(line)
    if ignored:
        print(f"ignored: {', '.join(ignored)}")
    common = metrics[0] & metrics[1]
    of_commands = sum(metric.startswith("command ") for metric in common)
    print(
        f"{len(common) - of_commands} metrics, {of_commands} commands, {len(names[0] & names[1])} arrays, "
        f"{numbers:,} numbers compared; {len(lines)} differences"
    )
    return 1 if lines else 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = parser.add_subparsers(dest="part", required=True)
    dumping = parts.add_parser("dump", help="measure the package of this interpreter")
    dumping.add_argument("path")
    diffing = parts.add_parser("diff", help="compare two dumps")
    diffing.add_argument("before")
    diffing.add_argument("after")
    diffing.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="NAME",
        help="leave out a metric, or a command such as 'command score'; repeatable",
    )
    options = parser.parse_args()
    if options.part == "dump":
        dump(options.path)
        return 0
    return diff(options.before, options.after, options.ignore)


if __name__ == "__main__":
    sys.exit(main())

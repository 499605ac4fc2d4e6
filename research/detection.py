"""Measure language detection on the treebanks' test and development sentences, and write research/detection.md.

    python -m research.detection --peers simplemma py3langid
    python -m research.detection [-o research/detection.md]

Per language up to 20 chunks of 20 sentences, and the first 400 sentences alone. Languages that are not supported come
from the translations of Django (pip install django). `--peers` measures other detectors (pip install py3langid) and
keeps their rows in tools/detection_peers.json, from where the page takes them.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import importlib.util
import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import cast

from tesla_eval.base.errors import UsageError
from tesla_eval.base.resources import shipped_folder
from tesla_eval.language.analysis.conllu import read_conllu
from tesla_eval.language.analysis.detection import contradicts, identify, load_detection
from tesla_eval.language.analysis.languages import LANGUAGES
from tesla_eval.language.choice import AUTO, choose

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
TREEBANKS, WMT = DATA / "ud", DATA / "wmt" / "wmt19-darr.seg.tsv.gz"
HEAD = Path(__file__).with_name("detection_head.md")
PEERS = Path(__file__).with_name("detection_peers.json")
CHUNK, MOST_CHUNKS, MOST_SENTENCES, SHORT = 20, 20, 400, 10
SIMPLEMMA_NAMES = {"nb": "no", "hbs": "hr"}
DJANGO_NAMES = {"nb": "no", "zh_Hant": "zh"}

Guess = Callable[[Sequence[str]], str]


def held_out(language: str, names: Sequence[str] = ("test", "dev")) -> list[str]:
    """The test sentences, then the development sentences."""
    paths = (TREEBANKS / language / f"{name}.conllu.gz" for name in names)
    return [sentence.text for path in paths if path.exists() for sentence in read_conllu(path)]


def chunks(sentences: Sequence[str]) -> list[Sequence[str]]:
    starts = range(0, len(sentences) - CHUNK + 1, CHUNK)
    return [sentences[start : start + CHUNK] for start in starts][:MOST_CHUNKS]


def by_simplemma(texts: dict[str, list[str]]) -> dict[str, object]:
    """Every 20th chunk and sentence, because it is slow; all dictionaries stay loaded (usually 8 do)."""
    from simplemma import LanguageDetector, __version__
    from simplemma.strategies import DefaultStrategy
    from simplemma.strategies.dictionaries import dictionary_factory

    codes = dictionary_factory.SUPPORTED_LANGUAGES
    own = tuple(sorted(code for code in codes if SIMPLEMMA_NAMES.get(code, code) in LANGUAGES))
    kept = dictionary_factory.DefaultDictionaryFactory(cache_max_size=len(own))
    detector = LanguageDetector(own, lemmatization_strategy=DefaultStrategy(dictionary_factory=kept))

    def guess(sentences: Sequence[str]) -> str:
        code = detector.main_language(" ".join(sentences))
        return SIMPLEMMA_NAMES.get(code, code)

    files = Path(dictionary_factory.__file__).with_name("data")
    size = sum((files / f"{code}.plzma").stat().st_size for code in own)
    row = measured(f"simplemma {__version__}", guess, texts, serbo_croatian=True, every=20)
    return {**row, "size": size, "languages": len(own) + ("hbs" in own)}


def by_py3langid(texts: dict[str, list[str]]) -> dict[str, object]:
    """Told which languages there are."""
    import py3langid

    start = time.process_time()
    py3langid.set_languages(sorted(LANGUAGES))  # loads the model
    loading = 1000 * (time.process_time() - start)

    def guess(sentences: Sequence[str]) -> str:
        return str(py3langid.classify(" ".join(sentences))[0])

    size = next(Path(py3langid.__file__).parent.glob("data/model.*")).stat().st_size
    row = measured(f"py3langid {version('py3langid')}", guess, texts)
    return {**row, "first": loading + cast(float, row["first"]), "size": size, "languages": len(LANGUAGES)}


MEASURED_PEERS = {"simplemma": by_simplemma, "py3langid": by_py3langid}


def measured(
    name: str, guess: Guess, texts: dict[str, list[str]], *, serbo_croatian: bool = False, every: int = 1
) -> dict[str, object]:
    """Share of chunks and of sentences that are right, and milliseconds for the first call and for a chunk."""
    start = time.process_time()
    guess(texts["en"][:CHUNK])
    first = time.process_time() - start

    def right(language: str, found: str) -> bool:
        return found == language or (serbo_croatian and {language, found} == {"hr", "sr"})

    start = time.process_time()
    pieces = [(code, chunk) for code, found in texts.items() for chunk in chunks(found)[::every]]
    of_chunks = [right(code, guess(chunk)) for code, chunk in pieces]
    milliseconds = 1000 * (time.process_time() - start) / len(pieces)
    of_sentences = [
        right(code, guess([s])) for code, found in texts.items() for s in found[:MOST_SENTENCES:every]
    ]
    return {
        "name": name, "of_chunks": len(of_chunks), "of_sentences": len(of_sentences),
        "chunks": 100 * sum(of_chunks) / len(of_chunks),
        "sentences": 100 * sum(of_sentences) / len(of_sentences),
        "first": 1000 * first, "chunk": milliseconds, "every": every,
    }  # fmt: skip


def django_texts() -> dict[str, list[str]]:
    """By language the translated messages of four words and more."""
    spec = importlib.util.find_spec("django")
    if spec is None or spec.origin is None:
        raise SystemExit("The translations of Django are missing: pip install django")
    texts: dict[str, set[str]] = {}
    for path in sorted(Path(spec.origin).parent.glob("**/locale/*/LC_MESSAGES/*.po")):
        for match in re.finditer(r'^msgstr(?:\[\d\])? ((?:".*"\n)+)', path.read_text("utf-8"), re.MULTILINE):
            message = "".join(ast.literal_eval(line) for line in match[1].splitlines())
            message = re.sub(r"%\(\w+\)[sd]|%[sd]|\{[^}]*\}|<[^>]*>|\n", " ", message).strip()
            if len(message.split()) >= 4 and "charset" not in message:
                texts.setdefault(path.parts[-3], set()).add(message)
    return {code: sorted(found) for code, found in texts.items() if len(found) >= 2 * CHUNK}


def added_milliseconds(code: str) -> float:
    """Processor time of `code` in a new process that has imported what every run imports; the least of 7."""
    program = (
        "import time, numpy.ma, tesla_eval.language.analysis.languages, tesla_eval.base.resources\n"
        "sentence = 'The quick brown fox jumps over the lazy dog, and nobody in the village saw it. '\n"
        "texts = [f'{i} {sentence * 3}' for i in range(2000)]\n"
        f"start = time.process_time()\n{code}\nprint(1000 * (time.process_time() - start))"
    )
    return min(
        float(
            subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
        )
        for _ in range(7)
    )


def confusion_rows(texts: dict[str, list[str]]) -> tuple[dict[str, object], list[str]]:
    """Our own figures and a table of what was taken for what."""
    figures: Counter[str] = Counter()
    of_chunks: Counter[tuple[str, str]] = Counter()
    of_sentences: Counter[tuple[str, str]] = Counter()
    for code, found in texts.items():
        for chunk in chunks(found):
            guess = identify(chunk)
            figures["chunks"] += 1
            figures["chunks right"] += guess.language == code
            figures["chunks certain"] += guess.certain
            figures["chunks certain and wrong"] += guess.certain and guess.language != code
            figures["chunks contradicted"] += contradicts(code, chunk) is not None
            of_chunks[code, guess.language] += guess.language != code
        for sentence in found[:MOST_SENTENCES]:
            guess = identify([sentence])
            figures["sentences"] += 1
            figures["sentences right"] += guess.language == code
            figures["sentences certain"] += guess.certain
            figures["sentences certain and wrong"] += guess.certain and guess.language != code
            figures["sentences contradicted"] += contradicts(code, [sentence]) is not None
            of_sentences[code, guess.language] += guess.language != code
    table = ["| language | taken for | chunks | sentences |", "|---|---|--:|--:|"]
    for pair, count in sorted(of_sentences.items(), key=lambda item: (-item[1], item[0])):
        if count >= 4 or of_chunks[pair]:
            table.append(f"| {pair[0]} | {pair[1]} | {of_chunks[pair]} | {count} |")
    return dict(figures), table


def short_texts(texts: Sequence[str]) -> list[str]:
    """The first of those with 1 to 10 words."""
    short = (text for text in texts if len(text.split()) <= SHORT and any(map(str.isalpha, text)))
    return list(islice(short, MOST_SENTENCES))


def english_references() -> list[str]:
    """The references of WMT 2019 into English, each once."""
    with gzip.open(WMT, "rt", encoding="utf-8", newline="\n") as lines:
        rows = (line.rstrip("\n").split("\t") for line in lines)
        return list(dict.fromkeys(fields[6] for fields in rows if fields[0].endswith("-en")))


def short_row(name: str, groups: Sequence[tuple[str, Sequence[str]]]) -> str:
    """What `choose` makes of short texts by their language."""
    figures: Counter[str] = Counter()
    for language, texts in groups:
        try:
            chosen = choose(AUTO, texts)
        except UsageError:
            figures["refused"] += 1
            continue
        verdict = "right" if chosen.code == language else "wrong"
        figures[f"{'assumed' if chosen.assumed else 'certain'} {verdict}"] += 1
    columns = ("certain right", "certain wrong", "assumed right", "assumed wrong", "refused")
    return f"| {name} | {len(groups)} | " + " | ".join(str(figures[column]) for column in columns) + " |"


def short_rows() -> list[str]:
    """Development sentences alone and in threes, and English references of WMT."""
    by_language = {code: short_texts(held_out(code, ("dev",))) for code in sorted(LANGUAGES)}
    english = short_texts(english_references())
    table = [
        "| | texts | certain, right | certain, wrong | assumed, right | assumed, wrong | refused |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name, found in (("treebanks", by_language), ("English of WMT", {"en": english})):
        for size, what in ((1, "one sentence"), (3, "three sentences")):
            groups = [
                (code, texts[i : i + size])
                for code, texts in found.items()
                for i in range(0, len(texts) - size + 1, size)
            ]
            table.append(short_row(f"{name}, {what}", groups))
    return table


def outside_rows(texts: dict[str, list[str]]) -> tuple[dict[str, int], list[str]]:
    """Chunks of messages: languages that are supported must be right, others not certain."""
    figures: Counter[str] = Counter()
    wrong: list[str] = []
    for code, found in texts.items():
        known = DJANGO_NAMES.get(code, code.partition("_")[0])
        guesses = [identify(chunk) for chunk in chunks(found)]
        kind = "inside" if known in LANGUAGES else "outside"
        figures[f"{kind} languages"] += 1
        figures[kind] += len(guesses)
        figures[f"{kind} right"] += sum(guess.language == known for guess in guesses)
        figures[f"{kind} certain"] += sum(guess.certain for guess in guesses)
        mistaken = Counter(guess.language for guess in guesses if guess.certain and guess.language != known)
        wrong += [f"{code} for {guess} ({n} of {len(guesses)})" for guess, n in mistaken.items()]
    return dict(figures), wrong


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "research" / "detection.md")
    parser.add_argument("--peers", nargs="+", choices=sorted(MEASURED_PEERS), metavar="NAME", default=())
    wishes = parser.parse_args()
    texts = {code: held_out(code) for code in sorted(LANGUAGES)}
    if wishes.peers:
        peers = {name: MEASURED_PEERS[name](texts) for name in wishes.peers}
        kept = json.loads(PEERS.read_text("utf-8")) if PEERS.exists() else {}
        PEERS.write_text(json.dumps({**kept, **peers}, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        return
    figures, confusions = confusion_rows(texts)
    outside, wrong = outside_rows(django_texts())
    load_detection.cache_clear()
    size = (shipped_folder() / "detection.tesla").stat().st_size
    own = {"size": size, "languages": len(LANGUAGES)}
    rows: list[dict[str, object]] = [
        *(json.loads(PEERS.read_text("utf-8")).values() if PEERS.exists() else ()),
        {**measured("own model", lambda s: identify(s).language, texts), **own},
        {**measured("own model, every 20th", lambda s: identify(s).language, texts, every=20), **own},
    ]
    candidates = [
        "| | languages | chunks right, % | of | sentences right, % | of | first call, ms | one chunk, ms | size, MB |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    candidates += [
        f"| {row['name']} | {row['languages']} | {row['chunks']:.2f} | {row['of_chunks']} | {row['sentences']:.2f} | "
        f"{row['of_sentences']} | {row['first']:,.0f} | {row['chunk']:.1f} | {cast(int, row['size']) / 1e6:.1f} |"
        for row in rows
    ]
    importing = added_milliseconds("import tesla_eval.language.analysis.detection")
    whole = added_milliseconds("from tesla_eval.language.analysis.detection import identify; identify(texts)")
    page = HEAD.read_text("utf-8").format(
        candidates="\n".join(candidates), confusions="\n".join(confusions), wrong="; ".join(wrong) or "none",
        short="\n".join(short_rows()),
        importing=f"{importing:.0f}", whole=f"{whole:.0f}", kilobytes=f"{size / 1000:.0f}",
        **{key.replace(" ", "_"): value for key, value in {**figures, **outside}.items()},
    )  # fmt: skip
    wishes.output.write_text(page, encoding="utf-8")
    print(page)


if __name__ == "__main__":
    main()

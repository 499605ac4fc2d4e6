"""The discourse parser and DICOMER beside named peers, in CPU time.

- The parser on 10,000 words of GDTB, and its classifiers alone beside scikit-learn's DictVectorizer and a sparse
  product over the same features.
- DICOMER and CREMER on SummEval's summaries beside rouge-score (ROUGE-1, -2, -L, with its stemmer).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable

from benchmarks.common import SHARED_DATA, cpu_seconds, interleaved
from tesla_eval.judgements.summaries import read_summaries
from tesla_eval_papers import Cremer, Dicomer
from tesla_eval_papers.discourse.arguments import boundary_features
from tesla_eval_papers.discourse.relation_parser import load_discourse_parser

WORDS = 10_000
SUMMARIES = 200


def main() -> None:
    if not (SHARED_DATA / "discourse").exists():
        raise SystemExit(f"{SHARED_DATA / 'discourse'} is needed for this benchmark")
    parsing()
    scoring()


def parsing() -> None:
    parser = load_discourse_parser("en")
    text = " ".join(long_text())
    parser.parse("A text to warm up. But not much.")
    sentences = parser.documents([text])[0].sentences
    examples = [features for sentence in sentences for features in boundary_features(sentence)]
    classifier = parser.parser.classifiers["boundary"]
    found = interleaved(
        {
            "parse": lambda: cpu_seconds(lambda: parser.parse(text)),
            "ours": lambda: cpu_seconds(lambda: classifier.scores(examples)),
            "scikit-learn": scikit_learn(examples),
        }
    )
    print(
        f"parser: {WORDS} words in {found['parse']:.2f} s of CPU time ({WORDS / found['parse']:,.0f} words/s)"
    )
    ratio = found["scikit-learn"] / found["ours"]
    print(
        f"one classifier, {len(examples)} examples: {ratio:.1f} times as fast as scikit-learn's DictVectorizer"
    )


def long_text() -> list[str]:
    words: list[str] = []
    with gzip.open(SHARED_DATA / "discourse" / "gdtb" / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            document = json.loads(line)
            if document["split"] == "test":
                words.extend(document["text"].split())
    return words[:WORDS]


def scikit_learn(examples: list[list[str]]) -> Callable[[], float]:
    """The same sums of weights through scikit-learn: dictionaries to a sparse matrix, times the weights."""
    import numpy as np
    from sklearn.feature_extraction import DictVectorizer

    dictionaries = [dict.fromkeys(features, 1.0) for features in examples]
    vectoriser = DictVectorizer().fit(dictionaries)
    weights = np.zeros((len(vectoriser.vocabulary_), 2))
    return lambda: cpu_seconds(lambda: vectoriser.transform(dictionaries) @ weights)


def scoring() -> None:
    from rouge_score.rouge_scorer import RougeScorer

    summaries = read_summaries(str(SHARED_DATA / "summaries" / "summeval"))
    pairs = [
        (text, models[0])
        for row in summaries.hypotheses
        for text, models in zip(row, summaries.references, strict=True)
        if text is not None
    ][:: 1600 // SUMMARIES]
    texts, models = [text for text, _ in pairs], [model for _, model in pairs]
    rouge = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
    dicomer, cremer = Dicomer(), Cremer()
    found = interleaved(
        {
            "rouge-score": lambda: cpu_seconds(lambda: [rouge.score(model, text) for text, model in pairs]),
            "dicomer": lambda: cpu_seconds(lambda: dicomer.score_segments(texts)),
            "cremer": lambda: cpu_seconds(lambda: cremer.score_segments(texts, [models])),
        }
    )
    for name in ("dicomer", "cremer"):
        ratio = found[name] / found["rouge-score"]
        print(
            f"{name}: {1000 * found[name] / len(pairs):.2f} ms a summary, {ratio:.2f} times rouge-score's CPU time"
        )


if __name__ == "__main__":
    main()

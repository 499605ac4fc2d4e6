"""Which nouns of a sentence take arguments: the features of that decision."""

from __future__ import annotations

from tesla_eval.language.analysis.porter import porter_stem
from tesla_eval_papers.srl.constituents import ParsedSentence
from tesla_eval_papers.srl.features import noun_lemma


def noun_places(sentence: ParsedSentence) -> list[int]:
    """The places of the nouns that may be predicates; names are none."""
    return [index for index, leaf in enumerate(sentence.leaves) if leaf.label in ("NN", "NNS")]


def predicate_features(sentence: ParsedSentence, index: int, nomtype: str) -> list[str]:
    """The features that decide whether the noun at this position has arguments."""
    words, leaves = sentence.words, sentence.leaves
    word = words[index]
    lemma = noun_lemma(word)

    def word_at(place: int) -> str:
        return words[place] if 0 <= place < len(words) else "-"

    def tag_at(place: int) -> str:
        return leaves[place].label if 0 <= place < len(leaves) else "-"

    parent = leaves[index].parent
    assert parent is not None
    above = parent.parent
    place = next(i for i, child in enumerate(parent.children) if child is leaves[index])
    last = place == len(parent.children) - 1
    following = "-"
    if above is not None:
        sisters = above.children
        at = next(i for i, child in enumerate(sisters) if child is parent)
        if at + 1 < len(sisters):
            sister = sisters[at + 1]
            following = f"{sister.label}:{(sister.leaves()[0].word or '').lower()}"
    return [
        "bias",
        f"lemma={lemma}",
        f"stem={porter_stem(word)}",
        f"word={word}",
        f"suffix={word[-3:]}",
        f"suffix4={word[-4:]}",
        f"tag={leaves[index].label}",
        f"nomtype={nomtype}",
        f"before={word_at(index - 1)}",
        f"after={word_at(index + 1)}",
        f"tags={tag_at(index - 1)}&{tag_at(index + 1)}",
        f"lemma&before={lemma}&{word_at(index - 1)}",
        f"lemma&beforetag={lemma}&{tag_at(index - 1)}",
        f"lemma&after={lemma}&{word_at(index + 1)}",
        f"parent={parent.label}>{'_'.join(child.label for child in parent.children)}",
        f"last={last}",
        f"lemma&last={lemma}&{last}",
        f"nomtype&last={nomtype}&{last}",
        f"following={following}",
        f"lemma&following={lemma}&{following}",
        f"nomtype&following={nomtype}&{following}",
        f"above={above.label if above is not None else '-'}&{parent.label}",
    ]

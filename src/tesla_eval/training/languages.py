"""Build a new language from the user's own files: tagger, lemma table and synonyms."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tesla_eval.base.errors import BuildError
from tesla_eval.base.parallel import NO_PROGRESS, Progress
from tesla_eval.base.resources import UNSTATED, Provenance, Resource, text_array
from tesla_eval.language.analysis.conllu import UNKNOWN, Sentence
from tesla_eval.language.analysis.lemmas import (
    KIND,
    LONGEST_SUFFIX,
    Lemmatiser,
    apply_edit,
    edit_between,
    is_number,
    normalise_form,
)
from tesla_eval.language.analysis.synonym_formats import read_synonyms
from tesla_eval.training.taggers import LexiconEntry, TaggerData, build_tagger, lexicon_classes, settings_for

LemmaCounts = Mapping[str, Counter[str]]


@dataclass(frozen=True)
class LemmaSettings:
    """How a lemma table is learned."""

    trust: float = 0.0
    """The share of a form's occurrences that its most frequent lemma must have; above 1: no forms."""
    simplemma: bool = True
    """Whether words that the table does not have are looked up in simplemma."""
    overrule_simplemma: bool = True
    """Whether the text is believed where simplemma's dictionary has another lemma."""
    rules: bool = True
    """Whether words that nothing knows are changed by the rules for their ends."""
    rule_support: int = 2
    """The number of word types with an ending that a rule needs."""
    rule_share: float = 0.5
    """The share of these that must agree with the rule."""


def count_lemmas(pairs: Iterable[tuple[str, str]], language: str) -> dict[str, Counter[str]]:
    """How often each form has which lemma; small letters also count forms with a capital, but not acronyms.

    >>> counts = count_lemmas([("Us", "we"), ("US", "US"), ("us", "we")], "en")
    >>> counts["us"].most_common(1), counts["US"].most_common(1)
    ([('we', 2)], [('us', 1)])
    """
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for form, lemma in pairs:
        if not any(map(str.isspace, form + lemma)) and not is_number(form, language):
            word = normalise_form(form, language)
            acronym = len(word) > 1 and word.isupper()
            for key in {word} if acronym else {word, word.lower()}:
                counts[key][normalise_form(lemma, language).lower()] += 1
    return dict(counts)


def train_lemmas(
    counts: LemmaCounts,
    language: str,
    *,
    settings: LemmaSettings | None = None,
    provenance: Provenance = UNSTATED,
) -> Resource:
    """The lemma table of `counts`, as `count_lemmas` makes them."""
    if not counts:
        raise BuildError("the data has no word with a lemma to learn from")
    settings = settings or LemmaSettings()
    rules = _rules(counts, settings) if settings.rules else {}
    resource = Resource(
        kind=KIND, language=language, arrays={}, provenance=provenance, info=asdict(settings),
    )  # fmt: skip
    rest = Lemmatiser(language, _with_tables(resource, {}, rules))
    return _with_tables(resource, _forms(counts, rest, settings), rules)


def _forms(counts: LemmaCounts, rest: Lemmatiser, settings: LemmaSettings) -> dict[str, str]:
    """The edits of the forms that the `rest` of the steps gets wrong."""
    forms: dict[str, str] = {}
    for form in sorted(counts, key=lambda form: (form != form.lower(), form)):  # lower case first
        lower = form.lower()
        lemma, count = counts[form].most_common(1)[0]
        if count < settings.trust * counts[form].total():
            continue
        if not settings.overrule_simplemma and rest.knows(form):
            continue
        # A form in another case is worth an entry of its own only if it is seen again.
        guess = apply_edit(lower, forms[lower]) if lower in forms else rest.lemmas([form])[0]
        if lemma != guess and (form == lower or count > 1):
            forms[form] = edit_between(lower, lemma)
    return forms


def _rules(counts: LemmaCounts, settings: LemmaSettings) -> dict[str, str]:
    """For word ends the edit that most word types with that end have, shorter ends first."""
    votes: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for form, lemmas in counts.items():
        if form != form.lower():
            continue
        edit = edit_between(form, lemmas.most_common(1)[0][0])
        cut = ord(edit[0]) - ord("0")
        for length in range(cut, min(LONGEST_SUFFIX, len(form) - 1) + 1):
            votes[form[len(form) - length :]][edit] += 1
    rules: dict[str, str] = {}
    for suffix in sorted(votes, key=lambda suffix: (len(suffix), suffix)):
        edit, count = min(votes[suffix].items(), key=lambda vote: (-vote[1], vote[0]))
        total = votes[suffix].total()
        if total >= settings.rule_support and count >= settings.rule_share * total:
            shorter = next((rules[suffix[k:]] for k in range(1, len(suffix) + 1) if suffix[k:] in rules), "0")
            if edit != shorter:
                rules[suffix] = edit
    return rules


def _with_tables(resource: Resource, forms: Mapping[str, str], rules: Mapping[str, str]) -> Resource:
    arrays = {
        name: text_array("\n".join(lines))
        for table, key in ((forms, "form"), (rules, "suffix"))
        for name, lines in ((f"{key}_keys", table.keys()), (f"{key}_edits", table.values()))
    }
    info = {**resource.info, "forms": len(forms), "rules": len(rules)}
    return replace(resource, arrays=arrays, info=info)


@dataclass(frozen=True)
class LanguageFiles:
    """What a language is built from; only the training sentences must be there."""

    train: Sequence[Sentence]
    test: Sequence[Sentence] = ()
    lexicon: Sequence[LexiconEntry] = ()
    synonyms: Path | None = None


def build_language(
    files: LanguageFiles,
    language: str,
    *,
    provenance: Provenance = UNSTATED,
    progress: Progress = NO_PROGRESS,
) -> list[Resource]:
    """The tagger, the lemma table if the sentences or the lexicon tell lemmas, and the synonyms if there are any.

    What was measured on the test sentences stands in the `info` of tagger and lemmas.
    """
    classes = lexicon_classes((entry.form, entry.tag) for entry in files.lexicon)
    words = sum(len(sentence.words) for sentence in files.train)
    tagger = build_tagger(
        TaggerData(files.train, test=files.test, lexicon=classes or None), language,
        settings=settings_for(words), provenance=provenance, progress=progress,
    )  # fmt: skip
    built = [tagger]
    pairs = [*_lemma_pairs(files.train), *((entry.form, entry.lemma) for entry in files.lexicon)]
    if pairs:
        built.append(_lemmas(pairs, files.test, language, tagger))
    if files.synonyms is not None:
        synonyms = read_synonyms(files.synonyms, language).resource
        built.append(replace(synonyms, provenance=replace(provenance, sources=synonyms.provenance.sources)))
    return built


def _lemmas(
    pairs: Iterable[tuple[str, str]], test: Sequence[Sentence], language: str, like: Resource
) -> Resource:
    """The table of lemmas with the percent of test words that get theirs, under the licence of the tagger."""
    table = train_lemmas(count_lemmas(pairs, language), language, provenance=like.provenance)
    tested = list(_lemma_pairs(test))
    if not tested:
        return table
    lemmas = Lemmatiser(language, table).lemmas([form for form, _ in tested])
    gold = [normalise_form(lemma, language).lower() for _, lemma in tested]
    share = 100 * sum(a == b for a, b in zip(lemmas, gold, strict=True)) / len(tested)
    return replace(table, info={**table.info, "test accuracy": round(share, 2)})


def _lemma_pairs(sentences: Iterable[Sentence]) -> Iterator[tuple[str, str]]:
    """The words with their lemmas; words without letters and digits are left out, as in matching."""
    for sentence in sentences:
        for word in sentence.surface():
            if word.lemma != UNKNOWN and any(map(str.isalnum, word.form)):
                yield word.form, word.lemma

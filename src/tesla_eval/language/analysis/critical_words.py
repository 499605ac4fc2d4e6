"""Words whose loss or change alters the meaning: negations and numbers, for the languages with word lists.

A negation is a particle (`not`, French `ne`), or a negative word that may stand beside a particle in the same clause
(French `rien`, Czech `nikdo`). In some languages verbs are negated by a prefix.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

import numpy as np
import numpy.typing as npt

from tesla_eval import _core
from tesla_eval.language.analysis.batch import (
    HAS_APOSTROPHE,
    HAS_DIGIT,
    LOWERING,
    AnalysedBatch,
    PerVocabulary,
    Vocabulary,
)
from tesla_eval.language.analysis.conllu import UNIVERSAL_IDS
from tesla_eval.language.analysis.frequencies import WordFrequencies, load_frequencies

PARTICLE, NEGATIVE_WORD = 1, 2
"""What `negations` says of a word; 0 is any other word. As in core/matching/guards.h."""
_NEGATED_VERB, _TAKES_BACK = 3, 4  # a particle if the word is tagged as a verb; ends a negation before it
_VERB_IDS = [UNIVERSAL_IDS["VERB"], UNIVERSAL_IDS["AUX"]]

_PARTICLES = {
    "af": "nie geen nooit niks niemand", "ar": "لا لم لن ليس ليست ليسوا ولا ولم ولن", "be": "не няма нельга",
    "ca": "no", "cs": "ne není nejsou nelze nebyl nebyla nebylo nebyli nebyly nebude nebudou nikoli nikoliv",
    "cy": "ddim nid ni nad", "da": "ikke ej ingen intet aldrig ingenting",
    "de": "nicht kein keine keinen keinem keiner keines nie niemals nichts niemand niemanden niemandem nirgends "
    "nirgendwo weder keinesfalls keineswegs nein",
    "el": "δεν δε μην μη όχι", "en": "not n't n’t no never none nobody nothing nowhere neither nor cannot",
    "es": "no", "fa": "نیست نه نبود نیستند", "fi": "ei en et emme ette eivät älä älkää eikä eivätkä",
    "fr": "ne n' n’ n non", "ga": "ní níl nach níor cha", "gl": "non", "he": "לא אין אינו אינה אינם אל",
    "hi": "नहीं न मत ना", "hr": "ne nije nisu nisam nismo niste nema nemaju neće nemoj", "hy": "չէ ոչ չի չեն",
    "id": "tidak bukan tak jangan belum tanpa", "is": "ekki enginn engin ekkert engan enga engum aldrei",
    "it": "non", "ja": "ない ません なかった ず ぬ なく なけれ", "ka": "არ ვერ არა ნუ", "ko": "안 못 않 아니 없",
    "lt": "ne nėra", "lv": "ne nav nebija", "mt": "mhux ma", "nl": "niet geen nooit niets niemand nergens",
    "nn": "ikkje ikke ingen inkje aldri ingenting", "no": "ikke ingen intet aldri ingenting", "pl": "nie",
    "pt": "não", "ro": "nu n-", "ru": "не нет нельзя", "sk": "nie ne", "sl": "ne ni niso nisem nima",
    "sr": "ne nije nisu nisam nema neće не није нису нисам нема неће",
    "sv": "inte ej icke ingen inget inga aldrig ingenting",
    "th": "ไม่ มิ", "tr": "değil yok hayır", "uk": "не немає нема", "vi": "không chẳng chưa đừng",
    "zh": "不 没 没有 未 不是 不会 不能 不要 不可 不再 不得 不想 不让 无法 并非 从未 尚未 绝不 并不 没能 未能",
}  # fmt: skip
_NEGATIVE_WORDS = {
    "ca": "mai res ningú cap tampoc", "cs": "nikdy nikdo nic ničeho nikoho žádný žádná žádné žádného žádnou ani nikde",
    "es": "nunca jamás nada nadie ningún ninguno ninguna tampoco ni", "gl": "nunca nada ninguén ningún ningunha",
    "el": "ποτέ τίποτα κανείς κανένας καμία κανένα",
    "fr": "pas jamais rien aucun aucune guère nullement", "hr": "nikad nikada nitko ništa nijedan nikakav",
    "it": "mai niente nulla nessuno nessuna nessun neanche nemmeno", "lt": "niekada niekas nieko",
    "lv": "nekad neviens nekas", "pl": "nigdy nikt nic żaden żadna żadne żadnego ani nigdzie",
    "pt": "nunca jamais nada ninguém nenhum nenhuma tampouco", "ro": "niciodată nimeni nimic niciun nicio nici",
    "ru": "никогда никто ничего ничто никакой никаких ни никого", "sk": "nikdy nikto nič žiadny žiadna ani",
    "sl": "nikoli nihče nič noben nobena", "sr": "nikad nikada niko ništa nijedan никад никада нико ништа",
    "uk": "ніколи ніхто нічого жоден ні", "be": "ніколі ніхто нічога",
}  # fmt: skip
_VERB_PREFIXES = {"cs": "ne", "sk": "ne", "lt": "ne", "lv": "ne"}
_NO_PREFIX = ("nej", "nech", "nenáv", "nes", "nez", "neb")
"""Beginnings of words of these languages that deny nothing; `nebyl` and its like are listed as particles."""
_NOT_ALONE = frozenset({"only", "just", "merely", "simply", "least"})
"""`not only` denies nothing."""
NEGATION_LANGUAGES = frozenset(_PARTICLES)

_NUMBER_WORDS = {
    "en": "two three four five six seven eight nine ten eleven twelve",
    "de": "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "es": "dos tres cuatro cinco seis siete ocho nueve diez once doce",
    "fr": "deux trois quatre cinq six sept huit neuf dix onze douze",
    "cs": "dva tři čtyři pět šest sedm osm devět deset jedenáct dvanáct",
    "ru": "два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать",
    "uk": "два три чотири п'ять шість сім вісім дев'ять десять одинадцять дванадцять",
    "is": "tveir þrír fjórir fimm sex sjö átta níu tíu ellefu tólf",
}
"""From two to twelve: larger numbers are mostly written in digits."""
_GROUPED = re.compile(r"(?<=\d)[.,'’٬  ](?=\d{3}(?!\d))")
_DECIMAL = re.compile(r"(?<=\d)[,٫](?=\d)")
_DIGITS = re.compile(r"\d+(?:\.\d+)?")


def number_text(form: str, language: str = "") -> str:
    """The number in a word, written one way; empty if there is none.

    >>> number_text("1,500"), number_text("1.500th"), number_text("2,5%"), number_text("٣٤"), number_text("cat")
    ('1500', '1500', '2.5', '34', '')
    >>> number_text("Three", "en"), number_text("three", "de")
    ('3', '')
    """
    if not any(map(str.isdigit, form)):
        return _number_words(language).get(form.lower(), "")
    plain = "".join(str(unicodedata.digit(c)) if c.isdigit() else c for c in form)
    return "-".join(_DIGITS.findall(_DECIMAL.sub(".", _GROUPED.sub("", plain))))


@cache
def _number_words(language: str) -> dict[str, str]:
    return {word: str(value) for value, word in enumerate(_NUMBER_WORDS.get(language, "").split(), 2)}


class CriticalWords:
    """Marks the numbers and negations of analysed texts of one language.

    >>> from tesla_eval.language.analysis import load_pipeline
    >>> (batch,) = load_pipeline("en").analyse(["Not only did 3 cats not sleep"])
    >>> words = CriticalWords("en")
    >>> words.negations(batch).tolist(), (words.numbers(batch) > 0).tolist()
    ([0, 0, 0, 0, 0, 1, 0], [False, False, False, True, False, False, False])
    """

    def __init__(self, language: str) -> None:
        self.knows_negations = language in NEGATION_LANGUAGES
        number_ids = {"": 0}
        listed_numbers = {word: _id(number, number_ids) for word, number in _number_words(language).items()}
        listed = {
            **dict.fromkeys(_NOT_ALONE if language == "en" else (), _TAKES_BACK),
            **dict.fromkeys(_NEGATIVE_WORDS.get(language, "").split(), NEGATIVE_WORD),
            **dict.fromkeys(_PARTICLES.get(language, "").split(), PARTICLE),
        }
        prefix = _VERB_PREFIXES.get(language, "")
        frequencies = load_frequencies(language) if prefix else None

        def numbers_of(forms: list[str]) -> list[int]:
            return [_id(number_text(form, language), number_ids) for form in forms]

        def negations_of(forms: list[str]) -> list[int]:
            return [_negation(form.lower(), prefix, frequencies) for form in forms]

        contracts = HAS_APOSTROPHE if language == "en" else 0

        def made(vocabulary: Vocabulary) -> _core.CriticalWords:
            lexicon = vocabulary.lexicon
            return _core.CriticalWords(
                _core.WordMarks(lexicon, LOWERING, listed_numbers, HAS_DIGIT, "", numbers_of),
                _core.WordMarks(lexicon, LOWERING, listed, contracts, prefix, negations_of),
                self.knows_negations,
                _VERB_IDS,
            )

        self.core = PerVocabulary(made)

    def numbers(self, batch: AnalysedBatch) -> npt.NDArray[np.uint32]:
        """For every token the id of the number that it is; 0 for other words. Ids hold for this object only."""
        return self.core[batch.vocabulary].numbers(batch.core)

    def negations(self, batch: AnalysedBatch) -> npt.NDArray[np.uint8]:
        """For every token `PARTICLE`, `NEGATIVE_WORD` or 0."""
        return self.core[batch.vocabulary].negations(batch.core)


def _id(number: str, ids: dict[str, int]) -> int:
    return ids.setdefault(number, len(ids))


def _negation(word: str, prefix: str, frequencies: WordFrequencies | None) -> int:
    """What a word is that is not listed: a contraction of `not`, or a verb with a prefix that the list has without it.

    Where there is no list, any word with the prefix may be such a verb.
    """
    if not prefix:
        return PARTICLE * word.endswith(("n't", "n’t"))
    if word.startswith(_NO_PREFIX) or len(word) < len(prefix) + 3:
        return 0
    known = frequencies is None or float(frequencies.weights([word[len(prefix) :]])[0]) < frequencies.unlisted
    return _NEGATED_VERB * known

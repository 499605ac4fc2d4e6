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

PARTICLE, NEGATIVE_WORD = _core.PARTICLE, _core.NEGATIVE_WORD
"""The values of `negations`; 0 is any other word."""
_VERB_IDS = [UNIVERSAL_IDS["VERB"], UNIVERSAL_IDS["AUX"]]

_PARTICLES = {
    "af": "nie geen nooit niks niemand", "ar": "لا لم لن ليس ليست ليسوا ولا ولم ولن", "be": "не няма нельга",
    "ca": "no", "cs": "ne není nejsem nejsi nejsme nejste nejsou nelze nikoli nikoliv bez sotva",
    "cy": "ddim nid ni nad", "da": "ikke ej ingen intet aldrig ingenting",
    "de": "nicht kein keine keinen keinem keiner keines nie niemals nichts niemand niemanden niemandem nirgends "
    "nirgendwo weder keinesfalls keineswegs nein ohne kaum unmöglich",
    "el": "δεν δε μην μη όχι", "en": "not n't n’t no never none nobody nothing nowhere neither nor cannot "
    "without hardly scarcely barely unable impossible fail fails failed failing lack lacks lacked lacking",
    "es": "no sin apenas", "fa": "نیست نه نبود نیستند",
    "fi": "ei en et emme ette eivät älä älkää eikä eivätkä",
    "fr": "ne n' n’ n non sans impossible", "ga": "ní níl nach níor cha", "gl": "non", "he": "לא אין אינו אינה אינם אל",
    "hi": "नहीं न मत ना", "hr": "ne nije nisu nisam nismo niste nema nemaju neće nemoj", "hy": "չէ ոչ չի չեն",
    "id": "tidak bukan tak jangan belum tanpa", "is": "ekki enginn engin ekkert engan enga engum aldrei án",
    "it": "non", "ka": "არ ვერ არა ნუ", "ko": "안 못 않 아니 없",
    "lt": "ne nėra", "lv": "ne nav nebija", "mt": "mhux ma", "nl": "niet geen nooit niets niemand nergens",
    "nn": "ikkje ikke ingen inkje aldri ingenting", "no": "ikke ingen intet aldri ingenting", "pl": "nie",
    "pt": "não", "ro": "nu n-", "ru": "не нет нельзя без невозможно", "sk": "nie ne", "sl": "ne ni niso nisem nima",
    "sr": "ne nije nisu nisam nema neće не није нису нисам нема неће",
    "sv": "inte ej icke ingen inget inga aldrig ingenting",
    "th": "ไม่ มิ", "tr": "değil yok hayır", "uk": "не немає нема без", "vi": "không chẳng chưa đừng",
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
_NO_PREFIX = re.compile(
    "nes(?:l[aioy]?|e|e[mšt]|eme|ete|ou|u|a|ė)|nechte|ne(?:ch(?:a|á(?!p)|ť)|náv|guj|gov|utral|rv[uo]).*"
)
"""Verbs of these languages that deny nothing although they begin so: to carry, to let, to hate, to negate."""
_NOT_ALONE = frozenset({"only", "just", "merely", "simply", "least"})
"""`not only` denies nothing."""

_HAN_NUMERALS = (
    *"二三四五六七八九十",
    *(f"十{digit}" for digit in "一二三四五六七八九"),
    *(f"{digit}十" for digit in "二三四五六七八九"),
)
_JAPANESE_COUNTERS = "人本つ日名台回年月倍個頭"
_NUMBER_WORDS = {
    "en": "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety",
    "de": "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn "
    "achtzehn neunzehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "es": "dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete "
    "dieciocho diecinueve veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
    "fr": "deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit "
    "dix-neuf vingt trente quarante cinquante soixante",
    "cs": "dva/dvě/dvou/dvěma tři/tří/třem čtyři/čtyř/čtyřem pět/pěti šest/šesti sedm/sedmi osm/osmi devět/devíti "
    "deset/deseti jedenáct/jedenácti dvanáct/dvanácti třináct/třinácti čtrnáct/čtrnácti patnáct/patnácti "
    "šestnáct/šestnácti sedmnáct/sedmnácti osmnáct/osmnácti devatenáct/devatenácti dvacet/dvaceti třicet/třiceti "
    "čtyřicet/čtyřiceti padesát/padesáti šedesát/šedesáti sedmdesát/sedmdesáti osmdesát/osmdesáti "
    "devadesát/devadesáti",
    "ru": "два/две/двух/двум три/трех/трёх/трем/трём четыре/четырех/четырёх пять/пяти шесть/шести семь/семи "
    "восемь/восьми девять/девяти десять/десяти одиннадцать/одиннадцати двенадцать/двенадцати "
    "тринадцать/тринадцати четырнадцать/четырнадцати пятнадцать/пятнадцати шестнадцать/шестнадцати "
    "семнадцать/семнадцати восемнадцать/восемнадцати девятнадцать/девятнадцати двадцать/двадцати тридцать/тридцати "
    "сорок/сорока пятьдесят/пятидесяти шестьдесят/шестидесяти семьдесят/семидесяти восемьдесят/восьмидесяти "
    "девяносто/девяноста",
    "uk": "два/дві/двох/двом три/трьох/трьом чотири/чотирьох п'ять/п'яти шість/шести сім/семи вісім/восьми "
    "дев'ять/дев'яти десять/десяти одинадцять/одинадцяти дванадцять/дванадцяти тринадцять/тринадцяти "
    "чотирнадцять/чотирнадцяти п'ятнадцять/п'ятнадцяти шістнадцять/шістнадцяти сімнадцять/сімнадцяти "
    "вісімнадцять/вісімнадцяти дев'ятнадцять/дев'ятнадцяти двадцять/двадцяти тридцять/тридцяти сорок/сорока "
    "п'ятдесят/п'ятдесяти шістдесят/шістдесяти сімдесят/сімдесяти вісімдесят/вісімдесяти дев'яносто/дев'яноста",
    "is": "tveir/tvær/tvö/tveimur/tveggja þrír/þrjár/þrjú/þremur/þriggja fjórir/fjórar/fjögur/fjórum/fjögurra fimm sex "
    "sjö átta níu tíu ellefu tólf þrettán fjórtán fimmtán sextán sautján átján nítján tuttugu þrjátíu fjörutíu "
    "fimmtíu sextíu sjötíu áttatíu níutíu",
    "ja": " ".join(
        "/".join((one, f"第{one}", *(one + counter for counter in _JAPANESE_COUNTERS)))
        for one in _HAN_NUMERALS
    ),
    "zh": "两/兩/" + " ".join(f"{one}/第{one}/{one}月" for one in _HAN_NUMERALS),
}
"""Two to twenty, then tens; `/` separates forms of one number."""
_OTHER_NUMBER_WORDS = {
    "cs": {"tisíc": "000", "tisíce": "000"},
    "ja": dict.fromkeys(("一", "ひとつ", *(f"一{counter}" for counter in _JAPANESE_COUNTERS)), "1"),
    "ru": dict.fromkeys(("тысяча", "тысячи", "тысяч", "тыс"), "000"),
    "uk": dict.fromkeys(("тисяча", "тисячі", "тисяч", "тис"), "000"),
}
"""`20 тысяч` is `20 000`, which is two words. In Chinese `一` is an article."""
_NUMBER_VALUES = (*range(2, 21), *range(30, 100, 10))
_GROUPED = re.compile(r"(?<=\d)[.,'’٬  ](?=\d{3}(?!\d))")
_DECIMAL = re.compile(r"(?<=\d)[,٫](?=\d)")
_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_ENTITIES = ("&amp;", "&apos;", "&gt;", "&lt;", "&nbsp;", "&quot;")
_NUMERIC_ENTITY = re.compile("&#x?[0-9a-f]+;", re.IGNORECASE)
MARKUP = _core.MARKUP
"""The value of `numbers` for `&quot;` and `&#39;`, which some systems write for punctuation."""


def number_text(form: str, language: str = "") -> str:
    """The number in a word, written one way; empty if there is none.

    >>> number_text("1,500"), number_text("1.500th"), number_text("2,5%"), number_text("٣٤"), number_text("cat")
    ('1500', '1500', '2.5', '34', '')
    >>> number_text("12:30"), number_text("12.30"), number_text("12h30")
    ('12.30', '12.30', '12.30')
    >>> number_text("Three", "en"), number_text("three", "de")
    ('3', '')
    """
    if form.isascii() and form.isdigit():  # most numbers
        return form
    if not any(map(str.isdigit, form)):
        return _number_words(language).get(form.lower(), "")
    plain = form if form.isascii() else "".join(str(unicodedata.digit(c)) if c.isdigit() else c for c in form)
    return ".".join(_DIGITS.findall(_DECIMAL.sub(".", _GROUPED.sub("", plain))))


@cache
def _number_words(language: str) -> dict[str, str]:
    words = _NUMBER_WORDS.get(language, "").split()
    return _OTHER_NUMBER_WORDS.get(language, {}) | {
        form: str(value)
        for value, word in zip(_NUMBER_VALUES, words, strict=False)
        for form in word.split("/")
    }


class CriticalWords:
    """Marks the numbers and negations of analysed texts of one language.

    >>> from tesla_eval.language.analysis import load_pipeline
    >>> (batch,) = load_pipeline("en").analyse(["Not only did 3 cats not sleep"])
    >>> words = CriticalWords("en")
    >>> words.negations(batch).tolist(), (words.numbers(batch) > MARKUP).tolist()
    ([0, 0, 0, 0, 0, 1, 0], [False, False, False, True, False, False, False])
    """

    def __init__(self, language: str) -> None:
        self.knows_negations = language in _PARTICLES
        number_ids = {"": 0, "&": MARKUP}
        listed_numbers = dict.fromkeys(_ENTITIES, MARKUP) | {
            word: _id(number, number_ids) for word, number in _number_words(language).items()
        }
        listed = {
            **dict.fromkeys(_NOT_ALONE if language == "en" else (), _core.TAKES_BACK),
            **dict.fromkeys(_NEGATIVE_WORDS.get(language, "").split(), NEGATIVE_WORD),
            **dict.fromkeys(_PARTICLES.get(language, "").split(), PARTICLE),
        }
        prefix = _VERB_PREFIXES.get(language, "")

        def numbers_of(forms: list[str]) -> list[int]:
            return [
                MARKUP
                if form.startswith("&") and _NUMERIC_ENTITY.fullmatch(form)
                else _id(number_text(form, language), number_ids)
                for form in forms
            ]

        def negations_of(forms: list[str]) -> list[int]:
            return [_negation(form.lower(), prefix) for form in forms]

        contracts = HAS_APOSTROPHE if language == "en" else 0

        numbers = _core.WordMarks(listed_numbers, HAS_DIGIT, "", numbers_of)
        negations = _core.WordMarks(listed, contracts, prefix, negations_of)

        def made(vocabulary: Vocabulary) -> _core.CriticalWords:
            return _core.CriticalWords(
                vocabulary.lexicon, LOWERING, numbers, negations, self.knows_negations, _VERB_IDS
            )

        self.core = PerVocabulary(made)

    def numbers(self, batch: AnalysedBatch) -> npt.NDArray[np.uint32]:
        """For every token the id of the number that it is, `MARKUP`, or 0. Ids hold for this object only."""
        return self.core[batch.vocabulary].numbers(batch.core)

    def negations(self, batch: AnalysedBatch) -> npt.NDArray[np.uint8]:
        """For every token `PARTICLE`, `NEGATIVE_WORD` or 0."""
        return self.core[batch.vocabulary].negations(batch.core)


def _id(number: str, ids: dict[str, int]) -> int:
    return ids.setdefault(number, len(ids))


def _negation(word: str, prefix: str) -> int:
    """What a word is that is not listed: a contraction of `not`, or a verb with a prefix if it is tagged as a verb."""
    if not prefix:
        return PARTICLE * word.endswith(("n't", "n’t"))
    return 0 if len(word) < len(prefix) + 2 or _NO_PREFIX.fullmatch(word) else _core.NEGATED_VERB

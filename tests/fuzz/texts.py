"""Texts that nobody writes, and some that people do, for the fuzzers: the same seed gives the same texts."""

from __future__ import annotations

from random import Random

__all__ = ["LONGEST", "Pair", "hostile_pairs"]

Pair = tuple[str, str]
"""Hypothesis and reference."""

LONGEST = 3000
"""Words of the longest texts."""

_SENTENCES = (
    "the a of and to in is was not very house houses cat cats sat sitting mat bank banks river green quick quickly "
    "went go going children child better good Donaudampfschiff Haus Häuser Straße schnell être été l'homme dog dogs "
    "don't can't won't e.g. U.S. Mr. 3.14 1,000,000 50% $5 2024-01-01 http://example.com/a?b=c me@example.org #tag"
)
ORDINARY = tuple(_SENTENCES.split())
CHINESE = tuple("天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往秋收冬藏的了是在我有他这中大来上国个到说们为子和你")
SIGNS = (
    *".,;:!?'\"()[]{}<>/\\|@#$%^&*-_=+~`",
    "…",
    "—",
    "«",
    "»",
    "。",
    "、",
    "「",
    "」",
    "„",
    "“",
    "’",
    "・",
    "¿",
)
STRANGE = (
    "\0", "\x01", "\x7f", "\x85", "\u00ad", "\u200b", "\u200d", "\u200e", "\u202e", "\u2028", "\u2060", "\ufeff",
    "\ufffd", "\uffff", "\U0010ffff", "\ue000", "\U000e0041", "\u0301", "\u0301" * 40, "e\u0301", "\u1100\u1161\u11a8",
    "👩‍👩‍👧‍👦", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "🇩🇪", "🇩", "👍🏽",
    "❤️", "ﷺ", "ﬁ", "İ", "ı", "ß", "ẞ", "ς", "Σ", "Ǆ", "ΐ", "𝔘𝔫𝔦", "①", "½", "٣",
    "൧", "שלום", "مرحبا", "สวัสดีครับ", "ភាសា", "ကမ္ဘာ", "한국어", "カタカナ",
    "ﾊﾝｶｸ", "ひらがな", "नमस्ते", "\u0e33", "\ud7a3", "ﬃ",
    "&quot;&#39;&amp;", "<br/>", "</a>", ":-)))))", "'em", "'60s", "a" * 101, "x.y.z.w", "----", "\t", "\n", "\r\n",
)  # fmt: skip
KINDS = (ORDINARY, ORDINARY, ORDINARY, CHINESE, SIGNS, STRANGE)


def _characters(random: Random, count: int) -> str:
    """Code points from anywhere but the surrogates."""
    found = (
        random.randrange(random.choice((0x80, 0x800, 0x3000, 0xD800, 0x20000, 0x110000)))
        for _ in range(count)
    )
    return "".join("\ufffd" if 0xD800 <= number < 0xE000 else chr(number) for number in found)


def _words(random: Random) -> list[str]:
    shape, kind = random.random(), random.choice(KINDS)
    if shape < 0.02:
        words: list[str] = []
    elif shape < 0.72:
        words = random.choices(kind, k=random.randrange(1, 25))
    elif shape < 0.86:  # a few words again and again
        words = random.choices(random.choices(kind, k=random.randrange(1, 4)), k=random.randrange(1, 60))
    elif shape < 0.97:
        words = [_characters(random, random.randrange(1, 12)) for _ in range(random.randrange(1, 8))]
    elif shape < 0.995:
        words = [random.choice(("a", "天", "\u0301", "9", "_", "-", "😀")) * random.randrange(1, 400)]
    elif shape < 0.9995:
        words = random.choices(kind, k=random.randrange(100, 400))
    else:
        words = random.choices(kind, k=random.randrange(1000, LONGEST))
    return words


def _edited(random: Random, words: list[str]) -> list[str]:
    """The words with some dropped, repeated, changed or moved."""
    found = list(words)
    for _ in range(random.randrange(4)):
        if not found:
            break
        place = random.randrange(len(found))
        action = random.randrange(4)
        if action == 0:
            del found[place]
        elif action == 1:
            found[place:place] = [found[place]] * random.randrange(1, 4)
        elif action == 2:
            found[place] = random.choice(random.choice(KINDS))
        else:
            found.append(found.pop(place))
    return found


def hostile_pairs(seed: int, count: int) -> list[Pair]:
    """So many pairs; most hypotheses are edits of their references."""
    random = Random(seed)
    pairs = []
    for _ in range(count):
        reference = _words(random)
        hypothesis = _edited(random, reference) if random.random() < 0.8 else _words(random)
        space = random.choice((" ", " ", " ", "", "\u3000", "  "))
        pairs.append((space.join(hypothesis), space.join(reference)))
    return pairs

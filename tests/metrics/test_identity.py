"""A text against itself scores exactly 1 in every language (specification §5): own sentences, and real ones."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import pytest

from tesla_eval import TeslaM
from tesla_eval.language.analysis.conllu import read_conllu
from tesla_eval.language.analysis.languages import LANGUAGES
from tesla_eval.language.analysis.pipeline import load_pipeline
from tests.fixtures import SHARED_DATA, shipped_texts

TREEBANKS = SHARED_DATA / "ud"
SENTENCES = {
    "af": "Die ou man se hond slaap die hele dag onder die groot boom, maar hy byt nie.",
    "ar": "اشترى المعلّم كتابًا جديدًا من المكتبة القديمة، ثم عاد إلى بيته.",
    "be": "Учора ўвечары мы доўга гулялі па старым горадзе і размаўлялі пра кнігі.",
    "ca": "L'home gran s'asseu al banc d'en Pere i llegeix el diari del matí.",
    "cs": "Starý pán si včera koupil dvě nové knihy a šel s nimi domů pěšky.",
    "cy": "Mae'r hen ddyn yn darllen llyfr newydd yn yr ardd bob bore.",
    "da": "Den gamle mand købte to nye bøger i går og gik hjem gennem skoven.",
    "de": "Der alte Bundeskanzler kaufte im Buchladen am Bahnhofsplatz zwei Fahrradzeitschriften.",
    "el": "Ο γέρος αγόρασε χθες δύο καινούργια βιβλία και γύρισε στο σπίτι του.",
    "en": "The old man didn't buy John's two new books; he'd rather read them in the library.",
    "es": "El viejo no quiso dármelo, así que compré dos libros nuevos del autor.",
    "fa": "پیرمرد دیروز دو کتاب تازه خرید و به خانه‌اش برگشت.",
    "fi": "Vanha mies osti eilen kaksi uutta kirjaa rautatieaseman kirjakaupasta.",
    "fr": "Aujourd'hui, l'homme qu'elle a vu n'achète pas les livres du marché.",
    "ga": "Cheannaigh an seanfhear dhá leabhar nua inné agus d'imigh sé abhaile.",
    "gl": "O vello mercou onte dous libros novos na libraría do pobo.",
    "he": "האיש הזקן קנה אתמול שני ספרים חדשים וחזר לביתו.",
    "hi": "बूढ़े आदमी ने कल दो नई किताबें खरीदीं और घर लौट गया।",
    "hr": "Stari je čovjek jučer kupio dvije nove knjige i vratio se kući.",
    "hy": "Ծեր մարդը երեկ երկու նոր գիրք գնեց և տուն վերադարձավ։",
    "id": "Lelaki tua itu membeli dua buku baru kemarin, lalu pulang ke rumahnya.",
    "is": "Gamli maðurinn keypti tvær nýjar bækur í gær og gekk heim.",
    "it": "Dell'uomo anziano non so nulla: ieri ha comprato due libri e gliel'ha dati.",
    "ja": "おじいさんは昨日、駅前の本屋で新しい本を二冊買いました。",
    "ka": "მოხუცმა კაცმა გუშინ ორი ახალი წიგნი იყიდა და სახლში დაბრუნდა.",
    "ko": "할아버지는 어제 서점에서 새 책 두 권을 사서 집으로 돌아갔다.",
    "lt": "Senas vyras vakar nusipirko dvi naujas knygas ir grįžo namo.",
    "lv": "Vecais vīrs vakar nopirka divas jaunas grāmatas un devās mājās.",
    "mt": "Ir-raġel xiħ xtara żewġ kotba ġodda lbieraħ u mar lura d-dar.",
    "nl": "De oude man kocht gisteren twee nieuwe boeken in de stationsboekhandel.",
    "nn": "Den gamle mannen kjøpte to nye bøker i går og gjekk heim.",
    "no": "Den gamle mannen kjøpte to nye bøker i jernbanebokhandelen i går.",
    "pl": "Starszy pan kupił wczoraj dwie nowe książki i wrócił z nimi do domu.",
    "pt": "O velho comprou-lhe ontem dois livros novos na livraria da cidade.",
    "ro": "Bătrânul și-a cumpărat ieri două cărți noi și s-a întors acasă.",
    "ru": "Вчера старик купил в магазине две новые книги и вернулся домой.",
    "sk": "Starý pán si včera kúpil dve nové knihy a vrátil sa domov.",
    "sl": "Stari mož je včeraj kupil dve novi knjigi in se vrnil domov.",
    "sr": "Stari čovek je juče kupio dve nove knjige i vratio se kući.",
    "sv": "Den gamle mannen köpte två nya böcker i järnvägsbokhandeln i går.",
    "th": "เมื่อวานนี้ชายชราซื้อหนังสือใหม่สองเล่มแล้วกลับบ้าน",
    "tr": "Yaşlı adam dün İstanbul'da iki yeni kitap aldı ve evine döndü.",
    "uk": "Учора дідусь купив у книгарні дві нові книжки й повернувся додому.",
    "vi": "Hôm qua ông lão mua hai quyển sách mới rồi đi bộ về nhà.",
    "zh": "昨天老人在书店买了两本新书，然后走路回家。",
    "und": "Mi olda man baem tufala niufala buk long stoa yestede.",
}  # written for this test


@pytest.fixture(autouse=True)
def forget_languages() -> Iterator[None]:
    """All languages in memory at once would be too much."""
    yield
    load_pipeline.cache_clear()


def test_there_is_a_sentence_for_every_language() -> None:
    assert SENTENCES.keys() - {"und"} == LANGUAGES.keys()


@pytest.mark.parametrize("language", SENTENCES)
def test_a_sentence_against_itself(language: str) -> None:
    text = SENTENCES[language]
    metric = TeslaM(language)
    score = metric.sentence_score(text, [text])
    assert score.score == 1.0
    assert set(score.features.values()) == {1.0}
    assert len(score.features) == (3 if language == "und" else 6)
    assert metric.sentence_score(text, [SENTENCES["en" if language != "en" else "de"]]).score < 1.0


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_real_sentences(language: str) -> None:
    """Of the treebank's test set 200; without the treebanks what the tests bring along."""
    path = TREEBANKS / language / "test.conllu.gz"
    treebank = islice(read_conllu(path), 200) if path.exists() else ()
    texts = [sentence.text for sentence in treebank] or shipped_texts(language)
    assert texts
    segments = TeslaM(language).corpus_score(texts, [texts]).segments
    assert segments.tolist() == [1.0] * len(texts)

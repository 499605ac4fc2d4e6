"""No release may be fooled more often than the stored table says (specification §18).

After a change that makes a metric harder to fool, write the table anew: `python -m tests.judgements.test_stress_table`.
"""

import json
from pathlib import Path

import pytest

from tesla_eval import create_metric
from tesla_eval.metrics.scoring import NamedMetric
from tesla_eval.stress import stress

TABLE = Path(__file__).parent / "stress_table.json"
TEXTS = {
    "en": (
        ("The government will raise taxes on fuel in 2025, but only for large companies.",
         "The government wants to increase fuel taxes in 2025, though just for big firms.",
         "The government is raising taxes of fuel in 2025 but only big companies."),
        ("Police arrested two men on Friday after a long search in the mountains.",
         "On Friday police detained two men after a long hunt in the mountains.",
         "Two men were arrested by the police Friday after long search at mountain."),
        ("She did not say why the old bridge had been closed for 12 years.",
         "She did not explain why the old bridge was closed for 12 years.",
         "She said not why old bridge since 12 years was closed."),
        ("The team won its first game of the season and now leads the table.",
         "The team has won the first match of the season and is now top of the table.",
         "The crew wins its first play this season and leads now the table."),
        ("Scientists in Norway found that the ice melts faster than they had expected.",
         "Norwegian scientists discovered that the ice is melting more quickly than expected.",
         "Scientists at Norway have found the ice melt faster as they expected."),
        ("Anna Weber bought the small hotel near the lake and opened it again in May.",
         "Anna Weber purchased the little hotel by the lake and reopened it in May.",
         "Anna Weber has buy the small hotel at the sea and made it open in May again."),
    ),
    "de": (
        ("Die Regierung erhöht 2025 die Steuern auf Benzin, aber nur für große Unternehmen.",
         "Die Regierung will 2025 die Benzinsteuer anheben, allerdings nur für große Firmen.",
         "Die Regierung hebt Steuern für Benzin in 2025, aber nur große Firma."),
        ("Die Polizei nahm am Freitag nach langer Suche in den Bergen zwei Männer fest.",
         "Am Freitag hat die Polizei nach einer langen Suche in den Bergen zwei Männer verhaftet.",
         "Polizei verhaftete zwei Männer Freitag nach lange Suche in Bergen."),
        ("Sie sagte nicht, warum die alte Brücke 12 Jahre lang gesperrt war.",
         "Sie erklärte nicht, weshalb die alte Brücke 12 Jahre gesperrt gewesen war.",
         "Sie hat nicht gesagt warum alte Brücke für 12 Jahre geschlossen ist."),
        ("Forscher in Norwegen stellten fest, dass das Eis schneller schmilzt als erwartet.",
         "Norwegische Forscher haben entdeckt, dass das Eis schneller taut als gedacht.",
         "Wissenschaftler bei Norwegen fanden das Eis schmelzen schneller als erwartet."),
        ("Anna Weber kaufte das kleine Hotel am See und öffnete es im Mai wieder.",
         "Anna Weber erwarb das kleine Hotel am See und eröffnete es im Mai neu.",
         "Anna Weber hat kauft das kleine Hotel beim Meer und macht auf im Mai."),
    ),
}  # fmt: skip


def shares(language: str) -> dict[str, float]:
    references, first, second = (list(texts) for texts in zip(*TEXTS[language], strict=True))
    metric = NamedMetric("tesla-x", create_metric("x", language))
    result = stress([metric], [references], language, {"first": first, "second": second})
    return {row.kind: round(row.fooled, 4) for row in result.rows if row.fooled is not None}


@pytest.mark.parametrize("language", sorted(TEXTS))
def test_x_is_not_fooled_more_often_than_before(language: str) -> None:
    stored = json.loads(TABLE.read_text("utf-8"))[language]
    now = shares(language)
    assert now.keys() == stored.keys()
    assert {kind: share for kind, share in now.items() if share > stored[kind]} == {}


if __name__ == "__main__":
    table = {language: shares(language) for language in TEXTS}
    TABLE.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")

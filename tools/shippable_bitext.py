"""What of ../shared/data/bitext may ship: files, sources, licences, and the notice for what is built of them."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BITEXT = ROOT.parent / "shared" / "data" / "bitext"
FILES = ("tatoeba", "libreoffice-help", "bible")
"""How the names of files begin whose licence allows shipping."""
SOURCES = (
    "Tatoeba (https://tatoeba.org)",
    "LibreOffice 7.4 help",
    "Bibles in the public domain (ebible.org, scrollmapper)",
)
LICENCE = "CC BY 2.0 FR; MPL-2.0; public domain"
DATE = "2026-11-15"
NOTICE = """
Tatoeba, https://tatoeba.org, by its contributors: CC BY 2.0 FR,
  https://creativecommons.org/licenses/by/2.0/fr/legalcode
LibreOffice help 7.4, The Document Foundation and contributors: Mozilla Public License 2.0,
  https://www.mozilla.org/MPL/2.0/
Bibles (World English Bible, Kralická 1613, Luther 1912, Reina-Valera 1909, Oltramare 1874, Stapfer 1889,
  Synodale 1921): public domain.
"""

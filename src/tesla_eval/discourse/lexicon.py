"""The usual sense of well-known English connectives: what a classifier falls back on where a connective is rare."""

from __future__ import annotations

from tesla_eval.discourse.relations import Sense

__all__ = ["USUAL_SENSE"]

_BY_SENSE: dict[Sense, str] = {
    "Temporal": (
        "after, afterward, afterwards, as soon as, before, by then, earlier, ever since, finally, in the meantime, "
        "later, meantime, meanwhile, next, once, previously, simultaneously, since, subsequently, then, thereafter, "
        "till, ultimately, until, upon, when, whenever, while"
    ),
    "Contingency": (
        "accordingly, as a result, as long as, because, because of, by, cause, consequently, cuz, for, given, hence, "
        "if, if .. then, in case, in order, insofar as, lest, now that, provided, so, so as, so that, therefore, "
        "thereby, thus, unless"
    ),
    "Comparison": (
        "albeit, although, as if, as though, but, but then, by comparison, by contrast, conversely, despite, even if, "
        "even so, even though, however, in comparison, in contrast, in spite of, like, much as, nevertheless, "
        "nonetheless, no matter, notwithstanding, on the contrary, on the other hand, regardless, regardless of, "
        "similarly, still, then again, though, whereas, whilst, yet"
    ),
    "Expansion": (
        "additionally, also, alternatively, and, as an alternative, as well, as well as, besides, either .. or, "
        "except, for example, for instance, further, furthermore, in addition, in fact, in other words, "
        "in particular, in short, in sum, in that, indeed, instead, instead of, likewise, moreover, namely, "
        "neither .. nor, nor, not only .. but, not only .. but also, on the whole, or, otherwise, overall, plus, "
        "rather, rather than, separately, specifically, that is, with, without"
    ),
}

USUAL_SENSE: dict[str, Sense] = {
    name: sense for sense, names in _BY_SENSE.items() for name in names.split(", ")
}
"""By connective, written as `Inventory` does. Connectives of several senses stand under their commonest one."""

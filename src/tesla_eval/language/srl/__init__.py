"""Semantic role labelling of nouns (§16): which nouns are predicates, what are their arguments, in which role."""

from tesla_eval.language.srl.labeller import (
    Argument,
    LabelledPredicate,
    LabelledSentence,
    RoleLabeller,
    label_text,
    load_labeller,
)

__all__ = ["Argument", "LabelledPredicate", "LabelledSentence", "RoleLabeller", "label_text", "load_labeller"]

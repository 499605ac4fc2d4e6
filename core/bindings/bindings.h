// core/bindings: the only folder that knows Python.
//
// A file per subject converts arguments, lets other threads of Python run while the core works, and converts results; what is
// computed is computed in the rooms. arrays.h and texts.h convert arrays and lists of texts, measures.h precision, recall and
// F. The core's std::invalid_argument is Python's ValueError, its std::out_of_range an IndexError.
// module.cpp calls these functions in this order, that of the rooms: language, encoder, matching, metrics, tuning, training. Models
// and their trainers stand together.
#pragma once

#include <nanobind/nanobind.h>

namespace tesla {

void bind_segmenter(nanobind::module_& m);
void bind_tokeniser(nanobind::module_& m);
void bind_detection(nanobind::module_& m);
void bind_tagger(nanobind::module_& m);
void bind_lexicon(nanobind::module_& m);
void bind_words(nanobind::module_& m);
void bind_analyser(nanobind::module_& m);
void bind_dictionaries(nanobind::module_& m);
void bind_ngram_models(nanobind::module_& m);
void bind_syntax(nanobind::module_& m);
void bind_encoder(nanobind::module_& m);
void bind_matching(nanobind::module_& m);
void bind_characters(nanobind::module_& m);
void bind_ngram_overlap(nanobind::module_& m);
void bind_vectors(nanobind::module_& m);
void bind_states(nanobind::module_& m);
void bind_pivot(nanobind::module_& m);
void bind_celab(nanobind::module_& m);
void bind_baselines(nanobind::module_& m);
void bind_scoring(nanobind::module_& m);
void bind_tuning(nanobind::module_& m);
void bind_alignment(nanobind::module_& m);
void bind_phrase_counter(nanobind::module_& m);

}  // namespace tesla

// Each file of the core binds its own part; bindings.cpp only calls them, left to right.
#pragma once

#include <nanobind/nanobind.h>

namespace tesla {

void bind_tokeniser(nanobind::module_& m);
void bind_tagger(nanobind::module_& m);
void bind_lexicon(nanobind::module_& m);
void bind_dictionaries(nanobind::module_& m);
void bind_ngram_models(nanobind::module_& m);
void bind_ngram_overlap(nanobind::module_& m);
void bind_matching(nanobind::module_& m);
void bind_characters(nanobind::module_& m);
void bind_baselines(nanobind::module_& m);
void bind_surface(nanobind::module_& m);
void bind_vectors(nanobind::module_& m);
void bind_states(nanobind::module_& m);
void bind_encoder(nanobind::module_& m);
void bind_celab(nanobind::module_& m);
void bind_alignment(nanobind::module_& m);
void bind_phrase_counter(nanobind::module_& m);
void bind_pivot(nanobind::module_& m);
void bind_tuning(nanobind::module_& m);
void bind_syntax(nanobind::module_& m);

}  // namespace tesla

#include "base/interrupt.h"
#include "bindings/bindings.h"

namespace {

void stop_on_signal() {
    nanobind::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "The C++ core of tesla-eval: text to tokens, tokens to bags, bags to the exact optimum.";
    nanobind::set_leak_warnings(false);  // pipelines are kept for the life of the process, on purpose
    tesla::stop_if_told = stop_on_signal;
    tesla::bind_tokeniser(m);
    tesla::bind_tagger(m);
    tesla::bind_lexicon(m);
    tesla::bind_dictionaries(m);
    tesla::bind_ngram_models(m);
    tesla::bind_ngram_overlap(m);
    tesla::bind_matching(m);
    tesla::bind_characters(m);
    tesla::bind_baselines(m);
    tesla::bind_surface(m);
    tesla::bind_vectors(m);
    tesla::bind_encoder(m);
    tesla::bind_states(m);
    tesla::bind_celab(m);
    tesla::bind_alignment(m);
    tesla::bind_phrase_counter(m);
    tesla::bind_pivot(m);
    tesla::bind_tuning(m);
    tesla::bind_syntax(m);
}

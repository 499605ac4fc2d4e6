#include <memory>

#include "base/fork_safe.h"
#include "base/interrupt.h"
#include "bindings/bindings.h"

namespace nb = nanobind;

namespace {

void stop_on_signal() {
    nb::gil_scoped_acquire acquire;
    const tesla::StopToken* token = tesla::watched_stop_token().get();
    if (token && token->is_stopped()) PyErr_SetNone(PyExc_KeyboardInterrupt);
    if (PyErr_Occurred() || PyErr_CheckSignals() != 0) throw nb::python_error();
}

// A token for Python, which shares it with the threads that watch it.
class HeldStopToken {
   public:
    HeldStopToken() { token_->outer = tesla::watched_stop_token(); }
    void watch() const { tesla::watched_stop_token() = token_; }
    void stop() { token_->stopped = true; }

   private:
    std::shared_ptr<tesla::StopToken> token_ = std::make_shared<tesla::StopToken>();
};

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "The C++ core of tesla-eval: text to tokens, tokens to bags, bags to the exact optimum.";
    nb::set_leak_warnings(false);  // pipelines are kept for the life of the process, on purpose
    tesla::guard_forks();
    tesla::stop_if_told = stop_on_signal;
    nb::class_<HeldStopToken>(m, "StopToken", "Stops the core's work in the threads that watch it.")
        .def(nb::init<>())
        .def("watch", &HeldStopToken::watch, "From now on, work of the calling thread raises KeyboardInterrupt when told to stop.")
        .def("stop", &HeldStopToken::stop);
    tesla::bind_segmenter(m);
    tesla::bind_tokeniser(m);
    tesla::bind_detection(m);
    tesla::bind_tagger(m);
    tesla::bind_lexicon(m);
    tesla::bind_words(m);
    tesla::bind_analyser(m);
    tesla::bind_dictionaries(m);
    tesla::bind_ngram_models(m);
    tesla::bind_syntax(m);
    tesla::bind_encoder(m);
    tesla::bind_matching(m);
    tesla::bind_characters(m);
    tesla::bind_ngram_overlap(m);
    tesla::bind_vectors(m);
    tesla::bind_states(m);
    tesla::bind_pivot(m);
    tesla::bind_celab(m);
    tesla::bind_baselines(m);
    tesla::bind_scoring(m);
    tesla::bind_tuning(m);
    tesla::bind_alignment(m);
    tesla::bind_phrase_counter(m);
}

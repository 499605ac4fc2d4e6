#include "bindings.h"

NB_MODULE(_core, m) {
    m.doc() = "The C++ core of tesla-eval: text to tokens, tokens to bags, bags to the exact optimum.";
    tesla::bind_tokeniser(m);
    tesla::bind_tagger(m);
    tesla::bind_lexicon(m);
    tesla::bind_matching(m);
    tesla::bind_celab(m);
}

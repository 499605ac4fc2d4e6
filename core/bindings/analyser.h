// The analysis of one language as Python holds it.
#pragma once

#include <nanobind/nanobind.h>

#include "language/analysis/text_analyser.h"

namespace tesla {

struct Analyser {
    TextAnalyser core;
    nanobind::callable compose;  // brings a text to NFC
};

}  // namespace tesla

// Settings as the reader's program writes them.
#pragma once

#include <string>
#include <string_view>

#include "loaderscope/analysis.h"

namespace loaderscope {

// "True" of pin-memory=true: the value of an argument of DataLoader. Other values stay.
std::string python_value(const Change& change);

// "num_workers=16, prefetch_factor=4"
std::string python_words(const Changes& changes);

// "about " unless past predictions on this machine held within 20 %.
std::string_view about_by(const PastPredictions& past);

}  // namespace loaderscope

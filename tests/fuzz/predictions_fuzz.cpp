// The history of predictions: whatever the lines are, an error that can be quoted.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "experiment/prediction_history.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto past = loaderscope::summarise_predictions({reinterpret_cast<const char*>(data), size});
  const bool sound =
      past.count >= 0 && past.median >= 0 && past.worst >= past.median && std::isfinite(past.worst);
  if (!sound) std::abort();
  static_cast<void>(past.sentence());
  return 0;
}

// Findings about what comes before the steady state.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/findings/facts.h"
#include "analysis/wording.h"

namespace loaderscope {
namespace {

constexpr Nanos kLong = 10 * kSecond;     // for a first batch, whatever the epoch
constexpr Nanos kNoticeable = kSecond;    // and this, where it is a part of the epoch
constexpr double kNoticeablePart = 0.05;  // of the epoch

std::string advice_for(const Facts& facts, std::string_view cause) {
  if (cause == "index") {
    return "keep the list of files instead of making it at every start: --index FILE here; in "
           "PyTorch a data set that reads its file names from a file, or shards";
  }
  if (cause == "import")
    return "import inside the functions that need it, not at the top of the script";
  if (cause == name_of(Cause::startup)) {
    return loader_words(facts.record,
                        {"persistent_workers=True", "multiprocessing_context=\"fork\""}) +
           ", and a data set that is small to pickle";
  }
  return "make the loader before the model, and ask it for its first batch while the model is "
         "built";
}

}  // namespace

std::optional<Candidate> first_epoch_startup(const Facts& facts) {
  const Nanos wall = facts.analysis.first_batch_wall;
  const double epoch = facts.analysis.epoch_predicted_s.value_or(0);
  const bool is_part = epoch > 0 && wall >= kNoticeable && seconds(wall) >= kNoticeablePart * epoch;
  if (wall < kLong && !is_part) return std::nullopt;
  const auto& causes = facts.analysis.first_batch_by_cause;
  const auto chief =
      std::max_element(causes.begin(), causes.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  Candidate candidate;
  candidate.evidence = fmt::format("the first batch came after {}", show_duration(wall));
  if (epoch > 0)
    candidate.evidence += fmt::format(", {} of an epoch", show_percent(seconds(wall) / epoch));
  if (chief != causes.end()) {
    candidate.evidence +=
        fmt::format(", chiefly {} with {}", chief->first, show_duration(chief->second));
  }
  candidate.evidence += start_words(facts);
  candidate.pytorch =
      advice_for(facts, chief == causes.end() ? "" : std::string_view(chief->first));
  return candidate;
}

}  // namespace loaderscope

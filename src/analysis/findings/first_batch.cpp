// Findings about what comes before the steady state.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/findings/finding_input.h"
#include "analysis/wording.h"

namespace loaderscope {
namespace {

constexpr Nanos kLong = 10 * kSecond;     // for a first batch, whatever the epoch
constexpr Nanos kNoticeable = kSecond;    // and this, where it is a part of the epoch
constexpr double kNoticeablePart = 0.05;  // share of the epoch
constexpr double kMuchPickled = 64e6;     // bytes, for a worker
constexpr double kLongPickled = 0.25;     // s for a worker
constexpr double kPipe = 65'536;

std::string advice_for(const FindingInput& facts, std::string_view cause) {
  if (cause == "index") {
    return "keep the list of files instead of making it at every start: --index FILE here; in "
           "PyTorch a data set that reads its file names from a file, or shards";
  }
  if (cause == "import")
    return "import inside the functions that need it, not at the top of the script";
  if (cause == "script") {
    return "see what the script does before it asks its loader for a batch (python -X importtime "
           "train.py; py-spy record -- python train.py): imports, its data set and its model";
  }
  if (cause == "skip") {
    return "continue where the run was stopped instead of making what it has seen: a sampler that "
           "leaves its first indices out, as accelerate.skip_first_batches(loader, N) has for a "
           "data set with indices, or torchdata's StatefulDataLoader and its state_dict()";
  }
  if (cause == name_of(Cause::startup)) {
    return loader_words(facts.record,
                        {"persistent_workers=True", "multiprocessing_context=\"fork\""}) +
           ", and a data set that is small to pickle";
  }
  return "make the loader before the model, and ask it for its first batch while the model is "
         "built";
}

}  // namespace

bool first_batch_is_late(const FindingInput& facts) {
  const Nanos wall = facts.analysis.first_batch_wall;
  const double epoch = facts.analysis.epoch_predicted_s.value_or(0);
  const bool is_part = epoch > 0 && wall >= kNoticeable && seconds(wall) >= kNoticeablePart * epoch;
  return wall >= kLong || is_part;
}

std::optional<Candidate> first_epoch_startup(const FindingInput& facts) {
  const Nanos wall = facts.analysis.first_batch_wall;
  const double epoch = facts.analysis.epoch_predicted_s.value_or(0);
  const bool skips = facts.metric(metric::skip_s) >= seconds(kNoticeable);
  if (!first_batch_is_late(facts) && !skips) return std::nullopt;
  const auto& causes = facts.analysis.first_batch_by_cause;
  const auto chief =
      std::max_element(causes.begin(), causes.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  Candidate candidate;
  candidate.evidence = fmt::format("the first batch came after {}", format_duration(wall));
  if (epoch > 0)
    candidate.evidence += fmt::format(", {} of an epoch", format_percent(seconds(wall) / epoch));
  if (chief != causes.end()) {
    candidate.evidence +=
        fmt::format(", most of it {} with {}", chief->first, format_duration(chief->second));
  }
  if (const double batches = facts.metric(metric::skip_batches); batches > 0)
    candidate.evidence +=
        fmt::format("; {} were made and thrown away before it, at every such start",
                    plural(std::llround(batches), "batch"));
  candidate.evidence += start_words(facts);
  candidate.pytorch = advice_for(facts, skips                   ? "skip"
                                        : chief == causes.end() ? ""
                                                                : std::string_view(chief->first));
  return candidate;
}

std::optional<Candidate> large_pickled_data_set(const FindingInput& facts) {
  const double bytes = facts.metric(metric::startup_pickled_bytes);
  const double pickling = facts.metric(metric::startup_pickle_s);
  const double reading = facts.metric(metric::startup_unpickle_s);
  if (bytes < kMuchPickled && pickling + reading < kLongPickled) return std::nullopt;
  const StageStats& starts = facts.stages[Stage::startup_parent];
  // A pipe holds a few bytes. The worker reads the rest after its imports, and the trainer waits.
  const bool one_by_one = bytes > kPipe && starts.count > 1 && seconds(starts.wall) > kLongPickled;
  Candidate candidate;
  candidate.evidence = fmt::format(
      "each worker is handed {}, pickled: {} of the trainer's time and {} of the worker's to read "
      "it",
      format_size(bytes), format_duration(std::llround(pickling * 1e9)),
      format_duration(std::llround(reading * 1e9)));
  if (one_by_one) {
    candidate.evidence += fmt::format(", which start one after another, each in {}",
                                      format_duration(starts.wall / starts.count));
  }
  if (const std::string parts = facts.named(metric::startup_pickled_bytes); !parts.empty())
    candidate.evidence += "; most of it is " + parts;
  candidate.pytorch =
      "keep only names or numbers in the data set and open the files in the worker; keep many "
      "objects as one tensor or one mapped array, or hand them over once with " +
      loader_words(facts.record, {"persistent_workers=True"});
  return candidate;
}

}  // namespace loaderscope

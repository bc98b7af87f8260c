// Findings about data sets of `datasets` that were shuffled or selected from.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "analysis/findings/finding_input.h"

namespace loaderscope {
namespace {

constexpr double kMaxRows = 0.5;    // are found by the mapping
constexpr double kMuchFetched = 2;  // times what is used

// Times as fast as now: of what reading waits for the storage, `1 / unused` is left.
double faster_in_order(const FindingInput& facts, double unused) {
  const StageStats& read = facts.stages[Stage::read];
  const double wall = static_cast<double>(std::max<Nanos>(read.wall, 1));
  const double waits = std::clamp(static_cast<double>(read.blocked()) / wall, 0.0, 1.0);
  return 1 / (1 - waits * (1 - 1 / unused));
}

}  // namespace

// Page faults say nothing of it: Python's own allocations are most of them, and a page that is in
// the page cache costs less than the row is worth.
std::optional<Candidate> indices_mapping(const FindingInput& facts) {
  const double waits = facts.share(Cause::read) + facts.share(Cause::decode);
  if (facts.metric(metric::datasets_mapped) < kMaxRows || waits < kMinReportedShare)
    return std::nullopt;
  const double used = facts.metric(metric::datasets_row_bytes);
  const double fetched = facts.metric(metric::datasets_row_storage_bytes);
  if (used <= 0 || fetched < kMuchFetched * used) return std::nullopt;
  const double faster = faster_in_order(facts, fetched / used);
  if (faster < 1 + kMinReportedShare) return std::nullopt;
  const bool shuffles = facts.config.loader.shuffle;
  return Candidate{
      fmt::format("rows are looked up one by one in an indices mapping (shuffle, select): for one "
                  "of {}, {} are fetched from storage, {:.3g} times as much; reading waits {} of "
                  "the time",
                  format_size(used), format_size(fetched), fetched / used, format_percent(waits)),
      {{{"read.speed", fmt::format("{:.3g}", faster)}}},
      std::string("dataset.flatten_indices(), once after shuffle() and select(), or "
                  "dataset.to_iterable_dataset(num_shards=64).shuffle(buffer_size=10_000): both "
                  "read in order") +
          (shuffles ? ", as long as the DataLoader has no shuffle=True" : "")};
}

}  // namespace loaderscope

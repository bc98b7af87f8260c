// Findings about data sets of `datasets` that were shuffled or selected from.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/findings/facts.h"

namespace loaderscope {
namespace {

constexpr double kMostRows = 0.5;   // are found by the mapping
constexpr double kPage = 4096;      // bytes; a fault brings one at least
constexpr double kMuchTouched = 2;  // times what is used
constexpr double kSomeFetched = 1;  // bytes: from storage at all

}  // namespace

std::optional<Candidate> indices_mapping(const Facts& facts) {
  const double waits = facts.share(Cause::read) + facts.share(Cause::decode);
  if (facts.metric("datasets.mapped") < kMostRows || waits < kWorthSaying) return std::nullopt;
  const double used = facts.metric("datasets.row_bytes");
  const double fetched = facts.metric("datasets.row_storage_bytes");
  const double touched = std::max(fetched, facts.metric("datasets.row_faults") * kPage);
  if (used <= 0 || touched < kMuchTouched * used) return std::nullopt;
  const std::string from_storage =
      fetched >= kSomeFetched ? fmt::format(", {} of it from storage", show_size(fetched)) : "";
  return Candidate{
      fmt::format("rows are looked up one by one in an indices mapping (shuffle, select): for one "
                  "of {} pages of {} are touched{}, {:.1f} times as much; reading waits {} of the "
                  "time",
                  show_size(used), show_size(touched), from_storage, touched / used,
                  show_percent(waits)),
      {},
      "dataset.flatten_indices(), once behind shuffle() and select(), or "
      "dataset.to_iterable_dataset(num_shards=64).shuffle(buffer_size=10_000): both read in order"};
}

}  // namespace loaderscope

// The folder that keeps what servers sent.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/findings/finding_input.h"
#include "analysis/wording.h"

namespace loaderscope {
namespace {

constexpr double kMuchAgain = 0.1;  // share of the bytes fetched

}  // namespace

std::optional<Candidate> cache_too_small(const FindingInput& facts) {
  const double fetched = facts.metric(metric::range_cache_bytes_fetched);
  const double again = facts.metric(metric::range_cache_bytes_fetched_again);
  const double least = facts.metric(metric::range_cache_least_size);
  const double size = facts.metric(metric::range_cache_size);
  if (fetched <= 0 || again < kMuchAgain * fetched || least <= size ||
      facts.share(Cause::read) < kMinReportedShare)
    return std::nullopt;
  const std::string wanted = size_to_text(static_cast<Bytes>(least));
  const double faster = 1 / std::max(1 - again / fetched, 0.01);
  return Candidate{
      fmt::format("{} of {} that servers sent had been in the folder before, which holds {}; "
                  "reads are waited for {} of the time",
                  format_size(again), format_size(fetched), format_size(size),
                  format_percent(facts.share(Cause::read))),
      {{{"read.speed", real_to_text(faster)}}},
      fmt::format("a cache of {} at least for what is read again", format_size(least)),
      {{"cache-bytes", wanted}}};
}

}  // namespace loaderscope

// Findings about files that are read in larger pieces than samples, or by a library of their own.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/findings/finding_input.h"
#include "analysis/wording.h"
#include "record/family_traits.h"

namespace loaderscope {
namespace {

constexpr double kMuchMore = 2;          // bytes read for each that is used
constexpr double kNoticeableWait = 0.2;  // share of reading

// Returns the share of the stage's time of the first detail that has a share.
double named_share(const FindingInput& facts, std::string_view stage) {
  for (const Detail& detail : facts.record.details) {
    if (detail.about == stage && detail.share > 0) return detail.share;
  }
  return 0;
}

// Returns the size of a read, if a read contains several samples.
std::string size_of_pieces(const FindingInput& facts) {
  const double reads = facts.metric(metric::source_requests),
               samples = facts.metric(metric::source_samples);
  if (reads <= 0 || samples <= 0) return "";
  return fmt::format(", in reads of {}",
                     format_size(facts.metric(metric::source_bytes_brought) / reads));
}

std::string_view way_to_smaller_pieces(const FindingInput& facts) {
  return facts.config.has_data() ? source_traits(facts.config.data.source.value).smaller_pieces
                                 : "";
}

std::string ways_to_smaller_pieces(const FindingInput& facts) {
  const auto& paths = facts.config.data.paths.value;
  const std::string_view way = way_to_smaller_pieces(facts);
  if (way.empty()) return "store pieces of about a sample, or shards of another format";
  const std::string data = paths.size() == 1 ? "'" + shown_text(paths.front()) + "'" : "DATA";
  return fmt::format(fmt::runtime(way), data);
}

}  // namespace

std::optional<Candidate> read_amplification(const FindingInput& facts) {
  const double used = facts.metric(metric::source_bytes_of_samples);
  const double brought = facts.metric(metric::source_bytes_brought);
  const double unpacked = facts.metric(metric::source_bytes_unpacked);
  const double ratio = used > 0 ? std::max(brought, unpacked) / used : 0;
  if (ratio < kMuchMore || facts.share(Cause::read) < kMinReportedShare) return std::nullopt;
  const bool is_unpacking = unpacked > kMuchMore * used && brought < kMuchMore * unpacked;
  const std::string factor = fmt::format("{:.3g}", ratio);
  Changes changes = {{"read.speed", factor}};
  if (is_unpacking) changes.push_back({"read.decompress.speed", factor});
  return Candidate{
      fmt::format("reading {} {:.1f} bytes for each that is used{}: {} of the time",
                  is_unpacking ? "unpacks" : "brings", ratio,
                  is_unpacking ? "" : size_of_pieces(facts),
                  format_percent(facts.share(Cause::read))),
      {changes},
      is_unpacking && way_to_smaller_pieces(facts).empty()
          ? "store the shards as they are, not compressed, or read the samples of a shard "
            "one after another: shuffle shards, and samples within them"
          : ways_to_smaller_pieces(facts) +
                ", or read the samples of a piece one after another, with a cache that "
                "holds it"};
}

std::optional<Candidate> library_lock(const FindingInput& facts) {
  if (facts.metric(metric::source_waited_for_lock_s) <= 0) return std::nullopt;
  const double share = named_share(facts, name_of(Stage::read));
  if (share < kNoticeableWait || facts.share(Cause::read) < kMinReportedShare) return std::nullopt;
  Candidate candidate{
      fmt::format("a library lets in one thread at a time, and {} of reading is waiting for its "
                  "lock: {} of the time",
                  format_percent(share), format_percent(facts.share(Cause::read))),
      {{{"read.speed", fmt::format("{:.3g}", 1 / std::max(1 - share, 0.01))}}},
      "workers that are processes have a lock each (DataLoader's are): open the file in the "
      "worker, "
      "at its first sample, never before the fork"};
  if (facts.config.loader.executor == Executor::threads)
    candidate.to_run = {{"executor", "processes"}};
  return candidate;
}

}  // namespace loaderscope

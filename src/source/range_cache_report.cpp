// Report on the folder of the range cache.
#include <fmt/format.h>

#include <system_error>

#include "loaderscope/errors.h"
#include "source/range_cache.h"

namespace loaderscope::source {

void RangeCache::add_metrics(std::vector<Metric>& to) const {
  const auto add = [&](const char* name, const char* about, double value) {
    to.push_back(make_metric(name, about, value));
  };
  const auto count = [](const Count& number) { return static_cast<double>(number.load()); };
  const State& s = *state_;
  add(metric::range_cache_size, "room of --cache-dir", static_cast<double>(most_));
  add(metric::range_cache_used, "what lies in it, of all jobs", count(*used_));
  add(metric::range_cache_hits, "ranges that were in the folder", count(s.hits));
  add(metric::range_cache_misses, "ranges that had to be fetched", count(s.misses));
  add(metric::range_cache_bytes_hit, "read from the folder", count(s.bytes_hit));
  add(metric::range_cache_bytes_fetched, "fetched from servers", count(s.bytes_missed));
  add(metric::range_cache_evicted, "ranges that had to go", count(s.evicted));
  add(metric::range_cache_bytes_fetched_again, "fetched although this run had it before",
      s.reuse.bytes_brought_again());
  if (const double least = s.reuse.least_size(); least > 0)
    add(metric::range_cache_least_size,
        "so large a folder would have had all but 1 % of what was asked for again", least);
}

std::vector<std::string> RangeCache::notes() const {
  std::vector<std::string> notes;
  const State& s = *state_;
  if (const std::int64_t ranges = s.not_kept; ranges > 0)
    notes.push_back(fmt::format("{}: {} could not be kept ({}); they are fetched each time",
                                shown_text(folder_), plural(ranges, "range"),
                                std::generic_category().message(static_cast<int>(s.error))));
  if (const std::int64_t ranges = s.damaged; ranges > 0)
    notes.push_back(
        fmt::format("{}: {} not as they were written, and removed", shown_text(folder_),
                    ranges == 1 ? "1 range was" : format_count(ranges) + " ranges were"));
  return notes;
}

}  // namespace loaderscope::source

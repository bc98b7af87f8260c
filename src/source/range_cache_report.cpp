// What is said of the folder that keeps what servers sent.
#include <fmt/format.h>

#include <system_error>

#include "loaderscope/errors.h"
#include "source/range_cache.h"

namespace loaderscope::source {

void RangeCache::add_metrics(std::vector<Metric>& to) const {
  const auto add = [&](const char* name, const char* unit, const char* about, double value) {
    to.push_back({name, unit, about, value});
  };
  const auto add_total = [&](const char* name, const char* unit, const char* about, double value) {
    to.push_back(adds_up({name, unit, about, value}));
  };
  const auto count = [](const Count& number) { return static_cast<double>(number.load()); };
  const State& s = *state_;
  add("range_cache.size", "bytes", "room of --cache-dir", static_cast<double>(most_));
  add("range_cache.used", "bytes", "what lies in it, of all jobs", count(*used_));
  add_total("range_cache.hits", "1", "ranges that were in the folder", count(s.hits));
  add_total("range_cache.misses", "1", "ranges that had to be fetched", count(s.misses));
  add_total("range_cache.bytes_hit", "bytes", "read from the folder", count(s.bytes_hit));
  add_total("range_cache.bytes_fetched", "bytes", "fetched from servers", count(s.bytes_missed));
  add_total("range_cache.evicted", "1", "ranges that had to go", count(s.evicted));
  add_total("range_cache.bytes_fetched_again", "bytes", "fetched although this run had it before",
            s.reuse.bytes_brought_again());
  if (const double least = s.reuse.least_size(); least > 0)
    add("range_cache.least_size", "bytes",
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

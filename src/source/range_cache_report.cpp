// Report on the folder of the range cache, and the estimate of the size that it needs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

namespace {

constexpr int kMaxSpins = 10'000;  // then somebody died holding the lock, or all are busy
constexpr double kAllBut = 0.01;   // share of the repeats

}  // namespace

bool ReuseDistances::lock() {
  for (int i = 0; i < kMaxSpins; ++i) {
    if (!locked_.exchange(true, std::memory_order_acquire)) return true;
  }
  return false;
}

double ReuseDistances::each_stands_for() const {
  return std::ldexp(1.0, 64) / static_cast<double>(below_);
}

double ReuseDistances::distance(const Piece& piece) const {
  Bytes between = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    if (pieces_[i].last_use > piece.last_use) between += pieces_[i].size;
  }
  return static_cast<double>(between) * each_stands_for() + static_cast<double>(piece.size);
}

void ReuseDistances::count(double distance) {
  const auto bucket = static_cast<std::size_t>(
      std::clamp(std::ceil(std::log2(std::max(distance, 1.0)) * kPerDoubling), 0.0,
                 static_cast<double>(histogram_.size() - 1)));
  histogram_[bucket] += each_stands_for();
}

void ReuseDistances::halve() {
  while (size_ == kMax) {
    below_ /= 2;
    const auto end = std::remove_if(pieces_.begin(), pieces_.end(),
                                    [this](const Piece& piece) { return piece.hash >= below_; });
    size_ = static_cast<std::size_t>(end - pieces_.begin());
  }
}

void ReuseDistances::use(std::uint64_t hash, Bytes size, bool brought) {
  if (!lock()) return;
  if (hash < below_) {
    const auto end = pieces_.begin() + static_cast<std::ptrdiff_t>(size_);
    const auto found = std::find_if(pieces_.begin(), end,
                                    [hash](const Piece& piece) { return piece.hash == hash; });
    ++uses_;
    if (found != end) {
      count(distance(*found));
      repeats_.store(repeats_.load() + each_stands_for());
      if (brought)
        brought_again_.store(brought_again_.load() + each_stands_for() * static_cast<double>(size));
      found->last_use = uses_;
    } else {
      if (size_ == kMax) halve();
      if (hash < below_) pieces_[size_++] = {hash, uses_, size};
    }
  }
  unlock();
}

double ReuseDistances::bytes_known() const {
  double bytes = 0;
  for (std::size_t i = 0; i < size_; ++i) bytes += static_cast<double>(pieces_[i].size);
  return bytes * each_stands_for();
}

double ReuseDistances::least_size() const {
  double all = 0, within = 0;
  for (const double uses : histogram_) all += uses;
  for (std::size_t i = 0; i < histogram_.size() && all > 0; ++i) {
    within += histogram_[i];
    if (within >= all * (1 - kAllBut)) return std::exp2(static_cast<double>(i) / kPerDoubling);
  }
  return 0;
}

}  // namespace loaderscope::source

#include "source/read_counts.h"

#include <algorithm>
#include <cmath>

namespace loaderscope::source {

namespace {

double count(const std::atomic<std::int64_t>& number) {
  return static_cast<double>(number.load(std::memory_order_relaxed));
}

}  // namespace

std::int64_t ReadCounts::count_asked() const {
  constexpr std::int64_t kOne = (std::int64_t{1} << kUnderWayBits) + 1;
  add(counts_->asked, 1);
  const std::int64_t before = counts_->under_way.fetch_add(kOne, std::memory_order_relaxed);
  const bool others = (before & ((std::int64_t{1} << kUnderWayBits) - 1)) != 0;
  return others ? 0 : before + kOne;
}

bool ReadCounts::was_alone(std::int64_t asked) const {
  return asked != 0 && counts_->under_way.load(std::memory_order_relaxed) == asked;
}

void ReadCounts::count_alone(double first_byte) const {
  const auto us = std::max<std::int64_t>(1, std::llround(first_byte * 1e6));
  const auto number = static_cast<std::size_t>(
      counts_->alone.fetch_add(1, std::memory_order_relaxed) % kKnownAlone);
  counts_->last_alone_us[number].store(us, std::memory_order_relaxed);
  add(counts_->alone_us, us);
}

double ReadCounts::shortest_alone(std::int64_t from) const {
  double shortest = 0;
  const std::int64_t end = alone();
  for (std::int64_t i = std::max(from, end - kKnownAlone); i < end; ++i) {
    const double us = count(counts_->last_alone_us[static_cast<std::size_t>(i % kKnownAlone)]);
    if (us > 0 && (shortest <= 0 || us < shortest)) shortest = us;
  }
  return shortest / 1e6;
}

void ReadCounts::count_among(std::int64_t in_flight, Nanos time, Bytes came) const {
  const double number = static_cast<double>(std::max<std::int64_t>(1, in_flight));
  const auto crowd =
      std::min(static_cast<std::size_t>(std::llround(2 * std::log2(number))), kCrowds - 1);
  add(counts_->crowd_us[crowd], time / 1000);
  add(counts_->crowd_bytes[crowd], came);
}

std::int64_t ReadCounts::under_way() const {
  return counts_->under_way.load(std::memory_order_relaxed) &
         ((std::int64_t{1} << kUnderWayBits) - 1);
}

// A line through the logarithms, each crowd by its time.
std::optional<double> ReadCounts::slowed_by_others() const {
  constexpr double kMinShare = 0.02, kMinUs = 50'000;
  constexpr std::size_t kWide = 2;  // crowds: from a number to its double
  double all = 0;
  for (const Count& us : counts_->crowd_us) all += count(us);
  double weight = 0, x = 0, y = 0, xx = 0, xy = 0;
  std::size_t first = kCrowds, last = 0;
  for (std::size_t i = 0; i < kCrowds; ++i) {
    const double us = count(counts_->crowd_us[i]), bytes = count(counts_->crowd_bytes[i]);
    if (us < std::max(kMinUs, kMinShare * all) || bytes <= 0) continue;
    const double number = static_cast<double>(i) / 2 * std::log(2), rate = std::log(bytes / us);
    first = std::min(first, i);
    last = i;
    weight += us;
    x += us * number;
    y += us * rate;
    xx += us * number * number;
    xy += us * number * rate;
  }
  if (first == kCrowds || last - first < kWide) return std::nullopt;
  return -(weight * xy - x * y) / (weight * xx - x * x);
}

void ReadCounts::add_requests(std::vector<Metric>& to) const {
  const double asked = count(counts_->asked), answered = count(counts_->answered);
  if (asked <= 0) return;
  to.push_back(
      make_metric(metric::requests_sent, "requests to servers, those made again included", asked));
  to.push_back(
      make_metric(metric::requests_retries, "requests made again", count(counts_->retried)));
  to.push_back(make_metric(metric::requests_throttled, "answers 429 and 503: asked too often",
                           count(counts_->throttled)));
  to.push_back(make_metric(metric::requests_timed_out,
                           "requests that no server answered in its time",
                           count(counts_->timed_out)));
  to.push_back(make_metric(metric::requests_failed, "requests given up", count(counts_->failed)));
  to.push_back(make_metric(metric::requests_paused_s, "waited before requests were made again",
                           count(counts_->paused_us) / 1e6));
  to.push_back(make_metric(metric::requests_connections, "connections that were made",
                           count(counts_->connections)));
  to.push_back(
      make_metric(metric::requests_bytes, "what servers sent", count(counts_->bytes_answered)));
  to.push_back(make_metric(metric::read_request_s,
                           "of reading, waited by readers from a request to its first byte",
                           count(counts_->waited_first_us) / 1e6));
  to.push_back(make_metric(metric::read_transfer_s,
                           "of reading, waited by readers after the first byte",
                           count(counts_->waited_rest_us) / 1e6));
  if (const double http2_answers = count(counts_->http2); http2_answers > 0)
    to.push_back(make_metric(metric::requests_http2, "answers that came by HTTP/2", http2_answers));
  if (answered <= 0) return;
  const double first = count(counts_->first_byte_us) / 1e6 / answered;
  const double all = count(counts_->answering_us) / 1e6;
  to.push_back(make_metric(metric::requests_first_byte_s,
                           "from a request to its first byte, on average", first));
  to.push_back(make_metric(metric::requests_time_s, "from a request to its last byte, on average",
                           all / answered));
  if (const double alone = count(counts_->alone); alone > 0) {
    to.push_back(
        make_metric(metric::requests_alone, "requests without another at the same time", alone));
    to.push_back(make_metric(metric::requests_alone_s,
                             "from one of these to its first byte, connecting left out, on average",
                             count(counts_->alone_us) / 1e6 / alone));
    to.push_back(make_metric(metric::requests_alone_least_s,
                             "the same of the shortest of the last of these", shortest_alone()));
  }
  if (const auto slowed = slowed_by_others())
    to.push_back(make_metric(
        metric::requests_slowed_by_others,
        "how the rate of a request falls with the number under way: 0, each has its own; "
        "1, they share one",
        *slowed));
  if (const double busy = count(counts_->busy_us) / 1e6; busy > 0)
    to.push_back(make_metric(metric::requests_in_flight,
                             "requests that a reader had under way at once, on average",
                             all / busy));
}

std::vector<Metric> ReadCounts::metrics() const {
  std::vector<Metric> metrics = {
      make_metric(metric::source_opened, "files opened for samples, warm-up included",
                  count(counts_->opened)),
      make_metric(metric::source_requests, "reads that the kernel was asked for",
                  count(counts_->requests)),
      make_metric(metric::source_bytes_brought, "what these reads brought",
                  count(counts_->bytes_brought)),
      make_metric(metric::source_samples, "samples that these reads were for",
                  count(counts_->samples)),
      make_metric(metric::source_bytes_of_samples, "what the samples had, unpacked",
                  count(counts_->bytes_of_samples))};
  if (const double packed = count(counts_->packed); packed > 0) {
    const double unpacked = count(counts_->unpacked);
    metrics.push_back(
        make_metric(metric::source_bytes_unpacked, "what compressed shards held", unpacked));
    metrics.push_back(make_metric(metric::source_unpacked_per_byte,
                                  "bytes that came of each byte of compressed shards",
                                  unpacked / packed));
  }
  if (const double waited = count(counts_->waited_for_lock); waited > 0) {
    metrics.push_back(make_metric(
        metric::source_waited_for_lock_s,
        "what readers waited for their library, which lets in one at a time", waited * 1e-9));
  }
  add_requests(metrics);
  return metrics;
}

double ReadCounts::share_of_first_bytes() const {
  const double first = count(counts_->waited_first_us), rest = count(counts_->waited_rest_us);
  return first > 0 ? first / (first + rest) : 0;
}

double ReadCounts::share_of_lock() const {
  const auto waited = static_cast<double>(counts_->waited_for_lock.load());
  return waited > 0 ? waited / (waited + static_cast<double>(counts_->in_library.load())) : 0;
}

std::vector<Detail> details_of_requests(const ReadCounts& counts) {
  const double share = counts.share_of_first_bytes();
  if (share <= 0) return {};
  return {{std::string(name_of(Stage::read)), "read.request: waiting for the first byte", share}};
}

}  // namespace loaderscope::source

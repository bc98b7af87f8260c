#include "record/rank_waits.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "record/rows_of_ranks.h"

namespace loaderscope {
namespace {

constexpr double kApart = 0.05;         // share of a step: the ranks begin to compute apart
constexpr double kTogether = 0.25;      // share of that difference: the ranks end together
constexpr double kMostly = 0.8;         // share of the steps that began apart
constexpr std::int64_t kMinSteps = 10;  // minimum number of steps that began apart
constexpr double kMaxDrift = 0.01;      // maximum drift of a clock; larger values are not drift

Nanos spread(const RowOfEachRank& rows, Nanos StepRow::*time) {
  const auto [first, last] =
      std::minmax_element(rows.begin(), rows.end(),
                          [&](const StepRow& a, const StepRow& b) { return a.*time < b.*time; });
  return (*last).*time - (*first).*time;
}

// Ranks that go their own ways end a step as far apart as they began it.
bool step_together(std::vector<RankRecord>& ranks, const ClockOffsets& offsets) {
  std::int64_t apart = 0, together = 0;
  for_each_step(ranks, offsets, [&](const RowOfEachRank& rows) {
    if (rows.front().warmup) return false;
    const auto began = static_cast<double>(spread(rows, &StepRow::compute_begin));
    const StepRow& one = rows.front();
    if (began < kApart * static_cast<double>(one.compute_end - one.idle_begin) || began == 0)
      return false;
    ++apart;
    if (static_cast<double>(spread(rows, &StepRow::compute_end)) <= kTogether * began) ++together;
    return false;
  });
  return apart >= kMinSteps &&
         static_cast<double>(together) >= kMostly * static_cast<double>(apart);
}

template <typename PerWord>
PerWord excess(const PerWord& one, const PerWord& other) {
  PerWord more{};
  for (std::size_t i = 0; i < more.size(); ++i)
    more.data()[i] = std::max<Nanos>(0, one.data()[i] - other.data()[i]);
  return more;
}

template <typename PerWord>
Nanos total(const PerWord& words) {
  return std::accumulate(words.begin(), words.end(), Nanos{0});
}

// Returns `whole` * `part` / `all` in ns, without overflow.
Nanos share(Nanos whole, Nanos part, Nanos all) {
  __extension__ typedef __int128 Product;
  return static_cast<Nanos>(static_cast<Product>(whole) * part / all);
}

// Adds `whole`, split as `weights` are; the shares add up to it exactly.
template <typename PerWord>
void add_shares(PerWord& to, Nanos whole, const PerWord& weights) {
  const Nanos all = total(weights);
  if (all == 0) return;
  Nanos weighed = 0, given = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weighed += weights.data()[i];
    const Nanos up_to = share(whole, weighed, all);
    to.data()[i] += up_to - given;
    given = up_to;
  }
}

// Books the causes that `slowest` waited for and `row` did not. Without any, books all causes of
// `slowest`.
void book_wait(StepRow& row, Nanos wait, const StepRow& slowest) {
  PerCause<Nanos> causes = excess(slowest.stall, row.stall);
  if (total(causes) == 0) causes = slowest.stall;
  if (total(causes) == 0) causes[Cause::launch] = 1;
  const PerWhy<Nanos> whys = excess(slowest.why, row.why);
  const Nanos all = total(causes);
  const Nanos explained = share(wait, std::min(total(whys), all), all);
  add_shares(row.stall, wait, causes);
  add_shares(row.why, explained, whys);
  row.waiting_for_ranks += wait;
  row.compute_begin += wait;
}

const StepRow& last_to_compute(const RowOfEachRank& rows) {
  return *std::max_element(rows.begin(), rows.end(), [](const StepRow& a, const StepRow& b) {
    return a.compute_begin < b.compute_begin;
  });
}

// No more than it computed longer than the one that it waited for.
Nanos wait_for(const StepRow& slowest, const StepRow& row) {
  return std::max<Nanos>(
      0, std::min(slowest.compute_begin - row.compute_begin, row.compute() - slowest.compute()));
}

// Returns the compute of the rank from its rows, with at least the CPU time used.
StageStats compute_stats(const RankRecord& rank) {
  StageStats compute;
  rank.rows.for_each(
      [&](const StepRow& row) {
        if (row.compute() > 0) compute.add(row.compute(), 0, 0, 0);
      },
      rank.warmup_steps);
  const StageStats& seen = rank.stages[Stage::compute];
  compute.cpu = std::min(seen.cpu, compute.wall);
  compute.queued = std::min(seen.queued, compute.wall - compute.cpu);
  return compute;
}

// `row` is on the first rank's clock; its end has not changed.
void put_into_exemplar(RankRecord& rank, StepRow row) {
  Exemplar* const found = find_exemplar(rank, row.step);
  if (found == nullptr) return;
  move_clock(row, found->row.compute_end - row.compute_end);
  found->row = row;
  found->events.ready = found->events.compute.begin;
  found->events.compute.begin = row.compute_begin;
}

bool book_waits(std::vector<RankRecord>& ranks, const ClockOffsets& offsets) {
  if (ranks.size() < 2 || !step_together(ranks, offsets)) return false;
  for_each_step(ranks, offsets, [&](RowOfEachRank& rows) {
    const StepRow slowest = last_to_compute(rows);
    bool waited = false;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      const Nanos wait = wait_for(slowest, rows[rank]);
      if (wait == 0) continue;
      waited = true;
      book_wait(rows[rank], wait, slowest);
      put_into_exemplar(ranks[rank], rows[rank]);
    }
    return waited;
  });
  for (RankRecord& rank : ranks) {
    rank.stages[Stage::compute] = compute_stats(rank);
    rank.critical_path.reset();
  }
  return true;
}

// Returns the median difference of the two clocks, measured at the ends of the steps that both
// ranks have.
Nanos apart_at_ends(const RankRecord& first, const RankRecord& other) {
  std::vector<Nanos> ends, apart;
  first.rows.for_each([&](const StepRow& row) { ends.push_back(row.compute_end); });
  std::size_t step = 0;
  other.rows.for_each([&](const StepRow& row) {
    if (step < ends.size()) apart.push_back(row.compute_end - ends[step]);
    ++step;
  });
  if (apart.empty()) return 0;
  const auto middle = apart.begin() + std::ssize(apart) / 2;
  std::nth_element(apart.begin(), middle, apart.end());
  return *middle;
}

// 0: not known.
double drift_rate(const HostRecord& host) {
  const double rate = value_of(host.metrics, metric::clock_drift_rate).value_or(0);
  return host.has_clock() && std::abs(rate) <= kMaxDrift ? rate : 0;
}

}  // namespace

bool book_rank_waits(std::vector<RankRecord>& ranks) { return book_waits(ranks, {}); }

bool book_host_waits(RunRecord& job) {
  ClockOffsets offsets;
  for (const HostRecord& host : job.hosts) {
    const std::size_t first = offsets.size(), end = first + static_cast<std::size_t>(host.ranks);
    const Nanos apart =
        host.has_clock() ? 0 : apart_at_ends(job.ranks.front(), job.ranks.at(first));
    const double rate = drift_rate(host);
    for (std::size_t rank = first; rank < end; ++rank)
      offsets.push_back({apart, job.ranks.at(rank).window_begin, rate});
  }
  return job.hosts.size() > 1 && book_waits(job.ranks, offsets);
}

std::string describe_unbooked_waits(const std::vector<RankRecord>& ranks) {
  std::int64_t most = 0;
  for (const RankRecord& rank : ranks) most = std::max(most, rank.rows.size());
  const std::int64_t booked = steps_of_all(ranks);
  if (booked == most) return "";
  // Without fmt, which what runs in a program does not have.
  return "; from step " + std::to_string(booked) + " on one rank at least has none, and of the " +
         std::to_string(most - booked) + " that are left such waits stay compute";
}

}  // namespace loaderscope

#include "record/merge_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <utility>

#include "loaderscope/errors.h"
#include "record/checked_sum.h"

namespace loaderscope {
namespace {

// Limits for all ranks together, used for jobs with many ranks.
constexpr std::int64_t kMaxSamples = 400'000;
constexpr std::int64_t kMaxExemplars = 2'000;
constexpr std::size_t kMaxNotes = 40;
constexpr std::size_t kMaxNamed = 10;  // skipped samples
constexpr Bytes kMaxRowBytes = Bytes{512} << 20;
constexpr Bytes kRowBytesOfSpilled = Bytes{32} << 10;  // per rank whose rows are in a file

// Without clocks, times of different hosts are alike.
bool is_same_run(const RankRecord& one, const RankRecord& other) {
  return one.first_ask > 0 && one.first_ask == other.first_ask &&
         one.window_begin == other.window_begin && one.window_end == other.window_end;
}

bool run_at_once(const RankRecord& one, const RankRecord& other) {
  return one.first_ask <= other.window_end && other.first_ask <= one.window_end;
}

// Takes them out of it.
std::vector<HostRecord> take_hosts(RunRecord& part) {
  if (!part.hosts.empty()) return std::move(part.hosts);
  HostRecord host;
  host.machine = part.machine;
  host.ranks = std::ssize(part.ranks);
  host.metrics = std::move(part.metrics);
  if (part.interrupted) host.ended_early = "interrupted";
  std::vector<HostRecord> hosts;
  hosts.push_back(std::move(host));
  return hosts;
}

// Each part's are on a clock of its own.
void forget_clocks(std::vector<HostRecord>& hosts) {
  for (HostRecord& host : hosts) {
    host.clock_offset.reset();
    host.clock_error.reset();
  }
}

void add_skipped(SkippedSamples& all, SkippedSamples& more) {
  add_checked(all.samples, more.samples);
  for (const auto& [kind, count] : more.kind_counts) add_checked(all.kind_counts[kind], count);
  for (std::string& sample : more.first)
    if (all.first.size() < kMaxNamed) all.first.push_back(std::move(sample));
}

template <class T>
std::int64_t add_new(std::vector<T>& all, std::vector<T>& more, std::size_t most) {
  std::int64_t left_out = 0;
  for (T& one : more) {
    if (std::find(all.begin(), all.end(), one) != all.end()) continue;
    if (all.size() < most) {
      all.push_back(std::move(one));
    } else {
      ++left_out;
    }
  }
  return left_out;
}

// A uniform choice of a uniform choice is one.
void keep_samples(RankRecord& rank, std::int64_t most, std::mt19937_64& random) {
  if (std::ssize(rank.reservoir) <= most) return;
  std::vector<SampleRow> kept;
  kept.reserve(static_cast<std::size_t>(most));
  std::sample(rank.reservoir.begin(), rank.reservoir.end(), std::back_inserter(kept), most, random);
  rank.reservoir = std::move(kept);
}

// The worst stalls first; in the order of their steps.
void keep_exemplars(RankRecord& rank, std::int64_t most) {
  if (std::ssize(rank.exemplars) <= most) return;
  const auto end = rank.exemplars.begin() + most;
  std::nth_element(rank.exemplars.begin(), end, rank.exemplars.end(),
                   [](const Exemplar& a, const Exemplar& b) {
                     return std::pair(a.worst, a.row.idle()) > std::pair(b.worst, b.row.idle());
                   });
  rank.exemplars.erase(end, rank.exemplars.end());
  std::sort(rank.exemplars.begin(), rank.exemplars.end(),
            [](const Exemplar& a, const Exemplar& b) { return a.events.step < b.events.step; });
  rank.exemplars.shrink_to_fit();
}

void put_rows_into_file(RankRecord& rank) {
  StepRows spilled(kRowBytesOfSpilled);
  rank.rows.for_each([&](const StepRow& row) { spilled.push_back(row); });
  rank.rows = std::move(spilled);
}

struct HostStart {
  std::string_view host;
  const RankRecord& rank;
};

// The first rank of each.
std::vector<HostStart> host_starts(const RunRecord& record) {
  const auto name = [](const MachineFacts& machine) {
    return machine.host ? std::string_view(*machine.host) : std::string_view();
  };
  if (record.hosts.empty()) return {{name(record.machine), record.ranks.front()}};
  std::vector<HostStart> starts;
  std::size_t rank = 0;
  for (const HostRecord& host : record.hosts) {
    starts.push_back({name(host.machine), record.ranks.at(rank)});
    rank += static_cast<std::size_t>(host.ranks);
  }
  return starts;
}

}  // namespace

RecordMerge::RecordMerge(JoinSettings join_settings, bool has_met)
    : join_settings_(std::move(join_settings)), has_met_(has_met) {}

void RecordMerge::check(const RunRecord& part, const std::string& name) const {
  if (part.ranks.empty()) throw RunError(name + ": holds no rank", "leave it out");
  if (job_.ranks.empty()) return;
  const auto same = [&](std::string_view what, std::string_view here, std::string_view there) {
    if (here == there) return;
    throw RunError(
        fmt::format("{}: {} is {}, and {} in {}", name, what, here, there, names_.front()),
        "give the records of one job");
  };
  same("the version of loaderscope", part.tool_version, job_.tool_version);
  same("the engine", part.engine, job_.engine);
  same("the time or the device", part.simulated ? "simulated" : "real",
       job_.simulated ? "simulated" : "real");
  if (!has_met_) check_hosts(part, name);
}

void RecordMerge::check_hosts(const RunRecord& part, const std::string& name) const {
  const std::vector<HostStart> there = host_starts(job_);
  for (const HostStart& host : host_starts(part)) {
    for (std::size_t i = 0; i < there.size(); ++i) {
      if (there[i].host != host.host) continue;
      if (is_same_run(there[i].rank, host.rank))
        throw RunError(fmt::format("{}: holds what {} holds", name, names_[i]),
                       "give each host's record once");
      if (!host.host.empty() && !run_at_once(there[i].rank, host.rank))
        throw RunError(
            fmt::format("{}: ran on {} at another time than {} did", name, host.host, names_[i]),
            "give the records of one job, and different names to machines of one name");
    }
  }
}

// Steps that can fail come first. They change only `part`, and settings that join_settings()
// changes only if it succeeds.
void RecordMerge::add(RunRecord part, const std::string& name) {
  check(part, name);
  const Bytes row_bytes = spill_rows(part.ranks);
  SkippedSamples skipped = job_.skipped;
  std::int64_t lost_spans = job_.lost_spans;
  add_skipped(skipped, part.skipped);
  add_checked(lost_spans, part.lost_spans);
  if (join_settings_ && !job_.ranks.empty()) join_settings_(job_, part, name);
  row_bytes_ = row_bytes;
  std::vector<HostRecord> hosts = take_hosts(part);
  names_.insert(names_.end(), hosts.size(), name);
  std::vector<RankRecord> ranks = std::exchange(part.ranks, {});
  if (job_.hosts.empty()) {
    job_ = std::move(part);
    job_.config.trainer.ranks.set(std::ssize(ranks));
  } else {
    if (!has_met_) {
      forget_clocks(job_.hosts);
      forget_clocks(hosts);
    }
    job_.config.trainer.ranks.set(job_.config.trainer.ranks + std::ssize(ranks));
    job_.config.trainer.sync_ranks.value |= part.config.trainer.sync_ranks.value;
    job_.contention_known &= part.contention_known;
    job_.interrupted |= part.interrupted;
    job_.input_ended_in_warmup |= part.input_ended_in_warmup;
    add_new(job_.details, part.details, kMaxNotes);
    notes_left_out_ += add_new(job_.notes, part.notes, kMaxNotes);
  }
  job_.lost_spans = lost_spans;
  job_.skipped = std::move(skipped);
  std::move(hosts.begin(), hosts.end(), std::back_inserter(job_.hosts));
  add_ranks(ranks);
}

Bytes RecordMerge::spill_rows(std::vector<RankRecord>& ranks) const {
  Bytes bytes = row_bytes_;
  for (RankRecord& rank : ranks) {
    bytes += rank.rows.size() * static_cast<Bytes>(sizeof(StepRow));
    if (bytes > kMaxRowBytes) put_rows_into_file(rank);
  }
  return bytes;
}

void RecordMerge::add_ranks(std::vector<RankRecord>& ranks) {
  for (RankRecord& rank : ranks) {
    samples_ += std::ssize(rank.reservoir);
    exemplars_ += std::ssize(rank.exemplars);
    job_.ranks.push_back(std::move(rank));
  }
  keep_within(2);  // seldom: each time there is twice as much as is kept
}

void RecordMerge::keep_within(std::int64_t times) {
  const std::int64_t ranks = std::ssize(job_.ranks);
  if (samples_ > times * kMaxSamples) {
    std::mt19937_64 random(static_cast<std::uint64_t>(ranks));
    samples_ = 0;
    for (RankRecord& rank : job_.ranks) {
      keep_samples(rank, std::max<std::int64_t>(kMaxSamples / ranks, 1), random);
      samples_ += std::ssize(rank.reservoir);
    }
  }
  if (exemplars_ > times * kMaxExemplars) {
    exemplars_ = 0;
    for (RankRecord& rank : job_.ranks) {
      if (&rank != &job_.ranks.front()) keep_exemplars(rank, kMaxExemplars / ranks);
      exemplars_ += std::ssize(rank.exemplars);
    }
  }
}

RunRecord RecordMerge::take() {
  keep_within(1);
  if (notes_left_out_ > 0)
    job_.notes.push_back(
        fmt::format("{} more notes are in the records of the hosts", notes_left_out_));
  job_.metrics = metrics_of_hosts(job_.hosts);
  RunRecord job = std::exchange(job_, {});
  *this = RecordMerge(std::move(join_settings_), has_met_);
  return job;
}

}  // namespace loaderscope

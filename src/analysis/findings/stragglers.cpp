// Findings about one rank or one worker that is slower than the others.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/findings/finding_input.h"
#include "analysis/findings/subject.h"
#include "analysis/stragglers.h"
#include "analysis/totals.h"
#include "analysis/wording.h"

namespace loaderscope {
namespace {

constexpr double kMuchWaiting = 0.05;     // share of the window
constexpr double kSlower = 1.5;           // times the mean of the others
constexpr double kSure = 4;               // standard errors
constexpr std::int64_t kMinSamples = 20;  // samples of a worker

// Mean time in ns of a sample, or of a batch if samples are not timed, with its standard error.
struct Pace {
  double n = 0, sum = 0, squares = 0;

  void add(double value) {
    ++n;
    sum += value;
    squares += value * value;
  }
  void add(const Pace& other) {
    n += other.n;
    sum += other.sum;
    squares += other.squares;
  }
  double mean() const { return sum / n; }
  double variance_of_mean() const {
    return std::max(0.0, squares / n - mean() * mean()) / std::max(1.0, n - 1);
  }
};

double sample_time(const SampleRow& row) {
  Nanos sum = 0;
  for (const SampleRow::Part& part : row.parts) sum += part.wall - part.queued;
  return static_cast<double>(sum);
}

bool is_slower(const Pace& one, const Pace& others) {
  const double apart = one.mean() - others.mean();
  return one.mean() >= kSlower * others.mean() &&
         apart >= kSure * std::sqrt(one.variance_of_mean() + others.variance_of_mean());
}

struct SlowWorker {
  std::size_t rank = 0;
  std::int32_t worker = 0;
  Pace own, others;
  bool are_batches = false;
};

// Returns the slowest worker of the rank, if all the others form a group of their own.
std::optional<SlowWorker> find_slow_worker(const RankRecord& rank) {
  std::map<std::int32_t, Pace> paces;
  for (const SampleRow& row : rank.reservoir) paces[row.worker].add(sample_time(row));
  if (paces.size() < 2) return std::nullopt;
  const auto slowest = std::max_element(
      paces.begin(), paces.end(),
      [](const auto& a, const auto& b) { return a.second.mean() < b.second.mean(); });
  SlowWorker found;
  found.worker = slowest->first;
  found.are_batches = rank.reservoir.front().is_batch();
  found.own = slowest->second;
  for (const auto& [worker, pace] : paces) {
    if (pace.n < kMinSamples) return std::nullopt;
    if (worker != found.worker) found.others.add(pace);
  }
  if (!is_slower(found.own, found.others)) return std::nullopt;
  return found;
}

std::optional<SlowWorker> slow_worker(const FindingInput& facts) {
  for (std::size_t rank = 0; rank < facts.record.ranks.size(); ++rank) {
    std::optional<SlowWorker> found = find_slow_worker(facts.record.ranks[rank]);
    if (!found) continue;
    found->rank = rank;
    return found;
  }
  return std::nullopt;
}

double waited_for(const FindingInput& facts, const SlowWorker& slow) {
  const RankRecord& rank = facts.record.ranks[slow.rank];
  Nanos sum = 0;
  rank.rows.for_each(
      [&](const StepRow& row) {
        if (row.worker != slow.worker) return;
        for (Cause cause : {Cause::read, Cause::decode, Cause::augment, Cause::opaque})
          sum += row.stall[cause];
      },
      rank.warmup_steps);
  return rank.window() > 0 ? static_cast<double>(sum) / static_cast<double>(rank.window()) : 0;
}

Cause largest_stall(const Account& account) {
  const auto largest = std::max_element(account.stall.begin(), account.stall.end());
  return static_cast<Cause>(largest - account.stall.begin());
}

// Returns the stage with the name of the cause; nothing if there is none.
std::optional<Stage> cause_stage(Cause cause) {
  for (const auto& word : Words<Stage>::table()) {
    if (word.name == name_of(cause)) return word.value;
  }
  return std::nullopt;
}

// Returns ": read takes 40.00 ms there, on the others 0 ns" if it takes longer there.
std::string times_against_others(const RunRecord& record, const std::vector<std::size_t>& slow,
                                 Cause cause) {
  const std::optional<Stage> stage = cause_stage(cause);
  if (!stage) return "";
  StageStats own, others;
  for (std::size_t rank = 0; rank < record.ranks.size(); ++rank) {
    const bool is_slow = std::find(slow.begin(), slow.end(), rank) != slow.end();
    (is_slow ? own : others).merge(record.ranks[rank].stages[*stage]);
  }
  const auto mean = [](const StageStats& stats) {
    return stats.count > 0 ? (stats.wall - stats.queued) / stats.count : 0;
  };
  if (static_cast<double>(mean(own)) < kSlower * static_cast<double>(mean(others)) ||
      mean(own) <= 0)
    return "";
  return fmt::format(": {} takes {} there and {} on the others", name_of(*stage),
                     format_duration(mean(own)), format_duration(mean(others)));
}

std::string what_to_look_at(const FindingInput& facts, bool is_network, const std::string& names,
                            bool is_one) {
  if (is_network)
    return "look at the network between the processes of the job: notifications of every step go "
           "over it";
  return fmt::format(
      "look at what {} {} to {}: {} part of the data, {} disk, {} cores{}", names,
      is_one ? "has" : "have", is_one ? "itself" : "themselves", is_one ? "its" : "their",
      is_one ? "its" : "their", is_one ? "its" : "their",
      facts.has_gpu() ? fmt::format(", {} GPU's link", is_one ? "its" : "their") : "");
}

}  // namespace

// Returns the mean over all ranks, for any subject.
double waited_for_ranks(const FindingInput& facts) {
  const Account mean = mean_account(facts.analysis.rank_accounts);
  return window_share(mean.waiting_for_ranks, mean);
}

std::optional<Candidate> straggler_rank(const FindingInput& facts) {
  const std::vector<Account>& ranks = facts.analysis.rank_accounts;
  const std::vector<std::size_t> slow = ranks_waited_for(facts.record, facts.analysis);
  if (slow.empty()) return std::nullopt;
  double most = 0;
  for (const Account& rank : ranks)
    most = std::max(most, window_share(rank.waiting_for_ranks, rank));
  std::vector<Account> own;
  for (const std::size_t rank : slow) own.push_back(ranks[rank]);
  const Account mean = mean_account(own);
  const Cause cause = largest_stall(mean);
  const std::string names = describe_ranks(slow);
  const bool is_one = slow.size() == 1;
  return Candidate{
      fmt::format("{} {}: the others wait up to {} of the time for {}, and {} mostly for {} ({}){}",
                  names, is_one ? "is the straggler" : "are the stragglers", format_percent(most),
                  is_one ? "it" : "them", is_one ? "it waits" : "they wait",
                  describe_cause(cause, facts.record, mean),
                  format_percent(window_share(mean.stall[cause], mean)),
                  times_against_others(facts.record, slow, cause)),
      {},
      what_to_look_at(facts, cause == Cause::launch && waits_for_notifications(facts.record, mean),
                      names, is_one)};
}

double waited_for_slow_worker(const FindingInput& facts) {
  const std::optional<SlowWorker> slow = slow_worker(facts);
  return slow ? waited_for(facts, *slow) : 0;
}

std::optional<Candidate> straggler_worker(const FindingInput& facts) {
  const std::optional<SlowWorker> slow = slow_worker(facts);
  if (!slow) return std::nullopt;
  const double waited = waited_for(facts, *slow);
  if (waited < kMuchWaiting) return std::nullopt;
  const std::string whose =
      facts.record.ranks.size() > 1 ? fmt::format(" of rank {}", slow->rank) : "";
  return Candidate{
      fmt::format("worker {}{} takes {} for a {}, the others {}: {} of the time", slow->worker,
                  whose, format_duration(std::llround(slow->own.mean())),
                  slow->are_batches ? "batch" : "sample",
                  format_duration(std::llround(slow->others.mean())), format_percent(waited)),
      {},
      fmt::format("look at what worker {} has to itself: its shards, samples that recur, the core "
                  "that it is bound to",
                  slow->worker)};
}

}  // namespace loaderscope

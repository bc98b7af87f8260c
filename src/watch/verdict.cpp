// The limit of a watched job, in the words of the account, as far as it is visible from outside.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/wording.h"
#include "watch/watch.h"

namespace loaderscope::watch {
namespace {

constexpr double kHardly = 0.05;     // share of the time: a trainer that waits less has no slow
                                     // loader
constexpr double kRests = 0.5;       // share of a worker's time
constexpr double kMuch = 0.15;       // share of a worker's time, without a core
constexpr double kThrottled = 0.05;  // share of the time
constexpr double kUnseen = 0.5;      // share of the time, waiting for invisible objects
constexpr double kFewSeconds = 3;

constexpr std::string_view kLimits[] = {"unknown", "trainer",    "cpu",   "storage",  "network",
                                        "waits",   "contention", "quota", "handover", "hang"};

struct Verdict {
  Limit limit;
  std::string sentence, advice;
};

// The mean over the trainers.
template <class Share>
double trainer_mean(const Watch& watch, const Share& share) {
  double sum = 0, trainers = 0;
  for (const WatchedProcess& process : watch.processes) {
    if (process.role != Role::trainer) continue;
    sum += share(process.shares);
    ++trainers;
  }
  return trainers > 0 ? sum / trainers : 0;
}

// The device may wait for that too.
double trainers_without_core(const Watch& watch) {
  return trainer_mean(watch, [](const Shares& shares) { return shares.no_core; });
}

std::string waits_for_batches(const Watch& watch) {
  if (!watch.waits.is_known) return "Whether the trainer waits is not known";
  const double no_core = trainers_without_core(watch);
  return fmt::format(
      "The trainer waits for batches {} of the time{}", format_percent(watch.waits.share),
      no_core < kHardly ? "" : fmt::format(" and for a core {}", format_percent(no_core)));
}

std::string names_of_others(const Watch& watch) {
  std::string names;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, watch.machine.others.size()); ++i)
    names += fmt::format("{}{} {:.2g}", i == 0 ? "" : ", ", watch.machine.others[i].name,
                         watch.machine.others[i].cores);
  return names;
}

// A quota leaves others alone: what is left of it is what the job itself does not use.
bool is_quota_the_limit(const WatchedMachine& machine) {
  return machine.quota && *machine.quota <= machine.cores;
}

// Cores as the screen shows them: with one decimal.
double shown_cores(double cores) { return std::round(10 * cores) / 10; }

// The idle cores by the figures of the screen, so that no sentence contradicts them.
double idle_cores(const Watch& watch) {
  const WatchedMachine& machine = watch.machine;
  const double used = is_quota_the_limit(machine)
                          ? shown_cores(machine.busy_cores) - shown_cores(machine.other_cores)
                          : shown_cores(machine.busy_cores);
  return std::max(0.0, shown_cores(machine.cores) - used);
}

// The num_workers of each trainer, as far as it was seen.
std::int64_t workers_of_trainer(const Watch& watch) {
  std::int64_t workers = 1;
  for (const WatchedProcess& process : watch.processes) {
    if (process.role == Role::worker) workers = std::max(workers, process.number + 1);
  }
  return workers;
}

// Returns the number of workers for the idle cores of a trainer, but no more than end its wait.
std::int64_t more_workers_of_trainer(const Watch& watch, double idle_of_trainer) {
  const double core_of_worker = std::max(0.1, watch.workers.activity_share(ThreadActivity::runs));
  const auto workers = static_cast<double>(workers_of_trainer(watch));
  const double computing = std::max(0.1, 1 - watch.waits.share);
  const double wanted = watch.waits.is_known ? std::ceil(workers / computing) - workers : 1;
  return std::llround(
      std::max(1.0, std::min(wanted, std::floor(idle_of_trainer / core_of_worker))));
}

std::string more_workers(const Watch& watch) {
  constexpr double kEnoughIdle = 0.3, kNoneIdle = 0.1, kMuchOfOthers = 0.5;  // cores
  const double idle = idle_cores(watch);
  const auto trainers = static_cast<double>(std::max<std::int64_t>(1, watch.count(Role::trainer)));
  const std::string cores = format_cores(watch.machine.cores);
  if (idle / trainers >= kEnoughIdle)
    return fmt::format("num_workers={}{}: {:.1f} of {} are idle",
                       workers_of_trainer(watch) + more_workers_of_trainer(watch, idle / trainers),
                       trainers > 1 ? " of each rank" : "", idle, cores);
  const std::string few =
      idle < kNoneIdle ? "no core is idle" : fmt::format("only {:.1f} of {} are idle", idle, cores);
  return watch.machine.other_cores >= kMuchOfOthers
             ? fmt::format(
                   "fewer other programs ({:.1f} of {} are theirs): {}, and more workers "
                   "would only share the cores with them",
                   watch.machine.other_cores, cores, few)
             : fmt::format("less work per sample, or more cores: {}", few);
}

// Returns false if workers live shorter than the interval of samples: each is in at most one
// sample.
bool are_workers_seen(const Watch& watch) { return watch.workers_watched_s >= 1; }

Verdict short_lived_workers(const Watch& watch) {
  return {
      Limit::unknown,
      fmt::format("{}; the reason is not known: {} came and went, too quickly to be seen",
                  waits_for_batches(watch), plural(watch.workers_seen, "worker")),
      "persistent_workers=True: epochs start new workers now; --interval 0.2s sees shorter ones"};
}

Verdict trainer_limits(const Watch& watch) {
  std::string sentence =
      fmt::format("The training itself is the limit: {} of the time it waits for batches",
                  format_percent(watch.waits.share));
  if (are_workers_seen(watch))
    sentence += fmt::format(", and workers rest {} of theirs",
                            format_percent(watch.workers.activity_share(ThreadActivity::queue)));
  return {Limit::trainer, std::move(sentence), ""};
}

// Workers rest where a training takes their batches too slowly.
Verdict trainer_that_is_not_seen(double unseen) {
  return {Limit::unknown,
          fmt::format("Cannot tell: the trainer waits {} of the time for what is no batch and not "
                      "the training, and workers never rest",
                      format_percent(unseen)),
          "loaderscope run -- COMMAND measures the loop from inside"};
}

// `lost`: who is ready and has no core.
Verdict no_cores(const Watch& watch, const std::string& lost) {
  if (watch.machine.throttled.value_or(0) >= kThrottled)
    return {Limit::quota,
            fmt::format("{}: the quota of {} holds them back", lost,
                        format_cores(watch.machine.quota.value_or(watch.machine.cores))),
            "fewer workers or threads, or a larger quota (Kubernetes limits.cpu, docker --cpus)"};
  const bool stopped =
      is_quota_the_limit(watch.machine) && watch.machine.throttled.value_or(0) >= kMinReportedShare;
  if (!stopped && watch.machine.other_cores >= 0.1 * std::max(1.0, watch.machine.cores)) {
    const std::string names = names_of_others(watch);
    return {
        Limit::contention,
        fmt::format("{}: other programs took {}{}", lost, format_cores(watch.machine.other_cores),
                    names.empty() ? "" : " (" + names + ")"),
        "end the other programs, or bind the job to cores of its own"};
  }
  constexpr double kSomeIdle = 0.3;  // cores
  return {Limit::contention,
          fmt::format("{}: {}the job has more threads that run than {}", lost,
                      idle_cores(watch) >= kSomeIdle ? "at times " : "",
                      format_cores(watch.machine.cores)),
          "fewer workers, or OMP_NUM_THREADS=1 in them"};
}

Verdict workers_without_cores(const Watch& watch) {
  return no_cores(watch,
                  fmt::format("{}: workers are ready and have no core {} of theirs",
                              waits_for_batches(watch), format_percent(watch.workers.no_core)));
}

// Shares of a worker's time: computing, sleeping and waiting for locks, storage, the network.
struct Busy {
  double computes, waits, storage, network;

  double most() const { return std::max({computes, waits, storage, network}); }
};

Busy busy_shares(const Shares& workers) {
  return {
      workers.activity_share(ThreadActivity::runs),
      workers.activity_share(ThreadActivity::sleep) + workers.activity_share(ThreadActivity::lock),
      workers.activity_share(ThreadActivity::storage),
      workers.activity_share(ThreadActivity::network)};
}

// Without a core for long, and for at least half as long as what they do most.
bool lack_cores(const Shares& workers) {
  return workers.no_core >= kMuch && 2 * workers.no_core >= busy_shares(workers).most();
}

std::string no_core_suffix(const Watch& watch) {
  if (watch.workers.no_core < kMuch) return "";
  const std::string names = names_of_others(watch);
  return fmt::format("; {} they have no core{}", format_percent(watch.workers.no_core),
                     names.empty() ? "" : " (others: " + names + ")");
}

// Workers that never rest: by what they do most.
Verdict busy_workers(const Watch& watch) {
  const std::string begin =
      fmt::format("{}: workers never rest (capacity)", waits_for_batches(watch));
  const Busy busy = busy_shares(watch.workers);
  const double most = busy.most();
  const auto sentence = [&](std::string_view what) {
    return fmt::format("{}, and {} {} of theirs{}", begin, what, format_percent(most),
                       no_core_suffix(watch));
  };
  if (most == busy.computes)
    return {Limit::cpu, sentence("compute (decode, augment, collate)"), more_workers(watch)};
  if (most == busy.storage)
    return {Limit::storage, sentence("wait for storage"),
            "a larger num_workers, as they wait and need no core; or fewer, larger files (data "
            "pack)"};
  if (most == busy.network)
    return {Limit::network, sentence("wait for the network"),
            "a larger num_workers, as they wait and need no core; or requests in parallel"};
  return {Limit::waits, sentence("sleep or wait for locks"),
          "a larger num_workers helps against sleeps, and not against a lock that they share"};
}

Verdict find_verdict(const Watch& watch) {
  if (!watch.hang_states.empty()) return {Limit::hang, watch.hang_states.front(), ""};
  if (watch.workers_seen == 0)
    return {Limit::unknown, "Cannot tell: " + watch.waits.basis,
            "loaderscope run -- COMMAND measures such a loop from inside"};
  if (watch.watched_s < kFewSeconds)
    return {Limit::unknown, fmt::format("Cannot tell yet: watched for {:.1f} s", watch.watched_s),
            "watch it for 10 s or longer"};
  if (watch.workers.activity_share(ThreadActivity::other) >= kUnseen)
    return {
        Limit::unknown,
        fmt::format("Cannot tell: workers wait {} of the time for what cannot be seen from here",
                    format_percent(watch.workers.activity_share(ThreadActivity::other))),
        "watch it as its own user, or as root"};
  const double rests = watch.workers.activity_share(ThreadActivity::queue);
  if (watch.waits.is_known && watch.waits.share < kHardly) {
    const double unseen = trainer_mean(
        watch, [](const Shares& shares) { return shares.activity_share(ThreadActivity::other); });
    if (unseen >= kUnseen && rests < kHardly) return trainer_that_is_not_seen(unseen);
    return trainers_without_core(watch) >= kMuch ? no_cores(watch, waits_for_batches(watch))
                                                 : trainer_limits(watch);
  }
  if (!are_workers_seen(watch)) return short_lived_workers(watch);
  if (!watch.waits.is_known && rests >= kRests)
    return {Limit::trainer,
            fmt::format("The training itself is likely the limit: workers rest {} of the time",
                        format_percent(rests)),
            ""};
  if (lack_cores(watch.workers)) return workers_without_cores(watch);
  if (rests >= kRests)
    return {
        Limit::handover,
        fmt::format("{}, though workers rest {} of theirs: batches wait on their way (receiving, "
                    "pin thread), for one slow worker, or for an epoch to begin",
                    waits_for_batches(watch), format_percent(rests)),
        "loaderscope run -- COMMAND distinguishes these"};
  return busy_workers(watch);
}

}  // namespace

std::string_view name_of(Limit limit) { return kLimits[static_cast<std::size_t>(limit)]; }

const std::vector<std::string_view>& limit_names() {
  static const std::vector<std::string_view> names(std::begin(kLimits), std::end(kLimits));
  return names;
}

void judge(Watch& watch) {
  watch.thresholds = judge_thresholds(watch);
  Verdict verdict = find_verdict(watch);
  watch.limit = verdict.limit;
  watch.sentence = std::move(verdict.sentence);
  watch.advice = std::move(verdict.advice);
}

}  // namespace loaderscope::watch

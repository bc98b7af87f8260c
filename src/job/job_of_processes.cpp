#include "job/job_of_processes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "job/exit_watchdog.h"
#include "loaderscope/errors.h"
#include "record/family_traits.h"
#include "record/partial_run.h"
#include "record/rank_waits.h"
#include "settings/engine_table.h"

namespace loaderscope {
namespace {

void check_part(const RunConfig& config, const ProcessAddress& place) {
  if (engine_kind(config.engine.value) != EngineKind::native)
    throw UsageError(
        fmt::format("--rendezvous: engine {} is run by one process", config.engine.value),
        "leave it out, and bring records of several together with 'loaderscope merge'");
  if (config.answer.prove != Prove::off)
    throw UsageError("--rendezvous: a job of several processes is run once",
                     "leave out --prove and --try, or give them to one process");
  if (config.trainer.ranks % place.processes != 0)
    throw UsageError(fmt::format("--ranks {}: {} processes cannot have as many each",
                                 config.trainer.ranks.value, place.processes),
                     fmt::format("give a multiple of {}", place.processes));
  if (!config.trainer.sync_ranks) return;
  if (device_kind(config.trainer.device.value) == DeviceKind::gpu)
    throw UsageError("--rendezvous: steps of real GPUs do not meet over processes yet",
                     "give --no-sync-ranks, or --device sim");
  if (config.makes_on_device())
    throw UsageError("--rendezvous: steps do not meet over processes if the device makes batches",
                     "give --no-sync-ranks, or leave out --decode and --augment-on");
  if (config.measure.epochs > 0)
    throw UsageError("--rendezvous: with --sync-ranks a job has no --epochs",
                     "give --steps or --duration");
}

// Injections name ranks of the job.
RunConfig process_config(const RunConfig& config, std::int64_t first, std::int64_t ranks) {
  RunConfig part = config;
  part.trainer.ranks.value = ranks;
  std::erase_if(part.declared.inject.value, [&](const Injection& one) {
    return one.rank && (*one.rank < first || *one.rank >= first + ranks);
  });
  for (Injection& one : part.declared.inject.value)
    if (one.rank) one.rank = static_cast<std::int32_t>(*one.rank - first);
  return part;
}

// With a barrier all end a step together; without, each may wait for a batch as long as --timeout
// lets it.
Rendezvous::Timeouts rendezvous_timeouts(const RunConfig& config, Nanos wait) {
  Rendezvous::Timeouts patience;
  patience.join = wait;
  if (!config.trainer.sync_ranks) patience.progress += config.measure.timeout;
  return patience;
}

constexpr Nanos kYear = 365 * 24 * 3600 * kSecond;

// Limit of silence. A program may end hours before the program of another host, and may pause for
// any time.
constexpr Nanos kMaxSilence = 120 * kSecond;

void say(const std::string& words) {
  std::fprintf(stderr, "loaderscope: %s\n", words.c_str());
  std::fflush(stderr);
}

}  // namespace

JobOfProcesses::JobOfProcesses(const RunConfig& config, const MachineFacts& machine,
                               ProcessAddress place, Nanos wait,
                               const std::atomic<int>& stop_signal)
    : config_(config), stop_signal_(stop_signal) {
  check_part(config, place);
  const std::int64_t ranks = config.trainer.ranks / place.processes;
  meeting_ = std::make_unique<Rendezvous>(std::move(place), make_hello(config, machine, ranks),
                                          rendezvous_timeouts(config, wait), &stop_signal);
  part_ = process_config(config, meeting_->first_rank(), ranks);
}

void JobOfProcesses::prepare(RunContext& context) {
  LocalRanks& part = context.native.local_ranks;
  part.first_rank = meeting_->first_rank();
  part.ranks = meeting_->ranks();
  if (!meeting_->is_first()) context.on_progress = nullptr;
  part.has_ended = [this](std::int64_t steps) { return meeting_->is_over(steps); };
  if (!config_.trainer.sync_ranks) return;
  context.observer = nullptr;  // an account without the waits for other ranks would be wrong
  if (meeting_->is_first()) {
    part.publish_window = [this](const SharedWindow& window) {
      meeting_->publish_window({window.folded, window.first_measured, window.ended});
    };
  } else {
    part.window = [this] {
      const Rendezvous::Window window = meeting_->window();
      return SharedWindow{window.folded, window.first_measured, window.ended};
    };
  }
  if (device_kind(config_.trainer.device.value) != DeviceKind::simulated) return;
  context.native.make_devices = [this](const RunConfig& config, const std::atomic<int>& stop) {
    return make_barrier_devices(config, stop, *this);
  };
}

// Adds the process that the job waited for, if the failure is a late step.
std::string JobOfProcesses::with_awaited(const std::string& failure) {
  const std::string awaited = failure.starts_with(kNoBatchCame) ? meeting_->awaited() : "";
  return awaited.empty() ? failure : failure + "; it waited for " + awaited;
}

// Returns what was measured until the end or a failure. Reports a failure to the other processes.
RunRecord JobOfProcesses::own_record(const Measure& measure, std::string& failure) {
  const ExitWatchdog watch(
      {[this] { return meeting_->failure(); },
       [this](const std::string& why) { meeting_->give_up(why); }, config_.measure.timeout},
      stop_signal_);
  try {
    return measure(part_);
  } catch (const PartialRunError& broken) {
    failure = with_awaited(broken.what());
    meeting_->give_up(failure);
    return std::move(*broken.record);
  } catch (const RunError& error) {
    failure = with_awaited(error.what());
    meeting_->give_up(failure);
    throw RunError(failure);
  } catch (const std::exception& error) {
    meeting_->give_up(error.what());
    throw;
  }
}

std::optional<JobAnswer> JobOfProcesses::run(const Measure& measure) {
  std::string failure;
  RunRecord own = own_record(measure, failure);
  own.config = config_;
  own.config.trainer.ranks.value = std::ssize(own.ranks);
  if (config_.trainer.sync_ranks) {
    meeting_->end_after(own.ranks.front().rows.size());
  } else if (own.interrupted) {
    meeting_->end_after(0);  // every process ends at its current step
  }
  bring_onto_first_clock(*meeting_, own, failure);
  if (meeting_->is_first()) {
    return gather_records(*meeting_, {std::move(own), std::move(failure)}, [this](RunRecord& job) {
      if (config_.trainer.sync_ranks) book_process_waits(job);
    });
  }
  hand_over(*meeting_, own);
  if (failure.empty()) failure = meeting_->failure();
  if (!failure.empty()) throw RunError(failure);
  return std::nullopt;
}

JobOfPrograms::JobOfPrograms(const RunConfig& config, const MachineFacts& machine,
                             ProcessAddress place, Nanos wait, const StopSignal& stop) {
  if (config.answer.prove != Prove::off)
    throw UsageError("--rendezvous: a program of several hosts is run once",
                     "leave out --prove and --try");
  try {
    meeting_ = std::make_unique<Rendezvous>(std::move(place), make_hello(config, machine, 1),
                                            Rendezvous::Timeouts{wait, kMaxSilence, kYear}, &stop);
  } catch (const RunError& error) {
    if (stop != 0) throw;
    failure_ = error.what();
    say(failure_ + "; the program runs all the same, and its own part is measured");
  }
}

std::optional<JobAnswer> JobOfPrograms::bring_together(JobAnswer own, const StopSignal& stop) {
  if (meeting_ == nullptr) {
    if (own.failure.empty()) own.failure = failure_;
    return own;
  }
  bring_onto_first_clock(*meeting_, own.record, own.failure);
  if (meeting_->is_first()) {
    say("waits for what the other hosts have measured; Ctrl-C leaves out who still runs");
    return gather_records(*meeting_, std::move(own), book_waits_of_programs, &stop);
  }
  try {
    loaderscope::hand_over(*meeting_, own.record);
    return std::nullopt;
  } catch (const RunError& error) {
    if (own.failure.empty()) own.failure = error.what();
    return own;
  }
}

void JobOfPrograms::give_up(const std::string& why) {
  if (meeting_ != nullptr) meeting_->give_up(why);
}

}  // namespace loaderscope

#include "cli/job_of_processes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "cli/version_text.h"
#include "loaderscope/analysis.h"
#include "loaderscope/errors.h"
#include "loaderscope/settings.h"
#include "record/broken_off.h"
#include "record/merge_records.h"
#include "record/process_waits.h"
#include "record/shift_times.h"
#include "report/results.h"
#include "report/schemas.h"
#include "settings/engine_table.h"
#include "settings/join_settings.h"

namespace loaderscope {
namespace {

std::string settings_of_job(const RunConfig& config) {
  std::string text;
  for (const Field& field : fields()) {
    const bool is_own = is_of_each_host(field) && field.name != "ranks";
    if (is_own || field.name == "device" || !field.given(config)) continue;
    text += fmt::format("{} = {}\n", field.name, fmt::join(field.texts(config), " "));
  }
  return text + fmt::format("device = {}\n", config.trainer.device.value);  // as resolved
}

void check_part(const RunConfig& config, const JobPlace& place) {
  if (engine_row(config.engine.value).kind != EngineKind::native)
    throw UsageError(
        fmt::format("--rendezvous: engine {} is run by one process; leave it out, and "
                    "bring records of several together with 'loaderscope merge'",
                    config.engine.value));
  if (config.answer.prove != Prove::off)
    throw UsageError(
        "--rendezvous: a job of several processes is run once; leave out --prove and --try, or "
        "give them to one process");
  if (config.trainer.ranks % place.processes != 0)
    throw UsageError(
        fmt::format("--ranks {}: {} processes cannot have as many each; give a "
                    "multiple of {}",
                    config.trainer.ranks.value, place.processes, place.processes));
  if (!config.trainer.sync_ranks) return;
  if (device_kind(config.trainer.device.value) == DeviceKind::gpu)
    throw UsageError(
        "--rendezvous: steps of real GPUs do not meet over processes yet; give --no-sync-ranks, or "
        "--device sim");
  if (config.measure.epochs > 0)
    throw UsageError(
        "--rendezvous: with --sync-ranks a job has no --epochs; give --steps or --duration");
}

// Injections name ranks of the job.
RunConfig part_of(const RunConfig& config, std::int64_t first, std::int64_t ranks) {
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
Meeting::Patience patience_of(const RunConfig& config) {
  Meeting::Patience patience;
  if (!config.trainer.sync_ranks) patience.to_get_on += config.measure.timeout;
  return patience;
}

bool is_of_one_machine(const HostRecord& one, const HostRecord& other) {
  return one.machine.host && one.machine.host == other.machine.host;
}

// As the kernel lists this process.
std::string own_name() {
  char name[16] = "";
  ::prctl(PR_GET_NAME, name);
  return name;
}

// Processes of one host that stand side by side are one host of the job.
void join_hosts(RunRecord& job) {
  std::vector<HostRecord> joined;
  for (auto host = job.hosts.begin(); host != job.hosts.end();) {
    const auto end = std::find_if(host, job.hosts.end(), [&](const HostRecord& other) {
      return !is_of_one_machine(*host, other);
    });
    const std::vector<HostRecord> processes(host, std::max(end, host + 1));
    HostRecord whole = processes.front();
    if (processes.size() > 1) whole.metrics = metrics_of_processes(processes);
    whole.ranks = 0;
    for (const HostRecord& process : processes) {
      whole.ranks += process.ranks;
      whole.clock_error = std::max(whole.clock_error, process.clock_error);
      if (whole.ended_early.empty()) whole.ended_early = process.ended_early;
    }
    joined.push_back(std::move(whole));
    host += std::ssize(processes);
  }
  if (joined.size() < job.hosts.size()) {
    std::erase_if(job.details, [own = own_name()](const Detail& detail) {
      return detail.about == "host.other_cpu_s" && detail.text == own;
    });
    job.metrics = metrics_of_hosts(joined);
  }
  job.hosts = std::move(joined);
  if (job.hosts.size() == 1) job.hosts.clear();
}

}  // namespace

JobPlace own_place_in_job() {
  return place_in_job([](const char* name) { return std::getenv(name); });
}

JobOfProcesses::JobOfProcesses(const RunConfig& config, const MachineFacts& machine,
                               const JobPlace& place, const std::atomic<int>& stop_signal)
    : config_(config) {
  check_part(config, place);
  const std::int64_t ranks = config.trainer.ranks / place.processes;
  meeting_ = std::make_unique<Meeting>(
      place,
      Introduction{version_number(), machine.host.value_or("a host without a name"),
                   settings_of_job(config), ranks},
      patience_of(config), &stop_signal);
  part_ = part_of(config, meeting_->first_rank(), ranks);
}

void JobOfProcesses::prepare(EngineContext& context) {
  JobPart& part = context.part;
  part.first_rank = meeting_->first_rank();
  part.ranks = meeting_->ranks();
  if (!meeting_->is_first()) context.on_progress = nullptr;
  if (!config_.trainer.sync_ranks) {
    part.has_ended = [this](std::int64_t steps) {
      meeting_->is_over(steps);  // which says that they get on
      return !meeting_->failure().empty();
    };
    return;
  }
  context.observer = nullptr;  // what is booked before the waits for others are is no answer
  part.has_ended = [this](std::int64_t steps) { return meeting_->is_over(steps); };
  if (meeting_->is_first()) {
    part.tell_window = [this](const CommonWindow& window) {
      meeting_->tell_window({window.folded, window.first_measured, window.ended});
    };
  } else {
    part.window = [this] {
      const Meeting::Window window = meeting_->window();
      return CommonWindow{window.folded, window.first_measured, window.ended};
    };
  }
  if (device_kind(config_.trainer.device.value) != DeviceKind::simulated) return;
  context.make_devices = [this](const RunConfig& config, const std::atomic<int>& stop) {
    return make_gated_devices(config, stop, *this);
  };
}

// With what was measured until a failure, of which the others are told.
RunRecord JobOfProcesses::own_record(const Measure& measure, std::string& failure) {
  try {
    return measure(part_);
  } catch (const BrokenOff& broken) {
    failure = broken.what();
    if (const std::string awaited = meeting_->awaited(); !awaited.empty())
      failure += "; it waited for " + awaited;
    meeting_->give_up(failure);
    return std::move(*broken.record);
  } catch (const std::exception& error) {
    meeting_->give_up(error.what());
    throw;
  }
}

void JobOfProcesses::add_drift(HostRecord& host) {
  if (meeting_->is_first()) return;
  const ClockDifference before = meeting_->clock();
  try {
    const ClockDifference after = meeting_->compare_clocks();
    const Nanos drift = after.offset - before.offset;
    // What it has drifted by is not known better than that.
    host.clock_error = std::max(before.error, after.error) + std::abs(drift);
    host.metrics.push_back({"clock.drift_s", "s",
                            "the clock has gained on the first host's during the run",
                            seconds(drift)});
  } catch (const RunError&) {
    // The job has failed: it is not known.
  }
}

void JobOfProcesses::bring_onto_first_clock(RunRecord& own, const std::string& failure) {
  HostRecord host;
  host.machine = own.machine;
  host.ranks = std::ssize(own.ranks);
  host.metrics = std::exchange(own.metrics, {});
  host.ended_early = own.interrupted && failure.empty() ? "interrupted" : failure;
  const ClockDifference before = meeting_->clock();
  host.clock_offset = before.offset;
  host.clock_error = before.error;
  add_drift(host);
  for (RankRecord& rank : own.ranks) shift_times(rank, -before.offset);
  own.hosts.push_back(std::move(host));
}

void JobOfProcesses::hand_over(const RunRecord& own) {
  std::ostringstream out;
  write_json(out, result_of(own, analyse(own)));
  meeting_->hand_over(out.str());
}

// What is no part of the job is left out of it, and said.
RunRecord JobOfProcesses::gather(RunRecord own, std::string& failure) {
  RecordMerge merge(join_settings, true);
  merge.add(std::move(own), meeting_->name_of(0));
  meeting_->gather([&](std::int64_t process, const std::string& bytes) {
    const std::string name = meeting_->name_of(process);
    if (bytes.empty()) return;
    try {
      merge.add(parse_result(bytes, name).record, name);
    } catch (const RunError& error) {
      if (failure.empty()) failure = fmt::format("rendezvous: {}", error.what());
    }
  });
  RunRecord job = merge.take();
  if (config_.trainer.sync_ranks) book_process_waits(job);
  join_hosts(job);
  job.config.answer = config_.answer;
  return job;
}

std::optional<JobOfProcesses::Answer> JobOfProcesses::run(const Measure& measure) {
  std::string failure;
  RunRecord own = own_record(measure, failure);
  own.config = config_;
  own.config.trainer.ranks.value = std::ssize(own.ranks);
  if (config_.trainer.sync_ranks) meeting_->end_after(own.ranks.front().rows.size());
  bring_onto_first_clock(own, failure);
  if (meeting_->is_first()) {
    RunRecord job = gather(std::move(own), failure);
    if (failure.empty()) failure = meeting_->failure();
    job.interrupted |= !failure.empty();
    return Answer{std::move(job), failure};
  }
  hand_over(own);
  if (failure.empty()) failure = meeting_->failure();
  if (!failure.empty()) throw RunError(failure);
  return std::nullopt;
}

}  // namespace loaderscope

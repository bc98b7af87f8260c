#include "cli/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "base/cpu_set.h"
#include "base/thread_meter.h"
#include "cli/progress.h"
#include "cli/run_monitor.h"
#include "device/cuda/gpu_link.h"
#include "experiment/prediction_history.h"
#include "job/exit_watchdog.h"
#include "job/job_of_processes.h"
#include "job/version_text.h"
#include "loaderscope/device.h"
#include "machine/gpu_sampler.h"
#include "predict/proof_runs.h"
#include "record/family_traits.h"
#include "record/partial_run.h"
#include "settings/engine_table.h"
#include "source/cache_folder.h"

namespace loaderscope {
namespace {

void complete(RunRecord& record, const MachineFacts& machine,
              const std::vector<std::string>& notes) {
  record.machine = machine;
  record.tool_version = version_number();
  record.notes.insert(record.notes.begin(), notes.begin(), notes.end());
}

bool may_use_gpus(const RunConfig& config) {
  const DeviceKind kind = device_kind(config.trainer.device.value);
  return !is_model_engine(config.engine.value) &&
         (kind == DeviceKind::gpu || kind == DeviceKind::program);
}

// Adds metrics of the group that the engine has not set.
void add_missing(std::vector<Metric>& metrics, std::vector<Metric> more, std::string_view group) {
  for (Metric& metric : more) {
    if (metric.name.starts_with(group) && !value_of(metrics, metric.name))
      metrics.push_back(std::move(metric));
  }
}

// Adds the GPU load of this process and of the programs that it starts.
void add_gpu_load(const GpuSampler& watch, RunRecord& record) {
  if (record.ranks.empty()) return;
  Nanos begin = record.ranks.front().window_begin, end = begin;
  for (const RankRecord& rank : record.ranks) {
    begin = std::min(begin, rank.window_begin);
    end = std::max(end, rank.window_end);
  }
  const std::vector<GpuSample> samples = samples_of_job(watch.samples(), begin, end);
  std::vector<std::string> addresses;
  for (const GpuSample& sample : samples) {
    if (!sample.address.empty()) addresses.push_back(sample.address);
  }
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  const std::vector<Metric> metrics = gpu_load_metrics(samples);
  add_missing(record.metrics, metrics, "gpu.");
  if (!value_of(record.metrics, metric::link_width)) add_missing(record.metrics, metrics, "link.");
  add_missing(record.metrics, weakest_link_metrics("/", addresses, allowed_cpus()), "numa.");
}

void remember(const Proof& proof) {
  if (proof.exact || proof.interrupted) return;
  const PredictionHistory history(source::user_cache_folder());
  for (const ProofCase& proof_case : proof.cases) {
    if (!proof_case.predicted || proof_case.runs.empty()) continue;
    history.add(proof_case.predicted->after.samples_per_s,
                proof_outcome(proof, proof_case).samples_per_s.mean);
  }
}

void say_second_run() {
  std::fputs(
      "loaderscope: --prove runs the command again, alternates its loader with batches that it had "
      "before, and ends it\n",
      stderr);
}

// "90 s", "4 min"
std::string format_about(Nanos time) {
  constexpr std::int64_t kFewSeconds = 120;
  const std::int64_t s = (time + kSecond - 1) / kSecond;
  return s <= kFewSeconds ? fmt::format("{} s", s) : fmt::format("{} min", (s + 59) / 60);
}

void say_more_runs(const TrialPlan& plan, bool is_program) {
  const std::string text =
      fmt::format("loaderscope: testing {} with {} short runs{} of {}, about {}\n",
                  changes_to_text(plan.changes), plan.runs, is_program ? " of your program" : "",
                  plural(plan.steps, "step"), format_about(plan.time));
  std::fputs(text.c_str(), stderr);
}

}  // namespace

RunRecord measure(const RunConfig& config, const MachineFacts& machine,
                  const std::vector<std::string>& notes, const std::atomic<int>& stop_signal,
                  const Knockouts& knockouts, const ReplaySchedule* replay, JobOfProcesses* job,
                  const monitor::ExportOptions* exports) {
  using Terminal = ProgressPrinter::Terminal;
  const bool prints = config.program.command.given;
  ProgressPrinter progress("steps", prints ? Terminal::shared : Terminal::own);
  RunContext context;
  context.stop_signal = &stop_signal;
  context.knockouts = knockouts;
  context.guest.replay = replay;
  std::optional<RunMonitor> monitor;
  if (exports != nullptr && exports->is_on())
    monitor.emplace(*exports, is_guest_engine(config.engine.value));
  RunningAccountObserver booked;
  if (ProgressPrinter::shows() || monitor) context.observer = &booked;
  context.on_progress = [&](const Progress& p) {
    const RunningAccount& account = p.account != nullptr ? *p.account : booked.account();
    if (monitor) monitor->note(account);
    progress.show(p.steps, p.fraction,
                  [&](std::size_t width) { return live_lines(account, width); });
  };
  if (job != nullptr) job->prepare(context);
  std::optional<GpuSampler> gpus;
  if (may_use_gpus(config)) gpus.emplace();
  close_output_where_threads_are_held();
  try {
    RunRecord record = run_engine(config, context);
    complete(record, machine, notes);
    if (gpus) add_gpu_load(*gpus, record);
    return record;
  } catch (const PartialRunError& broken) {
    complete(*broken.record, machine, notes);
    if (gpus) add_gpu_load(*gpus, *broken.record);
    throw;
  }
}

Nanos start_of_run(const RunRecord& record, Nanos begin, Nanos took) {
  if (record.ranks.empty()) return 0;
  const RankRecord& rank = record.ranks.front();
  const Nanos start = rank.window_begin - begin;
  return start > 0 && start < took ? start : std::max<Nanos>(0, took - rank.window());
}

Nanos budget_of_trial(const CommandFlags& own, const RunConfig& given) {
  constexpr Nanos kUsualBudget = 180 * kSecond;
  if (own.is_given("budget") && given.answer.prove != Prove::fix)
    own.refuse("budget", "is for the runs of --try, which is missing");
  const Nanos budget = own.value("budget", parse_duration, kUsualBudget);
  if (budget <= 0) own.refuse("budget", "expected a time above 0, such as 3m");
  return budget;
}

void add_proof(Analysis& analysis, const RunRecord& record, const MachineFacts& machine,
               Trial trial, const std::atomic<int>& stop_signal) {
  trial.now = monotonic_now;
  trial.announce = [&](const TrialPlan& plan) {
    say_more_runs(plan, record.config.program.command.given);
  };
  const auto measure_without = [&](const RunConfig& config, const Knockouts& knockouts) {
    return measure(config, machine, {}, stop_signal, knockouts);
  };
  const auto measure_turns = [&](const RunConfig& config, const ReplaySchedule& turns) {
    if (config.program.command.given) say_second_run();
    return measure(config, machine, {}, stop_signal, {}, &turns);
  };
  analysis.proof = prove(record.config.answer.prove, record, analysis, measure_without,
                         measure_turns, stop_signal, trial);
  remember(*analysis.proof);
}

}  // namespace loaderscope

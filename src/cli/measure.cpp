#include "cli/measure.h"

#include <algorithm>
#include <optional>

#include "base/cpu_set.h"
#include "cli/live_account.h"
#include "cli/progress.h"
#include "device/cuda/gpu_link.h"
#include "job/exit_watchdog.h"
#include "job/job_of_processes.h"
#include "job/version_text.h"
#include "loaderscope/engine.h"
#include "loaderscope/run_config.h"
#include "machine/gpu_sampler.h"
#include "record/family_traits.h"
#include "record/partial_run.h"

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

}  // namespace

RunRecord measure(const RunConfig& config, const MachineFacts& machine,
                  const std::vector<std::string>& notes, const std::atomic<int>& stop_signal,
                  const Knockouts& knockouts, const ReplaySchedule* replay, JobOfProcesses* job) {
  using Terminal = ProgressPrinter::Terminal;
  const bool prints = config.program.command.given;
  ProgressPrinter progress("steps", prints ? Terminal::shared : Terminal::own);
  RunContext context;
  context.stop_signal = &stop_signal;
  context.knockouts = knockouts;
  context.guest.replay = replay;
  RunningAccountObserver booked;
  if (ProgressPrinter::shows()) context.observer = &booked;
  context.on_progress = [&](const Progress& p) {
    const RunningAccount& account = p.account != nullptr ? *p.account : booked.account();
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

}  // namespace loaderscope

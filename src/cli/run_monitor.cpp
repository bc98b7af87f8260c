#include "cli/run_monitor.h"

#include <unistd.h>

#include <exception>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/sleep.h"
#include "base/thread_meter.h"
#include "machine/container.h"
#include "machine/gpu_load.h"
#include "machine/proc_file.h"
#include "watch/job_sampler.h"
#include "watch/recent_watch.h"
#include "watch/watch_metrics.h"

namespace loaderscope {
namespace {

using monitor::LiveMetric;
using monitor::LiveSamples;

LiveSamples with_job_label(pid_t pid) { return LiveSamples({{"pid", std::to_string(pid)}}); }

}  // namespace

RunMonitor::RunMonitor(const monitor::ExportOptions& options, bool is_program)
    : host_(options.host), is_program_(is_program), exporter_(options) {
  if (!exporter_.exports()) return;
  try {
    thread_ = std::thread([this, say = options.say] {
      try {
        is_program_ ? collect_program() : collect();
      } catch (const std::exception& error) {  // the measured program continues
        say(std::string("metrics stay as they are: ") + error.what());
      }
    });
  } catch (const std::system_error&) {
    options.say("no metrics: the machine has no thread left");
  }
}

RunMonitor::~RunMonitor() {
  stop_ = 1;
  if (thread_.joinable()) thread_.join();
}

void RunMonitor::note(const RunningAccount& account) {
  const std::lock_guard lock(mutex_);
  account_ = account;
}

RunningAccount RunMonitor::account() const {
  const std::lock_guard lock(mutex_);
  return account_;
}

// A run of the built-in loader is this process.
void RunMonitor::collect() {
  monitor::RecentAccount recent;
  watch::Watch self;
  self.program = "loaderscope";
  const JobIdentity identity = read_job_identity("/", ::getpid());
  for (bool is_last = false;;) {
    const RunningAccount now = account();
    LiveSamples samples = with_job_label(::getpid());
    samples.add(LiveMetric::job, 1, watch::job_labels(self, identity, host_));
    monitor::add_account_metrics(now, recent.add(monotonic_now(), now), samples);
    exporter_.board().set(::getpid(), std::move(samples));
    if (is_last) return;
    is_last = !sleep_until(monotonic_now() + kSecond, &stop_);
  }
}

// Reads the kernel's counters of the program's processes. Their activity is measured from inside.
void RunMonitor::collect_program() {
  constexpr Nanos kStart = kSecond / 20;
  std::vector<pid_t> children;
  while ((children = list_children(::getpid())).empty()) {
    if (!sleep_until(monotonic_now() + kStart, &stop_)) return;
  }
  const pid_t pid = children.front();
  const JobIdentity identity = read_job_identity("/", pid);
  const std::string program = watch::spelled_command("/", pid, "");
  const GpuLoads gpus;
  watch::JobSampler sampler("/", pid, ::getpid(), gpus);
  watch::RecentWatch recent_watch;
  monitor::RecentAccount recent_account;
  const Nanos begin = monotonic_now(), cpu_begin = thread_cpu_now();
  for (bool is_last = false;;) {
    const Nanos now = monotonic_now();
    sampler.sample(now);
    sampler.sample_gpus();
    watch::Watch watch = sampler.report();
    watch.program = program;
    if (now > begin) watch.own_cpu = seconds(thread_cpu_now() - cpu_begin) / seconds(now - begin);
    watch = recent_watch.add(watch);
    const RunningAccount booked = account();
    LiveSamples samples = with_job_label(pid);
    samples.add(LiveMetric::job, 1, watch::job_labels(watch, identity, host_));
    monitor::add_account_metrics(booked, recent_account.add(now, booked), samples);
    watch::add_process_metrics(watch, samples);
    exporter_.board().set(pid, std::move(samples));
    if (is_last) return;
    is_last = !sleep_until(monotonic_now() + kSecond, &stop_);
  }
}

}  // namespace loaderscope

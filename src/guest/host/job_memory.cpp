#include "guest/host/job_memory.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/thread_meter.h"
#include "machine/proc_file.h"

namespace loaderscope::guest {
namespace {

Bytes resident_bytes(pid_t process) {
  return kKibi * value_in(proc(process) + "/status", "VmRSS").value_or(0);
}

}  // namespace

void JobMemory::look(const std::vector<JobProcess>& processes, bool is_last) {
  const Nanos begin = monotonic_now();
  if (!is_last && !pace_.is_due(begin)) return;
  Bytes resident = 0, shared = 0;
  double of_trainers = 0, of_workers = 0;
  std::set<pid_t> trainers, workers;
  for (const JobProcess& process : processes) {
    const auto pages = values_in(proc(process.pid) + "/smaps_rollup",
                                 {"Pss", "Pss_Shmem", "Private_Clean", "Private_Dirty"});
    resident += kKibi * pages[0].value_or(0);
    shared += kKibi * pages[1].value_or(0);
    // One that is ending has no memory any more.
    const Bytes held = process.is_worker ? kKibi * (pages[2].value_or(0) + pages[3].value_or(0))
                                         : resident_bytes(process.pid);
    if (held == 0) continue;
    (process.is_worker ? workers : trainers).insert(process.pid);
    (process.is_worker ? of_workers : of_trainers) += static_cast<double>(held);
  }
  if (resident > 0) {  // 0: all processes have ended
    resident_ = resident;
    shared_ = shared;
  }
  pace_.looked(begin);
  // The others are not all that the job holds if some have just ended.
  if (trainers.size() < trainers_.size() || workers.size() < workers_.size()) return;
  const bool none_stayed = std::none_of(workers_.begin(), workers_.end(),
                                        [&](pid_t one) { return workers.contains(one); });
  restarted_ = restarted_ || (!workers_.empty() && none_stayed);
  trainers_ = std::move(trainers);
  workers_ = std::move(workers);
  private_of_workers_ = of_workers;
  growth_.note(begin, of_trainers + of_workers);
  growth_of_trainers_.note(begin, of_trainers);
}

std::vector<Metric> JobMemory::metrics(double batches, double window_s) const {
  std::vector<Metric> metrics;
  if (!workers_.empty()) {
    metrics.push_back(make_metric(metric::memory_worker_private_bytes,
                                  "what a worker does not share, the mean at the end of the window",
                                  private_of_workers_ / static_cast<double>(workers_.size())));
  }
  // A worker that ends gives back all that it has grown by.
  const auto slope = (restarted_ ? growth_of_trainers_ : growth_).bytes_per_second();
  if (!slope) return metrics;
  metrics.push_back(make_metric(metric::memory_growth_bytes_per_s,
                                restarted_
                                    ? "slope of the trainers' resident memory over the window"
                                    : "slope of resident memory over the window",
                                *slope));
  if (batches > 0) {
    metrics.push_back(make_metric(metric::memory_growth_bytes_per_batch, "the same per batch",
                                  *slope * window_s / batches));
  }
  return metrics;
}

}  // namespace loaderscope::guest

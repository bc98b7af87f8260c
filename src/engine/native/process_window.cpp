#include "engine/native/process_window.h"

#include <unistd.h>

#include <set>

namespace loaderscope::native {

// Workers whose parent was killed descend from it no longer.
OtherPrograms ProcessWindow::other_programs_now() const {
  const loaderscope::ProcessTable all = read_processes("/");
  std::set<pid_t> own = family_of(::getpid(), all);
  for (const pid_t worker : processes_().running) own.merge(family_of(worker, all));
  return {all, own};
}

void ProcessWindow::run_begins() {
  programs_before_ = other_programs_now();
  standstills_.emplace();
  may_begin();  // begin of a window without a warm-up
}

void ProcessWindow::may_begin() {
  if (begin_known_) return;
  begin_ = read_process_counters(processes_());
  begin_known_ = true;
}

void ProcessWindow::begins() {
  may_begin();
  memory_.restart();
}

void ProcessWindow::look() { memory_.look(processes_); }

void ProcessWindow::ends(std::int64_t loader_threads) {
  end_ = read_process_counters(processes_());
  other_programs_ = other_programs_now().since(*programs_before_);
  loader_threads_ = loader_threads;
}

std::vector<Metric> ProcessWindow::metrics(const RankRecord& first) const {
  std::vector<Metric> metrics = process_metrics(begin_, end_, memory_);
  metrics.push_back(make_metric(metric::process_loader_threads,
                                "of them, those of the loader and its trainers",
                                static_cast<double>(loader_threads_)));
  const Nanos still = standstills_->within(first.window_begin, first.window_end);
  metrics.push_back(make_metric(metric::host_standstill_s,
                                "of the window, this whole process was stopped or the machine was",
                                seconds(still)));
  return metrics;
}

}  // namespace loaderscope::native

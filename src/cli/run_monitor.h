// Live metrics of a run. One thread of its own collects them once a second.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>

#include "monitor/exporter.h"
#include "monitor/run_metrics.h"
#include "record/running_account.h"

namespace loaderscope {

class RunMonitor {
 public:
  // `is_program`: a program that this process starts is measured, and its processes are sampled.
  RunMonitor(const monitor::ExportOptions& options, bool is_program);
  ~RunMonitor();
  RunMonitor(const RunMonitor&) = delete;
  RunMonitor& operator=(const RunMonitor&) = delete;

  void note(const RunningAccount& account);  // callable from any thread

 private:
  void collect();
  void collect_program();
  RunningAccount account() const;

  std::string host_;
  bool is_program_;
  monitor::Exporter exporter_;
  mutable std::mutex mutex_;
  RunningAccount account_;
  std::atomic<int> stop_{0};
  std::thread thread_;
};

}  // namespace loaderscope

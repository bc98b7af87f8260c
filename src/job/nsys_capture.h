// run --nsys: a program recorded by Nsight Systems while it is measured.
#pragma once

#include <atomic>
#include <string>

#include "loaderscope/run_config.h"

namespace loaderscope {

class NsysCapture {
 public:
  // `file`: of its report, with or without .nsys-rep. Throws UsageError where `given` has no
  // program, RunError where there is no nsys.
  NsysCapture(const std::string& file, const RunConfig& given);

  std::vector<std::string> command() const;  // the program, under nsys
  const std::vector<std::string>& program() const { return program_; }
  std::string report() const { return name_ + ".nsys-rep"; }
  // Converts the report to SQLite after the end of the program. Throws RunError.
  std::string export_report(const std::atomic<int>& stop_signal) const;

 private:
  std::string name_;
  std::vector<std::string> program_;
};

}  // namespace loaderscope

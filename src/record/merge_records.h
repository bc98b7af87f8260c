// Merge of the records of hosts into the record of their job.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/run_record.h"

namespace loaderscope {

// Merges the records of a job's hosts, in the order of their ranks. Each record is merged before
// the next one is needed, and may itself cover several hosts. Measured values do not change. Jobs
// with many ranks keep fewer whole samples and exemplars, and their step rows are in a file.
//
// Times do not change. The caller moves them to the first host's clock before, if it compared the
// clocks, and sets the clock fields of the part's `hosts`. These fields are cleared for parts that
// have not met, as the first host of each part may have another clock.
class RecordMerge {
 public:
  // Adapts the settings of the job to one more host. Throws RunError, without changes, if they
  // belong to different jobs: see join_settings().
  using JoinSettings =
      std::function<void(RunRecord& job, const RunRecord& part, std::string_view name)>;
  // `has_met`: the parts are known to be from one run.
  explicit RecordMerge(JoinSettings join_settings, bool has_met = false);

  // Adds a part. `name`: its host or file, for messages. Throws RunError, without changes, in two
  // cases. The part belongs to another job: it has another version, engine or settings, or a host
  // that was already added. Or there is no room for its rows.
  void add(RunRecord part, const std::string& name);

  std::int64_t hosts() const { return std::ssize(job_.hosts); }
  RunRecord take();  // merged record; requires at least one add()

 private:
  void check(const RunRecord& part, const std::string& name) const;
  void check_hosts(const RunRecord& part, const std::string& name) const;
  // Throws RunError if the rows cannot be kept. Returns the total bytes of rows.
  Bytes spill_rows(std::vector<RankRecord>& ranks) const;
  void add_ranks(std::vector<RankRecord>& ranks);
  void keep_within(std::int64_t times);  // applies the limits

  JoinSettings join_settings_;
  bool has_met_;
  RunRecord job_;
  std::vector<std::string> names_;  // name of each part, by host of the job
  std::int64_t samples_ = 0, exemplars_ = 0, notes_left_out_ = 0;
  Bytes row_bytes_ = 0;  // bytes in memory
};

// Returns the metrics of the job: the sum over the hosts for totals, and otherwise the mean over
// the hosts that have the metric.
std::vector<Metric> metrics_of_hosts(const std::vector<HostRecord>& hosts);
// Returns the metrics of a host from its processes, which ran at one time. No process counts as
// another's other program.
std::vector<Metric> metrics_of_processes(const std::vector<HostRecord>& processes);

}  // namespace loaderscope

// Records of hosts, as the one of their job.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/run_record.h"

namespace loaderscope {

// Takes the records of a job's hosts in the order of their ranks, one after the other; each is
// folded into the job's before the next is needed, and may itself be of several hosts. Nothing that
// is measured changes but: of many ranks fewer whole samples and fewer exemplars are kept, and
// their step rows stand in a file.
//
// Times stay as they are: whoever compared clocks brings them onto the first host's before, and
// says so in the part's own `hosts`. Of parts that have not met it is not said any more: the first
// host of each may have another clock.
class RecordMerge {
 public:
  // Brings the settings of the job in line with those of one more host. Throws RunError where they
  // are not of one job, and changes nothing then: see join_settings().
  using JoinSettings =
      std::function<void(RunRecord& job, const RunRecord& part, std::string_view name)>;
  // `has_met`: the parts are known to be of one run.
  explicit RecordMerge(JoinSettings join_settings, bool has_met = false);

  // `name` of the host or its file, for messages. Throws RunError where it cannot be of the same
  // job: another version, engine or settings, or a host that is there already; and where there is
  // no room for its rows. Nothing is changed then.
  void add(RunRecord part, const std::string& name);

  std::int64_t hosts() const { return std::ssize(job_.hosts); }
  RunRecord take();  // of what was added, at least one

 private:
  void check(const RunRecord& part, const std::string& name) const;
  void check_hosts(const RunRecord& part, const std::string& name) const;
  // Throws RunError where they cannot be kept. Returns how many bytes of them there are then.
  Bytes spill_rows(std::vector<RankRecord>& ranks) const;
  void add_ranks(std::vector<RankRecord>& ranks);
  void keep_within(std::int64_t times);  // the limits

  JoinSettings join_settings_;
  bool has_met_;
  RunRecord job_;
  std::vector<std::string> names_;  // of the parts, by host of the job
  std::int64_t samples_ = 0, exemplars_ = 0, notes_left_out_ = 0;
  Bytes row_bytes_ = 0;  // in memory
};

// Of the hosts' own, those of the job: the mean over the hosts that have it, of what is known to be
// a total the sum.
std::vector<Metric> metrics_of_hosts(const std::vector<HostRecord>& hosts);
// Of processes of one host, at one time, those of the host: none is another's other program.
std::vector<Metric> metrics_of_processes(const std::vector<HostRecord>& processes);

}  // namespace loaderscope

// The job, or its far slower ranks, as the subject of the findings.
#pragma once

#include "analysis/findings/finding_input.h"

namespace loaderscope {

class Subject {
 public:
  Subject(const RunRecord& record, const Analysis& analysis);
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  const FindingInput& facts() const { return facts_; }

 private:
  Analysis analysis_;
  FindingInput facts_;
};

// Returns the ranks that the others wait for a large part of the time. Returns none for a job that
// waits for a host.
std::vector<std::size_t> ranks_waited_for(const RunRecord& record, const Analysis& analysis);

// Returns the ranks above. If no rank waits for another, returns the ranks that are far slower, as
// a mean over all ranks describes none of them. Returns no ranks if the subject is the job.
std::vector<std::size_t> ranks_of_subject(const RunRecord& record, const Analysis& analysis);

}  // namespace loaderscope

// Whose figures the findings are made of: those of the job, or of ranks that are far slower.
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

// The ranks that the others wait for a good part of the time; none of a job that waits for a host.
std::vector<std::size_t> ranks_waited_for(const RunRecord& record, const Analysis& analysis);

// Those, or where no rank waits for another the ones that are far slower than the others: a mean
// over all of them is of none. None: the job is.
std::vector<std::size_t> ranks_of_subject(const RunRecord& record, const Analysis& analysis);

}  // namespace loaderscope

// Notes about the waits of a job's hosts for each other.
#include "job/job_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/report/sample_record.h"

namespace loaderscope {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Steps of 100 ms that end together: the second host waits for 60 ms longer.
RunRecord job_with_steps(std::int64_t first, std::int64_t other) {
  RunRecord job = make_run_record(4, first, [](std::int64_t) {
    return make_step_plan(90 * kMillisecond, {{Cause::read, 10 * kMillisecond}});
  });
  job.ranks.push_back(make_rank_record(4, other, [](std::int64_t) {
    return make_step_plan(30 * kMillisecond, {{Cause::read, 70 * kMillisecond}});
  }));
  job.engine = "torch";
  job.notes.clear();
  job.hosts.resize(2);
  for (HostRecord& host : job.hosts) host.ranks = 1;
  return job;
}

TEST(BookWaitsOfPrograms, SaysUpToWhichStepTheyAre) {
  RunRecord job = job_with_steps(40, 40);
  book_waits_of_programs(job);
  EXPECT_EQ(job.ranks[0].rows.back().waiting_for_ranks, 60 * kMillisecond);
  EXPECT_THAT(job.notes, ElementsAre(testing::EndsWith("but what that one waited for")));
  job = job_with_steps(1000, 20);  // the second host ended early
  book_waits_of_programs(job);
  EXPECT_EQ(job.ranks[0].rows.back().waiting_for_ranks, 0);
  EXPECT_THAT(job.notes, ElementsAre(HasSubstr("what that one waited for; from step 24 on one rank "
                                               "at least has none, and of the 980 that are left "
                                               "such waits stay compute")));
  job = job_with_steps(40, 40);
  job.engine = "native";
  book_waits_of_programs(job);
  EXPECT_THAT(job.notes, IsEmpty());
}

}  // namespace
}  // namespace loaderscope

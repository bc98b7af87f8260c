// The records of a job's processes at the first of them: threads on loopback.
#include "job/job_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "loaderscope/cost.h"
#include "unit/report/sample_record.h"

namespace loaderscope {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

RunRecord record_of_process(std::int64_t number) {
  RunRecord record = test::usual_record();
  record.machine.host = "node" + std::to_string(number);
  record.config.trainer.ranks.value = std::ssize(record.ranks);
  return record;
}

struct MetProcesses {
  explicit MetProcesses(std::int64_t count) {
    Fd listener = listen_everywhere(0);
    const std::uint16_t port = listening_port(listener);
    std::vector<std::future<std::unique_ptr<Rendezvous>>> coming;
    for (std::int64_t i = 0; i < count; ++i) {
      ProcessAddress place{
          i, count, {"127.0.0.1"}, port, "job", {}, Secret("a token of the tests")};
      if (i == 0) place.listeners.push_back(std::move(listener));
      coming.push_back(std::async(std::launch::async, [i, place = std::move(place)]() mutable {
        HelloMessage own{"1.0", "node" + std::to_string(i), "", 1};
        return std::make_unique<Rendezvous>(std::move(place), own, Rendezvous::Timeouts{});
      }));
    }
    for (auto& one : coming) all.push_back(one.get());
  }

  std::future<void> handing_over(std::int64_t number) {
    return std::async(std::launch::async, [this, number] {
      Rendezvous& meeting = *all[static_cast<std::size_t>(number)];
      RunRecord own = record_of_process(number);
      bring_onto_first_clock(meeting, own, "");
      hand_over(meeting, own);
    });
  }

  JobAnswer gathered(RunRecord own, const StopSignal& stop) {
    bring_onto_first_clock(*all[0], own, "");
    return gather_records(
        *all[0], {std::move(own), ""}, [](RunRecord&) {}, &stop);
  }

  std::vector<std::unique_ptr<Rendezvous>> all;
};

TEST(JobRecords, ReportsNothingIfAllProcessesArrive) {
  MetProcesses processes(2);
  auto other = processes.handing_over(1);
  const StopSignal stop{0};
  const JobAnswer job = processes.gathered(record_of_process(0), stop);
  other.get();
  EXPECT_EQ(job.record.hosts.size(), 2u);
  EXPECT_FALSE(job.record.interrupted);
  EXPECT_THAT(job.record.notes, Not(Contains(HasSubstr("not in this answer"))));
  EXPECT_EQ(value_of(job.record.metrics, "rendezvous.missing_processes"), std::nullopt);
}

TEST(JobRecords, NumbersRanksWithoutMissingProcess) {
  MetProcesses processes(3);
  auto last = processes.handing_over(2);
  processes.all[1].reset();
  RunRecord own = record_of_process(0);
  const auto each = std::ssize(own.ranks);
  for (std::int64_t number = 0; number < 3; ++number)
    own.config.declared.inject.value.push_back(
        parse_injection("decode=+4ms@rank=" + std::to_string(number * each)));
  const StopSignal stop{0};
  const JobAnswer job = processes.gathered(std::move(own), stop);
  last.get();
  EXPECT_EQ(std::ssize(job.record.ranks), 2 * each);
  EXPECT_THAT(job.record.notes,
              Contains("process 1 on node1 is not in this answer: later ranks are numbered "
                       "without its, and why others waited for it is not known"));
  const auto& injections = job.record.config.declared.inject.value;
  ASSERT_EQ(injections.size(), 2u);
  EXPECT_EQ(injections[0].rank, 0);
  EXPECT_EQ(injections[1].rank, each);
  EXPECT_EQ(injections[1].text, "decode=+4ms@rank=" + std::to_string(each));
}

TEST(JobRecords, ReportsProcessMissingAfterInterrupt) {
  MetProcesses processes(2);
  const StopSignal stop{SIGINT};
  const JobAnswer job = processes.gathered(record_of_process(0), stop);
  EXPECT_EQ(job.failure, "");
  EXPECT_TRUE(job.record.interrupted);
  EXPECT_THAT(job.record.notes, Contains(HasSubstr("process 1 on node1 is not in this answer")));
  EXPECT_EQ(value_of(job.record.metrics, "rendezvous.missing_processes"), 1);
}

}  // namespace
}  // namespace loaderscope

// Processes that meet over TCP: threads on loopback.
#include "rendezvous/meeting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <future>

#include "base/thread_meter.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

using testing::HasSubstr;

std::uint16_t next_port() {
  static std::atomic<int> next{20000 + static_cast<int>(::getpid()) * 37 % 9000};
  return static_cast<std::uint16_t>(next++);
}

JobPlace place_of(std::int64_t number, std::int64_t processes, std::uint16_t port) {
  return {number, processes, "127.0.0.1", port, "job"};
}

Introduction introduction_of(std::int64_t number) {
  return {"1.0", "host" + std::to_string(number), "seed = 0\nbatch-size = 8", 2};
}

constexpr Meeting::Patience kShort{3 * kSecond, 2 * kSecond};

struct Job {
  explicit Job(std::int64_t processes) {
    const std::uint16_t port = next_port();
    std::vector<std::future<std::unique_ptr<Meeting>>> coming;
    for (std::int64_t i = 0; i < processes; ++i)
      coming.push_back(std::async(std::launch::async, [=] {
        return std::make_unique<Meeting>(place_of(i, processes, port), introduction_of(i), kShort);
      }));
    for (auto& one : coming) all.push_back(one.get());
  }
  std::vector<std::unique_ptr<Meeting>> all;
};

template <class F>
bool soon(F is_so) {
  const Nanos until = monotonic_now() + 5 * kSecond;
  while (!is_so() && monotonic_now() < until) ::usleep(1000);
  return is_so();
}

TEST(MeetingTest, RanksAreNumberedOverTheProcesses) {
  const Job job(3);
  for (std::int64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(job.all[static_cast<std::size_t>(i)]->first_rank(), 2 * i);
    EXPECT_EQ(job.all[static_cast<std::size_t>(i)]->ranks(), 6);
  }
}

TEST(MeetingTest, ClocksOfOneMachineAreAlikeWithinTheError) {
  const Job job(2);
  for (const ClockDifference& clock : {job.all[1]->clock(), job.all[1]->compare_clocks()}) {
    EXPECT_GT(clock.error, 0);
    EXPECT_LE(std::abs(clock.offset), clock.error);
  }
}

TEST(MeetingTest, AStepBeginsWhenTheLastIsReady) {
  const Job job(3);
  const Nanos at = monotonic_now();
  std::atomic<int> calls{0};
  job.all[2]->on_begin([&] { ++calls; });
  job.all[0]->ready(0, at);
  job.all[2]->ready(0, at + kSecond);
  ::usleep(50'000);
  EXPECT_FALSE(job.all[0]->begin_of(0));
  job.all[1]->ready(0, at + kMillisecond);
  for (const auto& one : job.all) {
    ASSERT_TRUE(soon([&] { return one->begin_of(0).has_value(); }));
    EXPECT_NEAR(static_cast<double>(*one->begin_of(0) - at), 1e9, 1e7);
  }
  EXPECT_TRUE(soon([&] { return calls > 0; }));
}

TEST(MeetingTest, TheFirstThatEndsEndsAll) {
  const Job job(3);
  job.all[1]->end_after(7);
  for (const auto& one : job.all) EXPECT_TRUE(soon([&] { return one->is_over(7); }));
  job.all[0]->end_after(5);
  EXPECT_FALSE(job.all[0]->is_over(6));
  EXPECT_EQ(job.all[2]->failure(), "");
}

TEST(MeetingTest, RecordsComeInTheOrderOfProcesses) {
  const Job job(3);
  const std::string large(3'000'000, 'x');
  auto two = std::async(std::launch::async, [&] { return job.all[2]->gather("two"); });
  auto one = std::async(std::launch::async, [&] { return job.all[1]->gather(large); });
  const std::vector<std::string> records = job.all[0]->gather("");
  one.get();
  two.get();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0], large);
  EXPECT_EQ(records[1], "two");
}

TEST(MeetingTest, OneThatIsGoneIsNamedToAll) {
  Job job(3);
  job.all[1].reset();
  for (const std::size_t i : {std::size_t{0}, std::size_t{2}}) {
    EXPECT_TRUE(soon([&] { return job.all[i]->is_over(0); }));
    EXPECT_THAT(job.all[i]->failure(), HasSubstr("process 1 on host1 has ended"));
  }
  auto two = std::async(std::launch::async, [&] { return job.all[2]->gather("two"); });
  EXPECT_EQ(job.all[0]->gather(""), (std::vector<std::string>{"", "two"}));
  two.wait();
}

std::string failure_of(const JobPlace& place, const Introduction& own) {
  try {
    const Meeting meeting(place, own, kShort);
  } catch (const RunError& error) {
    return error.what();
  }
  return "";
}

void expect_refused(const Introduction& other, const std::string& why) {
  const std::uint16_t port = next_port();
  auto first = std::async(std::launch::async,
                          [=] { return failure_of(place_of(0, 2, port), introduction_of(0)); });
  EXPECT_THAT(failure_of(place_of(1, 2, port), other), HasSubstr(why));
  EXPECT_THAT(first.get(), HasSubstr(why));
}

TEST(MeetingTest, AnotherVersionIsRefused) {
  Introduction other = introduction_of(1);
  other.version = "0.9";
  expect_refused(other, "process 1 on host1 is loaderscope 0.9, and process 0 is 1.0");
}

TEST(MeetingTest, OtherSettingsAreRefused) {
  Introduction other = introduction_of(1);
  other.settings = "seed = 0\nbatch-size = 9";
  expect_refused(other, "has 'batch-size = 9', and process 0 has 'batch-size = 8'");
}

TEST(MeetingTest, AnotherJobIsRefusedAndDoesNotDisturb) {
  const std::uint16_t port = next_port();
  auto first = std::async(std::launch::async, [=] {
    return std::make_unique<Meeting>(place_of(0, 2, port), introduction_of(0), kShort);
  });
  JobPlace stranger = place_of(1, 2, port);
  stranger.job = "other";
  EXPECT_THAT(failure_of(stranger, introduction_of(1)), HasSubstr("another job meets"));
  const Fd noise = connect_to("127.0.0.1", port, monotonic_now() + kSecond);
  EXPECT_EQ(::write(noise, "GET / HTTP/1.1\r\n\r\n", 18), 18);
  const Meeting second(place_of(1, 2, port), introduction_of(1), kShort);
  EXPECT_EQ(first.get()->ranks(), 4);
}

TEST(MeetingTest, WhoDoesNotComeIsNamed) {
  EXPECT_THAT(failure_of(place_of(0, 3, next_port()), introduction_of(0)),
              HasSubstr("process 1, 2 did not come within 3"));
  EXPECT_THAT(failure_of(place_of(1, 2, next_port()), introduction_of(1)),
              HasSubstr("process 0 does not answer"));
}

TEST(JobPlaceTest, TakesLaunchersEnvironments) {
  const auto read = [](std::map<std::string, std::string> set) {
    return place_in_job([set](const char* name) {
      const auto found = set.find(name);
      return found == set.end() ? nullptr : found->second.c_str();
    });
  };
  const JobPlace torch = read({{"RANK", "3"},
                               {"WORLD_SIZE", "4"},
                               {"MASTER_ADDR", "a"},
                               {"MASTER_PORT", "123"},
                               {"TORCHELASTIC_RUN_ID", "x"}});
  EXPECT_EQ(torch.number, 3);
  EXPECT_EQ(torch.processes, 4);
  EXPECT_EQ(torch.address, "a");
  EXPECT_EQ(torch.port, 123);
  EXPECT_EQ(torch.job, "x");
  const JobPlace slurm = read({{"SLURM_PROCID", "0"},
                               {"SLURM_NTASKS", "2"},
                               {"SLURM_LAUNCH_NODE_IPADDR", "10.0.0.1"},
                               {"SLURM_JOB_ID", "77"}});
  EXPECT_EQ(slurm.address, "10.0.0.1");
  EXPECT_EQ(slurm.port, 29500);
  EXPECT_EQ(slurm.job, "77");
  EXPECT_THROW(read({}), UsageError);
  EXPECT_THROW(read({{"RANK", "4"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "a"}}), UsageError);
  EXPECT_THROW(read({{"RANK", "0"}, {"WORLD_SIZE", "4"}}), UsageError);
  EXPECT_THROW(read({{"OMPI_COMM_WORLD_RANK", "x"}, {"OMPI_COMM_WORLD_SIZE", "4"}}), UsageError);
}

}  // namespace
}  // namespace loaderscope

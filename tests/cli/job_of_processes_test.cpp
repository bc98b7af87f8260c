// run --rendezvous env, from the outside: processes on loopback, and in network namespaces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/cpu_set.h"
#include "cli/pipelines_of_jobs.h"
#include "cli/pretend_hosts.h"
#include "cli/run_binary.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class JobOfProcesses : public testing::Test {
 protected:
  JobOfProcesses() { port_ = std::to_string(20'000 + (::getpid() * 7 + ++jobs_) % 9'000); }

  std::unique_ptr<RunningBinary> started(int number, int processes, Words words) const {
    const Environment rank("RANK", std::to_string(number));
    const Environment world("WORLD_SIZE", std::to_string(processes));
    const Environment address("MASTER_ADDR", "127.0.0.1");
    const Environment port("MASTER_PORT", port_);
    words.insert(words.begin(), {"run", "--rendezvous", "env"});
    return std::make_unique<RunningBinary>(words);
  }

  std::vector<std::unique_ptr<RunningBinary>> job(int processes, const Words& words) const {
    std::vector<std::unique_ptr<RunningBinary>> all;
    for (int i = 0; i < processes; ++i) all.push_back(started(i, processes, words));
    return all;
  }

  Words slow_decode(const std::string& steps) const {
    return job_with_a_slow_rank("decode=4ms:sleep", steps, folder_.path("job.json"));
  }

  json answer() const { return json::parse(folder_.read("job.json")); }

  TestFolder folder_;
  Environment cache_{"XDG_CACHE_HOME", folder_.path("cache")};
  std::string port_;
  static inline int jobs_ = 0;
};

TEST_F(JobOfProcesses, GivesOneResultOfAllRanks) {
  auto all = job(3, slow_decode("60"));
  const Ended first = all[0]->wait();
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("3 ranks"));
  for (int i = 1; i < 3; ++i) {
    const Ended other = all[static_cast<std::size_t>(i)]->wait();
    EXPECT_EQ(other.exit_code, 0) << other.err;
    EXPECT_EQ(other.out, "");
  }
  const json result = answer();
  EXPECT_EQ(result.at("config").at("ranks"), 3);
  ASSERT_EQ(result.at("ranks").size(), 3u);
  const auto waited = [&](std::size_t rank) {
    return result.at("ranks")[rank].at("account").at("waiting_for_ranks_s").get<double>();
  };
  EXPECT_LT(waited(1), waited(0) / 4);
  EXPECT_GT(waited(2), waited(0) / 4);
  EXPECT_EQ(result.at("window").at("steps"), 60);
}

// Two users on one host have different tokens, as have hosts without a shared home folder.
TEST_F(JobOfProcesses, RefusesAProcessWithAnotherToken) {
  Words words = slow_decode("3");
  words.insert(words.end(), {"--rendezvous-wait", "3s"});
  std::vector<std::unique_ptr<RunningBinary>> all;
  for (const int number : {0, 1}) {
    const Environment token("LOADERSCOPE_TOKEN", "a secret of user " + std::to_string(number));
    all.push_back(started(number, 2, words));
  }
  const Ended first = all[0]->wait(), other = all[1]->wait();
  EXPECT_EQ(first.exit_code, 1);
  EXPECT_THAT(first.err, HasSubstr("(one was refused: its token is another)"));
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.err, HasSubstr("set LOADERSCOPE_TOKEN to one random text for all processes"));
}

// A job of two processes and one process with two ranks have nearly equal accounts.
TEST_F(JobOfProcesses, BooksTheWaitForAnotherProcessToWhatThatOneWaitsFor) {
  Words words = slow_decode("100");
  words.insert(words.begin(), {"run", "--ranks", "2"});
  const Ended one = run_binary(words);
  ASSERT_EQ(one.exit_code, 0) << one.err;
  const json together = answer();
  auto all = job(2, slow_decode("100"));
  const Ended first = all[0]->wait();
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const json apart = answer();
  const auto share = [](const json& result, const std::string& cause) {
    return result.at("account").at("stall_s").at(cause).get<double>() /
           result.at("window").at("wall_s").get<double>();
  };
  for (const auto& [cause, unused] : together.at("account").at("stall_s").items())
    EXPECT_NEAR(share(apart, cause), share(together, cause), 0.1) << cause;
  EXPECT_GT(share(apart, "decode"), 0.5);
  EXPECT_EQ(apart.at("verdict").at("bound_by"), together.at("verdict").at("bound_by"));
}

// Each process is bound to one core, as some launchers do.
TEST_F(JobOfProcesses, CountsCoresOfAllProcessesOfTheHost) {
  const CpuSet allowed = allowed_cpus();
  if (allowed.size() < 2) GTEST_SKIP() << "needs two CPUs";
  std::vector<std::unique_ptr<RunningBinary>> all;
  for (const int number : {0, 1}) {
    const OnCpus bound({allowed[static_cast<std::size_t>(number)]});
    all.push_back(started(number, 2, slow_decode("20")));
  }
  const Ended first = all[0]->wait();
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const json result = answer();
  const double machine_cores = result.at("machine").at("cores"),
               used_cores = result.at("config").at("cores");
  EXPECT_GT(machine_cores, 1);  // more than the one core of a process; a quota may reduce the sum
  EXPECT_LE(machine_cores, 2);
  EXPECT_EQ(used_cores, machine_cores);
}

TEST_F(JobOfProcesses, EndsJobAndNamesKilledProcess) {
  auto all = job(3, slow_decode("100000"));
  all[2]->wait_until_it_catches(SIGINT);
  ::usleep(1'500'000);
  all[2]->send(SIGKILL);
  const Ended first = all[0]->wait(), other = all[1]->wait();
  for (const Ended& ended : {first, other}) {
    EXPECT_EQ(ended.exit_code, 1);
    EXPECT_THAT(ended.err, HasSubstr("rendezvous: process 2 on "));
    EXPECT_THAT(ended.err, HasSubstr(" has ended; the job ends with what was measured until then"));
  }
  const json result = answer();
  EXPECT_EQ(result.at("ranks").size(), 2u);
  EXPECT_GT(result.at("window").at("steps"), 10);
}

// The note prevents confusion: later ranks get smaller numbers.
TEST_F(JobOfProcesses, NotesMissingProcessInTheAnswer) {
  Words words = slow_decode("100000");
  words.insert(words.end(), {"--inject", "augment=+4ms@rank=2@every=2"});
  auto all = job(3, words);
  all[1]->wait_until_it_catches(SIGINT);
  ::usleep(1'500'000);
  all[1]->send(SIGKILL);
  EXPECT_EQ(all[0]->wait().exit_code, 1);
  const json result = answer();
  EXPECT_EQ(result.at("ranks").size(), 2u);
  EXPECT_TRUE(result.at("interrupted"));
  EXPECT_THAT(result.at("notes").dump(),
              AllOf(ContainsRegex("process 1 on [^ ]+ is not in this answer: later ranks are "
                                  "numbered without its"),
                    HasSubstr(" has ended; the job ends with what was measured until then")));
  EXPECT_EQ(result.at("config").at("inject"), json({"augment=+4ms@rank=1@every=2"}));
}

TEST_F(JobOfProcesses, EndsJobAndNamesStoppedProcess) {
  auto all = job(2, slow_decode("100000"));
  all[1]->wait_until_it_catches(SIGINT);
  ::usleep(1'500'000);
  all[1]->send(SIGSTOP);
  const Ended first = all[0]->wait();
  EXPECT_EQ(first.exit_code, 1);
  EXPECT_THAT(first.err, HasSubstr("process 1 on "));
  EXPECT_THAT(first.err, HasSubstr(" sent nothing for 10.00 s; "));
  EXPECT_EQ(answer().at("ranks").size(), 1u);
}

TEST_F(JobOfProcesses, EndsAllProcessesAtInterruptWithPartialResult) {
  for (const char* const steps_meet : {"--sync-ranks", "--no-sync-ranks"}) {
    SCOPED_TRACE(steps_meet);
    Words words = slow_decode("100000");
    std::replace(words.begin(), words.end(), std::string("--sync-ranks"), std::string(steps_meet));
    auto all = job(2, words);
    for (auto& one : all) one->wait_until_it_catches(SIGINT);
    ::usleep(1'500'000);
    all[1]->send(SIGINT);
    const Ended first = all[0]->wait(), second = all[1]->wait();
    EXPECT_EQ(first.exit_code, 130) << first.err;
    EXPECT_EQ(second.exit_code, 130) << second.err;
    const json result = answer();
    EXPECT_EQ(result.at("ranks").size(), 2u);
    EXPECT_TRUE(result.at("interrupted"));
    EXPECT_GT(result.at("window").at("steps"), 10);
  }
}

TEST_F(JobOfProcesses, RefusesWhatCannotBeOneJob) {
  Words other = slow_decode("60");
  other.back() = "--pin-memory";
  auto first = started(0, 2, slow_decode("60")), second = started(1, 2, other);
  for (RunningBinary* const one : {first.get(), second.get()}) {
    const Ended ended = one->wait();
    EXPECT_EQ(ended.exit_code, 1);
    EXPECT_THAT(ended.err, AllOf(HasSubstr("rendezvous: process 1 on "),
                                 HasSubstr("start all with the same settings")));
  }
}

TEST_F(JobOfProcesses, RefusesAnotherDevice) {
  const Words own{"--source", "synthetic", "--device", "sim", "--cost", "decode=2ms"};
  Words other = own;
  other[3] = "null";
  auto first = started(0, 2, own), second = started(1, 2, other);
  for (RunningBinary* const one : {first.get(), second.get()}) {
    const Ended ended = one->wait();
    EXPECT_EQ(ended.exit_code, 1);
    EXPECT_THAT(ended.err, HasSubstr("has 'device = null', and process 0 has 'device = sim'"));
  }
}

TEST_F(JobOfProcesses, RefusesWhatAJobCannotHave) {
  const Environment rank("RANK", "0"), world("WORLD_SIZE", "1");
  expect_refused(
      {"run", "--rendezvous"},
      {{{"emv", "--source", "synthetic"}, "--rendezvous emv: expected one of env mpi off"},
       {{"env", "--cost", "decode=1ms", "--prove"}, "a job of several processes is run once"},
       {{"env", "--cost", "decode=1ms", "--try"}, "a job of several processes is run once"},
       {{"env", "--nsys", folder_.path("n"), "--", "true"}, "--nsys records one host; "},
       {{"env", "--engine", "model", "--cost", "decode=1ms"}, "engine model is run by one process"},
       {{"env", "--sync-ranks", "--decode", "hw", "--cost", "gpu-decode=1ms", "--cost",
         "gpu-augment=1us", "--device", "sim"},
        "steps do not meet over processes if the device makes batches"},
       {{"env", "--prove", "--", "true"}, "a program of several hosts is run once"}});
  const Environment wrong("RANK", "7");
  expect_refused({"run", "--rendezvous", "env", "--source", "synthetic"},
                 {{{}, "RANK is '7' and no number from 0 to 0"}});
}

class JobOfHosts : public JobOfProcesses {
 protected:
  static constexpr int kHosts = 3;

  void SetUp() override {
    if (!hosts_.why_not().empty()) GTEST_SKIP() << hosts_.why_not();
  }

  // `at` holds the host of each process.
  std::vector<std::unique_ptr<RunningBinary>> job_of_hosts(const Words& words,
                                                           const std::vector<int>& at = {0, 1,
                                                                                         2}) const {
    std::vector<std::unique_ptr<RunningBinary>> all;
    for (std::size_t i = 0; i < at.size(); ++i) {
      const Environment rank("RANK", std::to_string(i));
      const Environment world("WORLD_SIZE", std::to_string(at.size()));
      const Environment address("MASTER_ADDR", PretendHosts::address(at[0])),
          port("MASTER_PORT", port_);
      Words program = {binary(), "run", "--rendezvous", "env"};
      program.insert(program.end(), words.begin(), words.end());
      all.push_back(hosts_.started(at[i], "node" + std::to_string(at[i]), program));
    }
    return all;
  }

  PretendHosts hosts_{"ls" + port_, kHosts};
};

TEST_F(JobOfHosts, RunsAsFastAsOneProcessWithAsManyRanks) {
  Words words = slow_decode("100");
  words.insert(words.begin(), {"run", "--ranks", std::to_string(kHosts)});
  ASSERT_EQ(run_binary(words).exit_code, 0);
  const double alone = answer().at("throughput").at("samples_per_s").at("mean").get<double>();
  auto all = job_of_hosts(slow_decode("100"));
  const Ended first = all[0]->wait();
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const json result = answer();
  const double rate = result.at("throughput").at("samples_per_s").at("mean").get<double>();
  EXPECT_GT(rate, alone / 2);  // hosts that ran one after another would have a third of it
  ASSERT_EQ(result.at("hosts").size(), static_cast<std::size_t>(kHosts));
  EXPECT_EQ(result.at("hosts")[1].at("machine").at("host"), "node1");
  EXPECT_GT(result.at("hosts")[1].at("clock_error_s").get<double>(), 0);
  EXPECT_THAT(first.out, HasSubstr("rank 1 is the straggler"));
}

TEST_F(JobOfHosts, EndsJobAndNamesHostWithCutLink) {
  auto all = job_of_hosts(slow_decode("100000"));
  ::usleep(3'000'000);
  ASSERT_TRUE(hosts_.cut(2));
  const Ended first = all[0]->wait(), cut = all[2]->wait();
  EXPECT_EQ(first.exit_code, 1);
  EXPECT_THAT(first.err, HasSubstr("process 2 on node2 sent nothing for 10.00 s; "));
  EXPECT_EQ(cut.exit_code, 1);
  EXPECT_THAT(cut.err, HasSubstr("process 0 at 10.77.0.2 sent nothing for 10.00 s; "));
  EXPECT_EQ(answer().at("ranks").size(), 2u);
}

// Processes 0 and 2 are on one host, and 1 and 3 on another, as a launcher may place them.
TEST_F(JobOfHosts, OrdersRanksByHost) {
  auto all = job_of_hosts(slow_decode("60"), {0, 1, 0, 1});
  const Ended first = all[0]->wait();
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const json result = answer();
  ASSERT_EQ(result.at("hosts").size(), 2u);
  for (const std::size_t host : {0U, 1U}) {
    EXPECT_EQ(result.at("hosts")[host].at("ranks"), 2);
    EXPECT_EQ(result.at("hosts")[host].at("machine").at("host"), "node" + std::to_string(host));
  }
  // Process 1, which is injected, is the first of node1's.
  const auto waited = [&](std::size_t rank) {
    return result.at("ranks")[rank].at("account").at("waiting_for_ranks_s").get<double>();
  };
  for (const std::size_t rank : {0U, 1U, 3U}) EXPECT_LT(waited(2), waited(rank) / 4) << rank;
  EXPECT_THAT(result.at("notes").dump(),
              HasSubstr("rank 0 of process 0 on node0, rank 1 of process 2 on node0, rank 2 of "
                        "process 1 on node1, rank 3 of process 3 on node1"));
}

}  // namespace
}  // namespace loaderscope::testing_cli

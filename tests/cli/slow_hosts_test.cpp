// Causes that slow down a job of several hosts: network namespaces with slow links, and a host that
// may use a part of a core.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/pretend_hosts.h"
#include "cli/run_binary.h"
#include "source/store.h"
#include "unit/dataset/contents.h"
#include "unit/source/container_bytes.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kHosts = 3;

class SlowHosts : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = source::why_no_servers()) GTEST_SKIP() << *why;
    if (!hosts_.why_not().empty()) GTEST_SKIP() << hosts_.why_not();
    dataset::put(folder_.path("served/a.npy"),
                 source::npy_bytes("|u1", "(300, 60000)", std::string(300 * 60'000, 'x')));
    server_ = hosts_.served(folder_.path("served"));
    if (!server_->runs()) GTEST_SKIP() << "no python3 to serve files";
  }

  Words reading(const std::string& steps) const {
    const std::string store = PretendHosts::address(PretendHosts::kStore);
    return {"--data",    "npy:http://" + store + ":" + server_->said() + "/a.npy",
            "--shuffle", "--batch",
            "4",         "--workers",
            "2",         "--compute",
            "10ms",      "--steps",
            steps};
  }
  // The answer of a job with one process on each host; `before` is put before the program there.
  json run(const Words& words, int changed_host = -1, const Words& before = {}) const {
    std::vector<std::unique_ptr<RunningBinary>> all;
    for (int i = 0; i < kHosts; ++i) {
      const Environment rank("RANK", std::to_string(i));
      const Environment world("WORLD_SIZE", std::to_string(kHosts));
      const Environment address("MASTER_ADDR", PretendHosts::address(0));
      Words program = i == changed_host ? before : Words();
      for (const std::string& word :
           {binary(), std::string("run"), std::string("--rendezvous"), std::string("env"),
            std::string("--device"), std::string("sim"), std::string("--sync-ranks")})
        program.push_back(word);
      program.insert(program.end(), words.begin(), words.end());
      program.insert(program.end(), {"--seed", "3", "--json", folder_.path("job.json")});
      all.push_back(hosts_.started(i, "node" + std::to_string(i), program));
    }
    const Ended first = all[0]->wait();
    EXPECT_EQ(first.exit_code, 0) << first.err;
    return first.exit_code == 0 ? json::parse(folder_.read("job.json")) : json();
  }
  static std::string answer_text(const json& result) {
    std::string text = result.at("verdict").at("sentence").get<std::string>() + "\n";
    for (const json& finding : result.at("findings"))
      text += finding.at("id").get<std::string>() + ": " +
              finding.at("evidence").get<std::string>() + "; " +
              finding.at("advice").get<std::string>() + "\n";
    return text;
  }

  TestFolder folder_;
  Environment cache_{"XDG_CACHE_HOME", folder_.path("cache")};
  PretendHosts hosts_{"lw" + std::to_string(::getpid()), kHosts};
  std::unique_ptr<source::FaultServer> server_;
};

// 240 KB a step take 96 ms of it.
TEST_F(SlowHosts, BlamesNarrowLinkOfHost) {
  if (!hosts_.shape(2, "20mbit")) GTEST_SKIP() << "no tc, or a kernel without tbf";
  const json result = run(reading("50"));
  ASSERT_FALSE(result.is_null());
  const std::string text = answer_text(result);
  EXPECT_THAT(text,
              AllOf(HasSubstr("\nstraggler-host: node2 is the slowest: "),
                    // Notifications use the same link as the reads.
                    AnyOf(HasSubstr("it waits mostly for read ("),
                          HasSubstr("it waits mostly for notifications from the others (")),
                    HasSubstr("; reading takes "), HasSubstr("under way its requests bring "),
                    HasSubstr("look at the way from node2 to its storage: its network link")));
  EXPECT_THAT(text, Not(HasSubstr("shared-storage"))) << text;
  for (const json& finding : result.at("findings"))
    EXPECT_THAT(finding.at("command").dump(), Not(HasSubstr("num-workers"))) << text;
}

// 720 KB a step of all take 144 ms of it.
TEST_F(SlowHosts, BlamesNoHostForFullStorage) {
  if (!hosts_.shape(PretendHosts::kStore, "40mbit"))
    GTEST_SKIP() << "no tc, or a kernel without tbf";
  const json result = run(reading("70"));
  ASSERT_FALSE(result.is_null());
  const std::string text = answer_text(result);
  EXPECT_THAT(text, Not(HasSubstr("is the slowest"))) << text;
  EXPECT_THAT(text, Not(HasSubstr("straggler"))) << text;
  // Other programs may make the rate uneven. Then the records do not show that it is shared.
  EXPECT_THAT(text, AnyOf(HasSubstr("shared-storage: all 3 hosts wait for reads "),
                          HasSubstr("storage-bandwidth: the storage gives ")))
      << text;
}

// The host may use a twentieth of a core. It decodes for 4 ms per batch.
TEST_F(SlowHosts, NamesHostWithCpuQuota) {
  const bool is_v2 = ::access("/sys/fs/cgroup/cgroup.procs", W_OK) == 0;
  const std::string group = std::string("/sys/fs/cgroup/") + (is_v2 ? "" : "cpu/") + "ls-test-" +
                            std::to_string(::getpid());
  if (::mkdir(group.c_str(), 0755) != 0) GTEST_SKIP() << "no control groups can be made";
  if (is_v2) {
    std::ofstream("/sys/fs/cgroup/cgroup.subtree_control") << "+cpu";
    std::ofstream(group + "/cpu.max") << "5000 100000";
  } else {
    std::ofstream(group + "/cpu.cfs_quota_us") << 5'000;
  }
  const bool is_limited =
      ::access((group + (is_v2 ? "/cpu.max" : "/cpu.cfs_quota_us")).c_str(), F_OK) == 0;
  json result;
  if (is_limited)
    result = run({"--source", "synthetic", "--cost", "decode=1ms", "--batch", "4", "--workers", "2",
                  "--compute", "10ms", "--steps", "60"},
                 1, {"sh", "-c", "echo $$ > " + group + "/cgroup.procs; exec \"$0\" \"$@\""});
  for (int i = 0; i < 50 && ::rmdir(group.c_str()) != 0; ++i) ::usleep(100'000);
  if (!is_limited) GTEST_SKIP() << "no quota of the CPU can be set";
  ASSERT_FALSE(result.is_null());
  const std::string text = answer_text(result);
  EXPECT_THAT(text, AllOf(HasSubstr("\nstraggler-host: node1 is the slowest: "),
                          HasSubstr("its threads wait for a core"), HasSubstr("(0.05 cores, "),
                          HasSubstr("its CPU quota stopped it"),
                          HasSubstr("look at what takes the cores of node1: its CPU quota")));
}

}  // namespace
}  // namespace loaderscope::testing_cli

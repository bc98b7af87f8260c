// loaderscope merge, from the outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/run_binary.h"
#include "cli/torch_python.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Records of a host that is called otherwise: the program knows no name but its machine's.
class Merge : public testing::Test {
 protected:
  std::string saved(const std::string& host, const std::string& decode = "2ms",
                    const std::string& ranks = "2") const {
    const std::string path = folder_.path(host + ".json");
    const Ended ended =
        run_binary({"run",       "--engine", "model",     "--cost",  "decode=" + decode,
                    "--compute", "10ms",     "--workers", "1",       "--batch",
                    "4",         "--cores",  "8",         "--steps", "100",
                    "--ranks",   ranks,      "--seed",    "3",       "--json",
                    path,        "--force"});
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    change(host, [&](json& record) { record["machine"]["host"] = host; });
    return path;
  }

  void change(const std::string& host, const std::function<void(json&)>& how) const {
    json record = json::parse(folder_.read(host + ".json"));
    how(record);
    std::ofstream(folder_.path(host + ".json")) << record.dump();
  }

  TestFolder folder_;
  Environment cache_{"XDG_CACHE_HOME", folder_.path("cache")};
};

TEST_F(Merge, GivesOneResultThatEveryReaderTakes) {
  const std::string a = saved("a"), b = saved("b", "2ms", "1"), path = folder_.path("job.json");
  const Ended made = run_binary({"merge", a, b, "--json", path});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, AllOf(HasSubstr("3 ranks"), HasSubstr("saved ")));
  const json job = json::parse(folder_.read("job.json"));
  EXPECT_EQ(job.at("schema"), "loaderscope.run/1");
  EXPECT_EQ(job.at("config").at("ranks"), 3);
  ASSERT_EQ(job.at("hosts").size(), 2u);
  EXPECT_EQ(job.at("hosts")[0].at("ranks"), 2);
  EXPECT_EQ(job.at("hosts")[1].at("machine").at("host"), "b");
  EXPECT_FALSE(job.at("hosts")[1].contains("clock_offset_s"));
  for (const std::string form : {"table", "json", "html", "csv", "markdown", "perfetto"}) {
    const Ended report =
        run_binary({"report", path, "--format", form, "--output", folder_.path("told." + form)});
    EXPECT_EQ(report.exit_code, 0) << form << ": " << report.err;
  }
  EXPECT_EQ(folder_.read("told.table"), made.out);
  EXPECT_EQ(run_binary({"merge", path, saved("c"), "--require", "ranks.4.steps >= 1"}).exit_code,
            64);  // no such value
  EXPECT_EQ(run_binary({"merge", path, saved("c"), "--require", "window.steps >= 101"}).exit_code,
            2);
}

TEST_F(Merge, RefusesWhatIsNotOfOneJob) {
  const std::string a = saved("a"), b = saved("b", "3ms"), c = saved("c"), d = saved("d");
  change("c", [](json& record) { record["tool"]["version"] = "0.0.1"; });
  change("d", [](json& record) {
    record["hosts"] = json::array({{{"machine", record["machine"]},
                                    {"ranks", 3},
                                    {"metrics", json::array()},
                                    {"ended_early", nullptr}}});
  });
  std::ofstream(folder_.path("cut.json")) << folder_.read("a.json").substr(0, 5000);
  std::ofstream(folder_.path("empty.json"));
  const std::string copy = folder_.path("copy.json");
  std::filesystem::create_symlink(a, copy);
  expect_refused({"merge"}, {{{}, "no record is given"},
                             {{a}, "there is nothing to merge with one record"},
                             {{a, a}, "is given twice; give each host's record once"},
                             {{a, copy}, "is given twice"},
                             {{a, b}, "cost is decode=3ms, and decode=2ms on the first host", 1},
                             {{a, c}, "the version of loaderscope is 0.0.1, and ", 1},
                             {{a, d}, "its hosts have 3 ranks together and 'ranks' holds 2", 1},
                             {{a, folder_.path("cut.json")}, "the file is cut off", 1},
                             {{a, folder_.path("empty.json")}, "the file is empty", 1},
                             {{a, folder_.path("none.json")}, "there is no such file", 1},
                             {{a, folder_.path("")}, "not a file", 1}});
}

// Two parents of a rank each; the samples of the second take five times as long.
class MergeOfTorchrun : public TorchTest {
 protected:
  static std::unique_ptr<RunningBinary> node(int number, const std::string& port, Words own) {
    own.insert(own.begin(), "run");
    own.insert(own.end(), {"--", torch_python(), "-m", "torch.distributed.run", "--nnodes", "2",
                           "--node-rank", std::to_string(number), "--master-addr", "127.0.0.1",
                           "--master-port", port, "--nproc-per-node", "1",
                           LOADERSCOPE_SOURCE_DIR "/tests/torch/loops.py", "unlike_ranks", "1"});
    return std::make_unique<RunningBinary>(own);
  }

  static void expect_second_to_be_slow(const json& job) {
    EXPECT_EQ(job.at("ranks").size(), 2U);
    EXPECT_EQ(job.at("config").at("samples"), 320);
    EXPECT_TRUE(job.at("config").at("sync_ranks"));
  }

  TestFolder folder_;
  Environment cache_{"XDG_CACHE_HOME", folder_.path("cache")};
  std::string port_ = std::to_string(20'000 + ::getpid() % 20'000);
};

TEST_F(MergeOfTorchrun, NamesTheHostThatTheOthersWaitFor) {
  if (!torch_python_has("torch.distributed.run")) GTEST_SKIP() << "no torchrun";
  std::vector<std::unique_ptr<RunningBinary>> parents;
  for (const int i : {0, 1})
    parents.push_back(
        node(i, port_, {"--json", folder_.path("node" + std::to_string(i) + ".json")}));
  for (const auto& parent : parents) {
    const Ended ended = parent->wait();
    ASSERT_EQ(ended.exit_code, 0) << ended.err;
  }
  const Ended merged = run_binary({"merge", folder_.path("node0.json"), folder_.path("node1.json"),
                                   "--json", folder_.path("job.json")});
  ASSERT_EQ(merged.exit_code, 0) << merged.err;
  EXPECT_THAT(merged.out, HasSubstr("(host 1) is the slowest"));
  const json job = json::parse(folder_.read("job.json"));
  expect_second_to_be_slow(job);
  const json &first = job.at("hosts")[0], &slow = job.at("hosts")[1];
  EXPECT_GT(first.at("pace").at("waits_for_ranks"), 0.1);
  EXPECT_LT(slow.at("pace").at("waits_for_ranks"),
            0.5 * first.at("pace").at("waits_for_ranks").get<double>());
}

// Both parents are of one machine, so they are one host of the job.
TEST_F(MergeOfTorchrun, MergesRecordsInTheRendezvous) {
  if (!torch_python_has("torch.distributed.run")) GTEST_SKIP() << "no torchrun";
  const Environment world("WORLD_SIZE", "2"), address("MASTER_ADDR", "127.0.0.1");
  const Environment port("MASTER_PORT", std::to_string(std::stoi(port_) + 20'000));
  std::vector<std::unique_ptr<RunningBinary>> parents;
  for (const int i : {0, 1}) {
    const Environment rank("RANK", std::to_string(i));
    parents.push_back(node(i, port_, {"--rendezvous", "env", "--json", folder_.path("job.json")}));
  }
  const Ended first = parents[0]->wait(), second = parents[1]->wait();
  ASSERT_EQ(first.exit_code, 0) << first.err;
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_THAT(first.out, AllOf(HasSubstr("2 ranks"), HasSubstr("rank 1 is the straggler")));
  EXPECT_THAT(second.out, Not(HasSubstr("ranks")));
  expect_second_to_be_slow(json::parse(folder_.read("job.json")));
}

// The program does not notice that no other process joins the job.
TEST_F(MergeOfTorchrun, RunsTheProgramWithoutOtherHosts) {
  const Environment rank("RANK", "1"), world("WORLD_SIZE", "2"),
      address("MASTER_ADDR", "127.0.0.1");
  const Environment port("MASTER_PORT", port_);
  Words words{"run", "--rendezvous", "env", "--rendezvous-wait", "2s", "--"};
  words.insert(words.end(),
               {torch_python(), LOADERSCOPE_SOURCE_DIR "/tests/torch/loops.py", "short", "1"});
  const Ended ended = run_binary(words);
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.printed, AllOf(HasSubstr("process 0 does not answer at 127.0.0.1 port "),
                                   HasSubstr("the program runs all the same"),
                                   HasSubstr("hint: 'loaderscope report last'")));
}

}  // namespace
}  // namespace loaderscope::testing_cli

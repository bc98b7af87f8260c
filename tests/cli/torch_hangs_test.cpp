// Programs whose loader hangs: the messages during the hang, and the result that is kept.
#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "cli/torch_fixture.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class TorchHangs : public TorchJobs {
 protected:
  TorchHangs() : TorchJobs("hangs.py") {}

  // Interrupts the run like a user who sees it hang.
  json measured_until_interrupted(std::chrono::seconds after, const Words& command) {
    Words words = {"run", "--json", "-", "--hang-after", "1s", "--"};
    words.insert(words.end(), command.begin(), command.end());
    RunningBinary running(words);
    std::this_thread::sleep_for(after);
    running.send(SIGINT);
    ended_ = running.wait();
    return ended_.out.empty() ? json() : json::parse(ended_.out);
  }
};

struct Hang {
  const char* name;
  int workers;
  const char* said;
  const char* cause;
};

void PrintTo(const Hang& hang, std::ostream* out) { *out << hang.name; }

class TorchHangsOfKinds : public TorchHangs, public ::testing::WithParamInterface<Hang> {};

TEST_P(TorchHangsOfKinds, NamesCauseDuringHang) {
  const Hang& hang = GetParam();
  measured(hang.name, hang.workers, {"--hang-after", "1s", "--timeout", "4s"});
  EXPECT_THAT(ended_.err, AllOf(ContainsRegex("standing for [0-9]+ s: the trainer \\(process "),
                                HasSubstr(hang.said), HasSubstr(hang.cause)));
  EXPECT_THAT(ended_.err, Not(HasSubstr("loaderscope_guest/")));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, TorchHangsOfKinds,
    ::testing::Values(
        Hang{"silent_file", 2, "/photo.jpg, at ", "no-answer: worker 0: read() of /"},
        Hang{"silent_file", 0, "(sample 41, stage read)", "no-answer: the trainer: read() of /"},
        Hang{"file_that_does_not_open", 1, "which waits in open() of /", "no-answer: worker 0"},
        Hang{"silent_server", 2, " in hang (sample 41)", "recv() of a connection to 127.0.0.1:"},
        Hang{"silent_server_with_long_timeout", 2, " in hang (sample 41)",
             "poll() of a connection to 127.0.0.1:"},
        Hang{"lock_held_at_fork", 2, " in hang (sample 41)", "lock-held-at-fork: worker 0"},
        Hang{"shared_lock", 2, " in hang, calling __enter__ (sample 41)", "shared-lock: worker 0"},
        Hang{"locked_file", 2, "flock() of /", "file-lock: another process has locked /"},
        Hang{"stopped_worker", 2, "waits for batch ", "stopped-process: worker 0 (process "}),
    [](const auto& test) {
      return std::string(test.param.name) + std::to_string(test.param.workers);
    });

TEST_F(TorchHangs, KeepsResultUntilInterrupt) {
  const json result = measured_until_interrupted(std::chrono::seconds(7),
                                                 {torch_python(), file_, "silent_file", "2"});
  ASSERT_FALSE(result.is_null()) << ended_.err;
  EXPECT_GT(result.at("window").at("steps"), 0);
  EXPECT_THAT(result.at("notes").dump(), ContainsRegex("standing for [0-9]+ s: the trainer"));
}

TEST_F(TorchHangs, ReportsUnequalBatchesBeforeAndDuringHang) {
  if (!torch_python_has("torch.distributed.run")) GTEST_SKIP() << "no torchrun";
  const json result = measured_until_interrupted(
      std::chrono::seconds(12), {torch_python(), "-m", "torch.distributed.run", "--standalone",
                                 "--nproc-per-node", "2", file_, "unequal_ranks", "1"});
  EXPECT_THAT(ended_.err,
              AllOf(HasSubstr("rank 0 has 10 batches in an epoch and rank 1 has 11"),
                    ContainsRegex("standing for [0-9]+ s: rank 1"), HasSubstr("calling all_reduce"),
                    HasSubstr("unequal-ranks: rank 0 had 10 batches in this epoch and rank 1 has "
                              "taken 11")));
}

TEST_F(TorchHangs, ReportsNoHangOfSlowLoader) {
  measured("slow", 2, {"--hang-after", "1s"});
  EXPECT_EQ(ended_.exit_code, 0);
  EXPECT_THAT(ended_.err, Not(HasSubstr("standing for")));
}

TEST_F(TorchHangs, ReportsLoaderThatContinues) {
  const json result = measured("stands_for_a_while", 2, {"--hang-after", "1s"});
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  EXPECT_THAT(ended_.err, HasSubstr("the loader continues after "));
  EXPECT_THAT(result.at("notes").dump(), ContainsRegex("standing for [0-9]+ s"));
}

TEST_F(TorchHangs, SaysNothingWithZeroHangAfter) {
  measured("stands_for_a_while", 2, {"--hang-after", "0"});
  EXPECT_THAT(ended_.err, Not(HasSubstr("standing for")));
}

}  // namespace
}  // namespace loaderscope::testing_cli

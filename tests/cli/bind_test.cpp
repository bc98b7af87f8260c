// --bind, as the kernel has it of a running program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/cpu_set.h"
#include "cli/run_binary.h"

namespace loaderscope::testing_cli {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

std::string allowed_cpu_list(const fs::path& task) {
  std::ifstream status(task / "status");
  constexpr std::string_view kKey = "Cpus_allowed_list:\t";
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(kKey)) return line.substr(kKey.size());
  }
  return "";
}

// Threads of the process and of all that descend from it, that may run on these CPUs only.
int threads_on(const std::string& cpus, pid_t pid) {
  int threads = 0;
  std::error_code ended;
  for (const auto& task : fs::directory_iterator("/proc/" + std::to_string(pid) + "/task", ended)) {
    threads += allowed_cpu_list(task.path()) == cpus;
    std::ifstream children(task.path() / "children");
    for (pid_t child = 0; children >> child;) threads += threads_on(cpus, child);
  }
  return threads;
}

Words bound_run(const std::string& cpus, const std::string& executor) {
  return {
      "run",       "--source=synthetic",     "--cost=decode=1ms", "--workers=2",    "--device=null",
      "--batch=4", "--executor=" + executor, "--duration=60s",    "--bind=" + cpus, "--verbose"};
}

class Bind : public testing::TestWithParam<const char*> {};

TEST_P(Bind, RunsWorkersOnBoundCpus) {
  const CpuSet cpus = allowed_cpus();
  if (cpus.size() < 2) GTEST_SKIP() << "one CPU may be used";
  const std::string last = std::to_string(cpus.back());
  RunningBinary program(bound_run(last, GetParam()));
  int threads = 0;
  for (int i = 0; i < 300 && threads < 2 && !program.has_ended(); ++i) {
    threads = threads_on(last, program.pid());
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_GE(threads, 2);
  program.send(SIGINT);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.exit_code, 130) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("the workers of rank 0 run on CPUs " + last));
}

INSTANTIATE_TEST_SUITE_P(Executors, Bind, testing::Values("threads", "processes"));

TEST(BindCli, RejectsImpossibleCpus) {
  const auto refused = [](const std::string& cpus) {
    const Ended ended = run_binary(bound_run(cpus, "threads"));
    EXPECT_NE(ended.exit_code, 0) << cpus;
    return ended.err;
  };
  for (const char* text : {"3-0", "0-99999999", "0,", "1,0", "near", "0-"})
    EXPECT_THAT(refused(text), HasSubstr("expected near-gpu, spread, compact, none, or CPUs"))
        << text;
  EXPECT_THAT(refused("near"), HasSubstr("did you mean 'near-gpu'?"));
  EXPECT_THAT(refused("near-gpu"), HasSubstr("there is no GPU with device = null"));
  EXPECT_THAT(refused("1048575"), HasSubstr("CPU 1048575 is not there or may not be used"));
}

}  // namespace
}  // namespace loaderscope::testing_cli

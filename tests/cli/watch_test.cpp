// Jobs that run, watched from outside: a pretend loader whose workers have the names that PyTorch
// gives them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/run_binary.h"
#include "cli/run_script.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

const std::string kLoader = LOADERSCOPE_SOURCE_DIR "/tests/tools/pretend_loader.py";
const std::string kPython = "/usr/bin/python3";

// A pretend job, which runs until the end of the test.
class Job {
 public:
  Job(const std::string& how, int workers)
      : running_({kLoader, how, std::to_string(workers), folder_.path("fifo")},
                 folder_.write("said", ""), kPython) {
    for (int i = 0; i < 3000 && folder_.read("said").empty(); ++i) ::usleep(10'000);
  }
  std::string pid() const { return std::to_string(running_.pid()); }
  void end() { running_.send(SIGKILL); }

 private:
  TestFolder folder_;
  RunningBinary running_;
};

json watched(const Job& job, const Words& flags) {
  Words words = {"watch", "--pid", job.pid(), "--json", "-"};
  words.insert(words.end(), flags.begin(), flags.end());
  const Ended ended = run_binary(words);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  return json::parse(ended.out);
}

bool has_python() { return ::access(kPython.c_str(), X_OK) == 0; }

TEST(Watch, ReportsSleepingReadsAsLimit) {
  if (!has_python()) GTEST_SKIP() << "no " << kPython;
  const Job job("reads", 3);
  const json result = watched(job, {"--duration", "4s"});
  EXPECT_EQ(result["workers"]["seen"], 3);
  EXPECT_EQ(result["processes"].size(), 4U);
  EXPECT_EQ(result["processes"][0]["role"], "trainer");
  EXPECT_GT(result["workers"]["shares"]["sleep"], 0.3) << result.dump(1);
  EXPECT_GT(result["waits"]["share"], 0.2);
  EXPECT_THAT(result["verdict"]["limit"], testing::AnyOf("waits", "contention"));
}

TEST(Watch, ReportsIdleWorkersOfSlowTrainer) {
  if (!has_python()) GTEST_SKIP() << "no " << kPython;
  const Job job("trainer", 2);
  const json result = watched(job, {"--duration", "4s"});
  EXPECT_GT(result["workers"]["shares"]["queue"], 0.3) << result.dump(1);
  EXPECT_LT(result["waits"]["share"], 0.5);
}

TEST(Watch, NamesFileOfHangingJob) {
  if (!has_python()) GTEST_SKIP() << "no " << kPython;
  const Job job("hangs", 2);
  const Ended ended =
      run_binary({"watch", "--pid", job.pid(), "--hang-after", "2s", "--duration", "6s"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("Standing for"), HasSubstr("waits for worker 0"),
                               HasSubstr("open() of "), HasSubstr("/fifo")));
  EXPECT_THAT(ended.err, HasSubstr("loaderscope: standing for"));
}

TEST(Watch, ReportsAfterEndOfJob) {
  if (!has_python()) GTEST_SKIP() << "no " << kPython;
  Job job("trainer", 1);
  RunningBinary watching({"watch", "--pid", job.pid(), "--interval", "200ms"});
  watching.wait_until_it_catches(SIGINT);
  ::usleep(1'000'000);
  job.end();
  const Ended ended = watching.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("the job has ended"));
}

TEST(Watch, PrintsSummaryAfterSignal) {
  if (!has_python()) GTEST_SKIP() << "no " << kPython;
  const Job job("idle", 1);
  RunningBinary watching({"watch", "--pid", job.pid()});
  watching.wait_until_it_catches(SIGINT);
  watching.send(SIGINT);
  const Ended ended = watching.wait();
  EXPECT_EQ(ended.exit_code, 130);
  EXPECT_THAT(ended.out, HasSubstr("stopped by a signal"));
}

// The first run makes a result of map(); the second finds it, and makes another meanwhile.
constexpr const char* kMapsAgain = R"(
import sys, time, datasets
datasets.disable_progress_bars()
rows = datasets.load_dataset('json', data_files=sys.argv[1], split='train')
def double(row): return {'j': row['i'] * 2}
def slowly(row):
    time.sleep(0.2)
    return {'k': row['j']}
made = rows.map(double)
if sys.argv[2] == 'again':
    print('ready', flush=True)
    made.map(slowly)
)";

TEST(Watch, ReportsCachedResultsOfDatasetsMap) {
  const std::string python = peers_python();
  if (python.empty() || run_program(python, {"-c", "import datasets"}).exit_code != 0)
    GTEST_SKIP() << "no Python with datasets: scripts/python-env peers makes one";
  const TestFolder folder;
  const Environment cache("HF_DATASETS_CACHE", folder.path("cache"));
  const Environment offline("HF_DATASETS_OFFLINE", "1");
  std::string lines;
  for (int i = 0; i < 500; ++i) lines += "{\"i\": " + std::to_string(i) + "}\n";
  const std::string rows = folder.write("rows.jsonl", lines);
  const std::string program = folder.write("maps.py", kMapsAgain);
  const Ended first = run_program(python, {program, rows, "once"});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  ::sleep(2);  // starts of processes are known to a second
  const RunningBinary job({program, rows, "again"}, folder.write("said", ""), python);
  for (int i = 0; i < 3000 && folder.read("said").empty(); ++i) ::usleep(10'000);
  ::usleep(500'000);
  const Ended watched =
      run_binary({"watch", "--pid", std::to_string(job.pid()), "--duration", "2s", "--json", "-"});
  ASSERT_EQ(watched.exit_code, 0) << watched.err;
  const json results = json::parse(watched.out).at("map_results");
  EXPECT_EQ(results.at("found"), 1) << results;
  EXPECT_EQ(results.at("made"), 0) << results;
  ASSERT_EQ(results.at("being_written").size(), 1U);
  EXPECT_THAT(results.at("being_written")[0].get<std::string>(), HasSubstr("/cache/json/"));
}

TEST(Watch, StartsWatchesAndEndsProgram) {
  const Ended ended = run_binary({"watch", "--duration", "500ms", "--", "sleep", "60"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("Cannot tell: no worker processes"));
  const Ended failed = run_binary({"watch", "--", "sh", "-c", "sleep 0.3; exit 3"});
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.err, HasSubstr("sh: ended with exit code 3"));
  EXPECT_THAT(failed.out, HasSubstr("Cannot tell"));
}

TEST(Watch, RefusesWithOneSentence) {
  const Refused cases[] = {
      {{"watch"}, "expected --pid PID of a running job, or -- COMMAND"},
      {{"watch", "--pid", "x"}, "--pid x: expected"},
      {{"watch", "--pid", "-1"}, "--pid -1: expected"},
      {{"watch", "--pid", "99999999999"}, "expected the number of a process"},
      {{"watch", "--pid", "4194303"}, "there is no such process", 1},
      {{"watch", "--pid", "1", "--", "true"}, "give one of the two"},
      {{"watch", "--pid", "1", "--interval", "1ms"}, "--interval 1ms: expected 0.1s or more"},
      {{"watch", "--pid", "1", "--duration", "never"}, "--duration never"},
      {{"watch", "--pid", "1", "--json", "/nowhere/a"}, "/nowhere/a", 1},
      {{"watch", "--", "/nowhere/program"}, "/nowhere/program: cannot be started", 1},
  };
  for (const Refused& one : cases) {
    const Ended ended = run_binary(one.words);
    EXPECT_EQ(ended.exit_code, one.exit_code) << one.message;
    EXPECT_THAT(ended.err, HasSubstr(one.message));
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  }
}

}  // namespace
}  // namespace loaderscope::testing_cli

// NVTX calls of a run. A pretend tool writes down every call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "cli/run_binary.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::IsSupersetOf;
using ::testing::UnorderedElementsAre;

using Calls = std::vector<json>;
class Nvtx : public ::testing::Test {
 protected:
  void SetUp() override {
    if (nvtx_recorder().empty()) GTEST_SKIP() << "built without NVTX 3";
  }

  // Six steps of batches of two samples of 1000 stored and 3000 delivered bytes.
  Calls record_calls(const Words& more) {
    Words words = {"run",
                   "--device",
                   "sim",
                   "--stored-bytes",
                   "1000",
                   "--delivered-bytes",
                   "3000",
                   "--batch",
                   "2",
                   "--steps",
                   "4",
                   "--warmup",
                   "2",
                   "--in-flight",
                   "1",
                   "--cost",
                   "decode=10us:sleep",
                   "--compute",
                   "100us"};
    words.insert(words.end(), more.begin(), more.end());
    std::filesystem::remove(folder_.path("calls"));
    const Ended ended = run_binary(words);
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    Calls calls;
    std::istringstream lines(folder_.read("calls"));
    for (std::string line; std::getline(lines, line);) calls.push_back(json::parse(line));
    return calls;
  }

  TestFolder folder_;
  Environment file_{"NVTX_RECORDER_FILE", folder_.path("calls")};
  Environment tool_{"NVTX_INJECTION64_PATH", nvtx_recorder()};
};

std::set<std::string> call_names(const Calls& calls, const std::string& call) {
  std::set<std::string> names;
  for (const json& one : calls) {
    if (one.at("call") == call) names.insert(one.at("name"));
  }
  return names;
}

// Per thread every pop has its push; returns the names that each name was seen within ("" alone).
std::map<std::string, std::set<std::string>> range_parents(const Calls& calls) {
  std::map<std::int64_t, std::vector<std::string>> open;
  std::map<std::string, std::set<std::string>> parents;
  for (const json& call : calls) {
    auto& stack = open[call.at("thread")];
    if (call.at("call") == "push") {
      parents[call.at("name")].insert(stack.empty() ? "" : stack.back());
      stack.push_back(call.at("name"));
    } else if (call.at("call") == "pop") {
      if (stack.empty()) {
        ADD_FAILURE() << "a pop without a push";
      } else {
        stack.pop_back();
      }
    }
  }
  for (const auto& [thread, stack] : open) EXPECT_TRUE(stack.empty()) << stack.back();
  return parents;
}

TEST_F(Nvtx, UsesItsDomainAndRegisteredNames) {
  const Calls calls = record_calls({"--workers", "2"});
  EXPECT_THAT(call_names(calls, "domain"), UnorderedElementsAre("loaderscope"));
  EXPECT_THAT(call_names(calls, "string"),
              IsSupersetOf({"read", "decode", "augment", "collate", "h2d", "wait for batch"}));
  for (const json& call : calls) {
    if (call.contains("domain")) {
      EXPECT_EQ(call.at("domain"), "loaderscope") << call;
    }
    if (call.contains("registered")) {
      EXPECT_TRUE(call.at("registered")) << call;
    }
  }
}

TEST_F(Nvtx, RecordsBatchSampleAndBytesOfStages) {
  const Calls calls = record_calls({"--workers", "1", "--cost", "collate=10us:sleep"});
  std::set<std::int64_t> batches, samples;
  for (const json& call : calls) {
    if (call.at("call") != "push") continue;
    const json& payload = call.at("payload");
    if (call.at("name") == "decode") {
      EXPECT_EQ(payload.at("bytes"), 1000);
      batches.insert(payload.at("batch").get<std::int64_t>());
      samples.insert(payload.at("sample").get<std::int64_t>());
    } else if (call.at("name") == "collate") {
      EXPECT_EQ(payload.at("bytes"), 6000);
      EXPECT_EQ(payload.at("sample"), -1);
    }
  }
  EXPECT_THAT(batches, IsSupersetOf({0, 1, 2, 3, 4, 5}));
  EXPECT_THAT(samples, IsSupersetOf({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
}

TEST_F(Nvtx, RecordsWaitsAndSubmissionsOfTrainer) {
  const Calls calls = record_calls({"--workers", "1", "--copy", "sync", "--link", "1/1"});
  std::map<std::string, std::vector<std::int64_t>> steps;
  std::int64_t trainer = 0;
  for (const json& call : calls) {
    if (call.at("call") == "name_thread" && call.at("name") == "trainer rank 0")
      trainer = call.at("thread");
    if (call.at("call") == "push" && call.at("thread") == trainer)
      steps[call.at("name")].push_back(call.at("payload").at("batch"));
  }
  for (const char* name : {"wait for batch", "submit copy", "wait copied", "launch"}) {
    ASSERT_GE(steps[name].size(), 6U) << name;
    for (std::size_t i = 0; i < steps[name].size(); ++i)
      EXPECT_EQ(steps[name][i], static_cast<std::int64_t>(i)) << name;
  }
  EXPECT_THAT(steps["wait computed"], IsSupersetOf({0, 1, 2, 3, 4}));
}

TEST_F(Nvtx, ClosesRangesInNestedOrder) {
  auto parents = range_parents(record_calls(
      {"--workers", "2", "--epochs", "1", "--samples", "12", "--warmup", "0", "--steps", "0"}));
  EXPECT_THAT(parents["decode"], UnorderedElementsAre(""));
  EXPECT_THAT(parents["wait for batch"], UnorderedElementsAre(""));

  // The trainer makes the batch inside its wait if there are no workers.
  parents = range_parents(record_calls(
      {"--workers", "0", "--epochs", "1", "--samples", "12", "--warmup", "0", "--steps", "0"}));
  EXPECT_THAT(parents["decode"], UnorderedElementsAre("wait for batch"));
}

TEST_F(Nvtx, NamesThreads) {
  const Calls one =
      record_calls({"--workers", "2", "--cost", "transport=10us:sleep", "--memory", "pin-thread"});
  EXPECT_THAT(call_names(one, "name_thread"),
              UnorderedElementsAre("worker 0", "worker 1", "feeder 0", "feeder 1", "pin",
                                   "trainer rank 0"));
  for (const json& call : one) {
    if (call.at("call") == "name_thread") {
      EXPECT_EQ(call.at("of"), call.at("thread"));
    }
  }
  const Calls two = record_calls({"--workers", "1", "--ranks", "2"});
  EXPECT_THAT(call_names(two, "name_thread"),
              UnorderedElementsAre("worker 0 rank 0", "worker 0 rank 1", "trainer rank 0",
                                   "trainer rank 1"));
}

TEST_F(Nvtx, RecordsWorkOfWorkerProcesses) {
  const Calls calls = record_calls({"--workers", "2", "--executor", "processes", "--epochs", "1",
                                    "--samples", "12", "--warmup", "0", "--steps", "0"});
  EXPECT_THAT(
      call_names(calls, "name_thread"),
      UnorderedElementsAre("worker 0", "worker 1", "feeder 0", "feeder 1", "trainer rank 0"));
  auto parents = range_parents(calls);
  EXPECT_THAT(parents["decode"], UnorderedElementsAre(""));
  EXPECT_THAT(parents["transport"], UnorderedElementsAre(""));
}

TEST_F(Nvtx, RecordsQueueDepthsAsCounters) {
  const Calls calls = record_calls({"--workers", "1", "--memory", "pin-thread"});
  EXPECT_THAT(call_names(calls, "counter"), UnorderedElementsAre("queue ready", "queue to pin"));
  std::map<std::string, std::vector<std::int64_t>> values;
  for (const json& call : calls) {
    if (call.at("call") == "sample") values[call.at("name")].push_back(call.at("value"));
  }
  for (const char* name : {"queue ready", "queue to pin"}) {
    std::int64_t depth = 0;
    EXPECT_THAT(values[name], Contains(1)) << name;
    for (const std::int64_t value : values[name]) {
      EXPECT_GE(value, 0) << name;
      EXPECT_LE(std::abs(value - depth), 1) << name;
      depth = value;
    }
  }
}

TEST_F(Nvtx, MarksWindowAsRangeAndProfilerCapture) {
  const Calls calls = record_calls({"--workers", "1"});
  std::vector<std::string> order;
  for (const json& call : calls) {
    const std::string name = call.at("call");
    if (name == "start") {
      EXPECT_EQ(call.at("name"), "window");
    }
    if (name == "start" || name == "end" || name.starts_with("profiler")) order.push_back(name);
  }
  EXPECT_EQ(order, (std::vector<std::string>{"profiler start", "start", "end", "profiler stop"}));
}

TEST_F(Nvtx, BeginsWindowFirstWithoutWarmUp) {
  const Calls calls = record_calls({"--workers", "1", "--warmup", "0"});
  for (const json& call : calls) {
    ASSERT_NE(call.at("call"), "push") << "before the window";
    if (call.at("call") == "start") return;
  }
  FAIL() << "no window";
}

TEST_F(Nvtx, SendsMarksAndNumbersToToolsWithoutExtensions) {
  const Environment plain("NVTX_RECORDER_PLAIN", "1");
  const Calls calls = record_calls({"--workers", "1"});
  EXPECT_THAT(call_names(calls, "counter"), ::testing::IsEmpty());
  EXPECT_THAT(call_names(calls, "mark"), Contains("queue ready"));
  for (const json& call : calls) {
    if (call.at("call") == "push") {
      EXPECT_TRUE(call.at("payload").is_number_integer()) << call;
    }
  }
}

TEST_F(Nvtx, IgnoresUnusableTool) {
  const Environment tool("NVTX_INJECTION64_PATH", folder_.path("none.so"));
  const Ended ended = run_binary({"run", "--steps", "4", "--warmup", "0", "--workers", "1",
                                  "--compute", "100us", "--device", "sim"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

}  // namespace
}  // namespace loaderscope::testing_cli

// JSON as kineto writes it, and JSON that is none of its.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "engine/import/import_engine.h"
#include "engine/import/traced_run.h"
#include "loaderscope/analysis.h"
#include "unit/source/packed_bytes.h"
#include "unit/source/temp_folder.h"

namespace loaderscope::traces {
namespace {

using ::testing::HasSubstr;

std::string event(const std::string& category, const std::string& name, double begin, double length,
                  const std::string& args = "") {
  return R"({"ph":"X","cat":")" + category + R"(","name":")" + name +
         R"(","pid":"Spans","tid":1,"ts":)" + std::to_string(begin) + R"(,"dur":)" +
         std::to_string(length) + R"(,"args":{)" + args + "}}";
}

std::string trace_text(const std::vector<std::string>& events, int rank = 0) {
  std::string text = R"({"schemaVersion":1,"deviceProperties":[{"id":0,"name":"H100"}],
    "distributedInfo":{"rank":)" +
                     std::to_string(rank) + R"(,"world_size":2},
    "baseTimeNanoseconds":1700000000000000000,"traceEvents":[)";
  for (std::size_t i = 0; i < events.size(); ++i) text += (i > 0 ? "," : "") + events[i];
  return text + "]}";
}

constexpr const char* kAskForNext = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";

// 30 steps of 1000 us: 200 us for the loader, 100 us of a copy, 700 us of a kernel.
std::vector<std::string> steps() {
  std::vector<std::string> events;
  for (int k = 0; k < 30; ++k) {
    const double at = 1000.0 * k;
    const std::string on = R"("device":0,"stream":7,"correlation":)" + std::to_string(k + 1);
    events.push_back(event("user_annotation", "ProfilerStep#" + std::to_string(k + 40), at, 1000));
    events.push_back(event("user_annotation", kAskForNext, at, 200));
    events.push_back(event("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", at + 200, 100,
                           on + R"(,"bytes":1000)"));
    events.push_back(event("kernel", "gemm", at + 300, 700, on));
  }
  return events;
}

class TorchTrace : public ::testing::Test {
 protected:
  std::string saved(const std::string& text, const std::string& name = "trace.json") {
    const std::string path = folder_.path() + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::string refusal(const std::string& text) {
    try {
      read_traces({{saved(text)}, "", 0});
    } catch (const RunError& error) {
      return error.what();
    }
    return "it was read";
  }

  source::TempFolder folder_;
};

TEST_F(TorchTrace, GivesTheAccountOfItsSteps) {
  const RunRecord record = read_traces({{saved(trace_text(steps()))}, "", 8});
  const Analysis analysis = analyse(record);
  EXPECT_EQ(analysis.steps, 30);
  EXPECT_EQ(analysis.account.window, 30 * kMillisecond);
  EXPECT_EQ(analysis.account.compute, 21 * kMillisecond);
  EXPECT_EQ(analysis.account.stall[Cause::opaque], 6 * kMillisecond);
  EXPECT_EQ(analysis.account.stall[Cause::h2d], 3 * kMillisecond);
  EXPECT_EQ(analysis.samples, 240);
  EXPECT_EQ(record.machine.gpus, "H100");
  EXPECT_THAT(analysis.verdict.sentence,
              HasSubstr("GPU busy 70.0 % of the time (±0.0): it waits mostly for the DataLoader "
                        "(20.0 %), in 30 of 30 steps"));
  EXPECT_EQ(value_of(record.metrics, "gap.loader_wait_step"), 40);
}

TEST_F(TorchTrace, TreatsSeveralFilesAsRanks) {
  const std::string one = saved(trace_text(steps(), 0), "0.json");
  const std::string two = saved(trace_text(steps(), 1), "1.json");
  const RunRecord record = read_traces({{one, two}, "", 0});
  ASSERT_EQ(record.ranks.size(), 2U);
  EXPECT_EQ(analyse(record).account.compute, 21 * kMillisecond);
}

// The second is 100 us longer in its DataLoader, and the first waits for it in what they exchange.
TEST_F(TorchTrace, MeasuresWaitForRankByCollectives) {
  const auto rank = [](double wait) {
    std::vector<std::string> events;
    for (int k = 0; k < 30; ++k) {
      const double at = 1000.0 * k;
      events.push_back(event("user_annotation", kAskForNext, at, wait));
      events.push_back(event("kernel", "gemm", at + wait, 300, R"("device":0)"));
      events.push_back(event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", at + wait + 300,
                             700 - wait, R"("device":0)"));
    }
    return events;
  };
  const std::string one = saved(trace_text(rank(100), 0), "0.json");
  const std::string two = saved(trace_text(rank(200), 1), "1.json");
  const RunRecord record = read_traces({{one, two}, "", 0});
  const Analysis analysis = analyse(record);
  // The late one begins to compute at 200 and the other to exchange at 400: until 500 it computes.
  EXPECT_EQ(value_of(record.metrics, "gap.another_rank_s"), std::nullopt);
  EXPECT_NEAR(*value_of(record.metrics, "gpu.waits_for_ranks_s"), 0.0015, 1e-9);
  EXPECT_EQ(analysis.rank_accounts[0].compute, 27 * kMillisecond);
}

// The names of the machine and the GPU in a trace are shown, and their control characters have no
// effect.
TEST_F(TorchTrace, EscapesHostileNames) {
  std::string text = trace_text(steps());
  text.replace(text.find("\"H100\""), 6, R"("</script>\u202e\u001b[31m")");
  text.insert(1, R"("host_name":"a\u0000\u2066</script>\n",)");
  const RunRecord record = read_traces({{saved(text)}, "", 0});
  for (const std::string& shown : {record.machine.gpus.value(), record.machine.host.value()}) {
    for (const char* raw : {"\x1b", "\u202e", "\u2066", "\n"})
      EXPECT_EQ(shown.find(raw), shown.npos) << shown;
    EXPECT_EQ(shown.find('\0'), shown.npos);
  }
}

TEST_F(TorchTrace, ReadsLoaderAmongOperationsOfOlderTraces) {
  std::string text = trace_text(steps());
  for (auto at = text.find("user_annotation"); at != text.npos; at = text.find("user_annotation"))
    text.replace(at, 15, "cpu_op");
  EXPECT_EQ(analyse(read_traces({{saved(text)}, "", 0})).account.stall[Cause::opaque],
            6 * kMillisecond);
}

TEST_F(TorchTrace, ReadsPackedTrace) {
  if (!built_with::kZlib.is_built) GTEST_SKIP() << "built without zlib";
  const std::string packed = source::gzip_bytes(trace_text(steps()));
  EXPECT_EQ(analyse(read_traces({{saved(packed)}, "", 0})).steps, 30);
  EXPECT_THAT(refusal(packed.substr(0, packed.size() / 2)), HasSubstr("is cut off after"));
  std::string damaged = packed;
  damaged[damaged.size() / 2] ^= 0x55;
  EXPECT_THAT(refusal(damaged), HasSubstr("gzip data are damaged"));
  EXPECT_THAT(refusal(source::gzip_bytes("SQLite format 3" + std::string(100, '\0'))),
              HasSubstr("unpack it with gunzip"));
}

TEST_F(TorchTrace, RejectsPackedTraceThatIsTooLarge) {
  if (!built_with::kZlib.is_built) GTEST_SKIP() << "built without zlib";
  const std::string blanks = "{\"traceEvents\":[" + std::string(std::size_t{70} << 20, ' ') + "]}";
  EXPECT_THAT(refusal(source::gzip_bytes(blanks)), HasSubstr("more than"));
}

TEST_F(TorchTrace, RejectsWrongFilesInOneSentence) {
  const std::string whole = trace_text(steps());
  EXPECT_THAT(refusal(whole.substr(0, whole.size() / 2)), HasSubstr("is cut off after"));
  EXPECT_THAT(refusal(""), HasSubstr("is empty"));
  EXPECT_THAT(refusal("not json"), HasSubstr("is no JSON"));
  EXPECT_THAT(refusal("{\"traceEvents\":[]}"), HasSubstr("has no events of a profiler"));
  EXPECT_THAT(refusal("[1,2,3]"), HasSubstr("has no events of a profiler"));
  EXPECT_THAT(refusal(std::string(1000, '[')), HasSubstr("nested deeper"));
  EXPECT_THAT(refusal(trace_text({R"({"ph":"X","ts":1e999})"})), HasSubstr("too large"));
}

TEST_F(TorchTrace, RejectsTextThatFillsMemory) {
  EXPECT_THAT(refusal("{\"" + std::string(std::size_t{20} << 20, 'a') + "\":1}"),
              HasSubstr("more than 16 MiB"));
}

TEST_F(TorchTrace, CountsImpossibleTimes) {
  std::vector<std::string> events = steps();
  events.push_back(event("kernel", "k", -5, 10, R"("device":0)"));
  events.push_back(event("kernel", "k", 5, -10, R"("device":0)"));
  events.push_back(event("kernel", "k", 1e300, 10, R"("device":0)"));
  EXPECT_THAT(read_traces({{saved(trace_text(events))}, "", 0}).notes,
              ::testing::Contains(HasSubstr("3 events had no times")));
}

TEST(TraceNames, RecognisesCallsThatWaitForGpu) {
  for (const char* name : {"cudaStreamSynchronize_v3020", "cudaDeviceSynchronize", "cudaMemcpy",
                           "cuCtxSynchronize", "cudaFree", "hipMemcpy", "cuMemcpyHtoD_v2"})
    EXPECT_EQ(kind_of_call(name), HostKind::synchronous) << name;
  for (const char* name : {"cudaMemcpyAsync_v3020", "cudaLaunchKernel_v7000", "cudaFreeAsync",
                           "cudaStreamWaitEvent", "cuLaunchKernel"})
    EXPECT_EQ(kind_of_call(name), HostKind::call) << name;
}

}  // namespace
}  // namespace loaderscope::traces

// Loaders that are none of PyTorch's: of those of the user's, and of the pipelines that we bring.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/torch_fixture.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

Ended run_with(const Words& flags) {
  Words words = {"run", "--json", "-"};
  words.insert(words.end(), flags.begin(), flags.end());
  return run_binary(words);
}

std::string foreign(const std::string& function) {
  return LOADERSCOPE_SOURCE_DIR "/tests/torch/foreign.py:" + function;
}

TEST(ForeignLoader, MeasuresOnlyWaitForBatches) {
  const Ended ended =
      run_with({"--loader", foreign("sleeps"), "--compute", "10ms", "--steps", "40"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const json result = json::parse(ended.out);
  expect_sums_up(result);
  EXPECT_EQ(result.at("config").at("executor"), "opaque");
  EXPECT_EQ(result.at("config").at("batch_size"), 8);
  EXPECT_EQ(result.at("window").at("samples"), 40 * 8);
  const json& opaque = result.at("stages").at("opaque");
  EXPECT_GE(seconds_at(opaque, "p50_s"), 0.039);
  // Each step waits for the 40 ms of its batch, less the 20 ms that two steps compute meanwhile.
  const json& stall = result.at("account").at("stall_s");
  EXPECT_GE(seconds_at(stall, "opaque"), 40 * 0.019);
  for (const char* unseen : {"read", "decode", "augment", "collate", "prefetch"})
    EXPECT_EQ(seconds_at(stall, unseen), 0) << unseen;
  EXPECT_THAT(result.at("notes").dump(), HasSubstr("the loader is no DataLoader of PyTorch"));
  const json& finding = result.at("findings").at(0);
  EXPECT_EQ(finding.at("id"), "loader-not-seen");
  EXPECT_TRUE(finding.at("predicted").is_null());
  EXPECT_TRUE(finding.at("command").is_null());
  EXPECT_THAT(result.at("unseen").dump(), HasSubstr("no predictions: what is inside the loader"));
  EXPECT_GT(seconds_at(result.at("process"), "cpu_s"), 0);
}

TEST(ForeignLoader, MeasuresReadsInTheThreadThatAsks) {
  const TestFolder folder;
  const Environment place("FOREIGN_FOLDER", folder.path(""));
  const Ended ended = run_with({"--loader", foreign("reads"), "--device", "null", "--steps", "30"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const json result = json::parse(ended.out);
  expect_sums_up(result);
  EXPECT_EQ(result.at("stages").at("read").at("bytes"), 30 << 20);
}

TEST(ForeignLoader, RejectsUnsupportedSettings) {
  const Ended ended = run_with({"--loader", foreign("sleeps"), "--workers", "2"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("--num-workers: --loader"));
  EXPECT_THAT(ended.err, HasSubstr("leave out --num-workers"));
  EXPECT_THAT(ended.err, HasSubstr("sweep --vary loader=FILE.py:ONE,FILE.py:OTHER"));
}

TEST(ForeignLoader, RunsEachFunctionInSweep) {
  const std::string axis = "loader=" + foreign("sleeps") + "," + foreign("hurries");
  const Ended ended = run_binary({"sweep", "--vary", axis, "--compute", "1ms", "--steps", "20",
                                  "--json", "-", "--budget", "10s"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const json cases = json::parse(ended.out).at("cases");
  ASSERT_EQ(cases.size(), 2U);
  for (const json& one : cases) EXPECT_FALSE(one.at("runs").empty()) << one.dump();
}

TEST(ForeignLoader, ReportsBadEndsOfTheLoader) {
  EXPECT_THAT(run_with({"--loader", foreign("raises")}).err,
              HasSubstr("ValueError: batch 2 is rotten"));
  EXPECT_THAT(run_with({"--loader", foreign("silent"), "--timeout", "1s"}).err,
              HasSubstr("no batch came for 1.000 s"));
  EXPECT_THAT(run_with({"--loader", foreign("empty")}).err, HasSubstr("it gives no batch"));
}

TEST(PipelineSettings, RejectsContradictions) {
  const auto refused = [](const Words& flags) {
    const Ended ended = run_with(flags);
    EXPECT_EQ(ended.exit_code, 64) << ended.err;
    return ended.err;
  };
  EXPECT_THAT(refused({"--loader", "dali:cpu"}), HasSubstr("needs data; give one --data FOLDER"));
  EXPECT_THAT(refused({"--loader", "dali:cpu", "--data", "x", "--engine", "torch"}),
              HasSubstr("engine = torch: contradicts"));
  EXPECT_THAT(refused({"--loader", "dali:cpu", "--data", "x", "--pin-memory"}),
              HasSubstr("dali has none such"));
  EXPECT_THAT(refused({"--loader", "torch:pilow"}), HasSubstr("torch:pillow"));
  EXPECT_THAT(refused({"--loader", foreign("sleeps"), "--data", "x"}), HasSubstr("yours has its"));
}

struct Pipeline {
  const char* name;
  const char* module;  // Python module of the pipeline
};

void PrintTo(const Pipeline& pipeline, std::ostream* out) { *out << pipeline.name; }

class Pipelines : public ::testing::TestWithParam<Pipeline> {
 protected:
  void SetUp() override {
    if (!torch_python_has(GetParam().module))
      GTEST_SKIP() << "no Python with " << GetParam().module << ": scripts/python-env makes one";
    ASSERT_EQ(run_binary({"data", "make", data_, "--count", "32", "--size", "96x64"}).exit_code, 0);
  }
  json measured(const Words& flags) {
    Words words = {"--data",  data_,    "--python", torch_python(),  "--workers",
                   "1",       "--size", "32",       "--device",      "null",
                   "--batch", "8",      "--loader", GetParam().name, "--steps",
                   "12"};
    words.insert(words.end(), flags.begin(), flags.end());
    const Ended ended = run_with(words);
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    return ended.exit_code == 0 ? json::parse(ended.out) : json();
  }

  TestFolder folder_;
  const Environment cache_{"XDG_CACHE_HOME", folder_.path("cache")};
  const std::string data_ = folder_.path("photos");
};

TEST_P(Pipelines, MeasuresPipeline) {
  const json result = measured({});
  ASSERT_FALSE(result.is_null());
  expect_sums_up(result);
  const std::string name = GetParam().name;
  EXPECT_EQ(result.at("engine"), name.substr(0, name.find(':')));
  EXPECT_EQ(result.at("config").at("num_workers"), 1);
  EXPECT_EQ(result.at("config").at("batch_size"), 8);
  EXPECT_EQ(result.at("window").at("samples"), 12 * 8);
  EXPECT_EQ(result.at("throughput").at("delivered_bytes_per_s").get<double>() > 0, true);
  if (name == "dali:cpu") {
    EXPECT_EQ(result.at("config").at("executor"), "opaque");
    EXPECT_EQ(result.at("dali").at("threads"), 1);
    EXPECT_TRUE(result.at("dali").contains("busy_threads"));
  } else {
    EXPECT_GT(result.at("stages").at("collate").at("count").get<int>(), 0);
  }
  for (const char* stage : {"read", "decode", "augment"})
    EXPECT_GT(result.at("stages").at(stage).at("count").get<int>(), 0) << stage;
}

INSTANTIATE_TEST_SUITE_P(Table, Pipelines,
                         ::testing::Values(Pipeline{"torch:pillow", "torchvision"},
                                           Pipeline{"webdataset:pillow", "webdataset"},
                                           Pipeline{"dali:cpu", "nvidia.dali"}),
                         [](const auto& test) {
                           std::string name = test.param.name;
                           name[name.find(':')] = '_';
                           return name;
                         });

}  // namespace
}  // namespace loaderscope::testing_cli

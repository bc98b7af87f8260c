// Training loops as people write them: which loader is measured, and that none of its steps is
// lost.
#include <gmock/gmock.h>

#include <algorithm>

#include "cli/torch_fixture.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

class TorchLoops : public TorchJobs {
 protected:
  TorchLoops() : TorchJobs("loops.py") {}
};

struct Loop {
  const char* name;
  bool end_known;
};

void PrintTo(const Loop& loop, std::ostream* out) { *out << loop.name; }

class TorchLoopsOfAllKinds : public TorchLoops, public ::testing::WithParamInterface<Loop> {};

TEST_P(TorchLoopsOfAllKinds, CountsEveryStep) {
  expect_all_measured(measured(GetParam().name, 2), GetParam().end_known);
}

INSTANTIATE_TEST_SUITE_P(Loops, TorchLoopsOfAllKinds,
                         ::testing::Values(Loop{"accumulated", true}, Loop{"zipped", true},
                                           Loop{"next_calls", false}, Loop{"sliced", false},
                                           Loop{"left_early", false}),
                         [](const auto& test) { return std::string(test.param.name); });

// A validation of two batches comes first, and others between its epochs.
TEST_F(TorchLoops, MeasuresLoaderThatTrains) {
  const json result = measured("lightning", 2);
  expect_all_measured(result);
  EXPECT_EQ(result.at("config").at("batch_size"), 8);
  const std::string notes = result.at("notes").dump();
  EXPECT_THAT(notes, HasSubstr("tests/torch/loops.py:30\""));
  int validations = 0;
  for (const json& loader : result.at("loaders")) {
    EXPECT_EQ(loader.at("measured"), loader.at("with_gradients")) << loader;
    if (!loader.at("measured")) validations += loader.at("iterations").get<int>();
  }
  EXPECT_EQ(validations, 3);
}

// Two workers make a batch of 240 ms each: a step takes 120 ms, of which the training takes 2. On a
// busy machine the workers of the fast loader take a second to start, and the slow one five in all.
TEST_F(TorchLoops, MeasuresSlowerOfTwoZippedLoaders) {
  const json result = measured("zipped_unequal", 2);
  expect_all_measured(result, false);  // the other one ends first
  const json& loaders = result.at("loaders");
  ASSERT_EQ(loaders.size(), 2u);
  EXPECT_TRUE(loaders[1].at("measured"));
  EXPECT_GT(loaders[1].at("waited_share").get<double>(),
            2 * loaders[0].at("waited_share").get<double>());
  EXPECT_LT(result.at("device").at("busy"), 0.5);
}

// Also of programs that end before their processes are looked at twice.
TEST_F(TorchLoops, CountsCpuTimeToEndOfProcesses) {
  const json result = measured("short", 2);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  // About 280 ms, less what passes until the begin of the window is seen.
  EXPECT_GT(result.at("process").at("cpu_s"), 0.1);
}

TEST_F(TorchLoops, RecognisesLoaderRecreatedForEachEpoch) {
  const json result = measured("recreated", 2);
  expect_all_measured(result);
  EXPECT_FALSE(result.contains("loaders"));
}

class TorchFakeLoaders : public TorchLoops, public ::testing::WithParamInterface<int> {};

// fastai does so: its loader is no DataLoader.
TEST_P(TorchFakeLoaders, MeasuresIteratorsMadeByProgram) {
  const json result = measured("makes_its_iterators", GetParam());
  expect_all_measured(result);
  EXPECT_EQ(result.at("config").at("num_workers"), GetParam());
  EXPECT_EQ(result.at("config").at("batch_size"), 8);
  EXPECT_THAT(result.at("notes").dump(), HasSubstr("DataLoader of FakeLoader"));
}

INSTANTIATE_TEST_SUITE_P(Workers, TorchFakeLoaders, ::testing::Values(0, 2),
                         [](const auto& test) { return std::to_string(test.param); });

TEST_F(TorchLoops, RejectsArgumentsThatSubstituteDoesNotTake) {
  measured("makes_its_iterators", 0, {"--num-workers", "2"});
  EXPECT_EQ(ended_.exit_code, 1);
  EXPECT_THAT(ended_.err, HasSubstr("loops.py:"));
  EXPECT_THAT(ended_.err, HasSubstr("makes PyTorch's iterator for a FakeLoader"));
}

TEST_F(TorchLoops, LeavesFlagsAndWordsToProgram) {
  const json result = run({}, {torch_python(), file_, "own_flags", "--workers", "1", "--batch-size",
                               "6", "--", "--num-workers", "x"});
  expect_all_measured(result);
  EXPECT_EQ(result.at("config").at("num_workers"), 1);
  EXPECT_EQ(result.at("config").at("batch_size"), 6);
  EXPECT_THAT(ended_.err, HasSubstr("['--num-workers', 'x']"));
}

TEST_F(TorchLoops, MeasuresRanksOfTorchrun) {
  const json result = run({}, {torch_python(), "-m", "torch.distributed.run", "--standalone",
                               "--nproc-per-node", "2", file_, "distributed", "1"});
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  expect_closed(result.at("ranks").at(0));
  EXPECT_EQ(result.at("ranks").size(), 2U);
  EXPECT_EQ(result.at("config").at("samples"), 320);
}

// Both results are of the whole job: their rates are sums over the ranks.
TEST_F(TorchLoops, ComparesJobOfTorchrunWithEarlierRuns) {
  if (!torch_python_has("torch.distributed.run")) GTEST_SKIP() << "no torchrun";
  const TestFolder folder;
  const Environment cache("XDG_CACHE_HOME", folder.path("cache"));
  const Words torchrun = {
      torch_python(), "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", file_,
      "distributed",  "1"};
  const json before = run({}, torchrun);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  const std::string earlier = folder.write("one.json", ended_.out);
  const json after = run({"--against", "last"}, torchrun);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  const json& against = after.at("against");
  EXPECT_NE(against.at("verdict"), "not_comparable") << against;
  EXPECT_EQ(against.at("settings"), json::array()) << against;
  EXPECT_EQ(against.at("samples_per_s_before"),
            before.at("throughput").at("samples_per_s").at("mean"));
  Words three = torchrun;
  three[5] = "3";
  const json more = run({"--against", earlier}, three);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  // Three ranks also pad their samples to a multiple of three.
  EXPECT_THAT(more.at("against").at("settings"),
              AllOf(Contains("ranks 2 -> 3"), Contains("command ... 2 -> 3")));
}

// Rank 1 makes a batch in 40 ms, rank 0 in 8: rank 0 waits in its collective, which is no compute.
TEST_F(TorchLoops, FindsRankThatOthersWaitFor) {
  const json result = run({}, {torch_python(), "-m", "torch.distributed.run", "--standalone",
                               "--nproc-per-node", "2", file_, "unlike_ranks", "1"});
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  EXPECT_TRUE(result.at("config").at("sync_ranks"));
  EXPECT_GT(result.at("account").at("waiting_for_ranks_s"),
            0.2 * result.at("window").at("wall_s").get<double>());
  // A busy machine may make the window too uneven for a verdict, but not this order.
  const json& waits = result.at("account").at("stall_s");
  for (const auto& wait : waits.items())
    EXPECT_LE(wait.value().get<double>(), waits.at("opaque").get<double>()) << wait.key();
  const json& findings = result.at("findings");
  EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [](const json& finding) {
    return finding.at("id") == "straggler-rank";
  })) << findings;
}

}  // namespace
}  // namespace loaderscope::testing_cli

// Stages that are left out of real runs: what is no longer called, and what batches then hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "dataset/make.h"
#include "loaderscope/engine.h"
#include "unit/native/native_run.h"
#include "unit/source/temp_folder.h"

namespace loaderscope::native {
namespace {

using source::TempFolder;

// A dozen small photographs.
class Knockout : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TempFolder;
    dataset::MakeOptions options;
    options.path = *folder_ / "made";
    options.count = 12;
    options.size = {40, 30, 0};
    options.classes = 1;
    options.threads = 1;
    dataset::make_dataset(options, {});
  }
  static void TearDownTestSuite() { delete folder_; }

  struct Result {
    RunRecord record;
    std::vector<std::uint64_t> samples;  // a hash of each
    std::vector<Bytes> kept;             // on the device, of each step
    std::int64_t overwritten = 0;

    std::set<std::uint64_t> contents() const { return {samples.begin(), samples.end()}; }
    std::int64_t count(Stage stage) const { return record.ranks.at(0).stages[stage].count; }
    double metric(std::string_view name) const {
      for (const Metric& metric : record.metrics)
        if (metric.name == name) return metric.value;
      return -1;
    }
  };

  // The augmentation makes the same of an image in every epoch, so that contents can be compared.
  static Result load(const Knockouts& knockouts, const std::string& settings = "device=null") {
    NotingDevices devices(kSampleBytes);
    RunContext context = devices.context();
    context.knockouts = knockouts;
    Result result;
    result.record = run("data=" + (*folder_ / "made") +
                            " size=16 transfer=u8 augment=resize-centre-crop workers=2 batch=3 "
                            "steps=8 warmup=0 " +
                            settings,
                        context);
    for (const Delivered& batch : devices.delivered()) {
      result.samples.insert(result.samples.end(), batch.samples.begin(), batch.samples.end());
      result.kept.push_back(batch.kept);
    }
    result.overwritten = devices.overwritten();
    return result;
  }

  static TempFolder* folder_;
};
TempFolder* Knockout::folder_ = nullptr;

TEST_F(Knockout, DecodesSameImagesWithoutReading) {
  const Result base = load({});
  const Result without = load({Stage::read, Stage::read_decompress});
  EXPECT_EQ(base.count(Stage::read), 24);
  EXPECT_EQ(without.count(Stage::read), 0);
  EXPECT_EQ(without.count(Stage::decode), 24);
  EXPECT_EQ(without.count(Stage::augment), 24);
  EXPECT_EQ(without.contents(), base.contents());
  EXPECT_EQ(without.metric("memory.replayed_samples"), 12);
  EXPECT_GT(without.metric("memory.replayed_bytes"), 0);
  EXPECT_EQ(base.metric("memory.replayed_samples"), -1);
}

TEST_F(Knockout, KeepsRealImagesForAugmentWithoutDecoding) {
  const Result base = load({});
  for (const Knockouts& out : {Knockouts{Stage::decode}, Knockouts{Stage::read, Stage::decode}}) {
    const Result without = load(out);
    EXPECT_EQ(without.count(Stage::decode), 0);
    EXPECT_EQ(without.count(Stage::read), out.has(Stage::read) ? 0 : 24);
    EXPECT_EQ(without.count(Stage::augment), 24);
    EXPECT_EQ(without.contents(), base.contents());
  }
}

TEST_F(Knockout, FillsBatchesWithFinishedSamplesWithoutAugment) {
  const Result base = load({});
  for (const std::string setting : {"memory=pinned-slots", "memory=pin-thread", "task=sample"}) {
    SCOPED_TRACE(setting);
    const Result without = load({Stage::augment}, "device=null " + setting);
    EXPECT_EQ(without.count(Stage::augment), 0);
    EXPECT_EQ(without.count(Stage::decode), 24);
    for (std::uint64_t sample : without.contents()) EXPECT_TRUE(base.contents().contains(sample));
    EXPECT_EQ(without.overwritten, 0);
  }
}

TEST_F(Knockout, KeepsBatchesValidWithoutLoader) {
  const Result base = load({});
  const Result without = load({Stage::read, Stage::decode, Stage::augment, Stage::collate});
  for (Stage stage : {Stage::read, Stage::decode, Stage::augment})
    EXPECT_EQ(without.count(stage), 0);
  EXPECT_GE(without.samples.size(), 24u);
  for (std::uint64_t sample : without.contents()) EXPECT_TRUE(base.contents().contains(sample));
}

TEST_F(Knockout, CopiesOnlyFirstBatchesWithoutCopyStage) {
  const Result base = load({}, "device=sim compute=100us in-flight=2");
  const Result without = load({Stage::h2d}, "device=sim compute=100us in-flight=2");
  EXPECT_EQ(base.count(Stage::h2d), 8);
  EXPECT_LE(without.count(Stage::h2d), 2);
  EXPECT_EQ(without.record.ranks[0].steps(), 8);
  // Later steps compute on the bytes of an earlier copy.
  const Bytes batch = 3 * kSampleBytes;
  ASSERT_GE(without.kept.size(), 8U);
  for (std::size_t step = 0; step < without.kept.size(); ++step)
    EXPECT_EQ(without.kept[step], step < 2 ? 0 : batch) << step;
  EXPECT_THAT(base.kept, ::testing::Each(0));
}

TEST_F(Knockout, RemovesInjectedDelaysOfStage) {
  const Result without = load({Stage::decode}, "device=null inject=decode=+30s");
  EXPECT_EQ(without.count(Stage::decode), 0);
  EXPECT_GE(without.samples.size(), 24u);
}

TEST_F(Knockout, RemovesDeclaredStages) {
  RunContext context;
  context.knockouts = {Stage::decode, Stage::collate, Stage::transport};
  const RunRecord record =
      run("workers=2 batch=2 steps=8 warmup=0 device=null cost=decode=30s cost=collate=30s "
          "cost=transport=30s cost=augment=10us",
          context);
  EXPECT_EQ(record.ranks[0].stages[Stage::decode].count, 0);
  EXPECT_EQ(record.ranks[0].stages[Stage::collate].count, 0);
  EXPECT_EQ(record.ranks[0].stages[Stage::augment].count, 16);
}

}  // namespace
}  // namespace loaderscope::native

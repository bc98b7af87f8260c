#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiment/axes.h"
#include "loaderscope/errors.h"
#include "unit/experiment/model_context.h"

namespace loaderscope {
namespace {

using test::scenario;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string complaint(const std::string& text) {
  try {
    parse_axis(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(Axes, ReadsAxisUnderNameOfField) {
  EXPECT_EQ(parse_axis("workers=0,1,2"), (Axis{"num-workers", {"0", "1", "2"}}));
  EXPECT_EQ(parse_axis("memory=pageable"), (Axis{"memory", {"pageable"}}));
  EXPECT_EQ(parse_axis("decode.speed=1,2"), (Axis{"decode.speed", {"1", "2"}}));
}

TEST(Axes, SplitsValuesWithCommasAtBars) {
  EXPECT_THAT(parse_axis("data=/a,b|/c").values, ElementsAre("/a,b", "/c"));
}

TEST(Axes, RejectsNonsenseByName) {
  EXPECT_THAT(complaint("worker=1,2"), HasSubstr("did you mean 'workers'?"));
  EXPECT_THAT(complaint("workers="), HasSubstr("the list is empty"));
  EXPECT_THAT(complaint("workers"), HasSubstr("expected KEY=VALUE,VALUE..."));
  EXPECT_THAT(complaint("workers=1,,2"), HasSubstr("a value of the list is empty"));
  EXPECT_THAT(complaint("workers=1,two"), HasSubstr("workers = two: expected a whole number"));
  EXPECT_THAT(complaint("memory=pageable,pined-slots"), HasSubstr("did you mean 'pinned-slots'?"));
  EXPECT_THAT(complaint("workers=2,2"), HasSubstr("is given twice"));
  EXPECT_THAT(complaint("duration=1s,1000ms"), HasSubstr("1000ms is given twice"));
  EXPECT_THAT(complaint("workers=99999999999999999999"), HasSubstr("workers ="));
  EXPECT_THAT(complaint("json=a,b"), HasSubstr("cannot be varied"));
  EXPECT_THAT(complaint("prove=off,all"), HasSubstr("cannot be varied"));
  EXPECT_THAT(complaint("command=a|b"), HasSubstr("vary a flag"));
  EXPECT_THAT(complaint("decod.speed=2"), HasSubstr("did you mean 'decode'?"));
  EXPECT_THROW(parse_axes({"workers=1", "num-workers=2"}), UsageError);
}

TEST(Axes, BuildsGridWithoutMeaninglessCases) {
  const std::vector<Changes> cases =
      grid(parse_axes({"workers=0,2", "prefetch=1,4"}), scenario("cost = decode=1ms"));
  ASSERT_EQ(cases.size(), 3U);
  EXPECT_EQ(changes_to_text(cases[0]), "num-workers=0");
  EXPECT_EQ(changes_to_text(cases[2]), "num-workers=2 prefetch-factor=4");
}

TEST(Axes, RejectsTooManyCasesBeforeMakingThem) {
  std::vector<std::string> axes;
  for (const char* key : {"workers", "prefetch", "batch", "seed", "size", "steps", "samples"})
    axes.push_back(std::string(key) + "=1,2,3,4,5,6,7,8,9,10");
  try {
    grid(parse_axes(axes), scenario("cost = decode=1ms"));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("more than 10000 cases"));
  }
}

TEST(Axes, DropsWorkerSettingsOfCaseWithoutWorkers) {
  const Experiment experiment = test::plan(
      scenario("cost = decode=1ms\nprefetch = 4\npersistent-workers = true"), {"workers=0,2"});
  EXPECT_EQ(experiment.cases[0].skipped, "");
  EXPECT_EQ(experiment.cases[1].config.loader.prefetch_factor, 4);
}

TEST(Axes, BeginsOneAtATimeWithBaseCaseOnce) {
  const std::vector<Changes> cases =
      one_at_a_time(parse_axes({"workers=1,2", "batch=8,16"}), scenario("workers = 2\nbatch = 8"));
  ASSERT_EQ(cases.size(), 3U);
  EXPECT_TRUE(cases[0].empty());
  EXPECT_EQ(changes_to_text(cases[1]), "num-workers=1");
  EXPECT_EQ(changes_to_text(cases[2]), "batch-size=16");
}

TEST(Axes, SkipsImpossibleCaseWithReason) {
  const Experiment experiment =
      test::plan(scenario("cost = decode=1ms\nsamples = 100\ndrop-last = true"), {"batch=8,200"});
  EXPECT_EQ(experiment.cases[0].skipped, "");
  EXPECT_THAT(experiment.cases[1].skipped, HasSubstr("not one batch of 200 samples"));
}

TEST(Axes, AcceptsFlagsWithSeveralValuesAsAxes) {
  EXPECT_EQ(make_axis("data", {"a", "tar:b"}, "--data"), (Axis{"data", {"a", "tar:b"}}));
  EXPECT_THROW(make_axis("data", {"a", "a"}, "--data"), UsageError);
  const Axes axes = parse_axes({"workers=0,1"}, {make_axis("cache", {"cold", "warm"}, "--cache")});
  EXPECT_EQ(axes.size(), 2U);
  EXPECT_EQ(axes.front().key, "cache");
  EXPECT_THROW(parse_axes({"cache=warm"}, axes), UsageError);
}

}  // namespace
}  // namespace loaderscope

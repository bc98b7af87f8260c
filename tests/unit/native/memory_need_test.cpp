#include "engine/native/memory_need.h"

#include <gmock/gmock.h>

#include "unit/native/native_run.h"

namespace loaderscope::native {
namespace {

using testing::HasSubstr;

constexpr const char* kBatches = "batch=10 delivered-bytes=1000 cost=decode=1ms ";

Bytes needed(const std::string& settings) {
  const RunConfig config = config_of(kBatches + settings);
  return memory_needed(Plan(config));
}

TEST(Fit, CountsEverySlotOfEveryRank) {
  // window + in-flight + 1 batches of 10 kB.
  EXPECT_EQ(needed("workers=2 prefetch=2 in-flight=2"), 70'000);
  EXPECT_EQ(needed("workers=2 prefetch=2 in-flight=2 ranks=3"), 210'000);
  EXPECT_EQ(needed("workers=2 memory=pin-thread"), 140'000);
  EXPECT_EQ(needed("workers=2 task=sample window=3"), 60'000);
  EXPECT_EQ(needed("workers=0"), 30'000);
  EXPECT_EQ(needed("workers=2 memory=pageable link=20/10"), 80'000);  // and what it is copied to
  EXPECT_EQ(needed("workers=2 memory=pageable device=null"), 70'000);
}

TEST(Fit, CountsWhatWorkersReadAhead) {
  const RunConfig config = config_of(std::string(kBatches) + "workers=2 ranks=3");
  const Plan plan(config);
  EXPECT_EQ(memory_needed(plan, 1'000'000), 6'210'000);
  EXPECT_NO_THROW(check_fit(plan, 6'210'000, 1'000'000));
  EXPECT_THROW(check_fit(plan, 6'209'999, 1'000'000), RunError);
}

TEST(Fit, RefusesWhatDoesNotFitInOneSentence) {
  const RunConfig config = config_of(std::string(kBatches) + "workers=2 ranks=3");
  const Plan plan(config);
  EXPECT_NO_THROW(check_fit(plan, 210'000));
  EXPECT_NO_THROW(check_fit(plan, std::nullopt));
  try {
    check_fit(plan, 209'999);
    FAIL() << "it was not refused";
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), HasSubstr("7 batches of 10.0 KB for each of 3 ranks take 210 KB"));
    EXPECT_THAT(error.what(), HasSubstr("--prefetch-factor"));
  }
}

}  // namespace
}  // namespace loaderscope::native

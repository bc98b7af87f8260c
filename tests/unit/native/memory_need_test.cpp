#include "engine/native/memory_need.h"

#include <gmock/gmock.h>

#include <limits>

#include "engine/native/sample_queue.h"
#include "unit/native/native_run.h"

namespace loaderscope::native {
namespace {

using testing::HasSubstr;

constexpr const char* kBatches = "batch=10 delivered-bytes=1000 cost=decode=1ms ";

Bytes needed(const std::string& settings) {
  const RunConfig config = parse_config(kBatches + settings);
  return memory_needed(LoaderPlan(config));
}

TEST(Fit, CountsEverySlotOfEveryRank) {
  // window + in-flight + 1 batches of 10 kB.
  EXPECT_EQ(needed("workers=2 prefetch=2 in-flight=2"), 70'000);
  EXPECT_EQ(needed("workers=2 prefetch=2 in-flight=2 ranks=3"), 210'000);
  EXPECT_EQ(needed("workers=2 memory=pin-thread"), 140'000);
  EXPECT_EQ(needed("workers=2 task=sample prefetch-depth=3"), 60'000);
  EXPECT_EQ(needed("workers=0"), 30'000);
  EXPECT_EQ(needed("workers=2 memory=pageable link=20/10"), 80'000);  // and what it is copied to
  EXPECT_EQ(needed("workers=2 memory=pageable device=null"), 70'000);
}

TEST(Fit, CountsWhatWorkersReadAhead) {
  const RunConfig config = parse_config(std::string(kBatches) + "workers=2 ranks=3");
  const LoaderPlan plan(config);
  EXPECT_EQ(memory_needed(plan, 1'000'000), 6'210'000);
  const Bytes all = 6'210'000 + account_needed(plan);
  EXPECT_NO_THROW(check_fit(plan, all, 1'000'000));
  EXPECT_THROW(check_fit(plan, all - 1, 1'000'000), RunError);
}

TEST(Fit, RejectsSizesBeyondIntegerRange) {
  constexpr Bytes kMax = std::numeric_limits<Bytes>::max();
  const RunConfig config = parse_config(std::string(kBatches) + "workers=3 ranks=3");
  const LoaderPlan plan(config);
  for (const Bytes read_ahead : {kMax, kMax / 3, kMax / 9 + 1, Bytes{9'000'000} << 40}) {
    EXPECT_EQ(memory_needed(plan, read_ahead), kMax);
    EXPECT_THROW(check_fit(plan, Bytes{1} << 60, read_ahead), RunError);
  }
}

TEST(Fit, CountsTheNumbersOfTheSamplesOfEveryBatch) {
  const auto account = [](const std::string& settings) {
    const RunConfig config = parse_config("cost=decode=1ms workers=1 " + settings);
    return account_needed(LoaderPlan(config));
  };
  EXPECT_GE(account("batch=1000 prefetch=1000") - account("batch=1 prefetch=1000"),
            1000 * 999 * Bytes{sizeof(std::int64_t)});
  EXPECT_GE(account("batch=1 prefetch=1000000"), 1'000'000 * Bytes{sizeof(Batch)});
  const RunConfig config = parse_config("cost=decode=1ms workers=1 batch=4 prefetch=16777216");
  try {
    check_account_fits(LoaderPlan(config), Bytes{4} << 30);
    FAIL() << "it was not refused";
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("host memory: the account of 16777219 batches of 4 samples takes"));
    EXPECT_THAT(error.what(), HasSubstr("--prefetch-factor"));
  }
}

// Few threads each get the longest log. Many threads share the memory.
TEST(Fit, ShortensLogsOfManyThreads) {
  const auto entries = [](const std::string& settings) {
    const RunConfig config = parse_config("cost=decode=1ms batch=1 " + settings);
    return log_entries(LoaderPlan(config));
  };
  EXPECT_EQ(entries("workers=2"), 32'768U);
  EXPECT_EQ(entries("workers=0"), 32'768U);
  EXPECT_EQ(entries("workers=64"), 8'192U);
  EXPECT_EQ(entries("workers=64 ranks=8 executor=processes"), 1'024U);
}

TEST(Threads, ComparesThreadsOfAllRanksWithLimit) {
  const auto needed = [](const std::string& settings) {
    const RunConfig config = parse_config("cost=decode=1ms batch=1 " + settings);
    return threads_needed(LoaderPlan(config));
  };
  EXPECT_EQ(needed("workers=4 ranks=3"), 15);
  EXPECT_EQ(needed("workers=0"), 1);
  EXPECT_EQ(needed("workers=4 executor=processes"), 9);
  EXPECT_EQ(needed("workers=4 memory=pin-thread"), 6);
  const RunConfig config = parse_config("cost=decode=1ms batch=1 workers=4 ranks=2000");
  const LoaderPlan plan(config);
  EXPECT_NO_THROW(check_threads(plan, std::nullopt));
  EXPECT_NO_THROW(check_threads(plan, ThreadLimit{10'000, "ulimit -u"}));
  try {
    check_threads(plan, ThreadLimit{9'999, "ulimit -u"});
    FAIL() << "it was not refused";
  } catch (const RunError& error) {
    EXPECT_STREQ(error.what(),
                 "threads: 2000 ranks with 4 workers each need 10000 and 9999 may run here; give "
                 "fewer --ranks or --num-workers, or raise ulimit -u");
  }
}

TEST(Fit, RejectsMissingMemoryInOneSentence) {
  const RunConfig config = parse_config(std::string(kBatches) + "workers=2 ranks=3");
  const LoaderPlan plan(config);
  const Bytes all = 210'000 + account_needed(plan);
  EXPECT_NO_THROW(check_fit(plan, all));
  EXPECT_NO_THROW(check_fit(plan, std::nullopt));
  try {
    check_fit(plan, all - 1);
    FAIL() << "it was not refused";
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("7 batches of 10.0 KB for each of 3 ranks and the account"));
    EXPECT_THAT(error.what(), HasSubstr("--prefetch-factor"));
  }
}

}  // namespace
}  // namespace loaderscope::native

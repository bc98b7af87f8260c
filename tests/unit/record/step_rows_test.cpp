#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "environment.h"
#include "loaderscope/errors.h"
#include "loaderscope/run_record.h"

namespace loaderscope {
namespace {

constexpr Bytes kTenRows =
    10 * 2 * static_cast<Bytes>(sizeof(StepRow));  // half of the memory is for growing

StepRow make_row(std::int64_t step) {
  StepRow row;
  row.step = step;
  row.compute_end = step * 1000;
  row.stall[Cause::decode] = step * 7;
  return row;
}

StepRows make_rows(std::int64_t count, Bytes memory) {
  StepRows rows(memory);
  for (std::int64_t step = 0; step < count; ++step) rows.push_back(make_row(step));
  return rows;
}

std::vector<std::int64_t> steps_from(const StepRows& rows, std::int64_t first) {
  std::vector<std::int64_t> steps;
  rows.for_each(
      [&](const StepRow& row) {
        EXPECT_EQ(row.stall[Cause::decode], row.step * 7);
        steps.push_back(row.step);
      },
      first);
  return steps;
}

std::vector<std::int64_t> range(std::int64_t first, std::int64_t end) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = first; i < end; ++i) numbers.push_back(i);
  return numbers;
}

TEST(StepRows, KeepsOrderInMemoryAndInTheFile) {
  for (const std::int64_t count : {0, 1, 9, 10, 11, 20, 21, 10'000}) {
    const StepRows rows = make_rows(count, kTenRows);
    EXPECT_EQ(rows.size(), count);
    EXPECT_EQ(rows.empty(), count == 0);
    EXPECT_EQ(rows.spilled_bytes() > 0, count > 10) << count;
    EXPECT_EQ(steps_from(rows, 0), range(0, count));
    if (count > 0) {
      EXPECT_EQ(rows.back().step, count - 1);
    }
  }
}

TEST(StepRows, VisitsFromTheMiddle) {
  const StepRows rows = make_rows(10'005, kTenRows);
  EXPECT_EQ(rows.spilled_bytes(), 10'000 * static_cast<Bytes>(sizeof(StepRow)));
  for (const std::int64_t first : {1, 4095, 4096, 4097, 9'999, 10'000, 10'001, 10'004, 10'005}) {
    EXPECT_EQ(steps_from(rows, first), range(first, 10'005)) << first;
  }
}

TEST(StepRows, ContinuesAfterRead) {
  StepRows rows = make_rows(15, kTenRows);
  EXPECT_EQ(steps_from(rows, 0), range(0, 15));
  for (std::int64_t step = 15; step < 40; ++step) rows.push_back(make_row(step));
  EXPECT_EQ(steps_from(rows, 0), range(0, 40));
}

TEST(StepRows, HoldsAtLeastOneRowInMemory) {
  EXPECT_EQ(steps_from(make_rows(5, 0), 0), range(0, 5));
}

TEST(StepRows, MovesWithItsFile) {
  StepRows rows = make_rows(25, kTenRows);
  StepRows other = std::move(rows);
  EXPECT_EQ(steps_from(other, 0), range(0, 25));
  StepRows third = make_rows(3, kTenRows);
  third = std::move(other);
  EXPECT_EQ(steps_from(third, 20), range(20, 25));
}

TEST(StepRows, SaysWhereItHasNoFolder) {
  const Environment missing("TMPDIR", "/nonexistent/loaderscope");
  try {
    make_rows(11, kTenRows);
    FAIL() << "no error";
  } catch (const RunError& error) {
    EXPECT_NE(std::string(error.what()).find("/nonexistent/loaderscope"), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("TMPDIR"), std::string::npos) << error.what();
  }
}

// So that what was measured can still be written.
TEST(StepRows, LosesNoRowWhereThereIsNoFile) {
  const Environment missing("TMPDIR", "/nonexistent/loaderscope");
  StepRows rows(kTenRows);
  int failures = 0;
  for (std::int64_t step = 0; step < 50; ++step) {
    try {
      rows.push_back(make_row(step));
    } catch (const RunError&) {
      ++failures;
      EXPECT_EQ(step, 10);
    }
  }
  EXPECT_EQ(failures, 1);
  EXPECT_EQ(rows.size(), 50);
  EXPECT_EQ(rows.back().step, 49);
  EXPECT_EQ(steps_from(rows, 0), range(0, 50));
}

TEST(StepRows, SaysWhenTheFileCannotGrow) {
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 100 * sizeof(StepRow) + 17;  // the last write is a short one
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  std::string message;
  try {
    make_rows(1000, kTenRows);
  } catch (const RunError& error) {
    message = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, ignored);
  EXPECT_NE(message.find("cannot be written"), std::string::npos) << message;
}

}  // namespace
}  // namespace loaderscope

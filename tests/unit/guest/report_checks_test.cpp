// Checks of a page: they reject everything that our hooks cannot have written.
#include "guest/host/training_process.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <vector>

namespace loaderscope::guest {
namespace {

constexpr Nanos kNow = 100 * kSecond;
constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

GuestEvent good_fact() {
  GuestEvent fact;
  fact.kind = GuestEventKind::begun;
  fact.begin = 90 * kSecond;
  fact.end = 91 * kSecond;
  fact.batch = 3;
  return fact;
}

TEST(ReportChecks, AcceptsReportsOfHooks) {
  GuestEvent fact = good_fact();
  EXPECT_TRUE(is_possible(fact, kNow));
  fact.end = 0;  // events without an end have 0
  EXPECT_TRUE(is_possible(fact, kNow));
  fact.kind = GuestEventKind::computed;  // a simulated device says when it will have
  fact.end = kNow + 600 * kSecond;
  EXPECT_TRUE(is_possible(fact, kNow));
  ThreadLog::Entry entry;
  entry.span.begin = entry.span.end = kNow;
  EXPECT_TRUE(is_possible(entry, kNow));
  GpuRecord record{kNow, kNow, 0, 7, GpuRecord::Kind::copy, Stage::compute};
  EXPECT_TRUE(is_possible(record, kNow));
  GpuRecord stage{0, 0, 0, 7, GpuRecord::Kind::stage, Stage::gpu_augment};
  EXPECT_TRUE(is_possible(stage, kNow));
}

TEST(ReportChecks, RejectsImpossibleEvents) {
  const std::vector<std::function<void(GuestEvent&)>> spoilers = {
      [](GuestEvent& fact) { fact.kind = static_cast<GuestEventKind>(0); },
      [](GuestEvent& fact) { fact.kind = static_cast<GuestEventKind>(200); },
      [](GuestEvent& fact) { fact.begin = -1; },
      [](GuestEvent& fact) { fact.end = fact.begin - 1; },
      [](GuestEvent& fact) { fact.end = kHuge; },
      [](GuestEvent& fact) { fact.cpu = -5; },
      [](GuestEvent& fact) { fact.batch = -2; },
      [](GuestEvent& fact) { fact.batch = kHuge; },
      [](GuestEvent& fact) { fact.worker = -1; },
      [](GuestEvent& fact) { fact.worker = kMaxWorkers; },
      [](GuestEvent& fact) { fact.iterator = -2; },
      [](GuestEvent& fact) { fact.iterator = kMaxIterators; },
      [](GuestEvent& fact) { fact.generation = -1; },
  };
  for (std::size_t i = 0; i < spoilers.size(); ++i) {
    GuestEvent fact = good_fact();
    spoilers[i](fact);
    EXPECT_FALSE(is_possible(fact, kNow)) << i;
  }
}

TEST(ReportChecks, RejectsImpossibleSpans) {
  const std::vector<std::function<void(ThreadLog::Entry&)>> spoilers = {
      [](ThreadLog::Entry& entry) { entry.kind = static_cast<ThreadLog::Kind>(7); },
      [](ThreadLog::Entry& entry) { entry.span.stage = static_cast<Stage>(kStages); },
      [](ThreadLog::Entry& entry) { entry.span.end = kHuge; },
      [](ThreadLog::Entry& entry) { entry.span.begin = entry.span.end + 1; },
      [](ThreadLog::Entry& entry) { entry.span.cpu = -1; },
      [](ThreadLog::Entry& entry) { entry.span.queued = kHuge; },
      [](ThreadLog::Entry& entry) { entry.span.batch = -9; },
  };
  for (std::size_t i = 0; i < spoilers.size(); ++i) {
    ThreadLog::Entry entry;
    entry.span.begin = entry.span.end = kNow;
    spoilers[i](entry);
    EXPECT_FALSE(is_possible(entry, kNow)) << i;
  }
}

// The program's own tensors report these sizes.
TEST(ReportChecks, ClampsSizes) {
  GuestEvent fact = good_fact();
  fact.count = kHuge;
  fact.bytes = -kHuge;
  EXPECT_TRUE(is_possible(fact, kNow));
  EXPECT_EQ(fact.count, std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(fact.bytes, 0);
}

}  // namespace
}  // namespace loaderscope::guest

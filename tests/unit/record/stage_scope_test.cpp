// Spans of a worker, and the run-queue delay spread over them.
#include "record/stage_scope.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "base/sleep.h"
#include "unit/machine/no_stop.h"

namespace loaderscope {
namespace {

using test::kNoStop;

struct Spans : EventObserver {
  std::vector<Span> all;
  void first_ask(std::int32_t, Nanos) override {}
  void span(std::int32_t, std::int32_t, const Span& span) override { all.push_back(span); }
  void deliverable(std::int32_t, std::int64_t, Nanos) override {}
  void step(std::int32_t, const StepEvents&) override {}
};

// Returns the spans that `work` writes in a thread of its own.
template <class Work>
std::vector<Span> record_spans(const Work& work) {
  Spans spans;
  FoldOptions options;
  options.observer = &spans;
  Recorder recorder(options);
  ThreadLog& log = recorder.add_thread(0, 0);
  recorder.first_ask(0, monotonic_now());
  std::thread thread([&] { work(log); });
  thread.join();
  recorder.drain();
  EXPECT_EQ(recorder.lost(), 0);
  return spans.all;
}

void expect_in_order(const std::vector<Span>& spans) {
  Nanos at = 0;
  for (const Span& span : spans) {
    EXPECT_GE(span.begin, at);
    EXPECT_GE(span.end, span.begin);
    EXPECT_GE(span.cpu, 0);
    EXPECT_GE(span.queued, 0);
    EXPECT_LE(span.cpu + span.queued, span.end - span.begin);
    at = span.end;
  }
}

// A thread that has computed since its begin, and slept as long.
TEST(SpanWriter, CountsCpuTimeOfTheStart) {
  const std::vector<Span> spans = record_spans([](ThreadLog& log) {
    SpanWriter writer(&log);
    const Nanos begin = monotonic_now(), cpu = thread_cpu_now();
    while (thread_cpu_now() - cpu < 20 * kMillisecond) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    writer.start_up(begin, monotonic_now());
  });
  ASSERT_EQ(spans.size(), 1U);
  const Span& start = spans.front();
  EXPECT_EQ(start.stage, Stage::startup);
  EXPECT_GE(start.cpu, 20 * kMillisecond);
  EXPECT_GE(start.end - start.begin - start.cpu - start.queued, 15 * kMillisecond);
  expect_in_order(spans);
}

TEST(StageScope, SaysWhatWasWorkedOn) {
  const std::vector<Span> spans = record_spans([](ThreadLog& log) {
    SpanWriter writer(&log);
    Sleeper sleeper(kNoStop);
    writer.begin_batch(4);
    writer.begin_sample(17);
    {
      StageScope scope(writer, Stage::read, StageScope::Kind::waits);
      sleeper.sleep(10 * kMillisecond);
      scope.handled(1000);
    }
    {
      StageScope scope(writer, Stage::decode, StageScope::Kind::runs);
      burn_cpu(10 * kMillisecond, kNoStop);
    }
    writer.end_sample();
    {
      StageScope scope(writer, Stage::collate, StageScope::Kind::runs);
      burn_cpu(kMillisecond, kNoStop);
    }
    writer.end_sample();
    const Nanos now = monotonic_now();
    writer.record_idle(now - 10, now);
    writer.record_idle(now, now);
  });
  ASSERT_EQ(spans.size(), 4U);
  expect_in_order({spans.begin(), spans.begin() + 3});
  EXPECT_EQ(spans[0].stage, Stage::read);
  EXPECT_EQ(spans[0].batch, 4);
  EXPECT_EQ(spans[0].sample, 17);
  EXPECT_EQ(spans[0].bytes, 1000);
  EXPECT_GE(spans[0].end - spans[0].begin, 10 * kMillisecond);
  EXPECT_LT(spans[0].cpu, 5 * kMillisecond);
  EXPECT_EQ(spans[0].queued, 0);
  EXPECT_EQ(spans[1].stage, Stage::decode);
  EXPECT_GE(spans[1].cpu, 9 * kMillisecond);
  EXPECT_EQ(spans[2].stage, Stage::collate);
  EXPECT_EQ(spans[2].sample, -1);
  EXPECT_EQ(spans[3].batch, -1);
}

Span make_part(Stage stage, Nanos begin, Nanos end) {
  Span part;
  part.stage = stage;
  part.begin = begin;
  part.end = end;
  part.cpu = end - begin;
  return part;
}

// The thread has waited for others: what they did is written in its place, and nothing is lost.
TEST(StageScope, SplitsSpanIntoPartsOfOtherThreads) {
  Span whole;
  const std::vector<Span> spans = record_spans([&](ThreadLog& log) {
    SpanWriter writer(&log);
    writer.begin_batch(4);
    { StageScope scope(writer, Stage::opaque, StageScope::Kind::runs); }
    const Nanos begin = monotonic_now();
    writer.record_idle(begin, begin);
    {
      StageScope scope(writer, Stage::opaque, StageScope::Kind::runs);
      burn_cpu(10 * kMillisecond, kNoStop);
    }
    whole = *writer.last();
    const Nanos at = whole.begin;
    writer.split_last_span(
        {make_part(Stage::read, at, at + kMillisecond),
         make_part(Stage::decode, at + 2 * kMillisecond, at + 5 * kMillisecond)});
    writer.end_sample();
  });
  std::vector<Span> parts;
  for (const Span& span : spans)
    if (span.begin >= whole.begin && span.end > span.begin && span.stage != Stage::idle)
      parts.push_back(span);
  ASSERT_EQ(parts.size(), 4U);
  expect_in_order(parts);
  EXPECT_EQ(parts[0].stage, Stage::read);
  EXPECT_EQ(parts[1].stage, Stage::opaque);
  EXPECT_EQ(parts[1].begin, parts[0].end);
  EXPECT_EQ(parts[2].stage, Stage::decode);
  EXPECT_EQ(parts[2].end - parts[2].begin, 3 * kMillisecond);
  EXPECT_EQ(parts[2].batch, 4);
  EXPECT_EQ(parts[3].stage, Stage::opaque);
  EXPECT_EQ(parts[3].end, whole.end);
}

// Time between two scopes belongs to the later one, up to a pause.
TEST(StageScope, FollowsWithoutAGap) {
  const std::vector<Span> spans = record_spans([](ThreadLog& log) {
    SpanWriter writer(&log);
    const auto work = [&] {
      { StageScope scope(writer, Stage::decode, StageScope::Kind::runs); }
      burn_cpu(100 * kMicrosecond, kNoStop);
      { StageScope scope(writer, Stage::augment, StageScope::Kind::runs); }
      writer.end_sample();
    };
    work();
    const Nanos rested = monotonic_now();
    writer.record_idle(rested - 10, rested);
    burn_cpu(100 * kMicrosecond, kNoStop);
    work();
    writer.skip();
    EXPECT_EQ(writer.last_end(), 0);
    burn_cpu(100 * kMicrosecond, kNoStop);
    work();
  });
  ASSERT_EQ(spans.size(), 7U);
  for (const std::size_t i : {1U, 2U, 3U, 4U, 6U}) EXPECT_EQ(spans[i].begin, spans[i - 1].end) << i;
  EXPECT_GE(spans[1].end - spans[1].begin, 100 * kMicrosecond);
  EXPECT_GE(spans[1].cpu, 90 * kMicrosecond);
  EXPECT_GE(spans[3].end - spans[3].begin, 100 * kMicrosecond);
  EXPECT_GE(spans[5].begin, spans[4].end + 100 * kMicrosecond);
}

TEST(StageScope, SumsPartsIntoSeparateSpan) {
  const std::vector<Span> spans = record_spans([](ThreadLog& log) {
    SpanWriter writer(&log);
    Sleeper sleeper(kNoStop);
    writer.begin_batch(0);
    {
      StageScope scope(writer, Stage::read, StageScope::Kind::runs);
      for (int i = 0; i < 30; ++i) {
        sleeper.sleep(kMillisecond);
        scope.enter(Stage::read_decompress);
        burn_cpu(kMillisecond, kNoStop);
        scope.leave();
      }
      writer.begin_sample(17);
      scope.handled(1000);
    }
    { StageScope scope(writer, Stage::decode, StageScope::Kind::runs); }
    writer.end_sample();
  });
  ASSERT_EQ(spans.size(), 3U);
  expect_in_order(spans);
  EXPECT_EQ(spans[0].stage, Stage::read);
  EXPECT_EQ(spans[1].stage, Stage::read_decompress);
  for (const std::size_t i : {1U, 2U}) EXPECT_EQ(spans[i].begin, spans[i - 1].end);
  for (const std::size_t i : {0U, 1U}) {
    EXPECT_EQ(spans[i].sample, 17);
    EXPECT_GE(spans[i].end - spans[i].begin, 30 * kMillisecond);
  }
  EXPECT_EQ(spans[0].bytes, 1000);
  EXPECT_LT(spans[0].cpu, 15 * kMillisecond);
  EXPECT_GE(spans[1].cpu, 27 * kMillisecond);
}

// Small stages right after each other: not one clock is read for each edge.
TEST(StageScope, KeepsManySmallStagesInOrder) {
  const std::vector<Span> spans = record_spans([](ThreadLog& log) {
    SpanWriter writer(&log);
    for (int sample = 0; sample < 500; ++sample) {
      writer.begin_sample(sample);
      for (int i = 0; i < 20; ++i) {  // more than are kept open
        StageScope scope(writer, Stage::decode, StageScope::Kind::runs);
      }
      writer.end_sample();
    }
  });
  EXPECT_EQ(spans.size(), 10'000U);
  expect_in_order(spans);
}

// Two busy threads on one core: each waits about as long as it runs.
TEST(StageScope, BooksRunQueueDelayToStagesThatRun) {
  if (!RunQueueMeter().known()) GTEST_SKIP() << "no schedstat";
  cpu_set_t usable, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof usable, &usable), 0);
  std::size_t core = 0;
  while (!CPU_ISSET(core, &usable)) ++core;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  std::atomic<int> stop{0};
  std::thread rival([&] {
    ::sched_setaffinity(0, sizeof one, &one);
    burn_cpu(3600 * kSecond, stop);
  });
  Nanos delay = 0;
  const std::vector<Span> spans = record_spans([&](ThreadLog& log) {
    ::sched_setaffinity(0, sizeof one, &one);
    SpanWriter writer(&log);
    RunQueueMeter meter;
    for (int sample = 0; sample < 5; ++sample) {
      writer.begin_sample(sample);
      {
        StageScope scope(writer, Stage::read, StageScope::Kind::waits);
        burn_cpu(5 * kMillisecond, kNoStop);
      }
      {
        StageScope scope(writer, Stage::decode, StageScope::Kind::runs);
        burn_cpu(20 * kMillisecond, kNoStop);
      }
      {
        StageScope scope(writer, Stage::augment, StageScope::Kind::runs);
        burn_cpu(10 * kMillisecond, kNoStop);
      }
      writer.end_sample();
    }
    delay = meter.read();
  });
  stop = 1;
  rival.join();
  expect_in_order(spans);
  Nanos queued = 0;
  for (const Span& span : spans) queued += span.queued;
  EXPECT_LE(queued, delay);
  EXPECT_GT(queued * 3, delay);
  EXPECT_GT(queued, 20 * kMillisecond);
}

// A thread that slept waits for a core afterwards: a declared sleep pays it back, so it stays with
// the stage.
TEST(StageScope, BooksNoContentionForDeclaredSleep) {
  constexpr Nanos kSlept = 5 * kMillisecond;
  const std::vector<Span> spans = record_spans([](ThreadLog& log) {
    SpanWriter writer(&log);
    Sleeper sleeper(kNoStop);
    for (int sample = 0; sample < 4; ++sample) {
      writer.begin_sample(sample);
      {
        StageScope scope(writer, Stage::read, StageScope::Kind::runs);
        const Nanos begin = monotonic_now();
        sleeper.sleep(kSlept);
        scope.slept(begin);
      }
      writer.end_sample();
    }
  });
  ASSERT_EQ(spans.size(), 4U);
  Nanos own = 0;
  for (const Span& span : spans) own += span.end - span.begin - span.queued;
  EXPECT_GE(own, 4 * kSlept);
}

TEST(StageScope, MeasuresNothingWithoutLog) {
  SpanWriter writer(nullptr);
  EXPECT_FALSE(writer.measures());
  const Nanos cpu = thread_cpu_now();
  for (int i = 0; i < 100'000; ++i) {
    StageScope scope(writer, Stage::decode, StageScope::Kind::runs);
    scope.handled(1);
    writer.end_sample();
  }
  writer.start_up(1, 2);
  writer.record_idle(3, 4);
  EXPECT_LT(thread_cpu_now() - cpu, 100 * kMillisecond);
}

}  // namespace
}  // namespace loaderscope

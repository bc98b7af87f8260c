// Jobs of days, without their time: what the host keeps of a job does not grow with its epochs and
// the workers that have come and gone. LOADERSCOPE_LONG_JOB_STEPS makes the job longer (steps of
// each of 8 ranks).
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "guest/host/messages.h"
#include "guest/host/training_process.h"
#include "tools/pretend_member.h"
#include "unit/guest/made_page.h"

namespace loaderscope::guest {
namespace {

constexpr int kRanks = 8;
constexpr int kStepsOfEpoch = 20;
constexpr int kSamples = 4;  // samples per batch
constexpr Nanos kStep = kMillisecond;
constexpr double kMebibyte = 1024.0 * 1024.0;

double heap_mib() {
  const struct mallinfo2 info = ::mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd) / kMebibyte;
}

// A rank whose trainer makes a new iterator for each epoch.
class Rank {
 public:
  explicit Rank(const RunConfig& given) : process_(given) {
    loader_.num_workers = 1;
    loader_.batch_size = kSamples;
    loader_.place = "/home/somebody/project/train.py:120";
    loader_.made_by = {"lightning", "accelerate"};
  }

  void epoch(std::int32_t iterator) {
    process_.add_iterator(iterator, loader_);
    iterator_ = iterator;
    report(*trainer_, GuestEventKind::epoch, -1, now_);
    for (int k = 0; k < kStepsOfEpoch; ++k) step(k);
    report(*trainer_, GuestEventKind::ask, -1, now_);
    report(*trainer_, GuestEventKind::ended, -1, now_, now_ + 1);
    process_.read(*trainer_, {});
    process_.read(*worker_, {0, iterator});
    process_.advance(false);
  }
  std::int64_t taken() const { return process_.measured()->taken(); }

 private:
  void report(Page& page, GuestEventKind kind, std::int64_t batch, Nanos begin, Nanos end = 0) {
    GuestEvent fact;
    fact.kind = kind;
    fact.batch = batch;
    fact.begin = begin;
    fact.end = end;
    fact.iterator = iterator_;
    fact.count = kind == GuestEventKind::take ? 1 : kSamples;
    PageRings(page).facts.push(fact);
  }
  void sample(int k, std::int64_t number) {
    const Nanos each = kStep / 4 / kSamples;
    ThreadLog::Entry entry;
    entry.span.batch = packed_batch(iterator_, 0, k);
    entry.span.sample = number;
    entry.span.stage = Stage::decode;
    entry.span.begin = now_ + number * each;
    entry.span.end = entry.span.begin + each;
    PageRings(*worker_).spans.push(entry);
  }
  void step(int k) {
    report(*trainer_, GuestEventKind::dispatched, k, now_);
    report(*worker_, GuestEventKind::begun, k, now_, now_);
    for (int number = 0; number < kSamples; ++number) sample(k, number);
    report(*worker_, GuestEventKind::finished, k, now_ + kStep / 4);
    report(*worker_, GuestEventKind::sent, k, now_ + kStep / 4, now_ + kStep / 3);
    report(*trainer_, GuestEventKind::ask, -1, now_);
    report(*trainer_, GuestEventKind::received, k, now_ + kStep / 3, now_ + kStep / 2);
    report(*trainer_, GuestEventKind::take, k, now_ + kStep / 2);
    now_ += kStep;
  }

  TrainingProcess process_;
  LoaderFacts loader_;
  PagePointer trainer_ = make_page(), worker_ = make_page();
  std::int32_t iterator_ = 0;
  Nanos now_ = kSecond;
};

std::int64_t steps_of_rank() {
  const char* steps = std::getenv("LOADERSCOPE_LONG_JOB_STEPS");
  return steps != nullptr ? std::atoll(steps) : 200'000;
}

TEST(LongJob, LimitsMemoryPerEpoch) {
  RunConfig given;
  given.program.command.given = true;
  given.measure.duration.value = 0;
  given.measure.warmup.value = {0, 0};
  std::vector<std::unique_ptr<Rank>> ranks;
  for (int rank = 0; rank < kRanks; ++rank) ranks.push_back(std::make_unique<Rank>(given));
  const auto epochs = static_cast<std::int32_t>(steps_of_rank() / kStepsOfEpoch);
  const std::int32_t warm = epochs / 2;
  double at_half = 0;
  for (std::int32_t epoch = 0; epoch < epochs; ++epoch) {
    if (epoch == warm) at_half = heap_mib();
    for (const auto& rank : ranks) rank->epoch(epoch);
  }
  const double grown = heap_mib() - at_half;
  RecordProperty("heap_mib", std::to_string(heap_mib()));
  RecordProperty("grown_mib", std::to_string(grown));
  const double iterators = static_cast<double>(epochs - warm) * kRanks;
  EXPECT_EQ(ranks.front()->taken(), std::int64_t{epochs} * kStepsOfEpoch);
  // With the pages of 16 processes, which are no heap in a real job, but are in the parent's
  // memory.
  EXPECT_LT(heap_mib(), 256);
  // An iterator keeps a node that points to what the others say, too.
  EXPECT_LT(grown * kMebibyte, 128 * iterators + 16 * kMebibyte);
}

// Returns the number of a process that has ended, which no process has any more.
pid_t ended_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

CounterValues decoding(double ns) { return {{find_counter("decode"), {ns, 1, {{"open", ns}}}}}; }

double summed_time(const LastByProcess& decoded) {
  return decoded.sum().at(find_counter("decode")).parts.at("open");
}

TEST(LongJob, AddsUpEndedWorkers) {
  LastByProcess spent;
  const pid_t over = ended_process();
  constexpr int kWorkers = 5000;
  const pid_t first = 1 << 23;  // larger than any that the kernel gives
  for (int worker = 0; worker < kWorkers; ++worker) spent.put(first + worker, decoding(2));
  spent.put(over, decoding(1));
  spent.put(over, decoding(3));
  EXPECT_EQ(summed_time(spent), 2.0 * kWorkers + 3.0);
}

// The system gives a number again, once it has given all others.
TEST(LongJob, AddsUpProcessesThatHadTheSameNumber) {
  LastByProcess spent;
  const pid_t number = ::getpid();
  spent.put({number, 100}, decoding(1));
  spent.put({number, 100}, decoding(2));
  spent.put({number, 200}, decoding(5));
  EXPECT_EQ(summed_time(spent), 7.0);
}

TEST(LongJob, DividesSumOfValuesBySumOfCounts) {
  GuestCounters counters;
  const CounterRow* const queue = find_counter("dali.queue");
  counters.put(1, true, {{queue, {2, 1, {}}}});
  counters.put(2, true, {{queue, {4, 1, {}}}, {find_counter("dali.threads"), {0, 0, {}}}});
  const auto metrics = counters.metrics({});
  ASSERT_EQ(metrics.size(), 1U);
  EXPECT_EQ(metrics.front().name, "dali.queue");
  EXPECT_DOUBLE_EQ(metrics.front().value, 3);
}

}  // namespace
}  // namespace loaderscope::guest

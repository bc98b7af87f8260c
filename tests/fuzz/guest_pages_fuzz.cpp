// Pages of a measured job, with overwritten bytes, or with facts and spans in any order. The host
// reads every page to its end, and the resulting account closes.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "guest/host/training_process.h"
#include "unit/guest/made_page.h"

namespace {

using namespace loaderscope;
using namespace loaderscope::guest;
using Bytes8 = std::span<const std::uint8_t>;

constexpr std::size_t kPerReport = 8;  // bytes of the input

void require(bool condition) {
  if (!condition) std::abort();
}

// Makes a plausible event, so that it passes the checks and reaches the code after them.
GuestEvent make_fact(Bytes8 bytes) {
  GuestEvent fact;
  fact.kind = static_cast<GuestEventKind>(1 + bytes[1] % 16);
  fact.iterator = bytes[2] % 3;
  fact.generation = bytes[2] / 128;
  fact.worker = bytes[3] % 4;
  fact.batch = bytes[4] % 12 - 1;
  fact.begin = kSecond + bytes[5] * kMillisecond;
  fact.end = fact.begin + bytes[6] * kMicrosecond;
  fact.count = bytes[7];
  return fact;
}

ThreadLog::Entry make_span(Bytes8 bytes) {
  ThreadLog::Entry entry;
  entry.span.stage = static_cast<Stage>(bytes[1] % kStages);
  entry.span.batch = (std::int64_t{bytes[2] % 3} << (kBatchBits + kGenerationBits)) | bytes[4] % 12;
  entry.span.sample = bytes[3] % 5 - 1;
  entry.span.begin = kSecond + bytes[5] * kMillisecond;
  entry.span.end = entry.span.begin + bytes[6] * kMicrosecond;
  entry.span.bytes = bytes[7];
  return entry;
}

void overwrite(Page& page, Bytes8 bytes) {
  const std::size_t place =
      std::size_t{bytes[1]} | std::size_t{bytes[2]} << 8 | std::size_t{bytes[3]} << 16;
  const std::size_t at = place % (Page::bytes() - bytes.size());
  std::memcpy(reinterpret_cast<std::byte*>(&page) + at, bytes.data(), bytes.size());
}

class FuzzedJob {
 public:
  FuzzedJob() {
    given_.program.command.given = true;
    given_.measure.duration.value = 0;
    given_.measure.warmup.value = {1, 0};
    LoaderFacts loader;
    loader.num_workers = 2;
    process_.add_iterator(0, loader);
    loader.num_workers = 3;  // a program may raise them
    process_.add_iterator(1, loader);
    loader.number = 1;
    loader.num_workers = 0;
    process_.add_iterator(2, loader);
    process_.watch_gpu();
  }

  // The first byte says what it is, and on which page.
  void take(Bytes8 bytes) {
    Page& page = bytes[0] % 2 == 0 ? *trainer_ : *worker_;
    switch (bytes[0] / 2 % 5) {
      case 0:
        PageRings(page).spans.push(make_span(bytes));
        break;
      case 1:
        overwrite(page, bytes);
        break;
      case 2:
        PageRings(page).gpu.push({kSecond + bytes[5] * kMillisecond,
                                  kSecond + bytes[5] * kMillisecond + bytes[6] * kMicrosecond,
                                  bytes[7], bytes[1] % 2 == 0});
        break;
      case 3:
        read();
        break;
      default:
        PageRings(page).facts.push(make_fact(bytes));
    }
  }

  void finish() {
    read();
    process_.advance(true);
    if (LoaderHistory* training = process_.measured()) check(training->finish());
  }

 private:
  void read() {
    believes_trainer_ = believes_trainer_ && process_.read(*trainer_, {});
    believes_worker_ = believes_worker_ && process_.read(*worker_, {1, 0});
    process_.advance(false);
  }

  static void check(const RankRecord& record) {
    record.rows.for_each([](const StepRow& row) {
      Nanos booked = 0;
      for (const Nanos stall : row.stall) booked += stall;
      require(booked == row.idle() && row.compute() >= 0);
    });
  }

  RunConfig given_;
  PagePointer trainer_ = make_page(), worker_ = make_page();
  bool believes_trainer_ = true, believes_worker_ = true;
  TrainingProcess process_{given_};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedJob job;
  for (std::size_t at = 0; at + kPerReport <= size; at += kPerReport)
    job.take(Bytes8(data + at, kPerReport));
  job.finish();
  return 0;
}

// The memory that one process of a measured job shares with the host: its reports, and the host's
// requests. The process makes it, and passes it on when it joins.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <string_view>

#include "record/recorder.h"
#include "record/shared_ring.h"

namespace loaderscope::guest {

enum class GuestEventKind : std::uint8_t {
  none,
#define FACT_KIND(name) name,
#include "guest/protocol/fact_kinds.def"
#undef FACT_KIND
};

// Names, indexed by kind.
inline constexpr std::array kFactNames = {
    std::string_view(),
#define FACT_KIND(name) std::string_view(#name),
#include "guest/protocol/fact_kinds.def"
#undef FACT_KIND
};

struct GuestEvent {
  Nanos begin = 0;
  Nanos end = 0;
  Nanos cpu = 0;
  // Run-queue delay of the thread since its last fact of `has_delay`. For `received`, the delay
  // while it received.
  Nanos queued = 0;
  std::int64_t batch = -1;  // number within the iterator and generation
  std::int64_t count = 0;
  Bytes bytes = 0;
  std::int32_t iterator = 0;    // number in the process that trains, from 0
  std::int32_t generation = 0;  // number of restarts of the iterator
  std::int32_t worker = 0;
  GuestEventKind kind = GuestEventKind::epoch;
};
static_assert(sizeof(GuestEvent) == 72 && std::is_trivially_copyable_v<GuestEvent>);

// Returns true for facts of threads without spans, which report their own run-queue delay.
inline bool has_delay(GuestEventKind kind) {
  return kind == GuestEventKind::ask || kind == GuestEventKind::take ||
         kind == GuestEventKind::pinned || kind == GuestEventKind::sent ||
         kind == GuestEventKind::chosen;
}

// Limit on distinguished numbers, because data is kept for each.
inline constexpr std::int32_t kMaxWorkers = 1 << 14;  // workers of one loader
inline constexpr std::int32_t kMaxIterators = std::numeric_limits<std::int32_t>::max();

// Activity of the GPU of the process, or the stage of some activity. The two may arrive in any
// order.
struct GpuRecord {
  enum class Kind : std::uint8_t {
    kernel,
    copy,   // copy from the host
    stage,  // stage of all activity of a call of the host; without times
  };

  Nanos begin = 0;
  Nanos end = 0;
  Bytes bytes = 0;         // bytes of a copy
  std::uint32_t call = 0;  // number of the host's call that started it; 0: unknown
  Kind kind = Kind::kernel;
  Stage made = Stage::compute;  // kind `stage`: gpu_decode or gpu_augment
};
static_assert(sizeof(GpuRecord) == 32 && std::is_trivially_copyable_v<GpuRecord>);

// Packed batch of a span: its iterator, and the lowest bits of the generation and of the batch
// within it. Both numbers only increase, and the reader knows them approximately.
inline constexpr int kBatchBits = 20;
inline constexpr int kGenerationBits = 12;
constexpr std::int64_t lowest_bits(std::int64_t number, int bits) {
  return number & ((std::int64_t{1} << bits) - 1);
}
inline std::int64_t packed_batch(std::int32_t iterator, std::int32_t generation,
                                 std::int64_t batch) {
  const std::int64_t epoch =
      (std::int64_t{iterator} << kGenerationBits) | lowest_bits(generation, kGenerationBits);
  return (epoch << kBatchBits) | lowest_bits(batch, kBatchBits);
}
// Returns the number with these lowest bits that is nearest to `other`, and not negative.
constexpr std::int64_t nearest_with(std::int64_t lowest, int bits, std::int64_t other) {
  const std::int64_t all = std::int64_t{1} << bits;
  const std::int64_t ahead = lowest_bits(lowest - other, bits);
  const std::int64_t nearest = other + (ahead < all / 2 ? ahead : ahead - all);
  return nearest < 0 ? nearest + all : nearest;
}
inline std::int64_t span_batch(const Span& span, std::int64_t about) {
  return nearest_with(lowest_bits(span.batch, kBatchBits), kBatchBits, about);
}
inline std::int32_t span_generation(const Span& span, std::int32_t about) {
  return static_cast<std::int32_t>(
      nearest_with(lowest_bits(span.batch >> kBatchBits, kGenerationBits), kGenerationBits, about));
}
inline std::int32_t span_iterator(const Span& span) {
  return static_cast<std::int32_t>(span.batch >> (kBatchBits + kGenerationBits));
}

// Current work of a process. Spans are reported only after their end.
struct CurrentWork {
  static constexpr std::int64_t kNone = -1;

  std::atomic<std::int64_t> batch{kNone};  // packed
  // number of the sample; negative: samples cannot be distinguished
  std::atomic<std::int64_t> sample{kNone};
  std::atomic<std::int64_t> stage{kNone};  // a Stage
};

struct alignas(64) Page {
  static constexpr std::uint32_t kVersion = 7;
  // No number that ends up there by mistake: it ends the program.
  static constexpr std::uint32_t kStop = 0x706f7473;
  static constexpr std::size_t kSpans = std::size_t{1} << 14;
  static constexpr std::size_t kFacts = std::size_t{1} << 12;
  // records of many steps, which arrive together
  static constexpr std::size_t kGpuRecords = std::size_t{1} << 15;

  std::uint32_t version = kVersion;
  std::atomic<std::uint32_t> stop{0};    // kStop: end at the next batch
  std::atomic<std::uint32_t> timing{1};  // 0: stages need not be timed
  CurrentWork current_work;
  std::atomic<std::int64_t> own{0};  // ns of the guest's own code in the process

  static std::size_t bytes() { return gpu_at() + SharedRing<GpuRecord>::bytes_for(kGpuRecords); }
  // Requires `bytes()` zeroed bytes.
  static Page* make(void* memory) { return new (memory) Page; }

 private:
  friend struct PageRings;
  static std::size_t facts_at() { return sizeof(Page); }
  static std::size_t spans_at() { return facts_at() + SharedRing<GuestEvent>::bytes_for(kFacts); }
  static std::size_t gpu_at() { return spans_at() + ThreadLog::Ring::bytes_for(kSpans); }
  void* at(std::size_t offset) { return reinterpret_cast<std::byte*>(this) + offset; }
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free &&
              std::atomic<std::int64_t>::is_always_lock_free);

// One side's view of a page.
struct PageRings {
  explicit PageRings(Page& page)
      : current_work(page.current_work),
        facts(page.at(Page::facts_at()), Page::kFacts),
        spans(page.at(Page::spans_at()), Page::kSpans),
        gpu(page.at(Page::gpu_at()), Page::kGpuRecords) {}

  // Fill level of the fuller of the two rings that are always read, from 0 to 1.
  double filled() const { return std::max(facts.filled(), spans.filled()); }

  CurrentWork& current_work;
  SharedRing<GuestEvent> facts;
  ThreadLog::Ring spans;
  SharedRing<GpuRecord> gpu;
};

}  // namespace loaderscope::guest

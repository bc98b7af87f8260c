// The words of the product as types: stages, causes, whys, and the modes of a pipeline.
// Each enum has one table of names; flags, JSON keys, tables and spelling hints read it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace loaderscope {

// Activity of a loader's thread. The order is the way of a batch through the pipeline.
enum class Stage : std::uint8_t {
  read,
  read_decompress,  // sub-stage of read
  decode,
  augment,
  collate,
  opaque,     // work inside another loader, which cannot be observed
  transport,  // serialise and send (one feeder per worker)
  transport_recv,
  pin,
  h2d,
  launch,
  compute,
  startup,         // a worker starts
  startup_parent,  // the trainer's part of starting a worker, one after another
  idle,            // a worker without a task because the window is full
  // Work of the device for the loader. Last, because draws depend on a stage's number.
  gpu_augment,
  gpu_decode,
};
inline constexpr std::size_t kStages = 17;

// A queue of a device. It runs one task at a time, and does not wait for other queues.
enum class Lane : std::uint8_t {
  copy,
  decode,   // JPEG engines, or kernels that decode
  work,     // other kernels of the loader
  compute,  // training
};
inline constexpr std::size_t kLanes = 4;

// Cause that a nanosecond of GPU idle time is booked to. `other` is the remainder.
enum class Cause : std::uint8_t {
  read,
  decode,
  augment,
  collate,
  opaque,
  transport,
  pin,
  h2d,
  launch,
  contention,
  prefetch,
  startup,
  other,
};
inline constexpr std::size_t kCauses = 13;

// The second label of every nanosecond that a step waited for its batch to be made.
enum class Why : std::uint8_t {
  capacity,  // the worker never rested: more workers, or faster workers, would help
  depth,     // the worker had rested with the window full: a deeper window would have begun earlier
  latency,   // the worker had rested, yet one batch takes longer than the window covers
  epoch,     // the first batch of an epoch, or workers that start
};
inline constexpr std::size_t kWhys = 4;

enum class Executor : std::uint8_t { inline_, threads, processes, opaque };
enum class TaskShape : std::uint8_t { batch, sample };
enum class MemoryMode : std::uint8_t {
  pageable,
  pin_thread,
  pinned_slots,
  registered,
  write_combined
};
enum class CopyMode : std::uint8_t { sync, async, stream };
enum class StartMethod : std::uint8_t { fork, spawn, forkserver };
enum class Transfer : std::uint8_t { u8, f16, f32 };
enum class Layout : std::uint8_t { nchw, nhwc };
enum class FileAccess : std::uint8_t { pread, mmap, direct, io_uring, io_uring_direct, http };
enum class CacheState : std::uint8_t { as_is, warm, cold };
enum class OnError : std::uint8_t { skip, fail };
enum class OnOff : std::uint8_t { off, on };
enum class DctScale : std::uint8_t { off, auto_ };
enum class DecodeOn : std::uint8_t { cpu, gpu, hw, split };
enum class AugmentOn : std::uint8_t { host, gpu };
enum class ResidentForm : std::uint8_t { no, stored, decoded };
enum class Prove : std::uint8_t { off, blamed, all, fix };

// One word of an enum: its spelling in flags and JSON, and a sentence for people.
template <class Enum>
struct Word {
  Enum value;
  std::string_view name;
  std::string_view help;
};

template <class Enum>
struct Words;  // specialised per enum: static const std::vector<Word<Enum>>& table()

#define LOADERSCOPE_WORDS(Enum)                    \
  template <>                                      \
  struct Words<Enum> {                             \
    static const std::vector<Word<Enum>>& table(); \
  }
LOADERSCOPE_WORDS(Stage);
LOADERSCOPE_WORDS(Lane);
LOADERSCOPE_WORDS(Cause);
LOADERSCOPE_WORDS(Why);
LOADERSCOPE_WORDS(Executor);
LOADERSCOPE_WORDS(TaskShape);
LOADERSCOPE_WORDS(MemoryMode);
LOADERSCOPE_WORDS(CopyMode);
LOADERSCOPE_WORDS(StartMethod);
LOADERSCOPE_WORDS(Transfer);
LOADERSCOPE_WORDS(Layout);
LOADERSCOPE_WORDS(FileAccess);
LOADERSCOPE_WORDS(CacheState);
LOADERSCOPE_WORDS(OnError);
LOADERSCOPE_WORDS(OnOff);
LOADERSCOPE_WORDS(DctScale);
LOADERSCOPE_WORDS(Prove);
LOADERSCOPE_WORDS(DecodeOn);
LOADERSCOPE_WORDS(AugmentOn);
LOADERSCOPE_WORDS(ResidentForm);
#undef LOADERSCOPE_WORDS

template <class Enum>
std::string_view name_of(Enum value) {
  for (const Word<Enum>& word : Words<Enum>::table()) {
    if (word.value == value) return word.name;
  }
  return "?";
}

template <class Enum>
std::optional<Enum> value_of(std::string_view name) {
  for (const Word<Enum>& word : Words<Enum>::table()) {
    if (word.name == name) return word.value;
  }
  return std::nullopt;
}

template <class Enum>
std::vector<std::string_view> enum_names() {
  std::vector<std::string_view> names;
  for (const Word<Enum>& word : Words<Enum>::table()) names.push_back(word.name);
  return names;
}

// The cause that a span of a worker's time is booked to when a step waited for it.
Cause stage_cause(Stage stage);

// Stages that make a batch, in a worker, or in the trainer if there are no workers. Their causes
// are those of makes_batches().
inline constexpr std::array kMakingStages = {Stage::read,    Stage::read_decompress, Stage::decode,
                                             Stage::augment, Stage::collate,         Stage::opaque};
bool makes_batches(Cause cause);

// True for the stages that handle one sample; the others handle a batch, a worker or a step.
bool is_per_sample(Stage stage);

// Returns true for stages in which the device makes a batch.
constexpr bool is_on_device(Stage stage) {
  return stage == Stage::gpu_decode || stage == Stage::gpu_augment;
}

// Returns true for stages in which a worker starts.
constexpr bool is_startup(Stage stage) {
  return stage == Stage::startup || stage == Stage::startup_parent;
}

template <class Enum>
constexpr std::size_t index_of(Enum value) {
  return static_cast<std::size_t>(value);
}

// An array with one entry per word of an enum: PerCause<Nanos> stall; stall[Cause::decode] += 5.
template <class Enum, class T, std::size_t N>
struct EnumArray : std::array<T, N> {
  T& operator[](Enum e) { return std::array<T, N>::operator[](index_of(e)); }
  const T& operator[](Enum e) const { return std::array<T, N>::operator[](index_of(e)); }
};
template <class T>
using PerStage = EnumArray<Stage, T, kStages>;
template <class T>
using PerCause = EnumArray<Cause, T, kCauses>;
template <class T>
using PerWhy = EnumArray<Why, T, kWhys>;

// The stages that a run leaves out. What they would have made is replayed: batches stay valid.
class Knockouts {
 public:
  Knockouts() = default;
  Knockouts(std::initializer_list<Stage> stages) {
    for (Stage stage : stages) add(stage);
  }

  void add(Stage stage) { bits_ |= std::uint32_t{1} << index_of(stage); }
  bool has(Stage stage) const { return (bits_ >> index_of(stage) & 1) != 0; }
  bool empty() const { return bits_ == 0; }
  bool operator==(const Knockouts&) const = default;

 private:
  std::uint32_t bits_ = 0;
};

// Rule to join the values of a metric from the processes and hosts of a job.
enum class MetricJoin : std::uint8_t {
  mean,            // shares, rates, sizes, and what one sample, batch or process takes
  sum_of_machine,  // value of a process: values of one machine add up, as memory does
  sum,             // totals of the run
  same,            // names of contents, which have no mean: left out if they differ
};

// A row of metrics.def.
struct MetricRow {
  std::string_view name;  // "cache.proved"; capitals stand for any word: "gap.KIND_s"
  std::string_view unit;  // "s", "bytes", "bytes/s", "1", "1/s"
  MetricJoin join = MetricJoin::mean;
  std::string_view sentence;
  std::string_view basis;     // basis of the values of its group
  std::string_view misleads;  // case in which the values of its group are wrong

  bool is_pattern() const;
};

std::span<const MetricRow> metric_table();  // src/base/metric_table.cpp, by group
// Returns the row with that name, else the longest pattern that fits it; null if neither exists.
const MetricRow* find_metric(std::string_view name);

// Names of metrics, for code that makes or finds a metric.
namespace metric {
#define LOADERSCOPE_METRIC_GROUP(group, basis, misleads)
#define LOADERSCOPE_METRIC(id, name, unit, join, sentence) inline constexpr const char* id = name;
#define LOADERSCOPE_METRIC_PATTERN(name, unit, join, sentence)
#include "loaderscope/metrics.def"
#undef LOADERSCOPE_METRIC_GROUP
#undef LOADERSCOPE_METRIC
#undef LOADERSCOPE_METRIC_PATTERN
}  // namespace metric

}  // namespace loaderscope

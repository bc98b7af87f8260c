// The configuration of a run: one struct. settings.h fills it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/cost.h"
#include "loaderscope/units.h"
#include "loaderscope/vocabulary.h"

namespace loaderscope {

// A value with a default that knows whether the user gave it.
template <class T>
struct Setting {
  T value{};
  bool given = false;

  Setting() = default;
  Setting(T default_value) : value(std::move(default_value)) {}  // NOLINT: reads like the value
  operator const T&() const { return value; }                    // NOLINT
  void set(T v) {
    value = std::move(v);
    given = true;
  }
};

// --link: bytes per second from page-locked and from pageable host memory.
struct Link {
  std::string name;
  double pinned = 0;
  double pageable = 0;
};

// --warmup 5 | 2s
struct WarmUp {
  std::int64_t steps = 0;
  Nanos duration = 0;  // 0: unused; else warm-up is every step whose compute ends within this time
};

// --bind: the logical CPUs of the workers.
struct Bind {
  enum class Way : std::uint8_t { none, near_gpu, spread, compact, list };
  Way way = Way::none;
  std::vector<int> cpus;  // CPUs of `list`, in its order

  bool operator==(const Bind&) const = default;
};

// Names, units, defaults and sentences are in the table of fields (src/settings/fields_*.cpp).

// The program of the user.
struct ProgramConfig {
  Setting<std::vector<std::string>> command;  // given: the engine is torch
  Setting<std::string> directory;             // folder in which `command` runs; "": the current one
  Setting<std::string> loader;                // FILE.py:FUNCTION, which makes a loader, or a
                                              // PipelineRow
  Setting<std::string> train_step;            // FILE.py:FUNCTION, called with each batch
  Setting<std::string> batch_function;        // FILE.py:NAME of `command`, which returns a batch
  Setting<std::string> python{"python3"};     // interpreter for `loader`
};

// Settings of the data and of its storage.
struct DataConfig {
  Setting<std::string> source{"synthetic"};
  Setting<std::vector<std::string>> paths;  // "[FORMAT:]PATH[?NAME=VALUE&...]"
  Setting<std::string> index;               // a manifest of the samples below the one path
  Setting<FileAccess> access{FileAccess::pread};
  Setting<std::int64_t> queue_depth{8};         // per worker, with io_uring or http
  Setting<std::string> cache_dir;               // folder for what servers send; "": none
  Setting<Bytes> cache_bytes{Bytes{10} << 30};  // limit of the cache
  Setting<Nanos> request_timeout{20'000'000'000};
  Setting<CacheState> cache{CacheState::as_is};  // state of the data's pages at the begin of the
                                                 // run
  Setting<OnError> on_error{OnError::skip};
  Setting<std::int64_t> samples{0};  // per epoch and over all ranks; 0 = endless
  Setting<Distribution> stored_bytes{{Distribution::Shape::constant, 110'000, 0}};
  Setting<Bytes> delivered_bytes{0};  // per sample; 0 = 3 x size x size x transfer
};

// --decode: where images are decoded.
struct DecodePlace {
  DecodeOn on = DecodeOn::cpu;
  double share = 1;  // share of the samples that the device decodes, if it decodes

  bool on_device() const { return on != DecodeOn::cpu; }
  bool operator==(const DecodePlace&) const = default;
};

// --resident: what GPU memory holds of the data set, from before the first batch.
struct Resident {
  ResidentForm form = ResidentForm::no;
  std::int64_t side = 0;  // decoded: pixels of both sides of an image; 0: chosen by the size

  bool holds_data() const { return form != ResidentForm::no; }
  bool operator==(const Resident&) const = default;
};

// --shared-speed: while the device works on `stage` during a compute, each has this share of its
// speed alone.
struct SharedSpeed {
  Stage stage = Stage::gpu_decode;
  double compute = 1;
  double task = 1;
  std::string text;  // text of the user
};

// Settings of the work on a stored image.
struct ImageConfig {
  Setting<DecodePlace> decode;
  Setting<AugmentOn> augment_on{AugmentOn::host};  // resolved: gpu if the device decodes, or
                                                   // keeps the data
  Setting<Resident> resident;                      // resolved: decoded with its side
  Setting<std::int64_t> size{224};
  Setting<Transfer> transfer{Transfer::f32};
  Setting<Layout> layout{Layout::nchw};
  Setting<std::vector<std::string>> augment{{"random-resized-crop", "flip", "normalise"}};
  Setting<OnOff> antialias{OnOff::on};
  Setting<DctScale> dct_scale{DctScale::off};
  Setting<bool> fast_upsampling{false};
};

struct LoaderConfig {
  Setting<Executor> executor{Executor::threads};  // inline when num_workers is 0
  Setting<std::int64_t> num_workers{0};           // resolved: floor(cores)
  Setting<std::int64_t> prefetch_factor{2};
  Setting<std::int64_t> batch_size{64};
  Setting<TaskShape> task{TaskShape::batch};
  // Batches in flight with sample tasks. Resolved: prefetch_factor x workers.
  Setting<std::int64_t> prefetch_depth{0};
  Setting<bool> in_order{true};
  Setting<bool> shuffle{false};
  Setting<std::int64_t> shuffle_buffer{0};  // samples; 0: the whole data set is shuffled
  Setting<bool> drop_last{false};
  Setting<bool> persistent_workers{false};
  Setting<StartMethod> mp_context{StartMethod::fork};
  Setting<MemoryMode> memory{MemoryMode::pinned_slots};
  Setting<Bind> bind;
  Setting<bool> pin_memory{false};  // name in PyTorch for pin-thread; resolved into `memory`
};

struct TrainerConfig {
  Setting<std::string> device{"sim"};  // resolved: cuda if it is available
  Setting<CopyMode> copy{CopyMode::async};
  Setting<Link> link{{"gen4x16", 25e9, 8e9}};
  Setting<Compute> compute;           // not given: no busy
  Setting<std::int64_t> launches{1};  // kernels per step, on a real device
  Setting<bool> graph{false};         // launched as one CUDA graph
  Setting<double> demand{0};          // samples per second over all ranks
  Setting<std::int64_t> in_flight{2};
  Setting<std::int64_t> device_prefetch{2};  // batches made on the device and not yet computed
  Setting<std::int64_t> ranks{1};
  Setting<bool> sync_ranks{false};
};

// Costs that are declared and not measured, and the machine that they apply to.
struct DeclaredConfig {
  Setting<std::vector<Cost>> cost;  // one at most per stage: a later cost replaces an earlier one
  Setting<std::vector<Injection>> inject;
  Setting<std::vector<SharedSpeed>> shared_speed;  // one at most per stage
  Setting<double> cores{0};                        // resolved: affinity and CPU quota
  Setting<double> core_scaling{1};  // speed of a core when all are busy, of one alone = 1
  Setting<Nanos> storage_latency{0};
  Setting<double> storage_bandwidth{0};          // bytes per second, shared; 0 = unlimited
  Setting<std::int64_t> storage_concurrency{0};  // reads at once; 0 = unlimited
};

struct MeasureConfig {
  Setting<Nanos> duration{10 * kSecond};
  Setting<std::int64_t> steps{0};   // measured steps; 0 = by duration
  Setting<std::int64_t> epochs{0};  // 0 = as many as the window needs
  Setting<WarmUp> warmup{{5, 0}};
  Setting<Nanos> timeout{5 * 60 * kSecond};
  Setting<Nanos> hang_after{10 * kSecond};  // limit for programs of the user; 0 = never
  Setting<bool> hook_cost{true};  // after the window, measure the overhead of timing stages
  Setting<std::int64_t> seed{0};
};

struct AnswerConfig {
  Setting<Prove> prove{Prove::off};
  Setting<double> gpu_price{0};  // price of one GPU for one hour; 0: not given
  Setting<std::vector<std::string>> require;
  Setting<std::string> json, html, perfetto;
};

struct RunConfig {
  Setting<std::string> engine{"native"};
  ProgramConfig program;
  DataConfig data;
  ImageConfig image;
  LoaderConfig loader;
  TrainerConfig trainer;
  DeclaredConfig declared;
  MeasureConfig measure;
  AnswerConfig answer;

  bool makes_on_device() const {
    return image.decode.value.on_device() || image.augment_on == AugmentOn::gpu ||
           image.resident.value.holds_data();
  }
  const Cost* declared_cost(Stage stage) const;  // null when not declared
  bool has_data() const { return !data.paths.value.empty() || !data.index.value.empty(); }
  std::int64_t delivered_sample_bytes() const;
  Nanos mean_compute_time() const;  // time of a whole batch
};

// One setting that is changed: a key of a flag or scenario; or STAGE.speed, how many times faster a
// stage gets; or other-threads, how many threads of other programs take cores.
struct Change {
  std::string key;
  std::string value;

  bool operator==(const Change&) const = default;
};
using Changes = std::vector<Change>;
std::string changes_to_text(const Changes& changes);

// Form of a sample's stored bytes for the loader.
enum class SampleForm : std::uint8_t {
  declared,  // no stored bytes: every stage takes the time of its --cost
  image,     // a coded image: it is decoded and augmented
  array,     // numbers that go into the batch unchanged; all samples have the same size
};

enum class DeviceKind : std::uint8_t {
  gpu,        // a real one
  simulated,  // real time
  none,       // batches are dropped, there is no "busy"
  program,    // the measured program decides what happens to a batch
};
// Requires the device name of a resolved configuration. Throws RunError for other names.
DeviceKind device_kind(std::string_view name);  // src/record/family_traits.cpp

}  // namespace loaderscope

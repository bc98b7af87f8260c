// The work of one worker on one sample: the stages from read to augment, declared or real.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "base/sleep.h"
#include "engine/native/decode_counts.h"
#include "engine/native/replay_pool.h"
#include "engine/native/sample_errors.h"
#include "engine/native/slot_room.h"
#include "engine/pipeline/loader_plan.h"
#include "loaderscope/augment.h"
#include "loaderscope/decode.h"
#include "loaderscope/device.h"
#include "loaderscope/source.h"
#include "record/stage_scope.h"

namespace loaderscope::native {

struct SampleTask {
  Execution execution;  // execution of the sample's stages; `draw` is the sample's index in the
                        // data set
  std::byte* place = nullptr;  // place of the sample; begin of the slot if it is mixed
  // Not null: the crop goes to `place`, and its recipe here, instead of into a slot.
  AugmentRecipe* crop_recipe = nullptr;
  SlotRoom* room = nullptr;   // set only for mixed slots
  std::int64_t position = 0;  // place in the batch
};

struct MadeSample {
  Bytes read = 0;          // stored bytes that it was made from
  bool is_stored = false;  // the device decodes it
  Bytes copied = 0;        // bytes for the device, if it augments
  bool is_held = false;    // the device has kept it since before the run
};

// Belongs to one worker thread, which must also create it.
class SampleMaker {
 public:
  virtual ~SampleMaker() = default;
  // Makes the sample. If the worker's stream decides which sample that is, returns nothing at its
  // end, and ignores the draw of `task`.
  virtual std::optional<MadeSample> make(const SampleTask& task, SpanWriter& spans) = 0;
  // For the worker of a stream, before its first batch of each epoch.
  virtual void begin_stream(std::int32_t rank, std::int32_t worker, std::int64_t epoch) {
    static_cast<void>(rank), static_cast<void>(worker), static_cast<void>(epoch);
  }
  // The samples that are to be made next: a hint, as SampleReader::expect.
  virtual void expect(std::span<const std::int64_t> samples) { static_cast<void>(samples); }
  virtual int readahead_limit() const { return 0; }  // same meaning as in SampleReader

  // Methods for a device that decodes stored samples.

  // The device decoded a sample in another way than by its engines.
  virtual void count_decode(MakeListener::Way way, std::string_view reason) {
    static_cast<void>(way), static_cast<void>(reason);
  }
  // Makes the next good sample after `sample`, which the device cannot decode. `task` has a
  // crop_recipe.
  virtual void replace(const SampleTask& task, std::int64_t sample, const SampleError& error) {
    static_cast<void>(task), static_cast<void>(sample), static_cast<void>(error);
  }
};

// Puts samples into a new slot, which then holds a batch that no worker has made.
using SlotFiller = std::function<void(std::byte* slot)>;

using MakerFactory = std::function<std::unique_ptr<SampleMaker>(const std::atomic<int>& stop)>;

// Spends what `stage` costs: sleeps or burns a core.
void spend(const StagePlan& stage, const Execution& execution, Sleeper& sleeper);

// Every stage is a declared cost. `plan` must outlive the makers.
MakerFactory declared_makers(const LoaderPlan& plan);

// The makers of samples from stored data.

class ResidentData;

// Inputs that all workers of a job share to make samples.
struct DataPipeline {
  const LoaderPlan* plan = nullptr;
  const Source* source = nullptr;
  SampleForm form = SampleForm::image;
  DecodeOptions decode;
  AugmentOptions augment;
  bool fail_on_error = false;
  SampleErrors* errors = nullptr;
  const ReplayPool* replayed = nullptr;    // set only with knock-outs
  const DecodeCounts* decodes = nullptr;   // set only for a device that augments
  const ResidentData* resident = nullptr;  // set only for a device that keeps the data
};

// `pipeline` must outlive the makers.
MakerFactory data_makers(const DataPipeline& pipeline);

}  // namespace loaderscope::native

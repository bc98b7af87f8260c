// Settings of work that the device does for the loader.
#include "device/cuda/augment_job.h"
#include "loaderscope/errors.h"
#include "record/family_traits.h"
#include "settings/resolve_steps.h"

namespace loaderscope::settings {
namespace {

constexpr std::int64_t kMaxSize = cuda::kMaxKernelSize;

// Key of the setting that asks for the device's work.
std::string_view asking_key(const RunConfig& c) {
  if (c.image.decode.value.on_device()) return "decode";
  return c.image.resident.value.holds_data() ? "resident" : "augment-on";
}

void check_possible(const RunConfig& c) {
  const std::string_view key = asking_key(c);
  if (c.loader.executor == Executor::inline_)
    refuse(c, key, "needs workers, and num-workers = 0", "give --num-workers 1 or more");
  if (device_kind(c.trainer.device.value) == DeviceKind::none)
    refuse(c, key, "device = null makes nothing", "give --device sim");
  if (is_streamed(c)) refuse(c, key, "the data is a stream", "give data with an index");
  if (c.has_data() && source_traits(c.data.source.value).form != SampleForm::image)
    refuse(c, key, "the data has no images");
}

void check_cost(const RunConfig& c, Stage stage, const char* time, const char* word) {
  if (c.declared_cost(stage) != nullptr) return;
  throw UsageError(
      setting_words(c, asking_key(c)) + ": the time of " + std::string(name_of(stage)) +
          " is unknown",
      "give --cost " + std::string(name_of(stage)) + "=" + time + ", or to what-if --set " + word);
}

}  // namespace

void fill_device_work(RunConfig& c, bool runs) {
  const bool decodes = c.image.decode.value.on_device();
  if (decodes && c.image.augment_on.given && c.image.augment_on == AugmentOn::host)
    refuse(c, "augment-on", "contradicts " + setting_words(c, "decode") + ", which has the pixels",
           "leave it out");
  if (decodes) c.image.augment_on.value = AugmentOn::gpu;
  if (!c.makes_on_device()) return;
  check_possible(c);
  fill_resident(c);
  if (runs && is_device_work_measured(c)) return;
  if (decodes) check_cost(c, Stage::gpu_decode, "45us", "gpu.decode-rate=22000/s");
  check_cost(c, Stage::gpu_augment, "1us", "gpu.augment-rate=1000000/s");
}

void check_device_can_run(const RunConfig& c) {
  if (!c.makes_on_device() || is_model_engine(c.engine.value)) return;
  if (is_device_work_measured(c)) {
    if (!c.has_data())
      refuse(c, asking_key(c), "a real GPU needs images", "give --data PATH, or --device sim");
    if (c.image.size > kMaxSize)
      refuse(c, "size",
             "the GPU makes samples with at most " + std::to_string(kMaxSize) + " pixels on a side",
             "remove --decode and --augment-on");
  }
  const Prove prove = c.answer.prove.value;
  if (c.has_data() && (prove == Prove::blamed || prove == Prove::all))
    refuse(c, "prove", "cannot skip a stage here, because the GPU would get no images",
           "remove --prove, or give --try");
}

void note_device_work(const RunConfig& c, std::vector<std::string>& notes) {
  const bool decodes = c.image.decode.value.on_device();
  for (const Cost& cost : c.declared.cost.value) {
    const bool is_device_stage =
        cost.stage == Stage::gpu_decode || cost.stage == Stage::gpu_augment;
    if (is_device_stage && c.makes_on_device() && is_device_work_measured(c)) {
      notes.push_back("cost " + std::string(name_of(cost.stage)) +
                      " has no effect: the time of a real GPU is measured");
      continue;
    }
    if ((cost.stage == Stage::gpu_decode && !decodes) ||
        (cost.stage == Stage::gpu_augment && !c.makes_on_device()))
      notes.push_back("cost " + std::string(name_of(cost.stage)) +
                      " has no effect: the workers do this");
  }
  if (c.makes_on_device()) return;
  for (const std::string_view key : {"device-prefetch", "shared-speed"})
    if (find_field(key)->given(c))
      notes.push_back(setting_words(c, key) + " has no effect: the device makes nothing");
}

}  // namespace loaderscope::settings

#include "settings/engine_table.h"

#include <algorithm>
#include <array>

#include "loaderscope/errors.h"
#include "machine/python_module.h"

namespace loaderscope {

namespace {

std::optional<std::string> only_by_diagnose() {
  return "it runs nothing; 'loaderscope diagnose TRACE' makes such a record.";
}

}  // namespace

std::span<const EngineRow> engine_table() {
  static const std::array<EngineRow, 6> kTable = {{
      {{"native", "Our own loader for real: threads, files, decoders, memory and a device."},
       EngineKind::native},
      {{"model", "The pipeline in virtual time: declared costs, exact, the same on every machine."},
       EngineKind::model},
      {{"torch",
        "Measure any PyTorch DataLoader from inside. It is in a training program, or made by "
        "--loader."},
       EngineKind::guest,
       GuestTraits{}},
      {{"webdataset",
        "Read WebDataset's tar shards in a PyTorch DataLoader. Use the built-in pipeline or "
        "--loader.",
        no_webdataset},
       EngineKind::guest,
       GuestTraits{.can_shuffle = false}},
      {{"dali",
        "Run NVIDIA DALI and see its operators while the trainer waits for a batch. Use the "
        "built-in pipeline for CPUs or --loader.",
        no_dali},
       EngineKind::guest,
       GuestTraits{.is_data_loader = false}},
      {{"import", "A run that is over, as nsys or torch.profiler recorded it.", only_by_diagnose},
       EngineKind::trace},
  }};
  return kTable;
}

namespace {

template <class Entry>
const Entry* find_entry(std::string_view name, std::span<const Entry> table) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const Entry& entry) { return entry.row.name == name; });
  return found == table.end() ? nullptr : &*found;
}

bool is_of_kind(std::string_view name, EngineKind kind) {
  const EngineRow* row = find_entry(name, engine_table());
  return row != nullptr && row->kind == kind;
}

}  // namespace

const EngineRow& engine_row(std::string_view name) {
  const EngineRow* row = find_entry(name, engine_table());
  if (row == nullptr) throw RunError("engine = " + std::string(name) + ": there is none");
  return *row;
}

std::optional<GuestTraits> guest_traits(std::string_view engine) {
  const EngineRow* row = find_entry(engine, engine_table());
  return row == nullptr ? std::nullopt : row->guest;
}

bool is_guest_engine(std::string_view name) { return guest_traits(name).has_value(); }

bool is_native_engine(std::string_view name) { return is_of_kind(name, EngineKind::native); }

bool is_model_engine(std::string_view name) { return is_of_kind(name, EngineKind::model); }

bool is_trace_engine(std::string_view name) { return is_of_kind(name, EngineKind::trace); }

// The engine torch, which measures programs, has no default.
std::span<const PipelineRow> pipeline_table() {
  static const std::array<PipelineRow, 4> kTable = {{
      {{"torch:pillow",
        "PyTorch's DataLoader with Pillow and torchvision's transforms: what most programs have."},
       "torch"},
      {{"torch:opencv",
        "Run PyTorch's DataLoader with OpenCV and albumentations, which are faster than Pillow."},
       "torch"},
      {{"webdataset:pillow",
        "Read tar shards in DataLoader workers, with Pillow and torchvision's transforms."},
       "webdataset",
       true},
      {{"dali:cpu", "DALI's own reader, decoder and threads, without a GPU."}, "dali", true},
  }};
  return kTable;
}

const PipelineRow* find_pipeline(std::string_view name) {
  return find_entry(name, pipeline_table());
}

}  // namespace loaderscope

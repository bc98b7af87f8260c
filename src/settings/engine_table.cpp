#include "settings/engine_table.h"

#include <algorithm>
#include <array>

#include "loaderscope/errors.h"
#include "machine/tool_run.h"

namespace loaderscope {

namespace {

std::optional<std::string> only_by_diagnose() {
  return "it runs nothing; 'loaderscope diagnose TRACE' makes such a record.";
}

}  // namespace

std::span<const EngineRow> engine_table() {
  static const EngineRow kTable[] = {
#define LOADERSCOPE_ENGINE(name, help, kind, guest, unavailable) {{name, help, unavailable}},
#include "record/engines.def"
#undef LOADERSCOPE_ENGINE
  };
  return kTable;
}

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
  const std::span<const PipelineRow> table = pipeline_table();
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const PipelineRow& row) { return row.row.name == name; });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace loaderscope

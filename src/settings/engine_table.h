// The engines by name. engine.h contains the code that runs them.
#pragma once

#include <span>
#include <string_view>

#include "loaderscope/rows.h"

namespace loaderscope {

// A row of record/engines.def. record/family_traits.h has its traits.
struct EngineRow {
  Row row;
};

std::span<const EngineRow> engine_table();  // src/settings/engine_table.cpp

// A pipeline of another program's loader that loaderscope contains: JPEG files,
// random-resized-crop, flip, normalise, f32 NCHW. `--loader` names it.
struct PipelineRow {
  Row row;
  std::string_view engine;
  bool is_default = false;  // runs if only the engine is given
};

std::span<const PipelineRow> pipeline_table();  // src/settings/engine_table.cpp

const PipelineRow* find_pipeline(std::string_view name);  // null if the name is unknown

}  // namespace loaderscope

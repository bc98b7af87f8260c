#include <array>

#include "engine/model/model_engine.h"
#include "loaderscope/engine.h"

namespace loaderscope {

std::span<const EngineRow> engine_table() {
  static const std::array<EngineRow, 1> kTable = {{
      {{"model", "The pipeline in virtual time: declared costs, exact, the same on every machine."}, run_model},
  }};
  return kTable;
}

}  // namespace loaderscope

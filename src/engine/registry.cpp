#include <array>

#include "engine/model/model_engine.h"
#include "engine/native/native_engine.h"
#include "loaderscope/engine.h"

namespace loaderscope {

std::span<const EngineRow> engine_table() {
  static const std::array<EngineRow, 2> kTable = {{
      {{"native", "Our own loader for real: threads, files, decoders, memory and a device."},
       run_native},
      {{"model", "The pipeline in virtual time: declared costs, exact, the same on every machine."},
       run_model},
  }};
  return kTable;
}

}  // namespace loaderscope

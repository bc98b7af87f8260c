#include <array>

#include "engine/model/model_engine.h"
#include "engine/native/native_engine.h"
#include "engine/torch/torch_engine.h"
#include "loaderscope/engine.h"

namespace loaderscope {

std::span<const EngineRow> engine_table() {
  static const std::array<EngineRow, 3> kTable = {{
      {{"native", "Our own loader for real: threads, files, decoders, memory and a device."},
       run_native},
      {{"model", "The pipeline in virtual time: declared costs, exact, the same on every machine."},
       run_model},
      {{"torch",
        "Somebody else's PyTorch DataLoader, in a training program or made by --loader, measured "
        "from inside."},
       run_torch},
  }};
  return kTable;
}

}  // namespace loaderscope

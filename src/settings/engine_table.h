// The engines by name, and their traits. engine.h contains the code that runs them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "loaderscope/rows.h"

namespace loaderscope {

// Traits of an engine that is another program's loader, with its own Python.
struct GuestTraits {
  bool is_data_loader = true;  // PyTorch's DataLoader, with its arguments
  bool can_shuffle = true;
};

enum class EngineKind : std::uint8_t { native, model, guest, trace };

struct EngineRow {
  Row row;
  EngineKind kind = EngineKind::guest;
  std::optional<GuestTraits> guest = std::nullopt;
};

std::span<const EngineRow> engine_table();  // src/settings/engine_table.cpp

// Returns the row of a resolved configuration's engine, even if it is not available with the
// default Python.
const EngineRow& engine_row(std::string_view name);

std::optional<GuestTraits> guest_traits(std::string_view engine);  // empty for other engines
bool is_guest_engine(std::string_view name);
bool is_native_engine(std::string_view name);
bool is_model_engine(std::string_view name);
bool is_trace_engine(std::string_view name);

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

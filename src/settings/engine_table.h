// The engines by name, and what they have. What runs them stands above: engine.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "loaderscope/rows.h"

namespace loaderscope {

// Of an engine that is somebody else's loader, in a Python of its own.
struct GuestTraits {
  bool is_data_loader = true;  // of PyTorch, with its arguments
  bool can_shuffle = true;
};

enum class EngineKind : std::uint8_t { native, model, guest, trace };

struct EngineRow {
  Row row;
  EngineKind kind = EngineKind::guest;
  std::optional<GuestTraits> guest = std::nullopt;
};

std::span<const EngineRow> engine_table();  // src/settings/engine_table.cpp

// The row of a resolved configuration's engine, whether or not it is available with the default
// Python.
const EngineRow& engine_row(std::string_view name);

std::optional<GuestTraits> guest_traits(std::string_view engine);  // nothing where it is none
bool is_guest_engine(std::string_view name);
bool is_native_engine(std::string_view name);
bool is_model_engine(std::string_view name);
bool is_trace_engine(std::string_view name);

// A pipeline of somebody else's loader that we bring along: JPEG files, random-resized-crop, flip,
// normalise, f32 NCHW. `--loader` names it.
struct PipelineRow {
  Row row;
  std::string_view engine;
  bool is_default = false;  // it runs where the engine alone is given
};

std::span<const PipelineRow> pipeline_table();  // src/settings/engine_table.cpp

const PipelineRow* find_pipeline(std::string_view name);  // null: there is none of this name

}  // namespace loaderscope

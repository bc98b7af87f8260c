// Traits of the rows of families, for code below the floor of the family. The .def files of this
// folder have the rows. The table of a family takes its other members from the same rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "loaderscope/run_config.h"

namespace loaderscope {

// Traits of an engine that is another program's loader, with its own Python.
struct GuestTraits {
  bool is_data_loader = true;  // PyTorch's DataLoader, with its arguments
  bool can_shuffle = true;
};

enum class EngineKind : std::uint8_t { native, model, guest, trace };

// Requires the engine of a resolved configuration. Throws RunError for other names.
EngineKind engine_kind(std::string_view name);

std::optional<GuestTraits> guest_traits(std::string_view engine);  // empty for other engines
// Return false for unknown names.
bool is_guest_engine(std::string_view name);
bool is_native_engine(std::string_view name);
bool is_model_engine(std::string_view name);
bool is_trace_engine(std::string_view name);

// Returns true if work for the loader would take its own time on a real GPU. False: it takes
// declared times.
bool is_device_work_measured(const RunConfig& config);

struct SourceTraits {
  std::string_view name;
  SampleForm form = SampleForm::declared;
  bool is_packed = false;  // a file holds many samples
  // Command to rewrite the data in smaller pieces, for formats whose pieces are read as a whole. {}
  // is the path of --data.
  std::string_view smaller_pieces = {};
};
// Requires the name of a source.
const SourceTraits& source_traits(std::string_view name);

struct AccessTraits {
  FileAccess access;
  bool is_direct = false;  // reads past the page cache; some file systems refuse it
  bool is_remote = false;  // only for objects of servers
};
const AccessTraits& access_traits(FileAccess access);

}  // namespace loaderscope

// Steps of resolve(), in their order. All except the last two may throw UsageError.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/errors.h"
#include "loaderscope/settings.h"

namespace loaderscope::settings {

// --- Errors for settings that are not possible.

// "prefetch-factor = 4"
inline std::string setting_words(const RunConfig& config, std::string_view key) {
  return std::string(key) + " = " + shown_text(find_field(key)->text(config));
}

// These throw UsageError.
[[noreturn]] inline void refuse(const RunConfig& config, std::string_view key,
                                const std::string& reason, const std::string& hint = "") {
  throw UsageError(setting_words(config, key) + ": " + reason, hint);
}

inline void refuse_given(const RunConfig& config, std::string_view key, const std::string& reason,
                         const std::string& hint = "") {
  if (find_field(key)->given(config)) refuse(config, key, reason, hint);
}

// Refuses each given setting that is about one of `traits`.
inline void refuse_any(const RunConfig& config, std::uint32_t traits, const std::string& reason,
                       const std::string& hint = "") {
  for (const Field& field : fields()) {
    if (field.is_about(traits) && field.given(config)) refuse(config, field.name, reason, hint);
  }
}

// --- The steps.

// A given program or loader is measured from inside. Refuses settings that contradict it.
void fill_engine(RunConfig& config);

// Given data determines the source. Refuses settings that contradict it.
void fill_source(RunConfig& config);
// Uses a real device if there is one. A given link describes a simulated device.
void fill_device(RunConfig& config, const MachineLimits& limits, std::vector<std::string>& notes);
void fill_batch_size(RunConfig& config);  // a preset is the time of a batch of a certain size
// Checks declared values against real data, and data settings against declared data.
void check_data(const RunConfig& config);
void fill_memory(RunConfig& config);  // uses pin-memory, which may contradict it
// Uses executor, which may contradict it.
void fill_workers(RunConfig& config, const MachineLimits& limits);

// The device augments the samples that it keeps. Refuses forms that contradict other settings.
void fill_resident(RunConfig& config);
// Decoding on the device includes augmenting there. Refuses what the device cannot do.
void fill_device_work(RunConfig& config, bool runs);
// Refuses in a run what only the model can do.
void check_device_can_run(const RunConfig& config);

void check_sizes(const RunConfig& config);
void check_contradictions(const RunConfig& config);
void fill_window(RunConfig& config);

// Returns true if a declared cost takes time, so that a run of it ends.
bool has_cost(const RunConfig& config);
void note_device_work(const RunConfig& config, std::vector<std::string>& notes);
void note_no_effect(const RunConfig& config, std::vector<std::string>& notes);

}  // namespace loaderscope::settings

namespace loaderscope {

// Part of resolve() for runs of another program's loader.
bool is_guest(const RunConfig& config);
RunConfig resolve_guest(RunConfig config, const MachineLimits& limits);

}  // namespace loaderscope

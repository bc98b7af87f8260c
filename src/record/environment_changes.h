// Changes: their text, and those that only a model can make. These are the speed of a stage, the
// load of other programs, and the storage.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "loaderscope/run_config.h"

namespace loaderscope {

// Returns "--set workers=8", the begin of a message.
std::string change_place(const Change& change);

// Part of the environment that some settings declare. Only the model can change it.
enum class EnvironmentPart : std::uint8_t { cores, storage };
// Returns nothing for other settings. Requires the name of a setting, and no alias.
std::optional<EnvironmentPart> environment_part(std::string_view setting);

// Stage and factor of a STAGE.speed. find_speedup() returns nothing for a setting, and throws
// UsageError.
struct Speedup {
  Stage stage;
  double factor;
};
std::optional<Speedup> find_speedup(const Change& change);
inline constexpr double kTakesNoTime = 100;  // factor from which on the stage counts as removed

inline constexpr std::string_view kOtherThreads = "other-threads";
inline constexpr std::string_view kStorageInFlight = "storage.in-flight";

enum class WorldWord {
  other_threads,      // threads of other programs, which always want a core
  storage_latency,    // ns to the first byte of a read, or of a single request
  storage_bandwidth,  // bytes per second that all reads share
  storage_in_flight,  // requests that a worker has in flight
  hit_rate,           // share of requests that a local cache answers: 0 to 1
  gpu_decode_rate,    // images per second that the device decodes alone
  gpu_augment_rate    // images per second that it augments alone
};
struct EnvironmentChange {
  WorldWord word;
  double value;
  std::string_view unit = "1";  // unit in results: s for ns
  std::string_view meaning = "";
};
// Returns nothing for a setting and for a speed. Throws UsageError.
std::optional<EnvironmentChange> find_environment_change(const Change& change);

// Returns the setting with which a run does the same as a word of the model. If there is none,
// returns the change.
Change as_setting(const Change& change);

// Returns the word of the model for a setting of a run; "" if there is none.
std::string_view word_for_setting(std::string_view setting);

// Describes a key that only the model has; "" for other keys.
std::string meaning_of_key(const std::string& key);

// Returns true if only the model knows the key: it is no setting of a run, whatever its value.
bool is_word_of_model(const Change& change);
// Returns true if the change is about the machine or the speed of a stage. A model can apply it,
// and a run cannot.
bool is_of_world(const Change& change);

// Speeds up the costs of a stage that `config` declares. Returns false if it declares none.
bool make_faster(RunConfig& config, const Speedup& speedup);
// Does the same for the storage. Returns false if `config` does not declare this value.
bool change_world(RunConfig& config, const EnvironmentChange& change);

// Returns true for the words about the GPU's work for the loader.
constexpr bool is_about_gpu(WorldWord word) {
  return word == WorldWord::gpu_decode_rate || word == WorldWord::gpu_augment_rate;
}

// Returns true if one of the changes is of the setting `name`, under any of its keys.
bool change_setting(const Changes& changes, std::string_view name);

}  // namespace loaderscope

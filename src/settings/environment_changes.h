// Changes that only a model can make: the speed of a stage, the load of other programs, the
// storage.
#pragma once

#include <optional>
#include <string_view>

#include "loaderscope/settings.h"

namespace loaderscope {

// The stage and the factor of a STAGE.speed; nothing for a setting. Throws UsageError.
struct Speedup {
  Stage stage;
  double factor;
};
std::optional<Speedup> speedup_of(const Change& change);
inline constexpr double kTakesNoTime = 100;  // a factor from which on the stage may as well be gone

inline constexpr std::string_view kOtherThreads = "other-threads";
inline constexpr std::string_view kStorageInFlight = "storage.in-flight";

enum class WorldWord {
  other_threads,      // threads of other programs, which always want a core
  storage_latency,    // ns, to the first byte of a read, or of a request that is alone
  storage_bandwidth,  // bytes per second, that all reads share
  storage_in_flight,  // requests that a worker has under way at once
  hit_rate            // share of requests that a local cache answers: 0 to 1
};
struct EnvironmentChange {
  WorldWord word;
  double value;
  std::string_view unit = "1";  // unit in results: s for ns
  std::string_view meaning = "";
};
// Returns nothing for a setting and for a speed. Throws UsageError.
std::optional<EnvironmentChange> world_change_of(const Change& change);

// The setting by which a run does the same as a word of the model, where there is one; else the
// change itself.
Change as_setting(const Change& change);

// The word of the model for a setting of a run; "": there is none.
std::string_view word_for_setting(std::string_view setting);

// Describes a key that only the model has; "" for other keys.
std::string meaning_of_key(const std::string& key);

// Returns true if only the model knows the key: it is no setting of a run, whatever its value.
bool is_word_of_model(const Change& change);
// Returns true if the change is about the machine or the speed of a stage. A model can apply it,
// and a run cannot.
bool is_of_world(const Change& change);

// Makes what `config` declares of a stage smaller. False when it declares nothing of it.
bool make_faster(RunConfig& config, const Speedup& speedup);
// The same of the storage: false where `config` does not declare this of it.
bool change_world(RunConfig& config, const EnvironmentChange& change);

}  // namespace loaderscope

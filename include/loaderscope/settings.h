// Filling of a configuration. Flags and scenario files use one table of fields, and resolve()
// rejects what is impossible.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/run_config.h"

namespace loaderscope {

struct AugmentOptions;

// Traits of a setting; a setting may have several. Code that rejects, holds or varies settings
// tests the traits, and never the names.
namespace about {
inline constexpr std::uint32_t kNoTrait = 0,
                               kWhichData = 1 << 0,  // choice of the data
    kStored = 1 << 1,                                // access method for stored data: needs data
    kImage = 1 << 2,                                 // work on a stored image
    kDeclaredData = 1 << 3,                          // properties of samples if none are stored
    kStorage = 1 << 4,                               // a storage, and
    kCores = 1 << 14,                                // cores, that only the model can change
    kNativeLoader = 1 << 5,                          // the native loader, and not a loader of the
                                                     // user
    kPipelineOnly = 1 << 6,  // a pipeline of loaderscope; other loaders read their own settings
    kDataLoaderArgument = 1 << 7,  // an argument of PyTorch's DataLoader
    kNativeTrainer = 1 << 8,       // a trainer of ours: a program trains itself
    kOwnRanks = 1 << 9,            // not available with a loader of the user
    kNeedsWorkers = 1 << 10,       // no effect without workers
    kPriced = 1 << 11,             // costs memory or processes
    kPredictable = 1 << 12,        // the model can predict other values from one run
    kNotModelled = 1 << 13,        // no effect in the model
    kWithinBatch = 1 << 15,        // samples of a batch, and the workers that make them
    kSaved = 1 << 16;              // a file for the answer, in the form that has the field's name
}

// One field: its names, its sentence, and how its text is read and written. The text is the same in
// a flag, in a scenario file and in --set and --vary.
struct Field {
  std::string_view
      name;  // "num-workers": the flag --num-workers, the key num-workers, JSON num_workers
  std::vector<std::string_view> aliases;
  std::string_view old_name;  // still accepted, and shown nowhere; "": it has none
  std::string_view group;
  std::uint32_t traits = about::kNoTrait;
  std::string_view value_name;  // "N", "DURATION", ...; "" for a switch, which also has --no-NAME
  std::string_view help;        // one sentence with the unit
  std::string_view implied;     // value of the flag without a value; "": it needs one
  std::string_view
      default_words;  // default in words, if it depends on something; else "": see text()
  bool repeats = false;
  bool is_number = false;  // written to JSON as a number
  std::function<void(RunConfig&, std::string_view)>
      set;  // throws ValueError; repeated: adds or replaces
  std::function<std::string(const RunConfig&)> text;  // the value in force; repeats: first one
  std::function<std::vector<std::string>(const RunConfig&)> texts;
  std::function<bool(const RunConfig&)> given;
  std::function<void(RunConfig&, bool given)>
      mark_given;  // a value read back from a result need not be the user's

  bool is_switch() const { return value_name.empty(); }
  bool is_about(std::uint32_t any) const { return (traits & any) != 0; }
};

std::span<const Field> fields();
const Field* find_field(std::string_view name_or_alias);  // accepts no-NAME of a switch too

// Sets one field from its text. Throws UsageError: "PLACE: KEY = VALUE: expected ...; did you mean
// ...?".
void set_field(RunConfig& config, std::string_view place, std::string_view key,
               std::string_view value);

// Reads "key = value" lines into `config`, leaving alone what is already given there (flags win);
// costs and injections merge per stage. Throws UsageError with file and line.
struct Scenario {
  std::string path;
  std::vector<std::string> expect;  // "# expect: ..." lines, in order
};
Scenario read_scenario(const std::string& path, RunConfig& config);
Scenario parse_scenario(std::string_view text, const std::string& path, RunConfig& config);

// Properties of the machine that the defaults depend on.
struct MachineLimits {
  double cores = 1;          // affinity and CPU quota
  bool has_gpu = false;      // a GPU that the device `cuda` can use
  std::string why_no_gpu{};  // reason for choosing the device; "" if GPUs were not searched
  std::optional<std::string> unusable_gpu{};  // reason why a GPU cannot be used, for MachineFacts
};

// Fills the defaults that depend on other values and on the machine. Throws UsageError for
// contradictions and impossible sizes. Adds given settings without effect to `notes`.
RunConfig resolve(RunConfig config, const MachineLimits& limits, std::vector<std::string>& notes);

// Does the same for a configuration of the model, which may also change the machine.
RunConfig resolve_to_predict(RunConfig config, const MachineLimits& limits,
                             std::vector<std::string>& notes);

// Returns true if the data of a resolved configuration is read as a stream.
bool is_streamed(const RunConfig& config);
// The augmentation that a resolved configuration asks for.
AugmentOptions augment_options(const RunConfig& config);

// Refuses batches that are too large (UsageError): again once opened data has said how large a
// sample is.
void check_batch_bytes(const RunConfig& config);

// Does the same as resolve_to_predict() for a measured run, in which stages without a declared cost
// still take time.
RunConfig resolve_measured(RunConfig config, const MachineLimits& limits,
                           std::vector<std::string>& notes);

// --- settings changed on top of those of another run ---

Change parse_change(std::string_view text);  // "workers=8"; throws UsageError

// The settings that were given in `base`, with those of `changes` in place of what they contradict;
// not resolved. Speeds are left to the caller. Throws UsageError.
RunConfig with_changes(const RunConfig& base, const Changes& changes);

// Does the same for a run whose settings are in force. Holds values that were not given and would
// follow from a change, such as the workers from the cores. Only the named settings change.
RunConfig counterfactual(const RunConfig& current, const Changes& changes);

}  // namespace loaderscope

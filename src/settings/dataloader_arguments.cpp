#include "settings/dataloader_arguments.h"

#include <algorithm>

namespace loaderscope {
namespace {

constexpr std::string_view kPinMemory = "pin-memory";

constexpr DataLoaderArgument kArguments[] = {
    {"num-workers", "num_workers"},
    {"prefetch-factor", "prefetch_factor"},
    {"batch-size", "batch_size"},
    {kPinMemory, "pin_memory"},
    {"persistent-workers", "persistent_workers"},
    {"in-order", "in_order"},
    {"drop-last", "drop_last"},
    {"shuffle", "shuffle"},
    {"mp-context", "multiprocessing_context"},
};

bool is_given(const RunConfig& config, std::string_view setting) {
  const Field* field = find_field(setting);
  return field != nullptr && field->given(config);
}

}  // namespace

std::string_view dataloader_keyword(std::string_view setting) {
  // "no-shuffle" is the opposite of its field.
  const Field* field = setting.starts_with("no-") ? nullptr : find_field(setting);
  const auto found = std::find_if(std::begin(kArguments), std::end(kArguments),
                                  [&](const DataLoaderArgument& one) {
                                    return field != nullptr && field->name == one.setting;
                                  });
  return found == std::end(kArguments) ? std::string_view() : found->keyword;
}

Change as_dataloader_change(const Change& change) {
  if (change.key != "memory") return change;
  if (change.value == "pin-thread") return {std::string(kPinMemory), "true"};
  return change.value == "pageable" ? Change{std::string(kPinMemory), "false"} : change;
}

std::vector<DataLoaderArgument> given_dataloader_arguments(const RunConfig& config) {
  std::vector<DataLoaderArgument> given;
  for (const DataLoaderArgument& one : kArguments) {
    if (is_given(config, one.setting) || (one.setting == kPinMemory && config.loader.memory.given))
      given.push_back(one);
  }
  return given;
}

}  // namespace loaderscope

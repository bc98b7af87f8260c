#include "cli/config_flags.h"

#include <CLI/CLI.hpp>
#include <optional>

#include "experiment/axes.h"
#include "loaderscope/device.h"
#include "loaderscope/errors.h"
#include "record/family_traits.h"
#include "settings/engine_table.h"

namespace loaderscope {
namespace {

std::string described(const Field& field) {
  static const RunConfig defaults;
  std::string value(field.default_words);
  if (value.empty()) value = field.text(defaults);
  return std::string(field.help) + (value.empty() ? "" : " Default: " + value + ".");
}

std::string flag_names(const Field& field) {
  std::string names = "--" + std::string(field.name);
  for (std::string_view alias : field.aliases) names += ",--" + std::string(alias);
  if (field.is_switch()) names += ",!--no-" + std::string(field.name);
  return names;
}

// The values are read from the option's results, as text, once all words have been looked at.
CLI::Option* add_flag(CLI::App& app, const Field& field, const std::string& names) {
  const std::string description = described(field);
  if (field.is_switch()) return app.add_flag(names, description);
  const CLI::callback_t keep = [](const CLI::results_t&) { return true; };
  CLI::Option* option = app.add_option(names, keep, description);
  option->type_name(std::string(field.value_name));
  option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  if (!field.implied.empty()) option->expected(0, 1);
  return option;
}

// The values that a flag names where they are several; else nothing.
std::optional<ListedFlag> find_listed(const Field& field, const std::vector<std::string>& given) {
  if (field.repeats) {
    if (given.size() < 2 || !field.is_about(about::kWhichData)) return std::nullopt;
    return ListedFlag{field.name, given};
  }
  const std::string& text = given.back();
  if (text.find_first_of(",|") == text.npos) return std::nullopt;
  try {
    RunConfig scratch;
    set_field(scratch, "", field.name, text);
    return std::nullopt;
  } catch (const UsageError&) {
    return ListedFlag{field.name, split_values(text)};
  }
}

}  // namespace

ConfigFlags::ConfigFlags(CLI::App& app, Wanted wanted) {
  const CLI::callback_t keep = [](const CLI::results_t&) { return true; };
  scenario_ =
      app.add_option(
             "--scenario", keep,
             "Read settings from a file of 'key = value' lines, each key the name of a flag; "
             "flags win.")
          ->type_name("FILE")
          ->take_last()
          ->group("What runs");
  for (const Field& field : fields()) {
    if (wanted != nullptr && !wanted(field)) continue;
    if (!field.old_name.empty()) {
      CLI::Option* old = add_flag(app, field, "--" + std::string(field.old_name));
      flags_.emplace_back(&field, old->group(std::string(kHidden)));
    }
    CLI::Option* option = add_flag(app, field, flag_names(field));
    option->group(std::string(field.group));
    flags_.emplace_back(&field, option);
  }
  const std::string help = "Let --json FILE and the like replace files that are no results.";
  force_ = app.add_flag("--force", help)->group("The answer");
}

RunConfig ConfigFlags::config() const {
  OtherKeys none;
  return config(none);
}

RunConfig ConfigFlags::config(OtherKeys& others, std::vector<ListedFlag>* listed) const {
  RunConfig config;
  for (const auto& [field, option] : flags_) {
    if (option->count() == 0) continue;
    std::vector<std::string> values = option->results();
    if (!field->implied.empty() && (values.empty() || values.back().empty()))
      values.emplace_back(field->implied);
    if (listed != nullptr && !values.empty()) {
      if (auto several = find_listed(*field, values)) {
        listed->push_back(std::move(*several));
        continue;
      }
    }
    // Takes the last value, so that a user can override the flags of a script.
    const std::size_t first = field->repeats ? 0 : values.size() - 1;
    for (std::size_t i = first; i < values.size(); ++i)
      set_field(config, "", field->name, values[i]);
  }
  if (!scenario_->empty()) read_scenario(scenario_->results().back(), config, others);
  return config;
}

OutputRules ConfigFlags::output_rules(const RunConfig& config) const {
  OutputRules rules{force_->count() > 0, config.program.command.value};
  if (!scenario_->empty()) rules.made_from.push_back(scenario_->results().back());
  rules.made_from.push_back(config.data.index.value);
  const std::string& loader = config.program.loader.value;  // FILE.py:FUNCTION
  rules.made_from.push_back(loader.substr(0, loader.rfind(':')));
  return rules;
}

void refuse_flags_with_result(const RunConfig& given, std::string_view instead) {
  for (const Field& field : fields()) {
    if (field.is_about(about::kSaved) || !field.given(given)) continue;
    throw UsageError("--" + std::string(field.name) + ": the result says what the base case is",
                     std::string(instead));
  }
}

MachineLimits machine_limits(const MachineFacts& machine, const RunConfig& given) {
  MachineLimits limits;
  limits.cores = machine.cores;
  if (given.program.command.given || given.program.loader.given || given.trainer.device.given ||
      given.trainer.link.given || is_model_engine(given.engine.value))
    return limits;
  const auto reason = device_row("cuda").row.reason_not_available();
  limits.has_gpu = !reason;
  limits.why_no_gpu = reason.value_or("");
  if (const auto unusable = why_gpu_unusable())
    limits.unusable_gpu = unusable->substr(0, unusable->find(';'));
  return limits;
}

}  // namespace loaderscope

// Axes and the cases that they span.
#include <fmt/format.h>

#include <algorithm>

#include "experiment/axes.h"
#include "loaderscope/errors.h"
#include "loaderscope/experiment.h"
#include "loaderscope/settings.h"
#include "record/environment_changes.h"

namespace loaderscope {
namespace {

constexpr std::size_t kMaxCases = 10'000;

// Returns the normal form of the value, so that 1s and 1000ms are equal. Throws UsageError.
std::vector<std::string> value_texts(const std::string& key, const std::string& value,
                                     const std::string& place) {
  if (const std::optional<Speedup> speedup = find_speedup({key, value}))
    return {fmt::format("{}", speedup->factor)};
  RunConfig scratch;
  set_field(scratch, place, key, value);
  const Field& field = *find_field(key);
  return field.is_switch() ? std::vector<std::string>{value} : field.texts(scratch);
}

// The name by which a key is known, so that `workers` and `num-workers` are one axis.
std::string name_of_key(const std::string& key, const std::string& place) {
  if (key.ends_with(".speed")) return key;
  const Field* field = find_field(key);
  if (field == nullptr) {
    RunConfig scratch;
    set_field(scratch, place, key, "");  // says which keys are near
    return key;
  }
  const bool is_of_answer = field->is_about(about::kSaved) || field->name == "require" ||
                            field->name == "prove" || field->name == "gpu-price";
  if (is_of_answer)
    throw UsageError(place + ": " + key + " belongs to the answer and cannot be varied",
                     "vary a setting of the run, such as num-workers");
  if (field->name == "command") {
    throw UsageError(place + ": the words of a program are one setting",
                     "vary a flag, or measure one "
                     "program after the other");
  }
  return key.starts_with("no-") ? key : std::string(field->name);
}

bool has_no_workers(const Changes& changes, const RunConfig& base) {
  const RunConfig config = with_changes(base, changes);
  const bool is_inline =
      config.loader.executor.given && config.loader.executor == Executor::inline_;
  return is_inline || (config.loader.num_workers.given && config.loader.num_workers == 0);
}

// Removes prefetch settings from cases without workers.
Changes meaningful(Changes changes, const RunConfig& base) {
  if (!has_no_workers(changes, base)) return changes;
  std::erase_if(changes, [](const Change& change) {
    return change.key == "prefetch-factor" || change.key == "prefetch-depth";
  });
  return changes;
}

void check_size(const Axes& axes) {
  std::size_t cases = 1;
  for (const Axis& axis : axes) {
    cases *= axis.values.size();  // cannot overflow: up to kMaxCases times a command line's words
    if (cases > kMaxCases)
      throw UsageError(fmt::format("--vary: the axes span more than {} cases", kMaxCases),
                       "give fewer values, or "
                       "--one-at-a-time");
  }
}

void add_new(std::vector<Changes>& cases, Changes changes) {
  if (std::find(cases.begin(), cases.end(), changes) == cases.end())
    cases.push_back(std::move(changes));
}

bool is_base_value(const RunConfig& base, const std::string& key, const std::string& value) {
  const Field* field = find_field(key);
  if (field == nullptr || !field->given(base)) return false;
  RunConfig changed;
  set_field(changed, "--vary", key, value);
  return field->texts(changed) == field->texts(base);
}

}  // namespace

std::vector<std::string> split_values(std::string_view list) {
  const char separator = list.find('|') != list.npos ? '|' : ',';
  std::vector<std::string> values;
  while (true) {
    const auto end = list.find(separator);
    values.emplace_back(list.substr(0, end));
    if (end == list.npos) return values;
    list.remove_prefix(end + 1);
  }
}

Axis make_axis(std::string_view key, const std::vector<std::string>& values,
               const std::string& place) {
  Axis axis;
  axis.key = name_of_key(std::string(key), place);
  std::vector<std::vector<std::string>> spelled;
  for (const std::string& value : values) {
    if (value.empty())
      throw UsageError(place + ": a value of the list is empty", "leave out a separator");
    std::vector<std::string> spelling = value_texts(std::string(key), value, place);
    if (std::find(spelled.begin(), spelled.end(), spelling) != spelled.end())
      throw UsageError(place + ": " + shown_text(value) + " is given twice", "leave one out");
    spelled.push_back(std::move(spelling));
    axis.values.push_back(value);
  }
  return axis;
}

Axis parse_axis(std::string_view text) {
  const std::string place = "--vary " + shown_text(text);
  const auto equals = text.find('=');
  if (equals == text.npos || equals == 0)
    throw UsageError(place + ": expected KEY=VALUE,VALUE...", "--vary num-workers=0,1,2,4");
  const std::string_view key = text.substr(0, equals), list = text.substr(equals + 1);
  if (list.empty()) {
    name_of_key(std::string(key), place);
    throw UsageError(place + ": the list is empty",
                     "give values, such as " + shown_text(key) + "=1,2,4");
  }
  return make_axis(key, split_values(list), place);
}

Axes parse_axes(const std::vector<std::string>& texts, Axes axes) {
  for (const std::string& text : texts) {
    Axis axis = parse_axis(text);
    for (const Axis& other : axes) {
      if (other.key == axis.key)
        throw UsageError("--vary " + axis.key + ": is given twice", "put all values in one list");
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

std::vector<Changes> grid(const Axes& axes, const RunConfig& base) {
  check_size(axes);
  std::vector<Changes> combinations = {{}};
  for (const Axis& axis : axes) {
    std::vector<Changes> longer;
    for (const Changes& changes : combinations) {
      for (const std::string& value : axis.values) {
        longer.push_back(changes);
        longer.back().push_back({axis.key, value});
      }
    }
    combinations = std::move(longer);
  }
  std::vector<Changes> cases;
  for (const Changes& changes : combinations) {
    Changes kept = meaningful(changes, base);
    if (kept == changes) {
      cases.push_back(std::move(kept));
    } else {
      add_new(cases, std::move(kept));
    }
  }
  return cases;
}

std::vector<Changes> one_at_a_time(const Axes& axes, const RunConfig& base) {
  std::vector<Changes> cases = {{}};
  for (const Axis& axis : axes) {
    for (const std::string& value : axis.values) {
      if (!is_base_value(base, axis.key, value))
        add_new(cases, meaningful({{axis.key, value}}, base));
    }
  }
  return cases;
}

}  // namespace loaderscope

// Axes and the cases that they span.
#include <fmt/format.h>

#include <algorithm>

#include "loaderscope/errors.h"
#include "loaderscope/experiment.h"

namespace loaderscope {
namespace {

std::vector<std::string> parted(std::string_view list) {
  const char separator = list.find('|') != list.npos ? '|' : ',';
  std::vector<std::string> values;
  while (true) {
    const auto end = list.find(separator);
    values.emplace_back(list.substr(0, end));
    if (end == list.npos) return values;
    list.remove_prefix(end + 1);
  }
}

void check_value(const std::string& key, const std::string& value, const std::string& place) {
  if (speedup_of({key, value})) return;
  RunConfig scratch;
  set_field(scratch, place, key, value);
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
  if (field->name == "json" || field->name == "require")
    throw UsageError(place + ": " + key + " belongs to the answer and cannot be varied");
  return key.starts_with("no-") ? key : std::string(field->name);
}

bool has_no_workers(const Changes& changes, const RunConfig& base) {
  const RunConfig config = with_changes(base, changes);
  const bool is_inline = config.executor.given && config.executor == Executor::inline_;
  return is_inline || (config.num_workers.given && config.num_workers == 0);
}

// Without workers a window has no meaning.
Changes meaningful(Changes changes, const RunConfig& base) {
  if (!has_no_workers(changes, base)) return changes;
  std::erase_if(changes, [](const Change& change) {
    return change.key == "prefetch-factor" || change.key == "window";
  });
  return changes;
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

Axis parse_axis(std::string_view text) {
  const std::string place = "--vary " + shown_text(text);
  const auto equals = text.find('=');
  if (equals == text.npos || equals == 0)
    throw UsageError(place + ": expected KEY=VALUE,VALUE..., such as num-workers=0,1,2,4");
  Axis axis;
  const std::string key(text.substr(0, equals));
  axis.key = name_of_key(key, place);
  const std::string_view list = text.substr(equals + 1);
  if (list.empty()) {
    throw UsageError(place + ": the list is empty; give values, such as " + shown_text(key) +
                     "=1,2,4");
  }
  for (std::string& value : parted(list)) {
    if (value.empty())
      throw UsageError(place + ": a value of the list is empty; leave out a separator");
    check_value(key, value, place);
    if (std::find(axis.values.begin(), axis.values.end(), value) != axis.values.end())
      throw UsageError(place + ": " + shown_text(value) + " stands there twice");
    axis.values.push_back(std::move(value));
  }
  return axis;
}

Axes parse_axes(const std::vector<std::string>& texts) {
  Axes axes;
  for (const std::string& text : texts) {
    Axis axis = parse_axis(text);
    for (const Axis& other : axes) {
      if (other.key == axis.key)
        throw UsageError("--vary " + axis.key + ": is given twice; put all values in one list");
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

std::vector<Changes> grid(const Axes& axes, const RunConfig& base) {
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
  for (Changes& changes : combinations) add_new(cases, meaningful(std::move(changes), base));
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

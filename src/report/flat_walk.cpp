#include "report/flat_walk.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <utility>

#include "loaderscope/settings.h"
#include "report/json_stream.h"
#include "report/keys.h"

namespace loaderscope {

bool FlatValue::is_nothing() const {
  if (is_number()) return number == 0;
  return type == Type::flag ? text == "false" : text.empty();
}

void FlatWalk::whole(Name name, std::int64_t& value, Sentence sentence, IntegerRange) {
  const fmt::format_int digits(value);
  show({Type::whole, name, sentence, {digits.data(), digits.size()}, static_cast<double>(value)});
}

void FlatWalk::real(Name name, double& value, Sentence sentence, RealRange) {
  if (!std::isfinite(value) && !explains()) return show({Type::null, name, sentence});
  show({Type::real, name, sentence, fmt::format("{}", value + 0.0), value});  // -0 becomes 0
}

void FlatWalk::seconds(Name name, Nanos& value, Sentence sentence, IntegerRange) {
  show({Type::seconds, name, sentence, seconds_text(value), loaderscope::seconds(value)});
}

// The value of a setting is null if its text is empty.
void FlatWalk::visit_setting(const Field& field, RunConfig& config) {
  const std::string name = keys::field_key(field.name), text = field.text(config);
  if (field.repeats) return array(name, field.help, [] {});
  FlatValue value{Type::text, name, field.help, text};
  if (field.is_switch()) value.type = Type::flag;
  if (field.is_number) value.type = Type::real;
  if (text.empty() && !explains()) value.type = Type::null;
  if (value.is_number()) std::from_chars(text.data(), text.data() + text.size(), value.number);
  may_be_null_ = explains() && !field.is_switch();
  show(value);
}

// The walk omits the elements of lists, which have no paths of their own.
void FlatWalk::settings(RunConfig& config) {
  object("config", keys::kConfigSentence, [&] {
    for (const Field& field : fields()) visit_setting(field, config);
  });
  array("config_given", keys::kConfigGivenSentence, [] {});
}

std::string FlatWalk::value_path(Name name) const {
  std::string path = path_;
  append_name(path, name);
  return path;
}

void FlatWalk::append_name(std::string& path, Name name) const {
  if (name.empty() && is_in_list() && explains()) {
    path += "[]";
    return;
  }
  if (!path.empty()) path += '.';
  if (!name.empty())
    path += name;
  else if (is_in_list())
    path += fmt::format_int(levels_.back().elements).c_str();
  else
    path += '*';
}

void FlatWalk::show(FlatValue value) {
  value.may_be_null = std::exchange(may_be_null_, false);
  visit(value);
  if (is_in_list()) ++levels_.back().elements;
}

void FlatWalk::enter(Name name, Shape shape, Sentence sentence, Lines) {
  const std::size_t parent_length = path_.size();
  if (!levels_.empty() || !name.empty()) append_name(path_, name);
  if (is_in_list()) ++levels_.back().elements;
  levels_.push_back({shape, name, sentence, std::exchange(may_be_null_, false), parent_length});
  opened();
}

void FlatWalk::leave() {
  closed();
  path_.resize(levels_.back().parent_length);
  levels_.pop_back();
}

bool FlatWalk::begins(Name name, bool there, AbsentValue missing) {
  if (explains()) {
    may_be_null_ = missing == AbsentValue::null;
    return true;
  }
  if (!there && missing == AbsentValue::null) show({Type::null, name, {}});
  return there;
}

}  // namespace loaderscope

#include "report/result_visitor.h"

#include "loaderscope/run_record.h"

namespace loaderscope {

void ResultVisitor::whole(Name name, std::int32_t& value, Sentence sentence) {
  std::int64_t wide = value;
  whole(name, wide, sentence, {0, std::numeric_limits<std::int32_t>::max()});
  if (reads()) value = static_cast<std::int32_t>(wide);
}

void ResultVisitor::moment(Name name, Nanos& value, Sentence sentence, IntegerRange within) {
  Nanos since = value - origin;
  seconds(name, since, sentence, within);
  if (reads()) value = origin + since;
}

void ResultVisitor::moment_ns(Name name, Nanos& value, Sentence sentence) {
  if (!begins(name, value != kNever, AbsentValue::null)) {
    if (reads()) value = kNever;
    return;
  }
  Nanos since = value - origin;
  whole(name, since, sentence, kAnyTime);
  if (reads()) value = origin + since;
}

void ResultVisitor::shown(Name name, std::string value, Sentence sentence) {
  if (!reads()) text(name, value, sentence);
}

void ResultVisitor::shown(Name name, const char* value, Sentence sentence) {
  shown(name, std::string(value), sentence);
}

void ResultVisitor::shown(Name name, bool value, Sentence sentence) {
  if (!reads()) flag(name, value, sentence);
}

void ResultVisitor::shown(Name name, double value, Sentence sentence, RealRange within) {
  if (!reads()) real(name, value, sentence, within);
}

void ResultVisitor::shown(Name name, std::int64_t value, Sentence sentence, IntegerRange within) {
  if (!reads()) whole(name, value, sentence, within);
}

void ResultVisitor::shown_seconds(Name name, Nanos value, Sentence sentence, IntegerRange within) {
  if (!reads()) seconds(name, value, sentence, within);
}

void ResultVisitor::shown_word(Name name, std::string_view value,
                               const std::vector<std::string_view>& words, Sentence sentence) {
  std::string text(value);
  if (!reads()) word(name, text, words, sentence);
}

void ResultVisitor::real_or_null(Name name, std::optional<double>& value, Sentence sentence,
                                 RealRange within) {
  optional(name, value, AbsentValue::null,
           [&](double& number) { real(name, number, sentence, within); });
}

void ResultVisitor::text_or_null(Name name, std::string& value, Sentence sentence) {
  if_there(name, !value.empty(), AbsentValue::null, [&] { text(name, value, sentence); });
}

void ResultVisitor::texts(Name name, std::vector<std::string>& items, Sentence sentence,
                          Lines lines) {
  list(
      name, items, sentence, [&](std::string& item) { text("", item, ""); }, lines);
}

}  // namespace loaderscope

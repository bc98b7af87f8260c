#include "report/form.h"

#include "loaderscope/run_record.h"

namespace loaderscope {

void Form::whole(Name name, std::int32_t& value, Sentence sentence) {
  std::int64_t wide = value;
  whole(name, wide, sentence, {0, std::numeric_limits<std::int32_t>::max()});
  if (reads()) value = static_cast<std::int32_t>(wide);
}

void Form::moment(Name name, Nanos& value, Sentence sentence, Whole within) {
  Nanos since = value - origin;
  seconds(name, since, sentence, within);
  if (reads()) value = origin + since;
}

void Form::moment_ns(Name name, Nanos& value, Sentence sentence) {
  if (!begins(name, value != kNever, Missing::null)) {
    if (reads()) value = kNever;
    return;
  }
  Nanos since = value - origin;
  whole(name, since, sentence, kAnyTime);
  if (reads()) value = origin + since;
}

void Form::shown(Name name, std::string value, Sentence sentence) {
  if (!reads()) text(name, value, sentence);
}

void Form::shown(Name name, const char* value, Sentence sentence) {
  shown(name, std::string(value), sentence);
}

void Form::shown(Name name, bool value, Sentence sentence) {
  if (!reads()) flag(name, value, sentence);
}

void Form::shown(Name name, double value, Sentence sentence, Real within) {
  if (!reads()) real(name, value, sentence, within);
}

void Form::shown(Name name, std::int64_t value, Sentence sentence, Whole within) {
  if (!reads()) whole(name, value, sentence, within);
}

void Form::shown_seconds(Name name, Nanos value, Sentence sentence, Whole within) {
  if (!reads()) seconds(name, value, sentence, within);
}

void Form::shown_word(Name name, std::string_view value, const std::vector<std::string_view>& words,
                      Sentence sentence) {
  std::string text(value);
  if (!reads()) word(name, text, words, sentence);
}

void Form::real_or_null(Name name, std::optional<double>& value, Sentence sentence, Real within) {
  optional(name, value, Missing::null,
           [&](double& number) { real(name, number, sentence, within); });
}

void Form::text_or_null(Name name, std::string& value, Sentence sentence) {
  if_there(name, !value.empty(), Missing::null, [&] { text(name, value, sentence); });
}

void Form::texts(Name name, std::vector<std::string>& items, Sentence sentence, Lines lines) {
  list(
      name, items, sentence, [&](std::string& item) { text("", item, ""); }, lines);
}

}  // namespace loaderscope

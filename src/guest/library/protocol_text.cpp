// The protocol in words, for the hooks in Python.
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "guest/library/api.h"
#include "guest/library/stage_stack.h"
#include "guest/protocol/message_kinds.h"
#include "guest/protocol/page.h"
#include "loaderscope/vocabulary.h"

namespace loaderscope::guest {
namespace {

std::string quoted(std::string_view word) { return '"' + std::string(word) + '"'; }

// Parts of a JSON object, or of a list.
class Parts {
 public:
  void add(std::string_view part) { text_ += (text_.empty() ? "" : ", ") + std::string(part); }
  void add(std::string_view name, std::string_view value) {
    add(quoted(name) + ": " + std::string(value));
  }
  void add(std::string_view name, std::int64_t value) { add(name, std::to_string(value)); }
  std::string object() const { return '{' + text_ + '}'; }
  std::string list() const { return '[' + text_ + ']'; }

 private:
  std::string text_;
};

// Name of the type of an argument or a result.
template <class Type>
constexpr std::string_view kTypeName = "";
template <>
constexpr std::string_view kTypeName<void> = "void";
template <>
constexpr std::string_view kTypeName<std::int32_t> = "int32";
template <>
constexpr std::string_view kTypeName<std::int64_t> = "int64";
template <>
constexpr std::string_view kTypeName<const char*> = "text";
template <>
constexpr std::string_view kTypeName<const void*> = "address";

// The result first.
template <class Result, class... Arguments>
std::string list_types(Result (*)(Arguments...)) {
  static_assert(!kTypeName<Result>.empty() && (!kTypeName<Arguments>.empty() && ...));
  Parts types;
  types.add(quoted(kTypeName<Result>));
  (types.add(quoted(kTypeName<Arguments>)), ...);
  return types.list();
}

std::string functions() {
  Parts all;
#define FUNCTION(name) all.add(#name, list_types(lsg_##name));
#include "guest/library/functions.def"
#undef FUNCTION
  return all.object();
}

std::string facts() {
  Parts all;
  for (std::size_t kind = 1; kind < kFactNames.size(); ++kind)
    all.add(kFactNames[kind], static_cast<std::int64_t>(kind));
  return all.object();
}

std::string messages() {
  Parts all;
  for (const std::string_view name : kMessageNames) all.add(name, quoted(name));
  return all.object();
}

std::string roles() {
  Parts all;
  for (const std::string_view role : {kTrainerRole, kWorkerRole}) all.add(role, quoted(role));
  return all.object();
}

std::string stages() {
  Parts all;
  for (const Word<Stage>& word : Words<Stage>::table())
    all.add(word.name, static_cast<std::int64_t>(word.value));
  return all.object();
}

std::string samples() {
  Parts all;
  all.add("between", StageStack::kBetweenSamples);
  all.add("whole_batch", StageStack::kWholeBatch);
  return all.object();
}

std::string protocol() {
  Parts all;
  all.add("functions", functions());
  all.add("facts", facts());
  all.add("messages", messages());
  all.add("roles", roles());
  all.add("stages", stages());
  all.add("samples", samples());
  all.add("longest_message", static_cast<std::int64_t>(kMaxMessage));
  return all.object();
}

}  // namespace
}  // namespace loaderscope::guest

const char* lsg_protocol(void) {
  static const std::string text = loaderscope::guest::protocol();
  return text.c_str();
}

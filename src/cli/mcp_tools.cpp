#include "cli/mcp_tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "loaderscope/errors.h"

namespace loaderscope::mcp {
namespace {

using Kind = ToolArgument::Kind;

constexpr std::int64_t kMaxPatience = 86'400;  // s

constexpr ToolArgument kFolder = {
    "folder", Kind::text, "Working folder. Default: the folder in which the server was started."};
constexpr ToolArgument kTimeout = {"timeout_s", Kind::whole,
                                   "Time limit in seconds, after which the command is ended."};

constexpr ToolArgument kResult = {
    "result", Kind::text,
    "File of a result, as the tool run returned it in result_file, or last for the last run."};

Json make_schema(const ToolArgument& argument) {
  const std::string help(argument.help);
  switch (argument.kind) {
    case Kind::texts:
      return {{"type", "array"},
              {"items", {{"type", "string"}}},
              {"minItems", argument.required ? 1 : 0},
              {"description", help}};
    case Kind::whole:
      return {{"type", "integer"}, {"minimum", 0}, {"description", help}};
    case Kind::flag:
      return {{"type", "boolean"}, {"description", help}};
    case Kind::text:
      break;
  }
  return {{"type", "string"}, {"description", help}};
}

[[noreturn]] void refuse(const ToolArgument& argument, std::string_view expected) {
  throw UsageError(fmt::format("{}: expected {}", argument.name, expected),
                   "see inputSchema of tools/list");
}

// Words that begin with "-" would be flags of the command.
std::string plain_word(const ToolArgument& argument, const std::string& word) {
  if (argument.flag.empty() && word.starts_with('-')) refuse(argument, "a value without a dash");
  if (word.find('\0') != word.npos) refuse(argument, "text without zero bytes");
  return word;
}

std::vector<std::string> read_texts(const ToolArgument& argument, const Json& value) {
  std::vector<std::string> texts;
  if (argument.kind == Kind::text) {
    if (!value.is_string()) refuse(argument, "text");
    texts.push_back(value.get<std::string>());
  } else {
    if (!value.is_array()) refuse(argument, "a list of texts");
    for (const Json& each : value) {
      if (!each.is_string()) refuse(argument, "a list of texts");
      texts.push_back(each.get<std::string>());
    }
  }
  if (argument.required && (texts.empty() || texts.front().empty())) refuse(argument, "a value");
  return texts;
}

std::int64_t read_whole(const ToolArgument& argument, const Json& value, std::int64_t most) {
  const bool fits = value.is_number_integer() &&
                    (!value.is_number_unsigned() || value.get<std::uint64_t>() <= 1ull << 62);
  if (!fits || value.get<std::int64_t>() < 0 || value.get<std::int64_t>() > most)
    refuse(argument, fmt::format("a whole number from 0 to {}", most));
  return value.get<std::int64_t>();
}

void add_words(const ToolArgument& argument, const Json& value, std::vector<std::string>& words) {
  const std::string flag(argument.flag);
  if (argument.kind == Kind::flag) {
    if (!value.is_boolean()) refuse(argument, "true or false");
    if (value.get<bool>()) words.push_back(flag);
  } else if (argument.kind == Kind::whole) {
    words.push_back(fmt::format("{}={}", flag, read_whole(argument, value, 1 << 30)));
  } else {
    for (const std::string& text : read_texts(argument, value)) {
      const std::string word = plain_word(argument, text);
      words.push_back(flag.empty() ? word : flag + "=" + word);
    }
  }
}

void refuse_unknown(const Tool& tool, const Json& arguments) {
  for (const auto& [name, value] : arguments.items()) {
    const bool is_known =
        name == kFolder.name || name == kTimeout.name ||
        std::any_of(tool.arguments.begin(), tool.arguments.end(),
                    [&](const ToolArgument& argument) { return argument.name == name; });
    if (!is_known)
      throw UsageError(
          fmt::format("{}: the tool {} has no such argument", shown_text(name), tool.name),
          "see inputSchema of tools/list");
  }
}

std::string read_folder(const Json& arguments) {
  const auto given = arguments.find(kFolder.name);
  if (given == arguments.end()) return "";
  const std::string folder = read_texts(kFolder, *given).front();
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error))
    throw UsageError(fmt::format("folder: {} is not a folder here", shown_text(folder)),
                     "give the path of a folder");
  return folder;
}

}  // namespace

std::span<const Tool> tool_table() {
  static const Tool tools[] = {
      {"run",
       "Measure a training program",
       "Runs a training program and reports how long its GPU waits, for what, and the one change "
       "that helps most (Fix) with its predicted rate. Start here. The program is not edited.",
       {"run"},
       {{"command", Kind::texts, "Words of the program, such as [\"python\", \"train.py\"].", true},
        {"steps", Kind::whole, "Measure this number of steps. Default: 10 seconds.", false,
         "--steps"},
        {"num_workers", Kind::whole, "Run as if the DataLoader had this num_workers.", false,
         "--num-workers"},
        {"prefetch_factor", Kind::whole, "Run as if it had this prefetch_factor.", false,
         "--prefetch-factor"},
        {"try", Kind::flag, "Also try the Fix in short runs, and report the measured gain.", false,
         "--try"},
        {"save", Kind::text, "Keep the result in this file too, for later sessions.", false,
         "--json"}},
       600 * kSecond,
       false,
       true,
       true,
       "command",
       summarise_run},
      {"diagnose",
       "Read a trace",
       "Reads a trace of nsys (.nsys-rep or SQLite), torch.profiler or py-spy, and reports what "
       "the GPU waited for. Runs no program.",
       {"diagnose"},
       {{"traces", Kind::texts, "Files, one per rank.", true},
        {"batch_size", Kind::whole, "Samples per batch, which no trace contains.", false,
         "--batch-size"}},
       300 * kSecond,
       true,
       true,
       false,
       "",
       summarise_run},
      {"what_if",
       "Predict a change",
       "Predicts the rate of a measured run with other settings, in seconds and without a run.",
       {"what-if"},
       {kResult,
        {"set", Kind::texts,
         "Changes KEY=VALUE, such as num-workers=8, or STAGE.speed=2 for a stage that is twice as "
         "fast.",
         true, "--set"}},
       300 * kSecond,
       true,
       true,
       false,
       "",
       summarise_what_if},
      {"explain",
       "Explain a word",
       "Explains a word of an answer: what it means, how it is measured, and what to do.",
       {"explain"},
       {{"word", Kind::text, "The word, such as too-few-workers.", true}},
       60 * kSecond,
       true,
       false},
      {"compare",
       "Compare two runs",
       "Compares the results of two runs, and reports which rates and stages got faster or slower. "
       "Use it to prove that a change helped.",
       {"compare"},
       {{"before", Kind::text, "File of the result before the change.", true},
        {"after", Kind::text, "File of the result after the change.", true}},
       300 * kSecond,
       true,
       true,
       false,
       "",
       summarise_comparison},
      {"apply",
       "Show the Fix as a diff",
       "Returns the Fix of a run as a unified diff of the program, if the call that it changes is "
       "proven. Otherwise it returns the place to edit and the reason. Changes no file.",
       {"apply"},
       {kResult},
       120 * kSecond,
       true,
       true,
       false,
       "",
       summarise_edit},
  };
  return tools;
}

const Tool* find_tool(std::string_view name) {
  for (const Tool& tool : tool_table())
    if (tool.name == name) return &tool;
  return nullptr;
}

Json describe_tool(const Tool& tool) {
  Json properties = Json::object(), required = Json::array();
  for (const ToolArgument& argument : tool.arguments) {
    properties[std::string(argument.name)] = make_schema(argument);
    if (argument.required) required.push_back(std::string(argument.name));
  }
  for (const ToolArgument& argument : {kFolder, kTimeout})
    properties[std::string(argument.name)] = make_schema(argument);
  const Json schema = {{"type", "object"},
                       {"properties", properties},
                       {"required", required},
                       {"additionalProperties", false}};
  const Json annotations = {{"title", std::string(tool.title)},
                            {"readOnlyHint", tool.read_only},
                            {"destructiveHint", false},
                            {"idempotentHint", tool.read_only},
                            {"openWorldHint", !tool.read_only}};
  return {{"name", std::string(tool.name)},
          {"title", std::string(tool.title)},
          {"description", std::string(tool.help)},
          {"inputSchema", schema},
          {"annotations", annotations}};
}

ToolCall make_call(const Tool& tool, const Json& arguments, const std::string& json) {
  refuse_unknown(tool, arguments);
  ToolCall call;
  call.words.assign(tool.command.begin(), tool.command.end());
  call.folder = read_folder(arguments);
  call.patience = tool.patience;
  if (const auto given = arguments.find(kTimeout.name); given != arguments.end())
    call.patience = std::max<std::int64_t>(1, read_whole(kTimeout, *given, kMaxPatience)) * kSecond;
  std::vector<std::string> program;
  for (const ToolArgument& argument : tool.arguments) {
    const auto given = arguments.find(argument.name);
    if (given == arguments.end() || given->is_null()) {
      if (argument.required) refuse(argument, "a value, as it is required");
      if (argument.name == kResult.name) call.words.emplace_back("last");
    } else if (argument.name == tool.program) {
      program = read_texts(argument, *given);
    } else {
      add_words(argument, *given, call.words);
    }
  }
  if (tool.has_result) call.words.push_back((tool.measures ? "--also-json=" : "--json=") + json);
  if (!program.empty()) {
    call.words.emplace_back("--");
    call.words.insert(call.words.end(), program.begin(), program.end());
  }
  return call;
}

}  // namespace loaderscope::mcp

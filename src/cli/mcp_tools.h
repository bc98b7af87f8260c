// The tools of `loaderscope mcp`: each is a row, and runs a command of this program.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/mcp_messages.h"
#include "loaderscope/units.h"

namespace loaderscope::mcp {

struct ToolArgument {
  enum class Kind : std::uint8_t { text, texts, whole, flag };
  std::string_view name;
  Kind kind = Kind::text;
  std::string_view help;
  bool required = false;
  // Flag of the command that takes the value. "" for a word without a flag.
  std::string_view flag = "";
};

struct Tool {
  std::string_view name, title, help;
  std::vector<std::string_view> command;  // words of the command of this program
  std::vector<ToolArgument> arguments;  // without `folder` and `timeout_s`, which every tool takes
  Nanos patience = 0;                   // default time limit
  bool read_only = true;                // changes nothing, except that `run` runs the program
  bool has_result = true;               // can save JSON
  // Measures this machine, so that another measurement at the same time would disturb it.
  bool measures = false;
  std::string_view program = "";  // argument with the words after "--"
  // Summary of the JSON that the command saved; null: none.
  Json (*summarise)(const Json& saved) = nullptr;
};

std::span<const Tool> tool_table();
const Tool* find_tool(std::string_view name);  // null if unknown

// Returns the row of tools/list.
Json describe_tool(const Tool& tool);

struct ToolCall {
  std::vector<std::string> words;  // flags and arguments after the program's own name
  std::string folder;              // working folder; "": the server's
  Nanos patience = 0;
};

// Returns the command of a call, which saves its JSON at `json`. Throws UsageError for arguments
// that are missing, unknown or of another kind.
ToolCall make_call(const Tool& tool, const Json& arguments, const std::string& json);

// Summaries, in mcp_answers.cpp.
Json summarise_run(const Json& saved);
Json summarise_what_if(const Json& saved);
Json summarise_comparison(const Json& saved);
Json summarise_edit(const Json& saved);

}  // namespace loaderscope::mcp

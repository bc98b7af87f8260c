#include "cli/fix_edit.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "analysis/findings/frameworks.h"
#include "base/foreign_json.h"
#include "base/printable.h"
#include "base/private_folder.h"
#include "base/secret.h"
#include "cli/analyse_run.h"
#include "cli/apply_files.h"
#include "cli/saved_result.h"
#include "loaderscope/report.h"
#include "machine/source_file.h"
#include "machine/tool_run.h"
#include "report/answer/fix_words.h"
#include "report/output_file.h"
#include "settings/flag_words.h"

namespace loaderscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr Nanos kAnswerTimeout = 60 * kSecond;
// The arguments of torch.utils.data.DataLoader that may come by position.
constexpr const char* kPositions[] = {"dataset",    "batch_size",     "shuffle",
                                      "sampler",    "batch_sampler",  "num_workers",
                                      "collate_fn", "pin_memory",     "drop_last",
                                      "timeout",    "worker_init_fn", "multiprocessing_context"};

std::string relative_path(const std::string& file) {
  std::error_code error;
  const fs::path relative = fs::path(file).lexically_relative(fs::current_path(error));
  const bool is_below = !error && !relative.empty() && *relative.begin() != "..";
  return is_below ? relative.string() : file;
}

bool is_notebook_cell(const std::string& file) {
  return file.starts_with("<") || file.find("/ipykernel_") != file.npos;
}

json texts(const std::vector<std::string_view>& names) {
  json list = json::array();
  for (const std::string_view name : names) list.push_back(std::string(name));
  return list;
}

std::string request(const FixEdit& edit, const LoaderCall& call, const SourceCall& sought) {
  const bool has_torch_order = sought.first_positions == 0 &&
                               (sought.place != CallPlace::line || call.made.starts_with("torch."));
  json arguments = json::array();
  for (const auto& [name, value] : edit.arguments.list) arguments.push_back({name, value});
  const json text = {
      {"name", edit.shown},
      {"line", call.line},
      {"names", texts(sought.names)},
      {"packages", texts(sought.packages)},
      {"called", call.called},
      {"called_modules", texts(sought.modules)},
      {"called_classes", texts(sought.classes)},
      {"made", call.called.empty() && sought.place == CallPlace::line ? call.made : ""},
      {"only", sought.place == CallPlace::only},
      {"or_only", sought.place == CallPlace::line_or_only},
      {"positions", has_torch_order ? json(kPositions) : json::array()},
      {"safe_positions", sought.first_positions == 0 ? 2 : sought.first_positions},
      {"arguments", arguments}};
  return text.dump(-1, ' ', true, json::error_handler_t::replace);
}

void write_file(const std::string& path, std::string_view content) {
  std::ofstream out(path, std::ios::binary);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (!out.flush())
    throw RunError(path + ": cannot be written", "set TMPDIR to a folder with free space");
}

std::string file_content(const std::string& path) {
  const std::optional<SourceFile> file = read_source_file(path);
  return file ? file->content : "";
}

// Returns the interpreter that can be started, or "".
std::string choose_python(const std::string& given, const std::string& program_python) {
  if (!given.empty()) return given;
  const bool can_run = !program_python.empty() && ::access(program_python.c_str(), X_OK) == 0;
  return can_run ? program_python : RunConfig().program.python.value;
}

void take_answer(const std::string& folder, FixEdit& edit) {
  const json answer = parse_foreign_json<json>(file_content(folder + "/answer.json"));
  if (!answer.is_object()) {
    edit.reason = "cannot be edited, as Python gave no answer";
    return;
  }
  edit.line = answer.value("line", edit.line);
  edit.reason = answer.value("reason", "");
  edit.unchanged = answer.value("unchanged", false);
  for (const json& each : answer.value("by_hand", json::array()))
    edit.hand.push_back({each.at("argument"), each.at("now"), each.at("then"), each.at("line"),
                         each.at("column"), each.at("end_line"), each.at("end_column")});
  edit.hand_others = answer.value("others", std::vector<std::string>());
  if (!edit.reason.empty() || edit.unchanged) return;
  edit.after = file_content(folder + "/edited");
  edit.diff = file_content(folder + "/diff");
}

// Runs the editor of src/cli/apply in a Python that reads nothing of the user's.
void edit_in_python(FixEdit& edit, const LoaderCall& call, const SourceCall& sought) {
  const PrivateFolder folder(fs::temp_directory_path().string(), "loaderscope-apply-");
  for (const EmbeddedFile& file : apply_files())
    write_file(folder.path() + "/" + std::string(file.name), file.content);
  write_file(folder.path() + "/request.json", request(edit, call, sought));
  write_file(folder.path() + "/source", edit.before);
  try {
    const ToolEnd end = run_tool(
        {.command = {edit.python, "-I", "-B", folder.path() + "/edit_call.py", folder.path()},
         .patience = kAnswerTimeout});
    if (end.is_fine()) return take_answer(folder.path(), edit);
    edit.reason = fmt::format("cannot be parsed, as {} failed ({})", shown_text(edit.python),
                              shown_text(end.last_line()));
  } catch (const RunError& error) {
    edit.reason = fmt::format("cannot be parsed without Python ({})", error.sentence());
  } catch (const json::exception&) {
    edit.reason = "cannot be edited, as Python gave no answer";
  }
}

std::string command_line(const ProgramConfig& program) {
  std::string words;
  for (const std::string& word : program.command.value)
    words += (words.empty() ? "" : " ") + quoted(without_secrets(word));
  return words.empty() ? "COMMAND" : printable(words);
}

// Returns the reason why the file is not read at all; "" if it was read.
std::string read_source(FixEdit& edit) {
  if (is_notebook_cell(edit.file)) return "is a cell of a notebook";
  const std::optional<SourceFile> source = read_source_file(edit.file);
  if (!source) return "cannot be read here";
  edit.before = source->content;
  return "";
}

// Only a call that has the arguments already can be known in a file that has changed.
void compare_digests(FixEdit& edit, const std::string& digest) {
  if (edit.unchanged || digest == source_digest(edit.before)) return;
  edit.reason = digest.empty() ? "changed while the program ran" : "changed since the run";
  edit.hand.clear();
  edit.after.clear();
  edit.diff.clear();
}

}  // namespace

std::string FixEdit::place() const {
  return line > 0 ? fmt::format("{}:{}", shown_text(shown), line) : shown_text(shown);
}

std::string FixEdit::hand_text() const {
  if (hand.empty()) return fix;
  std::string text;
  for (const HandEdit& one : hand)
    text += fmt::format("{}{}={} in place of {}", text.empty() ? "" : ", ", one.argument, one.then,
                        shown_text(one.now));
  for (const std::string& other : hand_others) text += ", " + other;
  return text;
}

FixEdit plan_fix_edit(const std::string& result, const std::string& python) {
  const RunRecord record = read_result(place_of_result(result)).record;
  const Analysis analysis = analysed(record);
  FixEdit edit;
  edit.verdict = analysis.verdict.sentence;
  const Finding* fix = advised_fix(analysis);
  if (fix == nullptr) return edit;
  edit.fix = fix->pytorch.empty() ? make_fix_line(record, analysis, *fix).text : fix->pytorch;
  edit.arguments = arguments_of_fix(record, *fix);
  edit.command = command_line(record.config.program);
  const LoaderCall call =
      record.program && record.program->loader_call ? *record.program->loader_call : LoaderCall();
  edit.file = call.file;
  edit.shown = relative_path(call.file);
  edit.line = call.line;
  edit.reason = edit.arguments.missing;
  if (!edit.reason.empty()) return edit;
  if (edit.file.empty()) {
    edit.reason = "the result does not have the line that made the loader";
    return edit;
  }
  edit.reason = read_source(edit);
  if (!edit.reason.empty()) return edit;
  // The file of another person could name any program as its Python.
  edit.python = choose_python(python, is_own_last_result(result) ? call.python : "");
  edit_in_python(edit, call, find_framework(record).call);
  compare_digests(edit, call.digest);
  return edit;
}

void write_json(std::ostream& out, const FixEdit& edit) {
  using Ordered = nlohmann::ordered_json;
  Ordered arguments = Ordered::array(), hand = Ordered::array();
  for (const auto& [name, value] : edit.arguments.list)
    arguments.push_back({{"name", name}, {"value", value}});
  for (const HandEdit& one : edit.hand)
    hand.push_back({{"argument", one.argument},
                    {"now", one.now},
                    {"then", one.then},
                    {"line", one.line},
                    {"column", one.column},
                    {"end_line", one.end_line},
                    {"end_column", one.end_column}});
  const Ordered all = {{"schema", "loaderscope.apply/1"},
                       {"verdict", edit.verdict},
                       {"fix", edit.fix},
                       {"file", edit.file},
                       {"line", edit.line},
                       {"arguments", arguments},
                       {"can_write", edit.can_write()},
                       {"unchanged", edit.unchanged},
                       {"reason", edit.reason},
                       {"by_hand", edit.can_write() || edit.unchanged ? "" : edit.hand_text()},
                       {"edits_by_hand", hand},
                       {"diff", edit.diff}};
  out << all.dump(2, ' ', false, Ordered::error_handler_t::replace) << "\n";
}

void write_fix_edit(const FixEdit& edit) {
  if (::access(edit.file.c_str(), W_OK) != 0)
    throw RunError(fmt::format("{}: cannot be written ({})", edit.place(), std::strerror(errno)),
                   "change it by hand: " + edit.hand_text());
  if (file_content(edit.file) != edit.before)
    throw RunError(edit.place() + ": changed just now", "run loaderscope apply again");
  write_output(edit.file, [&](std::ostream& out) { out << edit.after; });
}

}  // namespace loaderscope

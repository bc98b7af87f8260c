#include "cli/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>

#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

// Writes all forms, then throws the error of the first one that could not be written.
void write_forms(const Places& places, const AnyResult& result, const ReportStyle& style) {
  std::exception_ptr failure;
  const auto write = [&](std::string_view form, const std::string& path) {
    try {
      write_output(path, [&](std::ostream& out) {
        find_row(form, report_table()).write(out, result, style);
      });
    } catch (const RunError&) {
      if (!failure) failure = std::current_exception();
    }
  };
  for (const Place& place : places) write(place.form, place.path);
  if (failure) std::rethrow_exception(failure);
}

// Uses the first locale variable that is set.
bool has_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view locale = value;
    return locale.find("UTF-8") != locale.npos || locale.find("utf8") != locale.npos;
  }
  return false;
}

// Properties of standard output: its width, colour if it is a terminal (see NO_COLOR), and plots if
// it is a terminal with a UTF-8 locale.
ReportStyle standard_output_style() {
  ReportStyle style;
  if (isatty(STDOUT_FILENO) != 1) return style;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    style.width = std::clamp<int>(size.ws_col, 60, 200);
  }
  const char* terminal = std::getenv("TERM");
  const char* no_colour = std::getenv("NO_COLOR");
  const bool is_dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  style.colour = !is_dumb && (no_colour == nullptr || *no_colour == '\0');
  style.plots = !is_dumb && has_utf8();
  return style;
}

bool is_full(std::string_view word, const char* place) {
  if (word.empty() || word == "compact") return false;
  if (word == "full") return true;
  throw UsageError(
      std::string(place) + ": expected compact or full, not " + shown_text(std::string(word)),
      "give full for the long answer");
}

bool is_full_by_environment() {
  const char* word = std::getenv("LOADERSCOPE_SUMMARY");
  return word != nullptr && is_full(word, "LOADERSCOPE_SUMMARY");
}

}  // namespace

namespace fs = std::filesystem;

Places result_places(const RunConfig& config) {
  Places places;
  for (const Field& field : fields()) {
    if (field.is_about(about::kSaved) && field.given(config))
      places.push_back({std::string(field.name), field.text(config)});
  }
  return places;
}

void check_places(const Places& places, std::string_view kind, const OutputRules& rules) {
  for (const Place& place : places) {
    if (!find_row(place.form, report_table()).writes(kind))
      throw UsageError(
          "--" + place.form + ": there is no such form of a result of " + std::string(kind),
          "leave it out");
    if (place.path == "-" && place.form != "json")
      throw UsageError("--" + place.form + " -: expected a file",
                       "'loaderscope report RESULT --format " + place.form + "' prints it");
    check_output(place.path, rules);
    for (const Place& other : places) {
      if (&other != &place && fs::weakly_canonical(other.path) == fs::weakly_canonical(place.path))
        throw UsageError("--" + place.form + " " + shown_text(place.path) + ": is the file of --" +
                             other.form + " too",
                         "give each its own");
    }
  }
}

void write_answer(const Places& places, const AnyResult& result, const ReportStyle& style) {
  const bool only_json = std::any_of(places.begin(), places.end(),
                                     [](const Place& place) { return place.path == "-"; });
  Places all = only_json || style.silent ? Places{} : Places{{"table", "-"}};
  all.insert(all.end(), places.begin(), places.end());
  write_forms(all, result, style);
}

void write_files(const Places& places, const AnyResult& result, const ReportStyle& style) {
  write_forms(places, result, style);
}

void set_detail(ReportStyle& style, const DetailFlags& flags) {
  const bool full =
      flags.summary.empty() ? is_full_by_environment() : is_full(flags.summary, "--summary");
  const int detail = flags.verbose + (full ? 1 : 0);
  style.compact = detail == 0;
  style.verbose = detail >= 2;
}

ReportStyle answer_style(const DetailFlags& flags) {
  ReportStyle style = standard_output_style();
  set_detail(style, flags);
  return style;
}

ReportStyle answer_style(const CommandFlags& flags) {
  return answer_style({flags.count(kVerbose.name), flags.text(kSummary.name)});
}

Places AnswerFiles::places() const {
  Places places;
  if (!json.empty()) places.push_back({"json", json});
  if (!html.empty()) places.push_back({"html", html});
  return places;
}

void add_answer_files(CLI::App& app, AnswerFiles& files) {
  app.add_option("--json", files.json, "Also write the result to this file; - prints only JSON.")
      ->type_name("FILE")
      ->take_last();
  app.add_option("--html", files.html, "Also save a page with its pictures in this file.")
      ->type_name("FILE")
      ->take_last();
  app.add_flag("--force", files.force,
               "Let --json FILE and --html FILE replace files that are no results.");
}

}  // namespace loaderscope

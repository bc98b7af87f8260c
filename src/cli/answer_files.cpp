#include "cli/answer_files.h"

#include <CLI/CLI.hpp>

namespace loaderscope {

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

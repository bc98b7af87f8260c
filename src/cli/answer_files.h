// Where a command that takes no settings of a run saves its answer: --json, --html, --force.
#pragma once

#include <string>
#include <vector>

#include "cli/output.h"

namespace CLI {
class App;
}

namespace loaderscope {

struct AnswerFiles {
  std::string json, html;
  bool force = false;

  Places places() const;
};

// Of several on one command line the last one counts.
void add_answer_files(CLI::App& app, AnswerFiles& files);

}  // namespace loaderscope

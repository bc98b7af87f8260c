// Files in which a command without run settings saves its answer: --json, --html, --force.
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

// Adds flags of which the last value counts.
void add_answer_files(CLI::App& app, AnswerFiles& files);

}  // namespace loaderscope

#include <sstream>

#include "engine/model/model_engine.h"
#include "loaderscope/settings.h"
#include "unit/known_answer/known_answer.h"

namespace loaderscope::known_answer {

RunConfig config_of(std::string_view settings) {
  std::istringstream words{std::string(settings)};
  std::string lines, word;
  while (words >> word) {
    const auto equals = word.find('=');
    lines += word.substr(0, equals) + " = " + word.substr(equals + 1) + "\n";
  }
  RunConfig config;
  parse_scenario(lines, "case", config);
  std::vector<std::string> notes;
  return resolve_to_predict(config, MachineLimits{1024}, notes);
}

RunRecord run(std::string_view settings) { return run_model(config_of(settings), {}); }

}  // namespace loaderscope::known_answer

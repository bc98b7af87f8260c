#include "unit/settings_in_words.h"
#include "engine/model/model_engine.h"
#include "loaderscope/settings.h"
#include "unit/known_answer/known_answer.h"

namespace loaderscope::known_answer {

RunConfig case_config(std::string_view settings) {
  std::vector<std::string> notes;
  return resolve_to_predict(test::given_in_words(settings), MachineLimits{1024}, notes);
}

RunRecord run(std::string_view settings) { return run_model(case_config(settings), {}); }

}  // namespace loaderscope::known_answer

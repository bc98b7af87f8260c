#include "analysis/fit/way_to_measure.h"

#include "settings/engine_table.h"

namespace loaderscope::model {

std::string way_to_measure(const RunConfig& config) {
  if (find_pipeline(config.program.loader.value) != nullptr)
    return "measure it with other settings, as sweep and tune do";
  if (config.program.loader.given)
    return "its settings are its own: write a function for each, and measure them with "
           "'loaderscope sweep --vary loader=FILE.py:ONE,FILE.py:OTHER'";
  return "its settings are its own: change them in the program, and run that again";
}

}  // namespace loaderscope::model

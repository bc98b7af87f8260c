// What can stand in the result of a run.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace loaderscope {

// The JSON Schema of its members but `schema`: of every path that does not depend on the run.
const nlohmann::ordered_json& schema_of_run();

}  // namespace loaderscope

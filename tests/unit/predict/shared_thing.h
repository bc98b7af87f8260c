// The entry of a plan for one resource that ranks share.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "predict/job_plan.h"

namespace loaderscope::test {

inline const SharedResource& find_resource(const JobPlan& plan, std::string_view name) {
  for (const SharedResource& thing : plan.shared) {
    if (thing.name == name) return thing;
  }
  throw std::runtime_error("nothing is shared that is called " + std::string(name));
}

}  // namespace loaderscope::test

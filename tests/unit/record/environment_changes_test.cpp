#include "record/environment_changes.h"

#include <gtest/gtest.h>

#include "loaderscope/settings.h"

namespace loaderscope {
namespace {

// The group also has costs and injections, which a run can follow. Both repeat.
TEST(EnvironmentPart, MatchesDeclaredFieldsThatDoNotRepeat) {
  const std::string_view group = find_field("cores")->group;
  for (const Field& field : fields()) {
    EXPECT_EQ(environment_part(field.name).has_value(), field.group == group && !field.repeats)
        << field.name;
    EXPECT_EQ(field.is_about(about::kCores | about::kStorage),
              environment_part(field.name).has_value())
        << field.name;
  }
}

}  // namespace
}  // namespace loaderscope

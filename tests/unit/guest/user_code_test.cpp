#include "guest/host/user_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace loaderscope::guest {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

SpentTimes spent(const std::vector<std::pair<std::string, double>>& names) {
  json parts = json::array();
  for (const auto& [name, time] : names) parts.push_back({"augment", name, time});
  return parse_spent({{"what", "spent"}, {"parts", parts}});
}

TEST(UserCode, LaterMessagesOfAProcessReplaceEarlierOnes) {
  UserCode code;
  code.spent(1, spent({{"Flip", 100}}));
  code.spent(1, spent({{"Flip", 200}, {"Crop", 400}}));
  code.spent(2, spent({{"Crop", 200}}));
  EXPECT_THAT(code.details(),
              ElementsAre(Detail{"augment", "Crop", 0.75}, Detail{"augment", "Flip", 0.25}));
}

TEST(UserCode, NamesOfALoaderHaveNoShare) {
  UserCode code;
  code.know_names({{"opaque", "Photos.__getitem__ (train.py:31)"}});
  EXPECT_THAT(code.details(), ElementsAre(Detail{"opaque", "Photos.__getitem__ (train.py:31)"}));
}

TEST(UserCode, IsBounded) {
  UserCode code;
  std::vector<std::pair<std::string, double>> names;
  for (int i = 0; i < 100; ++i) names.emplace_back(std::to_string(i) + std::string(10'000, 'x'), 1);
  code.spent(1, spent(names));
  ASSERT_LE(code.details().size(), 8U);
  EXPECT_LE(code.details().front().text.size(), 160U);
}

}  // namespace
}  // namespace loaderscope::guest

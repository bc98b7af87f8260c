#include "base/foreign_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

std::string nested(int levels) {
  return std::string(static_cast<std::size_t>(levels), '[') +
         std::string(static_cast<std::size_t>(levels), ']');
}

TEST(ForeignJson, ReadsWhatOtherParsersRead) {
  const std::string text = R"({"b": [1, -2, 2.5, "x", null, true], "a": {"c": {}}})";
  EXPECT_EQ(parse_foreign_json<json>(text), json::parse(text));
  EXPECT_EQ(parse_foreign_json<ordered_json>(text).dump(), ordered_json::parse(text).dump());
}

TEST(ForeignJson, LimitsTheDepth) {
  EXPECT_TRUE(parse_foreign_json<json>(nested(kMaxDepthOfJson)).is_array());
  for (const std::string& text :
       {nested(kMaxDepthOfJson + 1), nested(400'000), std::string(400'000, '[')})
    EXPECT_THROW(parse_foreign_json<json>(text), ValueError);
  std::string objects;
  for (int i = 0; i < 400'000; ++i) objects += "{\"a\":";
  EXPECT_THROW(parse_foreign_json<ordered_json>(objects), ValueError);
}

TEST(ForeignJson, LimitsTheNumberOfValues) {
  EXPECT_EQ(parse_foreign_json<json>("[1, [], {}]", 4).size(), 3U);
  EXPECT_THROW(parse_foreign_json<json>("[1, [], {}]", 3), ValueError);
}

TEST(ForeignJson, DiscardsWhatIsNoJson) {
  for (const char* text : {"", "{", "[1,]", "\xff", "nothing"})
    EXPECT_TRUE(parse_foreign_json<json>(text).is_discarded()) << text;
}

TEST(ForeignJson, ClampsNumbersToTheRangeOfCounts) {
  EXPECT_EQ(parse_foreign_json<json>("[1e300, -1e300]").dump(), "[9e+18,-9e+18]");
}

}  // namespace
}  // namespace loaderscope

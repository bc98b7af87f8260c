#include "guest/host/guest_counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace loaderscope::guest {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

CounterValues spent(const std::map<std::string, double>& names) {
  return parse_counters({{"what", "counters"}, {"values", {{"augment", {0, 1, names}}}}});
}

TEST(GuestCounters, ReplacesEarlierValuesOfAProcess) {
  GuestCounters counters;
  counters.put(1, true, spent({{"Flip", 100}}));
  counters.put(1, true, spent({{"Flip", 200}, {"Crop", 400}}));
  counters.put(2, true, spent({{"Crop", 200}}));
  EXPECT_THAT(counters.details(),
              ElementsAre(Detail{"augment", "Crop", 0.75}, Detail{"augment", "Flip", 0.25}));
}

TEST(GuestCounters, GivesNamesOfALoaderNoShare) {
  GuestCounters counters;
  counters.name_code({{"opaque", "Photos.__getitem__ (train.py:31)"}});
  EXPECT_THAT(counters.details(),
              ElementsAre(Detail{"opaque", "Photos.__getitem__ (train.py:31)"}));
}

TEST(GuestCounters, BoundsNamesAndDetails) {
  GuestCounters counters;
  std::map<std::string, double> names;
  for (int i = 0; i < 100; ++i) names[std::to_string(i) + std::string(10'000, 'x')] = 1;
  counters.put(1, true, spent(names));
  ASSERT_LE(counters.details().size(), 8U);
  EXPECT_LE(counters.details().front().text.size(), 160U);
}

TEST(GuestCounters, BoundsPartsOfProcess) {
  GuestCounters counters;
  std::map<std::string, double> names;
  for (int i = 0; i < 5000; ++i) names[std::to_string(i)] = 1;
  EXPECT_LE(spent(names).begin()->second.parts.size(), 256U);
  LastByProcess all;
  for (int process = 1; process < 20; ++process) {
    std::map<std::string, double> own;
    for (int i = 0; i < 200; ++i) own[std::to_string(1000 * process + i)] = 1;
    all.put(process, spent(own));
  }
  EXPECT_LE(all.sum().begin()->second.parts.size(), 256U);
}

}  // namespace
}  // namespace loaderscope::guest

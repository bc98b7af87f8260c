#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "loaderscope/errors.h"
#include "loaderscope/settings.h"

namespace loaderscope {
namespace {

using ::testing::HasSubstr;

std::string error_of_field(std::string_view place, std::string_view key, std::string_view value) {
  RunConfig config;
  try {
    set_field(config, place, key, value);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Fields, FindsFieldByEveryName) {
  for (const char* name :
       {"num-workers", "workers", "prefetch", "batch", "runtime", "no-in-order", "in-order"}) {
    EXPECT_NE(find_field(name), nullptr) << name;
  }
  for (const char* name : {"no-workers", "num_workers", "", "no-", "no-no-in-order", "--workers"}) {
    EXPECT_EQ(find_field(name), nullptr) << name;
  }
  EXPECT_EQ(find_field("workers"), find_field("num-workers"));
}

TEST(Fields, RecordsWhetherFieldWasGiven) {
  RunConfig config;
  EXPECT_FALSE(find_field("workers")->given(config));
  set_field(config, "", "workers", "8");
  EXPECT_TRUE(find_field("workers")->given(config));
  EXPECT_EQ(config.loader.num_workers, 8);
}

TEST(Fields, SwitchesOffByNegatedName) {
  RunConfig config;
  set_field(config, "", "no-in-order", "true");
  EXPECT_FALSE(config.loader.in_order);
  set_field(config, "", "no-in-order", "false");
  EXPECT_TRUE(config.loader.in_order);
  set_field(config, "", "in-order", "false");
  EXPECT_FALSE(config.loader.in_order);
}

TEST(Fields, ReadsValues) {
  RunConfig config;
  set_field(config, "", "compute", "lognormal:12ms:0.1");
  EXPECT_EQ(config.trainer.compute.value.mean, 12e6);
  set_field(config, "", "link", "28/8");
  EXPECT_EQ(config.trainer.link.value.pinned, 28e9);
  EXPECT_EQ(config.trainer.link.value.pageable, 8e9);
  set_field(config, "", "link", "gen4x16");
  EXPECT_EQ(config.trainer.link.value.pinned, 25e9);
  set_field(config, "", "warmup", "2s");
  EXPECT_EQ(config.measure.warmup.value.duration, 2 * kSecond);
  EXPECT_EQ(config.measure.warmup.value.steps, 0);
  set_field(config, "", "stored-bytes", "lognormal:110KB:0.5");
  EXPECT_EQ(config.data.stored_bytes.value.spread, 0.5);
  set_field(config, "", "memory", "write-combined");
  EXPECT_EQ(config.loader.memory, MemoryMode::write_combined);
}

TEST(Fields, ReplacesCostsAndAddsInjections) {
  RunConfig config;
  for (const char* cost : {"read=1ms", "decode=8ms", "read=2ms"})
    set_field(config, "", "cost", cost);
  EXPECT_EQ(find_field("cost")->texts(config),
            (std::vector<std::string>{"read=2ms", "decode=8ms"}));
  EXPECT_EQ(config.declared_cost(Stage::read)->draw(0.5, 0), 2'000'000);
  EXPECT_EQ(config.declared_cost(Stage::pin), nullptr);
  for (int i = 0; i < 2; ++i) set_field(config, "", "inject", "decode=+1ms");
  EXPECT_EQ(config.declared.inject.value.size(), 2u);
}

TEST(Fields, ComputesDeliveredBytesFromSizeAndTransfer) {
  RunConfig config;
  EXPECT_EQ(config.delivered_sample_bytes(), 3 * 224 * 224 * 4);
  set_field(config, "", "transfer", "u8");
  EXPECT_EQ(config.delivered_sample_bytes(), 3 * 224 * 224);
  set_field(config, "", "delivered-bytes", "1MB");
  EXPECT_EQ(config.delivered_sample_bytes(), 1'000'000);
}

TEST(Fields, ReportsErrorWithPlaceKeyValueAndNextStep) {
  EXPECT_EQ(error_of_field("", "compute", "12"),
            "--compute 12: expected a duration such as 12ms; did you forget the unit?");
  EXPECT_EQ(error_of_field("x.conf:3", "compute", "12"),
            "x.conf:3: compute = 12: expected a duration such as 12ms; did you forget the unit?");
  EXPECT_EQ(error_of_field("x.conf:3", "prefetch-facto", "1"),
            "x.conf:3: prefetch-facto: unknown key; did you mean 'prefetch-factor'?");
  EXPECT_THAT(error_of_field("", "memory", "pined-slots"),
              HasSubstr("did you mean 'pinned-slots'?"));
  EXPECT_THAT(error_of_field("", "in-order", "yes"), HasSubstr("true false"));
  EXPECT_THAT(error_of_field("", "engine", "modle"), HasSubstr("did you mean 'model'?"));
  EXPECT_THAT(error_of_field("", "json", ""), HasSubstr("--json ''"));
}

}  // namespace
}  // namespace loaderscope

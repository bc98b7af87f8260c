#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "loaderscope/errors.h"
#include "loaderscope/settings.h"

namespace loaderscope {
namespace {

using ::testing::HasSubstr;

std::string error_of_scenario(const std::string& text) {
  RunConfig config;
  try {
    parse_scenario(text, "x.conf", config);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Scenario, ReadsKeysCommentsAndExpectations) {
  RunConfig config;
  const Scenario scenario = parse_scenario(
      "# expect: decode\n# just a comment\n#expect: exit 2\n\n  workers = 4  \r\ncost=read=1ms\n"
      "cost = decode=8ms\nno-in-order = true\nrequire = device.busy >= 0.85",
      "x.conf", config);
  EXPECT_EQ(scenario.path, "x.conf");
  EXPECT_EQ(scenario.expect, (std::vector<std::string>{"decode", "exit 2"}));
  EXPECT_EQ(config.loader.num_workers, 4);
  EXPECT_EQ(config.declared.cost.value.size(), 2u);
  EXPECT_FALSE(config.loader.in_order);
  EXPECT_EQ(config.answer.require.value, (std::vector<std::string>{"device.busy >= 0.85"}));
}

TEST(Scenario, PrefersFlagsPerKeyAndPerStage) {
  RunConfig config;
  set_field(config, "", "workers", "8");
  set_field(config, "", "cost", "decode=1ms");
  set_field(config, "", "inject", "read=+1ms");
  parse_scenario(
      "num-workers = 4\nbatch-size = 32\ncost = decode=9ms\ncost = read=2ms\n"
      "inject = read=+9ms\ninject = pin=+3ms\ninject = pin=+4ms\n",
      "x.conf", config);
  EXPECT_EQ(config.loader.num_workers, 8);
  EXPECT_EQ(config.loader.batch_size, 32);
  EXPECT_EQ(config.declared_cost(Stage::decode)->text, "decode=1ms");
  EXPECT_EQ(config.declared_cost(Stage::read)->text, "read=2ms");
  EXPECT_EQ(find_field("inject")->texts(config),
            (std::vector<std::string>{"read=+1ms", "pin=+3ms", "pin=+4ms"}));
}

TEST(Scenario, DropsKeysThatContradictFlags) {
  RunConfig config;
  set_field(config, "", "steps", "100");
  set_field(config, "", "workers", "0");
  set_field(config, "", "pin-memory", "true");
  parse_scenario("duration = 20s\nprefetch-factor = 4\nexecutor = processes\nmemory = pageable\n",
                 "x.conf", config);
  for (const char* key : {"duration", "prefetch-factor", "executor", "memory"}) {
    EXPECT_FALSE(find_field(key)->given(config)) << key;
  }
}

TEST(Scenario, ChecksALineThatAFlagOverrides) {
  RunConfig config;
  set_field(config, "", "workers", "8");
  EXPECT_THROW(parse_scenario("workers = many", "x.conf", config), UsageError);
}

TEST(Scenario, NamesFileAndLineInErrors) {
  EXPECT_EQ(error_of_scenario("\n\nprefetch-facto = 3"),
            "x.conf:3: prefetch-facto: unknown key; did you mean 'prefetch-factor'?");
  EXPECT_THAT(error_of_scenario("workers 3"),
              HasSubstr("x.conf:1: workers 3: expected 'key = value'"));
  EXPECT_THAT(error_of_scenario("= 3"), HasSubstr("expected 'key = value'"));
  EXPECT_THAT(error_of_scenario("scenario = y.conf"), HasSubstr("x.conf:1: a scenario"));
  EXPECT_THAT(error_of_scenario("shuffle = yes"), HasSubstr("true false"));
  EXPECT_THAT(error_of_scenario("compute ="), HasSubstr("expected a duration"));
  EXPECT_THAT(error_of_scenario("compute = 12ms # slow"), HasSubstr("line of its own"));
  EXPECT_THAT(error_of_scenario("workers = 3\nworkers = 4"),
              HasSubstr("x.conf:2: workers: already given at x.conf:1"));
  EXPECT_THAT(error_of_scenario("batch = 3\nbatch-size = 4"), HasSubstr("already given"));
  EXPECT_THAT(error_of_scenario(std::string("a\0b = 3", 7)), HasSubstr("zero byte"));
  EXPECT_THAT(error_of_scenario("json = " + std::string(70'000, 'x')), HasSubstr("64 KiB"));
  EXPECT_THAT(error_of_scenario("#" + std::string(2'000'000, 'x')), HasSubstr("1 MiB"));
}

TEST(Scenario, RejectsFilesThatAreNoScenario) {
  RunConfig config;
  EXPECT_THROW(read_scenario(std::filesystem::temp_directory_path().string(), config), UsageError);
  EXPECT_THROW(read_scenario("/nowhere/x.conf", config), UsageError);
  EXPECT_THROW(read_scenario("", config), UsageError);
  EXPECT_THROW(read_scenario("/dev/zero", config), UsageError);
  EXPECT_NO_THROW(read_scenario("/dev/null", config));
}

}  // namespace
}  // namespace loaderscope

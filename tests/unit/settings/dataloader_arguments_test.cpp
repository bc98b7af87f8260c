// Settings as arguments of DataLoader.
#include "settings/dataloader_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace loaderscope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> given_keywords(const Changes& given) {
  RunConfig config;
  for (const Change& one : given) set_field(config, "test", one.key, one.value);
  std::vector<std::string> keywords;
  for (const DataLoaderArgument& argument : given_dataloader_arguments(config))
    keywords.emplace_back(argument.keyword);
  return keywords;
}

TEST(DataLoaderArguments, NamesKeywordOfSettingAndAlias) {
  EXPECT_EQ(dataloader_keyword("num-workers"), "num_workers");
  EXPECT_EQ(dataloader_keyword("workers"), "num_workers");
  EXPECT_EQ(dataloader_keyword("mp-context"), "multiprocessing_context");
  EXPECT_EQ(dataloader_keyword("size"), "");
  EXPECT_EQ(dataloader_keyword("no-pin-memory"), "");
  EXPECT_EQ(dataloader_keyword("decode.speed"), "");
}

TEST(DataLoaderArguments, CoversOnlyGivenSettings) {
  EXPECT_THAT(given_keywords({}), IsEmpty());
  EXPECT_THAT(given_keywords({{"size", "128"}}), IsEmpty());
  EXPECT_THAT(given_keywords({{"drop-last", "true"}, {"workers", "3"}, {"mp-context", "spawn"}}),
              ElementsAre("num_workers", "drop_last", "multiprocessing_context"));
}

TEST(DataLoaderArguments, TakesMemoryAsPinMemory) {
  EXPECT_THAT(given_keywords({{"memory", "pin-thread"}}), ElementsAre("pin_memory"));
  EXPECT_EQ(as_dataloader_change({"memory", "pin-thread"}), (Change{"pin-memory", "true"}));
  EXPECT_EQ(as_dataloader_change({"memory", "pageable"}), (Change{"pin-memory", "false"}));
  EXPECT_EQ(as_dataloader_change({"memory", "registered"}), (Change{"memory", "registered"}));
}

}  // namespace
}  // namespace loaderscope

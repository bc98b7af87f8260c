#include "record/family_traits.h"

#include <gtest/gtest.h>

#include "loaderscope/device.h"
#include "loaderscope/errors.h"
#include "settings/engine_table.h"
#include "source/registry.h"

namespace loaderscope {
namespace {

TEST(FamilyTraits, CoversEveryRowOfTheTables) {
  for (const EngineRow& row : engine_table())
    EXPECT_EQ(guest_traits(row.row.name).has_value(),
              engine_kind(row.row.name) == EngineKind::guest)
        << row.row.name;
  for (const SourceRow& row : source_table())
    EXPECT_EQ(source_traits(row.row.name).name, row.row.name);
  for (const AccessRow& row : access_table())
    EXPECT_EQ(access_traits(row.access).access, row.access);
  for (const DeviceRow& row : device_table()) EXPECT_NO_THROW(device_kind(row.row.name));
}

TEST(FamilyTraits, SeparatesKindsOfEngines) {
  EXPECT_TRUE(is_native_engine("native"));
  EXPECT_TRUE(is_model_engine("model"));
  EXPECT_TRUE(is_guest_engine("torch"));
  EXPECT_TRUE(is_trace_engine("import"));
  EXPECT_FALSE(is_guest_engine("native"));
  EXPECT_FALSE(guest_traits("webdataset")->can_shuffle);
  EXPECT_FALSE(guest_traits("dali")->is_data_loader);
}

TEST(FamilyTraits, RejectsUnknownNames) {
  EXPECT_FALSE(is_native_engine("attic"));
  EXPECT_THROW(engine_kind("attic"), RunError);
  EXPECT_THROW(device_kind("attic"), RunError);
}

TEST(FamilyTraits, ReturnsFormOfSamples) {
  EXPECT_EQ(source_traits("synthetic").form, SampleForm::declared);
  EXPECT_EQ(source_traits("npy").form, SampleForm::array);
  EXPECT_FALSE(source_traits("files").is_packed);
  EXPECT_TRUE(source_traits("tar").is_packed);
  EXPECT_NE(source_traits("parquet").smaller_pieces, "");
  EXPECT_TRUE(access_traits(FileAccess::io_uring_direct).is_direct);
  EXPECT_TRUE(access_traits(FileAccess::http).is_remote);
}

}  // namespace
}  // namespace loaderscope

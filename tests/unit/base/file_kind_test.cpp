#include "base/fd.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace loaderscope {
namespace {

// A stream's buffer throws where a read fails, past everything that its stream would catch.
TEST(ReadableText, EndsTextWhenReadFails) {
  ASSERT_TRUE(std::filesystem::exists("/proc/self/mem"));
  EXPECT_EQ(readable_text("/proc/self/mem"), "");  // address 0 is not mapped
  EXPECT_EQ(readable_text("/proc/self/no-such-file"), "");
  EXPECT_NE(readable_text("/proc/self/maps"), "");
}

}  // namespace
}  // namespace loaderscope

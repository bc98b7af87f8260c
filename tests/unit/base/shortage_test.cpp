#include "base/failure_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>

namespace loaderscope {
namespace {

using testing::HasSubstr;

TEST(Shortage, SaysWhatToRaise) {
  EXPECT_THAT(exhaustion_hint(EMFILE), HasSubstr("ulimit -n"));
  EXPECT_THAT(exhaustion_hint(ENFILE), HasSubstr("fs.file-max"));
  EXPECT_THAT(exhaustion_hint(EAGAIN), HasSubstr("ulimit -u"));
  EXPECT_THAT(exhaustion_hint(ENOMEM), HasSubstr("ulimit -v"));
}

TEST(Shortage, GivesNoHintForOtherErrors) {
  for (const int error : {ENOENT, EACCES, EIO, EINVAL, 0}) EXPECT_EQ(exhaustion_hint(error), "");
}

TEST(Shortage, ExplainsExceptionsOfLibrary) {
  const std::system_error thread(EAGAIN, std::generic_category(), "thread");
  EXPECT_THAT(shortage_sentence(thread), HasSubstr("Resource temporarily unavailable); raise"));
  const std::filesystem::filesystem_error listing("cannot list", "/a",
                                                  std::error_code(EMFILE, std::system_category()));
  EXPECT_THAT(shortage_sentence(listing), HasSubstr("ulimit -n"));
  EXPECT_EQ(shortage_sentence({ENOENT, std::generic_category(), "x"}), "");
}

}  // namespace
}  // namespace loaderscope

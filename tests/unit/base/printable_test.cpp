#include "base/printable.h"

#include <gtest/gtest.h>

namespace loaderscope {
namespace {

TEST(Printable, EscapesControlCharacters) {
  EXPECT_EQ(printable("a\x1b[31mred\nnext\t\x7f"), "a\\x1b[31mred\\x0anext\\x09\\x7f");
  EXPECT_EQ(printable(std::string_view("zero\0byte", 9)), "zero\\x00byte");
}

// U+009B begins an escape sequence as ESC [ does.
TEST(Printable, EscapesUpperControlCharacters) {
  EXPECT_EQ(printable("a\xc2\x9b"
                      "31m"),
            "a\\xc2\\x9b31m");
  EXPECT_EQ(printable("\xc2"), "\xc2");
}

TEST(Printable, KeepsOtherText) {
  EXPECT_EQ(printable("caf\xc3\xa9 \xc2\xb1 5 %, C:\\x"), "caf\xc3\xa9 \xc2\xb1 5 %, C:\\x");
}

}  // namespace
}  // namespace loaderscope

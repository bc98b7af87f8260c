#include "loaderscope/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

using ::testing::HasSubstr;

template <class F>
std::string error_text(F f) {
  try {
    f();
  } catch (const ValueError& error) {
    return error.what();
  }
  return "";
}

TEST(Duration, ParsesExactly) {
  EXPECT_EQ(parse_duration("250ns"), 250);
  EXPECT_EQ(parse_duration("3us"), 3'000);
  EXPECT_EQ(parse_duration("8ms"), 8'000'000);
  EXPECT_EQ(parse_duration("0.1s"), 100'000'000);
  EXPECT_EQ(parse_duration("1.5s"), 1'500'000'000);
  EXPECT_EQ(parse_duration("2m"), 120 * kSecond);
  EXPECT_EQ(parse_duration("1h"), 3600 * kSecond);
  EXPECT_EQ(parse_duration("0.000000001s"), 1);
  EXPECT_EQ(parse_duration(".5ms"), 500'000);
  EXPECT_EQ(parse_duration("007ms"), 7'000'000);
  EXPECT_EQ(parse_duration("0.3333333333333333333333333s"), 333'333'333);
  EXPECT_EQ(parse_duration("1.0000000005s"), 1'000'000'001);
  EXPECT_EQ(parse_duration("9223372036.854775807s"), std::numeric_limits<Nanos>::max());
  EXPECT_EQ(parse_duration("0"), 0);
  EXPECT_EQ(parse_duration("0.0ms"), 0);
}

TEST(Duration, RefusesEverythingElse) {
  for (const char* text : {"",
                           " ",
                           "ms",
                           "-1ms",
                           "+1ms",
                           "nan",
                           "inf",
                           "nans",
                           "1e3ms",
                           "1ms ",
                           " 1ms",
                           "1 ms",
                           "1.ms",
                           "1..2ms",
                           "1,5ms",
                           "1MS",
                           "1msx",
                           "12",
                           "0.5",
                           "0x10ms",
                           "9223372036.854775808s",
                           "99999999999999999999999h",
                           "0.4ns",
                           "1m30s"}) {
    EXPECT_THROW(parse_duration(text), ValueError) << text;
  }
  EXPECT_THROW(parse_duration(std::string_view("1\0ms", 4)), ValueError);
  EXPECT_THAT(error_text([] { parse_duration("12"); }), HasSubstr("did you forget the unit?"));
  EXPECT_THAT(error_text([] { parse_duration("12sm"); }), HasSubstr("did you mean"));
}

TEST(Size, ParsesExactly) {
  EXPECT_EQ(parse_size("512"), 512);
  EXPECT_EQ(parse_size("512B"), 512);
  EXPECT_EQ(parse_size("64KiB"), 65536);
  EXPECT_EQ(parse_size("38MB"), 38'000'000);
  EXPECT_EQ(parse_size("2GiB"), Bytes{2} << 30);
  EXPECT_EQ(parse_size("1.5GB"), 1'500'000'000);
  EXPECT_EQ(parse_size("0.5KiB"), 512);
  EXPECT_EQ(parse_size("8191PiB"), Bytes{8191} << 50);
}

TEST(Size, RefusesEverythingElse) {
  for (const char* text : {"", "B", "-1", "1.5", "1K", "1mb", "64 KiB", "8192PiB",
                           "99999999999999999999", "0.1B", "inf", "1MB/s"}) {
    EXPECT_THROW(parse_size(text), ValueError) << text;
  }
}

TEST(Rate, ParsesExactly) {
  EXPECT_EQ(parse_byte_rate("100MB/s"), 1e8);
  EXPECT_EQ(parse_byte_rate("1.1GB/s"), 1.1e9);
  EXPECT_EQ(parse_byte_rate("16GiB/s"), 16.0 * (1 << 30));
  EXPECT_EQ(parse_byte_rate("0.5B/s"), 0.5);
  EXPECT_EQ(parse_count_rate("1786/s"), 1786);
  for (const char* text : {"0MB/s", "100MB", "100", "/s", "MB/s", "-1MB/s", "1MB/S", "1Mb/s",
                           "1e9B/s", "9999999PB/s", "nanB/s"}) {
    EXPECT_THROW(parse_byte_rate(text), ValueError) << text;
  }
  for (const char* text : {"0/s", "1786", "1786/m", "-3/s", "inf/s", ""}) {
    EXPECT_THROW(parse_count_rate(text), ValueError) << text;
  }
}

TEST(Count, TakesDigitsOnly) {
  EXPECT_EQ(parse_count("0"), 0);
  EXPECT_EQ(parse_count("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  for (const char* text :
       {"", "-1", "+1", "1.0", "1e3", " 1", "1 ", "0x1", "9223372036854775808"}) {
    EXPECT_THROW(parse_count(text), ValueError) << text;
  }
}

TEST(Real, TakesPlainDecimals) {
  EXPECT_EQ(parse_real("0.5"), 0.5);
  EXPECT_EQ(parse_real(".5"), 0.5);
  EXPECT_EQ(parse_real("2"), 2);
  EXPECT_EQ(parse_real("0"), 0);
  for (const char* text : {"", "-1", "nan", "inf", "1e3", "1.", "0x1p3", "1f"}) {
    EXPECT_THROW(parse_real(text), ValueError) << text;
  }
  EXPECT_THROW(parse_real(std::string(400, '9')), ValueError);
}

// Numbers of all magnitudes, round ones among them.
std::int64_t some_number(std::mt19937_64& random) {
  const std::uint64_t bits = random() >> (1 + random() % 63);
  std::uint64_t number = bits;
  if (random() % 2 == 0) {
    std::uint64_t unit = 1;
    while (random() % 4 != 0 && unit < 1'000'000'000'000) unit *= 10;
    number = bits / unit * unit;
  } else if (random() % 2 == 0) {
    number = bits >> (random() % 40) << (random() % 40) & (UINT64_MAX >> 1);
  }
  return static_cast<std::int64_t>(number);
}

TEST(Spelling, ReadsBackSameValue) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const std::int64_t number = some_number(random);
    ASSERT_EQ(parse_duration(duration_to_text(number)), number) << duration_to_text(number);
    ASSERT_EQ(parse_size(size_to_text(number)), number) << size_to_text(number);
  }
  for (std::int64_t number :
       {std::int64_t{0}, std::int64_t{1}, std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_EQ(parse_duration(duration_to_text(number)), number);
    EXPECT_EQ(parse_size(size_to_text(number)), number);
  }
}

TEST(Spelling, ReadsBackSameReal) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> exponent(-40, 59);
  for (int i = 0; i < 20'000; ++i) {
    const double value = std::exp2(exponent(random));
    ASSERT_EQ(parse_real(real_to_text(value)), value) << real_to_text(value);
    ASSERT_EQ(parse_byte_rate(byte_rate_to_text(value)), value) << byte_rate_to_text(value);
    ASSERT_EQ(parse_count_rate(count_rate_to_text(value)), value) << count_rate_to_text(value);
  }
}

TEST(Spelling, StaysShort) {
  EXPECT_EQ(duration_to_text(10 * kSecond), "10s");
  EXPECT_EQ(duration_to_text(12'000'000), "12ms");
  EXPECT_EQ(duration_to_text(8'500), "8.5us");
  EXPECT_EQ(duration_to_text(3600 * kSecond), "1h");
  EXPECT_EQ(size_to_text(110'000), "110KB");
  EXPECT_EQ(size_to_text(65536), "64KiB");
  EXPECT_EQ(duration_to_text(100'000), "100us");
  EXPECT_EQ(size_to_text(1), "1");
  EXPECT_EQ(byte_rate_to_text(25e9), "25GB/s");
  EXPECT_EQ(count_rate_to_text(1786), "1786/s");
  EXPECT_EQ(real_to_text(0.1), "0.1");
}

TEST(Shown, ChoosesFittingUnit) {
  EXPECT_EQ(format_duration(0), "0 ns");
  EXPECT_EQ(format_duration(250), "250 ns");
  EXPECT_EQ(format_duration(1'500), "1.500 us");
  EXPECT_EQ(format_duration(64'000'000), "64.00 ms");
  EXPECT_EQ(format_duration(999'999), "1.000 ms");
  EXPECT_EQ(format_duration(90 * kSecond), "90.00 s");
  EXPECT_EQ(format_duration(150 * kSecond), "2.500 min");
  EXPECT_EQ(format_duration(3 * 3600 * kSecond), "3.000 h");
  EXPECT_EQ(format_duration(-64'000'000), "-64.00 ms");
  EXPECT_EQ(format_duration(std::numeric_limits<Nanos>::min()).front(), '-');
  EXPECT_EQ(format_size(38'535'168), "38.5 MB");
  EXPECT_EQ(format_size(512), "512 B");
  EXPECT_EQ(format_size(999'600), "1.00 MB");
  EXPECT_EQ(format_byte_rate(25e9), "25.0 GB/s");
}

TEST(Shown, FormatsSingularAndPlural) {
  EXPECT_EQ(plural(1, "step"), "1 step");
  EXPECT_EQ(plural(0, "step"), "0 steps");
  EXPECT_EQ(plural(1'281'167, "sample"), "1,281,167 samples");
  EXPECT_EQ(plural(1, "batch"), "1 batch");
  EXPECT_EQ(plural(2, "batch"), "2 batches");
  EXPECT_EQ(plural(2, "epoch"), "2 epochs");
}

}  // namespace
}  // namespace loaderscope

// The small files that fixtures/make.py has written by other people's libraries.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "loaderscope/source.h"

namespace loaderscope::source {

inline constexpr std::int64_t kFixtureSamples = 7;

inline std::string fixture(std::string_view name) {
  return LOADERSCOPE_SOURCE_DIR "/tests/unit/source/fixtures/" + std::string(name);
}
inline std::string content_of_fixture(std::string_view name) {
  std::ifstream file(fixture(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string read_sample(SampleReader& reader, std::int64_t sample) {
  const auto bytes = reader.read(sample);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// All samples are the images that the files were made of.
inline void expect_fixture_images(const Source& source) {
  ASSERT_EQ(source.size(), kFixtureSamples);
  const auto reader = source.make_reader();
  for (const std::int64_t i : {6, 0, 3, 1, 2, 5, 4}) {
    EXPECT_EQ(read_sample(*reader, i), content_of_fixture("images/" + std::to_string(i) + ".jpg"))
        << source.describe(i);
  }
}

}  // namespace loaderscope::source

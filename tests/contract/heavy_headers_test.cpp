// Headers that a compiler reads for a second or more: how many files take each may only become
// less. scripts/slowest shows which files a build waits for.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <ostream>
#include <set>
#include <string>

namespace loaderscope {
namespace {

struct HeavyHeader {
  const char* name;
  std::size_t most;  // files of src/ and include/
};

void PrintTo(const HeavyHeader& header, std::ostream* out) { *out << header.name; }

class HeavyHeaders : public ::testing::TestWithParam<HeavyHeader> {};

TEST_P(HeavyHeaders, LimitsFilesThatIncludeThem) {
  const std::string wanted = std::string("#include <") + GetParam().name + ">";
  std::set<std::string> takers;
  for (const char* folder : {"src", "include"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(
             std::string(LOADERSCOPE_SOURCE_DIR "/") + folder)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);)
        if (line == wanted) takers.insert(entry.path());
    }
  }
  EXPECT_LE(takers.size(), GetParam().most) << ::testing::PrintToString(takers);
  EXPECT_FALSE(takers.empty()) << "its row can go";
}

INSTANTIATE_TEST_SUITE_P(Of, HeavyHeaders,
                         ::testing::Values(HeavyHeader{"CLI/CLI.hpp", 31},
                                           HeavyHeader{"nlohmann/json.hpp", 24},
                                           HeavyHeader{"fmt/ranges.h", 9},
                                           HeavyHeader{"iostream", 1}));

}  // namespace
}  // namespace loaderscope

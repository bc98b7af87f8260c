// Results that an earlier version saved (tests/cli/kept/) are read by this one, and nothing that
// they say is lost. A kind whose schema gets another version keeps its file here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/old_words.h"
#include "cli/run_binary.h"

namespace loaderscope::testing_cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::vector<fs::path> kept_results() {
  std::vector<fs::path> paths;
  for (const auto& entry :
       fs::directory_iterator(fs::path(LOADERSCOPE_SOURCE_DIR) / "tests/cli/kept"))
    paths.push_back(entry.path());
  return paths;
}

// Returns true for a conclusion, which a later version may draw in another way.
bool is_opinion(const std::string& path) {
  for (const char* opinion : {"/tool", "/verdict", "/findings", "/fit", "/removals", "/starved",
                              "/depth", "/what_it_takes", "/history"})
    if (path.starts_with(opinion)) return true;
  return false;
}

// Settings of a result have today's names.
std::string name_now(const std::string& path, std::string key) {
  if (path != "/config") return key;
  std::replace(key.begin(), key.end(), '_', '-');
  key = current_word(WordKind::setting, key);
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

// Expects every value of `before` at the same place in `after`.
void expect_kept(const json& before, const json& after, const std::string& path) {
  if (is_opinion(path)) return;
  if (before.is_object() && after.is_object()) {
    for (const auto& [old_key, value] : before.items()) {
      const std::string key = name_now(path, old_key);
      const std::string place = path + "/" + key;
      if (is_opinion(place)) continue;
      EXPECT_TRUE(after.contains(key)) << place << " is lost";
      if (after.contains(key)) expect_kept(value, after.at(key), place);
    }
    return;
  }
  if (before.is_array() && after.is_array() && before.size() == after.size()) {
    for (std::size_t i = 0; i < before.size(); ++i)
      expect_kept(before[i], after[i], path + "/" + std::to_string(i));
    return;
  }
  if (before.is_number() && after.is_number()) {
    EXPECT_NEAR(before.get<double>(), after.get<double>(), 1e-9 * std::abs(before.get<double>()))
        << path;
    return;
  }
  EXPECT_EQ(before, after) << path;
}

TEST(KeptResults, KeepsValuesOfEachKind) {
  ASSERT_GE(kept_results().size(), 11U);
  for (const fs::path& path : kept_results()) {
    SCOPED_TRACE(path.filename());
    const Ended shown = run_binary({"report", path.string()});
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    EXPECT_NE(shown.out, "");
    const Ended again = run_binary({"report", path.string(), "--format", "json"});
    ASSERT_EQ(again.exit_code, 0) << again.err;
    expect_kept(json::parse(std::ifstream(path)), json::parse(again.out), "");
  }
}

TEST(KeptResults, AcceptsKeptRunsInWhatIfAndPlan) {
  const std::string run = std::string(LOADERSCOPE_SOURCE_DIR) + "/tests/cli/kept/run.json";
  EXPECT_EQ(run_binary({"what-if", run, "--set", "workers=3"}).exit_code, 0);
  EXPECT_EQ(run_binary({"plan", "--from", run, "--ranks", "8"}).exit_code, 0);
}

}  // namespace
}  // namespace loaderscope::testing_cli

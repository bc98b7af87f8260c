// A copy of the few files of /proc and /sys that count.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace loaderscope::test {

class PretendRoot {
 public:
  PretendRoot() : path_(std::filesystem::path(testing::TempDir()) / name()) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~PretendRoot() { std::filesystem::remove_all(path_); }
  PretendRoot(const PretendRoot&) = delete;
  PretendRoot& operator=(const PretendRoot&) = delete;

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  static std::string name() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    return std::string("pretend-root-") + test->test_suite_name() + "-" + test->name();
  }

  std::filesystem::path path_;
};

}  // namespace loaderscope::test

// tests/fuzz/oss-fuzz/build.sh: that OSS-Fuzz gets each fuzzer of tests/fuzz with its seeds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "cli/run_script.h"

namespace loaderscope::testing_cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using FileNames = std::set<std::string>;

const fs::path kFuzzers = LOADERSCOPE_SOURCE_DIR "/tests/fuzz";

// Makes the programs that it is asked for, except $MISSING.
constexpr const char* kPretendCmake = R"(#!/usr/bin/env bash
if [[ $1 != --build ]]; then mkdir -p "$WORK/build"; printf '%s\n' "$@" > "$WORK/configured"; exit; fi
for name in "${@:4}"; do
  if [[ $name == "${MISSING-}" ]]; then echo "unknown target $name" >&2; exit 1; fi
  touch "$2/$name"
done
)";
constexpr const char* kPretendZip = R"(#!/usr/bin/env bash
[[ $(ls -A "${@: -1}") ]] || exit 12  # as zip does without files
touch "${@: -2:1}"
)";

FileNames list_files(const fs::path& folder) {
  FileNames names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

// The words before _fuzz.cpp.
FileNames fuzzers() {
  const std::string ending = "_fuzz.cpp";
  FileNames names;
  for (const std::string& name : list_files(kFuzzers)) {
    if (name.ends_with(ending)) names.insert(name.substr(0, name.size() - ending.size()));
  }
  return names;
}

class OssFuzzScript : public ::testing::Test {
 protected:
  void SetUp() override {
    write_program(folder_, "cmake", kPretendCmake);
    write_program(folder_, "zip", kPretendZip);
    const fs::path scripts = folder_.path("loaderscope/scripts/packaging");
    fs::create_directories(scripts);
    write_program(folder_, "loaderscope/scripts/packaging/static-libraries",
                  "#!/bin/sh\necho /static\n");
    fs::create_directory_symlink(LOADERSCOPE_SOURCE_DIR "/tests",
                                 folder_.path("loaderscope/tests"));
    for (const char* name : {"out", "work"}) fs::create_directory(folder_.path(name));
  }
  Ended run() { return run_program(kFuzzers / "oss-fuzz/build.sh", {}); }

  TestFolder folder_;
  Environment path_{"PATH", folder_.path("") + ":/usr/bin:/bin"};
  Environment sources_{"SRC", folder_.path("")};
  Environment programs_{"OUT", folder_.path("out")};
  Environment work_{"WORK", folder_.path("work")};
  Environment compiler_{"CXX", "clang++"};
  Environment engine_{"LIB_FUZZING_ENGINE", "-fsanitize=fuzzer"};
  Environment sanitizer_{"SANITIZER", "address"};
};

TEST_F(OssFuzzScript, DeliversEachFuzzerWithItsSeeds) {
  const Ended ended = run();
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  FileNames expected;
  for (const std::string& name : fuzzers()) {
    if (name == "answers") continue;  // needs libcurl, which has no static form
    expected.insert("fuzz_" + name);
    expected.insert("fuzz_" + name + "_seed_corpus.zip");
  }
  EXPECT_GE(expected.size(), 50U);  // the search found the fuzzers
  EXPECT_EQ(list_files(folder_.path("out")), expected);
  EXPECT_THAT(folder_.read("work/configured"),
              HasSubstr("\n-DLOADERSCOPE_FUZZING_ENGINE=-fsanitize=fuzzer\n"));
}

TEST_F(OssFuzzScript, FailsIfProgramIsMissing) {
  const Environment missing("MISSING", "fuzz_words");
  EXPECT_NE(run().exit_code, 0);
}

TEST_F(OssFuzzScript, FailsForUnknownSanitizer) {
  const Environment memory("SANITIZER", "memory");
  const Ended ended = run();
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("no build for the sanitizer memory"));
}

TEST(FuzzCorpus, CoversEachFuzzer) {
  EXPECT_EQ(list_files(kFuzzers / "corpus"), fuzzers());
  for (const std::string& name : fuzzers()) {
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), name.npos) << name;
  }
}

}  // namespace
}  // namespace loaderscope::testing_cli

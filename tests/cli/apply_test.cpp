// loaderscope apply, on results whose program is a text of the test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/run_binary.h"
#include "machine/source_file.h"

namespace loaderscope::testing_cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kProgram = R"(from torch.utils.data import DataLoader

loader = DataLoader(photos, batch_size=4, num_workers=2)  # a guess
)";

class Apply : public testing::Test {
 protected:
  void SetUp() override {
    if (run_program("/bin/sh", {"-c", "command -v python3"}).exit_code != 0)
      GTEST_SKIP() << "no python3";
    program_ = folder_.write("train.py", kProgram);
    result_ = folder_.path("r.json");
    const Ended ended = run_binary({"run", "--engine", "model", "--cost", "decode=10ms",
                                    "--compute", "10ms", "--workers", "2", "--batch", "4",
                                    "--cores", "8", "--steps", "100", "--json", result_});
    ASSERT_EQ(ended.exit_code, 0) << ended.err;
    save();
  }

  // Saves the result as one of a run of `program_`, whose loader `line` made.
  void save(int line = 3, const std::vector<std::string>& made_by = {}, json changed = {}) {
    json result = json::parse(folder_.read("r.json"));
    json call = {{"file", program_},
                 {"line", line},
                 {"made", "torch.utils.data.dataloader.DataLoader"},
                 {"called", ""},
                 {"python", "/no/such/python"},
                 {"digest", source_digest(folder_.read("train.py"))}};
    if (!changed.is_null()) call.update(changed);
    result["program"] = {{"made_by", made_by},
                         {"data_of", json::array()},
                         {"uses_gpu", false},
                         {"loader_call", call}};
    folder_.write("r.json", result.dump());
  }
  Ended apply(const Words& flags = {}) const {
    Words words = {"apply", result_};
    words.insert(words.end(), flags.begin(), flags.end());
    return run_binary(words);
  }
  // Expects a refusal that changes nothing.
  void expect_by_hand(const std::string& reason, const std::string& edit,
                      const Words& flags = {"--write", "--yes"}) const {
    const std::string before = folder_.read("train.py");
    const Ended ended = apply(flags);
    EXPECT_EQ(ended.exit_code, 1) << ended.out;
    EXPECT_EQ(ended.out, "");
    EXPECT_THAT(ended.printed, HasSubstr(reason));
    EXPECT_THAT(ended.printed, HasSubstr("\nhint: change it by hand: "));
    EXPECT_THAT(ended.printed, HasSubstr(edit));
    EXPECT_EQ(folder_.read("train.py"), before);
  }

  TestFolder folder_;
  Environment cache_{"XDG_CACHE_HOME", folder_.path("cache")};
  std::string program_, result_;
};

TEST_F(Apply, PrintsDiffAndChangesNothing) {
  const Ended ended = apply();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, StartsWith("--- " + program_ + "\n+++ " + program_ + "\n@@ "));
  EXPECT_THAT(ended.out,
              EndsWith("\n-loader = DataLoader(photos, batch_size=4, num_workers=2)  # a guess\n"
                       "+loader = DataLoader(photos, batch_size=4, num_workers=4)  # a guess\n"));
  EXPECT_THAT(ended.err, HasSubstr("--write"));
  EXPECT_EQ(folder_.read("train.py"), kProgram);
}

TEST_F(Apply, WritesOnceAndKeepsModeAndLink) {
  ASSERT_EQ(::chmod(program_.c_str(), 0750), 0);
  fs::create_symlink(program_, folder_.path("link.py"));
  save(3, {}, {{"file", folder_.path("link.py")}});
  const Ended ended = apply({"--write", "--yes"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("loaderscope run --against "));
  EXPECT_THAT(folder_.read("train.py"), EndsWith("num_workers=4)  # a guess\n"));
  struct stat facts {};
  ASSERT_EQ(::lstat(program_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0750U);
  EXPECT_TRUE(fs::is_symlink(folder_.path("link.py")));

  const std::string written = folder_.read("train.py");
  const Ended again = apply({"--write", "--yes"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.out, StartsWith("Nothing to apply: "));
  EXPECT_THAT(again.out, EndsWith(" has num_workers=4 already\n"));
  EXPECT_EQ(folder_.read("train.py"), written);
}

TEST_F(Apply, RefusesChangedFile) {
  folder_.write("train.py", std::string(kProgram) + "# later\n");
  expect_by_hand("train.py:3: changed since the run", "DataLoader(..., num_workers=4)");
  save(3, {}, {{"digest", ""}});
  expect_by_hand("train.py:3: changed while the program ran", "DataLoader(..., num_workers=4)");
}

TEST_F(Apply, NamesExpressionToChangeByHand) {
  folder_.write("train.py",
                "from torch.utils.data import DataLoader\n"
                "loader = DataLoader(photos, num_workers=args.workers)\n");
  save(2);
  expect_by_hand("gives num_workers by an expression (args.workers)",
                 "train.py:2  num_workers=4 in place of args.workers");
}

TEST_F(Apply, ChangesConstantOfModule) {
  const std::string text =
      "from torch.utils.data import DataLoader\n"
      "NUM_WORKERS = 2  # a guess\n"
      "loader = DataLoader(photos, batch_size=4, num_workers=NUM_WORKERS)\n";
  folder_.write("train.py", text + "print(NUM_WORKERS)\n");
  save(3);
  expect_by_hand("gives num_workers by an expression (NUM_WORKERS); NUM_WORKERS is used 2 times",
                 "train.py:3  num_workers=4 in place of NUM_WORKERS");
  folder_.write("train.py", text);
  save(3);
  const Ended ended = apply({"--write", "--yes"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("\n-NUM_WORKERS = 2  # a guess\n+NUM_WORKERS = 4  # a guess\n"));
  EXPECT_THAT(ended.err, HasSubstr("train.py:2\n"));
  EXPECT_THAT(folder_.read("train.py"), EndsWith("num_workers=NUM_WORKERS)\n"));
}

TEST_F(Apply, RefusesFilesThatItCannotEdit) {
  folder_.write("train.py", "x = (\n");
  save();
  expect_by_hand("train.py:3: cannot be parsed by Python 3", "num_workers=4");
  save(3, {}, {{"file", "<ipython-input-3-1f>"}});
  expect_by_hand("is a cell of a notebook", "num_workers=4");
  save(3, {}, {{"file", "/tmp/ipykernel_12/34.py"}});
  expect_by_hand("is a cell of a notebook", "num_workers=4");
  save(3, {}, {{"file", folder_.path("missing.py")}});
  expect_by_hand("cannot be read here", "num_workers=4");
  save(3, {}, {{"file", "/dev/zero"}});
  expect_by_hand("cannot be read here", "num_workers=4");
}

TEST_F(Apply, SaysThatPythonIsMissing) {
  expect_by_hand("cannot be parsed without Python", "num_workers=4",
                 {"--python", "/no/such/python"});
  expect_by_hand("cannot be parsed, as /bin/false failed", "num_workers=4",
                 {"--python", "/bin/false"});
}

TEST_F(Apply, SaysThatFileIsReadOnly) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  ASSERT_EQ(::chmod(program_.c_str(), 0444), 0);
  const Ended ended = apply({"--write", "--yes"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("cannot be written (Permission denied)"));
}

TEST_F(Apply, FindsOnlyCallOfFramework) {
  const std::string text =
      "from transformers import Trainer, TrainingArguments\n"
      "arguments = TrainingArguments(\n    'out',\n)\n"
      "Trainer(args=arguments).train()\n";
  folder_.write("train.py", text);
  save(5, {"accelerate", "transformers"}, {{"called", "transformers.trainer.train"}});
  const Ended ended = apply();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("\n+    dataloader_num_workers=4,\n"));
  folder_.write("train.py", text + "TrainingArguments('other')\n");
  save(5, {"accelerate", "transformers"}, {{"called", "transformers.trainer.train"}});
  expect_by_hand("has 2 calls of TrainingArguments", "TrainingArguments(dataloader_num_workers=4)");
}

TEST_F(Apply, SaysThatResultHasNoLine) {
  json result = json::parse(folder_.read("r.json"));
  result.erase("program");
  folder_.write("r.json", result.dump());
  expect_by_hand("apply: the result does not have the line", "num_workers=4");
}

TEST_F(Apply, ReportsThatThereIsNoFix) {
  const Ended made = run_binary({"run", "--engine", "model", "--cost", "decode=1ms", "--compute",
                                 "100ms", "--steps", "100", "--json", folder_.path("fine.json")});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const Ended ended = run_binary({"apply", folder_.path("fine.json")});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, StartsWith("Nothing to apply: "));
}

TEST_F(Apply, RejectsWrongFlags) {
  expect_refused({"apply"}, {{{result_, "--yes"}, "--yes: needs --write"},
                             {{result_, "--write"}, "there is no terminal to ask at"},
                             {{folder_.path("none.json")}, "none.json", 1},
                             {{result_, "more"}, "unexpected word"}});
}

TEST_F(Apply, NeedsRunWithoutResult) {
  const Environment other("XDG_CACHE_HOME", folder_.path("other"));
  expect_refused({"apply"}, {{{}, "last: no run's result is kept", 1}});
}

TEST_F(Apply, AsksAtTerminal) {
  const auto at_terminal = [&](const char* key) {
    return run_program("/usr/bin/env",
                       {"python3", LOADERSCOPE_SOURCE_DIR "/tests/tools/at_terminal.py",
                        "expect=[y/N] ", key, "--", binary(), "apply", result_, "--write"});
  };
  EXPECT_THAT(at_terminal(R"(type=n\n)").out, HasSubstr("nothing is changed"));
  EXPECT_EQ(folder_.read("train.py"), kProgram);
  EXPECT_THAT(at_terminal(R"(type=y\n)").out, HasSubstr("changed "));
  EXPECT_THAT(folder_.read("train.py"), HasSubstr("num_workers=4"));
}

}  // namespace
}  // namespace loaderscope::testing_cli

// Settings of a project: pyproject.toml and loaderscope.toml, as their user meets them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/run_binary.h"

namespace loaderscope::testing_cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kModelSettings = "engine = \"model\"\nsteps = 50\ncost = [\"decode=4ms\"]\n";

// A repository with a file of settings, and a folder in it.
class ProjectSettings : public testing::Test {
 protected:
  ProjectSettings() {
    fs::create_directories(folder_.path("repo/.git"));
    fs::create_directories(folder_.path("repo/sub"));
  }
  void write(const std::string& text, const std::string& file = "loaderscope.toml") {
    folder_.write("repo/" + file, text);
  }
  // Runs the program in a folder of the repository.
  Ended run(const Words& words, const std::string& where = "repo") {
    Words all = {"-C", folder_.path(where), "XDG_CACHE_HOME=" + folder_.path("cache"), binary()};
    all.insert(all.end(), words.begin(), words.end());
    return run_program("/usr/bin/env", all);
  }
  json config(Words words, const std::string& where = "repo") {
    words.insert(words.end(), {"--json", "-"});
    const Ended ended = run(words, where);
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    return json::parse(ended.out)["config"];
  }
  std::string project_error(const std::string& text, const Words& words = {"run"}) {
    write(text);
    const Ended ended = run(words);
    EXPECT_EQ(ended.exit_code, 64) << ended.out;
    return ended.err;
  }

  const TestFolder folder_;
};

TEST_F(ProjectSettings, ReadsFlagsThatCommandLineOverrides) {
  write(kModelSettings + "num-workers = 3\n[run]\nnum-workers = 4\nbatch-size = 16\n");
  const Ended plain = run({"run"});
  EXPECT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_THAT(plain.err, HasSubstr("loaderscope: settings from loaderscope.toml"));
  const json own = config({"run"});
  EXPECT_EQ(own["num_workers"], 4);
  EXPECT_EQ(own["batch_size"], 16);
  EXPECT_EQ(own["steps"], 50);
  EXPECT_EQ(config({"run", "--num-workers", "2"})["num_workers"], 2);
  EXPECT_EQ(config({"run", "--duration", "1s"})["steps"], 0);
}

TEST_F(ProjectSettings, PrefersScenario) {
  write(kModelSettings + "num-workers = 3\n");
  const std::string scenario = folder_.write("x.conf", "num-workers = 5\n");
  EXPECT_EQ(config({"run", "--scenario", scenario})["num_workers"], 5);
}

TEST_F(ProjectSettings, IgnoresFileByFlag) {
  write("steps = 50\n");
  const Ended ended = run({"run", "--no-project", "--engine", "model", "--cost", "decode=1ms"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.err, Not(HasSubstr("settings from")));
  write("stps = 50\n");
  EXPECT_EQ(run({"run", "--no-project", "--engine", "model", "--cost", "decode=1ms"}).exit_code, 0);
}

TEST_F(ProjectSettings, RunsProgramFromSubfolder) {
  write("command = [\"sh\", \"where.sh\"]\n");
  folder_.write("repo/where.sh", "pwd > \"$OUT\"\n");
  const std::string out = folder_.path("out");
  const Ended ended =
      run_program("/usr/bin/env", {"-C", folder_.path("repo/sub"), "OUT=" + out,
                                   "XDG_CACHE_HOME=" + folder_.path("cache"), binary(), "run"});
  EXPECT_THAT(ended.err, HasSubstr("settings from ../loaderscope.toml, which runs: sh where.sh"));
  EXPECT_EQ(fs::path(folder_.read("out").substr(0, folder_.read("out").find('\n'))).filename(),
            "repo");
  const Ended other = run({"run", "--", "sh", "-c", "pwd > " + out}, "repo/sub");
  EXPECT_THAT(folder_.read("out"), HasSubstr("repo/sub")) << other.err;
}

TEST_F(ProjectSettings, SplitsCommandInOneText) {
  write("command = \"sh -c 'echo two words > out'\"\n");
  run({"run"});
  EXPECT_EQ(folder_.read("repo/out"), "two words\n");
}

TEST_F(ProjectSettings, KeepsProgramForRunsOfNothingElse) {
  write("command = \"python train.py\"\n");
  const Ended ended = run({"run", "--engine", "model", "--cost", "decode=1ms", "--steps", "50"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

TEST_F(ProjectSettings, ReadsPathsFromFolderOfFile) {
  write("engine = \"model\"\nsteps = 50\ncost = [\"decode=4ms\"]\njson = \"r.json\"\n");
  EXPECT_EQ(run({"run"}, "repo/sub").exit_code, 0);
  EXPECT_TRUE(fs::exists(folder_.path("repo/r.json")));
}

TEST_F(ProjectSettings, LeavesComparedResultsAlone) {
  write(kModelSettings);
  const std::string a = folder_.path("a.json");
  EXPECT_EQ(run({"run", "--json", a}).exit_code, 0);
  const Ended compared = run({"compare", a, a});
  EXPECT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_THAT(compared.err, Not(HasSubstr("settings from")));
}

TEST_F(ProjectSettings, AppliesToCommandsThatHaveTheFlag) {
  write(kModelSettings + "budget = \"5m\"\n[tune]\nwithin = \"2%\"\n");
  EXPECT_EQ(config({"run", "--try"})["steps"], 50);
  const Ended sweep = run({"sweep", "--vary", "num-workers=1,2"});
  EXPECT_EQ(sweep.exit_code, 0) << sweep.err;
  EXPECT_THAT(sweep.err, HasSubstr("settings from loaderscope.toml"));
}

TEST_F(ProjectSettings, NamesFileLineAndNearestFlag) {
  EXPECT_THAT(project_error("\nnum-worker = 3\n"),
              AllOf(HasSubstr("loaderscope.toml:2: num-worker is no setting of a command"),
                    HasSubstr("did you mean 'num-workers'?")));
  EXPECT_THAT(project_error("num-workers = \"many\"\n"),
              HasSubstr("loaderscope.toml:1: num-workers = many: expected"));
  EXPECT_THAT(project_error("num-workers = [1, 2]\n"), HasSubstr("num-workers has one value"));
  EXPECT_THAT(project_error("[rnu]\nsteps = 3\n"),
              AllOf(HasSubstr("loaderscope.toml:2: [rnu] is no command"), HasSubstr("'run'")));
  EXPECT_THAT(project_error("[tune]\ncommand = \"x\"\ntry = true\n"),
              HasSubstr("loaderscope.toml:3: try is no setting"));
  EXPECT_THAT(project_error("steps = \n"), HasSubstr("loaderscope.toml:1: no TOML"));
  EXPECT_THAT(project_error("scenario = \"x\"\n"), HasSubstr("scenario is no setting"));
}

TEST_F(ProjectSettings, RejectsMissingFolder) {
  const Ended ended = run({"run", "--directory", "none", "--", "true"});
  EXPECT_EQ(ended.exit_code, 64);
  EXPECT_THAT(ended.err, HasSubstr("directory = none: there is no such folder"));
  EXPECT_EQ(run({"run", "--directory", "x", "--engine", "model"}).exit_code, 64);
}

}  // namespace
}  // namespace loaderscope::testing_cli

// loaderscope compare, as its user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/run_script.h"
#include "cli/torch_python.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Runs of one side are equal in virtual time.
Words exact(const Words& more) {
  Words words = {"compare", "--engine", "model", "--num-workers", "2",          "--batch-size",
                 "8",       "--steps",  "50",    "--cost",        "augment=1ms"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(Compare, NamesTheStageThatIsSlower) {
  const Ended ended = run_binary(exact({"--a", "--cost decode=2ms", "--b", "--cost decode=2.2ms"}));
  EXPECT_EQ(ended.exit_code, 2) << ended.err;
  EXPECT_THAT(ended.out, StartsWith("SLOWER: decode +10.0 % (+10.0 to +10.0) per sample"));
}

TEST(Compare, ReportsEqualSidesAsSame) {
  const Ended ended = run_binary(exact({"--a", "--cost decode=2ms", "--b", "--cost decode=2ms"}));
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, StartsWith("SAME within"));
}

TEST(Compare, PassesFasterSide) {
  const Ended ended = run_binary(exact({"--a", "--cost decode=2ms", "--b", "--cost decode=1ms"}));
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, StartsWith("FASTER: decode -50.0 %"));
}

TEST(Compare, SaysWhetherItMatters) {
  const Words slower = {"--a",       "--cost decode=2ms", "--b",     "--cost decode=2.2ms",
                        "--fail-on", "matters",           "--demand"};
  Words roomy = slower, tight = slower;
  roomy.emplace_back("1000/s:8workers");
  tight.emplace_back("2600/s:8workers");
  const Ended fine = run_binary(exact(roomy)), red = run_binary(exact(tight));
  EXPECT_EQ(fine.exit_code, 0);
  EXPECT_THAT(fine.out, HasSubstr("the GPU stays the limit; their margin goes from"));
  EXPECT_EQ(red.exit_code, 2);
  EXPECT_THAT(red.out, HasSubstr("the GPU waits for B"));
}

TEST(Compare, KeepsEveryRun) {
  const Ended ended = run_binary(exact({"--b", "--cost decode=2ms", "--json", "-"}));
  const json result = json::parse(ended.out);
  EXPECT_EQ(result["schema"], "loaderscope.compare/1");
  EXPECT_EQ(result["runs"].size(), 4U);
  EXPECT_EQ(result["verdict"], "worse");
  EXPECT_EQ(result["notes"], json::array());
  const Ended more = run_binary(exact({"--b", "--cost decode=2ms", "--pairs", "8", "--json", "-"}));
  EXPECT_THAT(json::parse(more.out)["notes"].dump(), HasSubstr("2 say all, and not 8"));
  EXPECT_GT(result["runs"][0]["quantities"]["samples-per-s"], 0);
  EXPECT_EQ(result["arms"][1]["what"], "--cost decode=2ms");
}

TEST(Compare, ShowsSavedResultInOtherForms) {
  const TestFolder folder;
  const std::string saved = folder.path("c.json"), xml = folder.path("c.xml");
  const Ended ended = run_binary(exact({"--b", "--cost decode=2ms", "--json", saved}));
  EXPECT_EQ(run_binary({"report", saved}).out, ended.out);
  const Ended comment = run_binary({"report", saved, "--format", "markdown"});
  EXPECT_EQ(comment.exit_code, 0);
  EXPECT_THAT(comment.out, StartsWith("<!-- loaderscope-gate -->\n**:red_circle: SLOWER: "));
  EXPECT_THAT(comment.out, HasSubstr("\nloaderscope compare --b '--cost decode=2ms' --engine"));
  for (int i = 0; i < 2; ++i)  // the second call replaces the file
    EXPECT_EQ(run_binary({"report", saved, "--format", "junit", "--output", xml}).exit_code, 0);
  EXPECT_THAT(folder.read("c.xml"), HasSubstr("<testcase "));
  EXPECT_THAT(run_binary({"report", saved, "--format", "annotations"}).out, StartsWith("::error "));
  EXPECT_THAT(run_binary({"report", saved, "--format", "csv"}).out, StartsWith("case,name,unit,"));
  const Ended trace = run_binary({"report", saved, "--format", "chrome"});
  EXPECT_EQ(trace.exit_code, 64);
  EXPECT_THAT(trace.err, HasSubstr("no such form of a result of compare; give table, brief, json"));
}

TEST(Compare, PassesAcceptedSlowdownUntilItExpires) {
  const TestFolder folder;
  const auto with = [&](const std::string& line) {
    return run_binary(exact({"--a", "--cost decode=2ms", "--b", "--cost decode=2.2ms", "--accepted",
                             folder.write("accepted.conf", line)}));
  };
  const Ended fine = with("decode = 12% until 2999-12-31 by ana: the new crop is wanted\n");
  EXPECT_EQ(fine.exit_code, 0) << fine.out;
  EXPECT_THAT(fine.out, StartsWith("SLOWER, as accepted: decode +10.0 %"));
  EXPECT_THAT(fine.out, HasSubstr("decode: accepted: up to 12 % until 2999-12-31 by ana: the new"));
  const Ended past = with("decode = 12% until 2001-12-31 by ana: the new crop is wanted\n");
  EXPECT_EQ(past.exit_code, 2);
  EXPECT_THAT(past.out, HasSubstr("decode: no longer accepted: was up to 12 % until 2001-12-31"));
  EXPECT_EQ(with("decode = 12%\n").exit_code, 64);
  EXPECT_EQ(run_binary(exact({"--b", "", "--accepted", "/nowhere/x"})).exit_code, 64);
}

// Runs the program with a cache inside `folder`.
Ended with_cache(const TestFolder& folder, const Words& words) {
  Words all = {"XDG_CACHE_HOME=" + folder.path("cache"), binary()};
  all.insert(all.end(), words.begin(), words.end());
  return run_program("/usr/bin/env", all);
}

TEST(Compare, ComparesTwoSavedResults) {
  const TestFolder folder;
  const auto result = [&](const std::string& name, const std::string& cost) {
    const std::string path = folder.path(name);
    with_cache(folder, {"run", "--engine", "model", "--steps", "50", "--cost", cost, "--seed", "3",
                        "--json", path});
    return path;
  };
  const std::string a = result("a", "decode=2ms"), b = result("b", "decode=2ms");
  const std::string c = result("c", "decode=3ms");
  const Ended open = with_cache(folder, {"compare", a, b, "--cannot-tell", "fail"});
  EXPECT_EQ(open.exit_code, 0) << open.err;  // both results are equal in virtual time
  EXPECT_THAT(open.out, StartsWith("SAME within"));
  EXPECT_THAT(open.out, HasSubstr("bytes read ="));
  const Ended other = with_cache(folder, {"compare", a, c});
  EXPECT_EQ(other.exit_code, 2) << other.err;
  EXPECT_THAT(other.out, StartsWith("SLOWER: B gives "));
  EXPECT_THAT(other.out, HasSubstr("settings that differ: cost decode=2ms -> decode=3ms"));
  EXPECT_THAT(other.out, HasSubstr("decode per sample"));
  EXPECT_EQ(with_cache(folder, {"compare", a}).exit_code, 64);
  EXPECT_EQ(with_cache(folder, {"compare", a, b, "--workers", "2"}).exit_code, 64);
  EXPECT_EQ(with_cache(folder, {"compare", a, folder.path("none")}).exit_code, 1);
}

TEST(Compare, RefusesWhatNamesNoTwoArms) {
  const std::vector<Refused> all = {
      {{"compare"}, "give two of one kind"},
      {{"compare", "--a", "", "--ref-a", "main"}, "give two of one kind"},
      {{"compare", "--a", "--wrokers 2"}, "--a: --wrokers: unknown flag; did you mean '--workers'"},
      {{"compare", "--a", "--workers 2", "--pairs", "2"}, "--pairs 2: expected 6 or more"},
      {{"compare", "--a", "--workers 2", "--fail-on", "matters"}, "give --demand"},
      {{"compare", "--a", "--workers 2", "--fail-on", "x"}, "expected slower or matters"},
      {{"compare", "--a", "--workers 2", "--demand", "7"}, "such as 1786/s:8workers"},
      {{"compare", "--a", "--workers 2", "--band", "3"}, "expected a share"},
      {{"compare", "--a", "--workers 2", "--build", "make"}, "--build: is for --ref-a"},
      {{"compare", "--ref-b", "main"}, "give --ref-a"},
      {{"compare", "--ref-a", "main"}, "nothing of a commit would be run"},
      {{"compare", "--binary-a", "/nowhere/x"}, "there is no such file"},
      {{"compare", "--a", "--batch-size 0"}, "A: batch-size = 0: expected at least 1"},
      {{"compare", "--a", "--prove"}, ""},
  };
  for (const Refused& one : all) {
    const Ended ended = run_binary(one.words);
    EXPECT_EQ(ended.exit_code, one.exit_code) << one.message << "\n" << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(one.message));
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  }
}

TEST(Compare, SuggestsLongerBudget) {
  const Ended ended = run_binary({"compare", "--a", "", "--b", "--workers 2", "--device", "null",
                                  "--cost", "decode=1ms", "--budget", "2s"});
  EXPECT_EQ(ended.exit_code, 64);
  EXPECT_THAT(ended.err, HasSubstr("--budget 2s: is too short for 6 pairs of runs of"));
  EXPECT_THAT(ended.err, HasSubstr("give --budget "));
}

TEST(Compare, FailsWhenCandidateFails) {
  const TestFolder folder;
  const std::string broken =
      write_program(folder, "broken", "#!/bin/sh\necho 'loaderscope: no luck today' >&2\nexit 7\n");
  const Ended ended = run_binary(exact({"--binary-b", broken}));
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("B: the run ended with exit code 7: no luck today"));
}

TEST(Compare, EndsHangingCandidate) {
  const TestFolder folder;
  const std::string hanging = write_program(folder, "hanging", "#!/bin/sh\nsleep 600\n");
  const Ended ended = run_binary(exact({"--binary-b", hanging, "--budget", "1s"}));
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("B: a run took longer than 11.00 s; look at it with"));
}

TEST(Compare, FailsOnInvalidResultOfCandidate) {
  const TestFolder folder;
  const std::string liar = write_program(
      folder, "liar",
      "#!/bin/sh\nwhile [ \"$1\" != --json ]; do shift; done\necho '{\"x\"' > \"$2\"\n");
  const Ended ended = run_binary(exact({"--binary-b", liar}));
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("loaderscope: B: "));
}

// A repository of two commits, in which `sh` works.
class CompareRefs : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(repository());
    sh("git init -q -b main . && git config user.email a@b.c && git config user.name a && "
       "echo exit 3 > job.sh && git add -A && git commit -qm one && echo 2 > second && "
       "git add -A && git commit -qm two");
  }
  std::string repository() const { return folder_.path("repository"); }
  Ended sh(const std::string& command) const {
    return run_program("/bin/sh", {"-c", "cd '" + repository() + "' && " + command});
  }
  Ended compare(const std::string& flags) const {
    return sh("exec '" + binary() + "' compare " + flags);
  }
  // Expects no work tree except the repository itself.
  void expect_no_work_trees() const {
    const Ended trees = sh("git worktree list | wc -l");
    EXPECT_EQ(trees.out, "1\n");
  }

  TestFolder folder_;
};

TEST_F(CompareRefs, WritesGateFilesAndReplacesThemOnlyByForce) {
  const std::string init = "exec '" + binary() + "' ci init";
  const Ended written = sh(init + " --loader data/train.py:loader");
  EXPECT_EQ(written.exit_code, 0) << written.err;
  EXPECT_THAT(written.out, StartsWith("Wrote .github/workflows/loaderscope.yml "));
  EXPECT_THAT(written.out, HasSubstr("\nNext:\n"));
  const std::string conf = "repository/.loaderscope/ci.conf";
  EXPECT_THAT(folder_.read(conf), HasSubstr("\nloader = data/train.py:loader\n"));
  EXPECT_THAT(folder_.read("repository/.github/actions/loaderscope/action.yml"),
              HasSubstr("using: composite"));
  const Ended again = sh(init);
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, HasSubstr("is there already"));
  EXPECT_THAT(folder_.read(conf), HasSubstr("data/train.py:loader"));
  EXPECT_EQ(sh(init + " --force").exit_code, 0);
  EXPECT_THAT(folder_.read(conf), HasSubstr("\nloader = train.py:make_loader\n"));
  const Ended compared = compare("--scenario .loaderscope/ci.conf --ref-a nowhere");
  EXPECT_THAT(compared.err, HasSubstr("nowhere: there is no such commit here"));
}

// In a folder that is kept, a comparison that fails must not be reported as the one before it.
TEST_F(CompareRefs, RemovesEarlierAnswersInShellGate) {
  const std::string path =
      "export PATH='" + std::filesystem::path(binary()).parent_path().string() + "':\"$PATH\"; ";
  ASSERT_EQ(sh(path + "loaderscope ci init > /dev/null && loaderscope ci init --shell > ci.sh && "
                      "echo '{}' > compare.json && echo old > compare.md")
                .exit_code,
            0);
  const Ended ended = sh(path + "sh ci.sh nowhere");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("nowhere: there is no such commit here"));
  EXPECT_EQ(sh("ls compare.json compare.md").out, "");
}

// A fork's own pipeline fetches from the fork.
TEST_F(CompareRefs, FindsBaseOfGitlabJobWithoutRemote) {
  const std::string job = run_binary({"ci", "init", "--gitlab"}).out;
  EXPECT_THAT(job, Not(HasSubstr("git fetch")));
  const std::size_t begin = job.find("base=");
  ASSERT_NE(begin, job.npos);
  const std::string line = job.substr(begin, job.find('\n', begin) - begin) + "; echo \"$base\"";
  const std::string branch_base = "CI_MERGE_REQUEST_DIFF_BASE_SHA=abc; ";
  EXPECT_EQ(sh(branch_base + line).out, "abc\n");
  EXPECT_EQ(sh(branch_base + "CI_MERGE_REQUEST_TARGET_BRANCH_SHA=''; " + line).out, "abc\n");
  EXPECT_EQ(sh(branch_base + "CI_MERGE_REQUEST_TARGET_BRANCH_SHA=def; " + line).out, "def\n");
}

TEST_F(CompareRefs, PrintsGateForShellAndGitlab) {
  EXPECT_THAT(run_binary({"ci", "init", "--shell"}).out, StartsWith("#!/bin/sh\n"));
  EXPECT_THAT(run_binary({"ci", "init", "--gitlab"}).out, HasSubstr("\nloaderscope:\n"));
  EXPECT_EQ(run_binary({"ci", "init", "--gitlab", "--shell"}).exit_code, 64);
  const Ended elsewhere = sh("cd .. && exec '" + binary() + "' ci init");
  EXPECT_EQ(elsewhere.exit_code, 1);
  EXPECT_THAT(elsewhere.err, HasSubstr("is not the top of a git repository"));
}

TEST_F(CompareRefs, ReportsMissingCommit) {
  const Ended ended = compare("--ref-a nowhere -- sh job.sh");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("nowhere: there is no such commit here; look at 'git branch"));
  EXPECT_THAT(compare("--bisect HEAD HEAD~1 -- sh job.sh").err,
              HasSubstr("there is no commit from HEAD to HEAD~1; give the older one first"));
  EXPECT_THAT(compare("--bisect HEAD -- sh job.sh").err, HasSubstr("--bisect: give two commits"));
  expect_no_work_trees();
}

TEST_F(CompareRefs, ReportsShallowClone) {
  sh("git clone -q --depth 1 file://" + repository() + " ../shallow");
  const Ended ended =
      sh("cd ../shallow && exec '" + binary() + "' compare --ref-a HEAD~1 -- sh job.sh");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("this clone is shallow"));
}

TEST_F(CompareRefs, ReportsMissingRepository) {
  const Ended ended = sh("cd / && exec '" + binary() + "' compare --ref-a main -- true");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("the current folder is in no git repository"));
}

TEST_F(CompareRefs, ReportsFailedBuildAndLeavesNothing) {
  const Ended ended = compare("--ref-a HEAD~1 --build 'test -e second' -- sh job.sh");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("--build at HEAD~1 ("));
  EXPECT_THAT(ended.err, HasSubstr(": ended with exit code 1, and said nothing; try it in a work"));
  expect_no_work_trees();
}

TEST_F(CompareRefs, ReportsFailedProgramAndLeavesNothing) {
  const Ended ended = compare("--ref-a HEAD~1 -- sh job.sh");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("loaderscope: A: the run ended with exit code 1"));
  sh("echo 'echo words of its own; exit 3' > job.sh && git commit -qam words");
  EXPECT_THAT(compare("--ref-a HEAD -- sh job.sh").err,
              HasSubstr("words of its own\nloaderscope: A"));
  expect_no_work_trees();
}

// The build looks for a file of the submodule.
TEST_F(CompareRefs, ChecksOutSubmodules) {
  sh("git init -q ../module && cd ../module && git config user.email a@b.c && git config user.name "
     "a && touch part && git add -A && git commit -qm part");
  const std::string allowed =
      "export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=protocol.file.allow GIT_CONFIG_VALUE_0=always "
      "&& ";
  sh(allowed + "git submodule --quiet add ../module module && git commit -qam module");
  const std::string built = " --build 'test -e module/part' -- sh job.sh";
  const Ended ended =
      sh(allowed + "exec '" + binary() + "' compare --ref-a HEAD --ref-b HEAD" + built);
  EXPECT_THAT(ended.err, HasSubstr("loaderscope: A: the run ended with exit code 1"));
  sh("rm -rf ../module");
  EXPECT_THAT(sh("exec '" + binary() + "' compare --ref-a HEAD" + built).err,
              HasSubstr("HEAD: its submodules cannot be had: "));
  expect_no_work_trees();
}

// The folder is missing, as on a disk that is not mounted.
TEST_F(CompareRefs, KeepsTheUsersWorkTreeWhoseFolderIsAway) {
  sh("git worktree add -q ../mine && mv ../mine ../away");
  const std::string flags = "--ref-a HEAD~1 --build 'exit 1' -- sh job.sh";
  EXPECT_EQ(compare(flags).exit_code, 1);
  EXPECT_THAT(sh("git worktree list --porcelain").out, HasSubstr("/mine\n"));
  sh("mv ../away ../mine");
  EXPECT_EQ(sh("git -C ../mine status --porcelain").exit_code, 0);
  EXPECT_EQ(sh("git worktree list | wc -l").out, "2\n");
}

TEST_F(CompareRefs, RemovesItsOwnWorkTreeWhateverABuildDidToIt) {
  for (const char* build : {"rm -r .git; exit 1", "echo x > .git; exit 1", "rm -rf $PWD; exit 1"})
    compare("--ref-a HEAD~1 --build '" + std::string(build) + "' -- sh job.sh");
  expect_no_work_trees();
}

TEST_F(CompareRefs, RemovesADayLaterWhatAKilledComparisonLeft) {
  const std::string add =
      "mkdir -p ../loaderscope-compare-XyZ012 && git worktree add -q --detach "
      "../loaderscope-compare-XyZ012/";
  sh(add + "0 && " + add +
     "1 && rm -rf ../loaderscope-compare-XyZ012 && "
     "touch -d '2 days ago' .git/worktrees/0/gitdir");
  compare("--ref-a HEAD~1 --build 'exit 1' -- sh job.sh");
  const std::string left = sh("git worktree list --porcelain").out;
  EXPECT_THAT(left, Not(HasSubstr("XyZ012/0")));
  EXPECT_THAT(left, HasSubstr("XyZ012/1"));
}

TEST_F(CompareRefs, LeavesNoWorkTreeAfterInterrupt) {
  RunningBinary running(
      {"-c", "cd '" + repository() + "' && exec '" + binary() +
                 "' compare --ref-a HEAD~1 --build 'touch ../built; sleep 60' -- sh job.sh"},
      "", "/bin/sh");
  running.wait_until_it_catches(SIGINT);
  for (int i = 0; i < 1000 && sh("git worktree list | wc -l").out == "1\n"; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  running.send(SIGINT);
  const Ended ended = running.wait();
  EXPECT_EQ(ended.exit_code, 130) << ended.err;
  expect_no_work_trees();
}

// Two commits of a program whose loader takes as many rounds of work for a sample.
class CompareLoaders : public CompareRefs {
 protected:
  void SetUp() override {
    if (run_program("/bin/sh", {"-c", "command -v python3"}).exit_code != 0)
      GTEST_SKIP() << "no python3";
    CompareRefs::SetUp();
    commit_twice(R"(
class Loader:
    def __len__(self):
        return 1250
    def __iter__(self):
        for i in range(len(self)):
            yield [self.sample(8 * i + j) for j in range(8)]
    def sample(self, i):
        x = i + 2.0
        for _ in range(ROUNDS):
            x = x ** 0.5
        return x

def make_loader():
    return Loader()
)",
                 "1000", "10000");
  }
  void commit_twice(const std::string& program, const std::string& fast, const std::string& slow) {
    folder_.write("repository/train.py", program);
    sh("sed -i s/ROUNDS/" + fast + "/ train.py && git add -A && git commit -qm fast && sed -i s/" +
       fast + "/" + slow + "/ train.py && git commit -qam slow");
  }
};

TEST_F(CompareLoaders, FindsSlowerCommit) {
  const Ended ended = compare(
      "--ref-a HEAD~1 --anchor-ref HEAD~1 --anchor-limit 20% --loader train.py:make_loader "
      "--device null --pairs 6 --steps 200 --json -");
  EXPECT_EQ(ended.exit_code, 2) << ended.err;
  const json result = json::parse(ended.out);
  EXPECT_EQ(result["verdict"], "worse");
  EXPECT_EQ(result["blamed"], "opaque");
  EXPECT_EQ(result["pairs"]["counted"], 6);
  EXPECT_EQ(result["arms"][1]["what"], "HEAD");
  EXPECT_THAT(result["sentence"].get<std::string>(), StartsWith("BEYOND THE LIMIT since HEAD~1 ("));
  EXPECT_GT(result["anchor"]["change"]["mean"], 0.2);
  for (const json& count : result["counts"]) EXPECT_FALSE(count["changed"]) << count;
  expect_no_work_trees();
}

TEST_F(CompareLoaders, ReportsSameIfTheLoaderReadsNoChangedFile) {
  sh("echo words > README.md && git add -A && git commit -qm words");
  const std::string flags = "--ref-a HEAD~1 --loader train.py:make_loader --device null --json -";
  const Ended ended = compare(flags);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  const json result = json::parse(ended.out);
  EXPECT_EQ(result["sentence"],
            "SAME by construction: the loader reads nothing of what changed (README.md)");
  EXPECT_TRUE(result["runs"].empty());
  sh("echo more >> README.md");
  const json dirty = json::parse(compare(flags).out);
  EXPECT_EQ(dirty["notes"][0], "changes that are in no commit yet are not compared");
  sh("sed -i s/10000/10001/ train.py && git commit -qam more");
  const json measured = json::parse(compare(flags + " --pairs 6 --steps 20").out);
  EXPECT_EQ(measured["same_because"], "");
  EXPECT_EQ(measured["runs"].size(), 12U);
}

// One of four commits is slower. Commits that change no file of the loader need no run.
TEST_F(CompareLoaders, NamesFirstSlowerCommitInBisection) {
  sh("git reset -q --hard HEAD~1 && git tag good && echo 1 > a.md && git add -A && "
     "git commit -qm words && sed -i s/1000/10000/ train.py && git commit -qam 'many roots' && "
     "echo 2 > b.md && git add -A && git commit -qm more && echo 3 > c.md && git add -A && "
     "git commit -qm 'still more'");
  const Ended ended = compare(
      "--bisect good HEAD --loader train.py:make_loader --device null --pairs 6 --steps 50 --json "
      "-");
  EXPECT_EQ(ended.exit_code, 2) << ended.err;
  const json result = json::parse(ended.out);
  EXPECT_EQ(result["first_slower"]["subject"], "many roots");
  EXPECT_EQ(result["first_slower"]["others"], 0);
  EXPECT_THAT(result["sentence"].get<std::string>(), StartsWith("FIRST SLOWER: "));
  expect_no_work_trees();
}

class CompareTorch : public CompareLoaders {
 protected:
  void SetUp() override {
    if (!torch_python_has("torch")) GTEST_SKIP() << "no Python with torch";
    CompareRefs::SetUp();
    commit_twice(R"(
import torch
from torch.utils.data import DataLoader, Dataset

class Data(Dataset):
    def __len__(self):
        return 10_000
    def __getitem__(self, i):
        x = torch.ones(3, 32, 32)
        for _ in range(ROUNDS):
            x = x.sqrt()
        return x

def make_loader():
    torch.set_num_threads(1)
    return DataLoader(Data(), batch_size=8, num_workers=1)
)",
                 "20", "200");
  }
};

// Runs the script of 'ci init --shell'.
TEST_F(CompareTorch, FindsSlowdownInGateOfCiInit) {
  const Ended written =
      sh("'" + binary() + "' ci init --loader train.py:make_loader && '" + binary() +
         "' ci init --shell > gate.sh && printf 'python = " + torch_python() +
         "\\nsteps = 100\\npairs = 6\\n' >> .loaderscope/ci.conf");
  ASSERT_EQ(written.exit_code, 0) << written.err;
  const std::string folder = binary().substr(0, binary().rfind('/'));
  const Ended ended = sh("PATH='" + folder + "':$PATH sh gate.sh HEAD~1");
  EXPECT_EQ(ended.exit_code, 2) << ended.err;
  EXPECT_THAT(ended.out, StartsWith("SLOWER: own code "));
  EXPECT_THAT(folder_.read("repository/compare.md"), StartsWith("<!-- loaderscope-gate -->"));
  EXPECT_THAT(folder_.read("repository/compare.xml"), HasSubstr("<failure "));
  EXPECT_THAT(
      run_binary({"report", folder_.path("repository/compare.json"), "--format", "annotations"})
          .out,
      StartsWith("::error title=loaderscope,file=train.py,line=1::SLOWER"));
}

}  // namespace
}  // namespace loaderscope::testing_cli

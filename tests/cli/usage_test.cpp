// Help, version, and what happens to words that mean nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/run_binary.h"
#include "loaderscope/settings.h"

namespace loaderscope::testing_cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// One sentence on standard error, nothing on standard output.
void expect_complaint(const std::vector<std::string>& words, int exit_code,
                      const std::string& part) {
  const Ended ended = run_binary(words);
  EXPECT_EQ(ended.exit_code, exit_code) << ended.err;
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, StartsWith("loaderscope: "));
  EXPECT_THAT(ended.err, EndsWith("\n"));
  EXPECT_EQ(ended.err.find('\n'), ended.err.size() - 1) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr(part));
}

TEST(Usage, AcceptsNoProgressInLongCommands) {
  for (const char* command : {"run", "sweep", "tune", "compare", "what-if", "selftest"})
    EXPECT_THAT(run_binary({command, "--help-all"}).out, HasSubstr("--no-progress")) << command;
  for (const char* part : {"make", "info", "pack"})
    EXPECT_THAT(run_binary({"data", part, "--help"}).out, HasSubstr("--no-progress")) << part;
  EXPECT_EQ(run_binary({"run", "--engine", "model", "--cost", "decode=8ms", "--no-progress"}).err,
            "");
}

TEST(Usage, ListsCommandsAndFlagsInHelp) {
  const Ended help = run_binary({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* command : {"run", "report", "list"}) EXPECT_THAT(help.out, HasSubstr(command));
  const Ended run_help = run_binary({"run", "--help-all"});
  EXPECT_EQ(run_help.exit_code, 0);
  EXPECT_EQ(run_help.err, "");
  EXPECT_THAT(run_help.out, HasSubstr("--scenario FILE"));
  for (const Field& field : fields()) {
    EXPECT_THAT(run_help.out, HasSubstr("--" + std::string(field.name)));
    EXPECT_THAT(run_help.out, HasSubstr(std::string(field.group) + ":"));
    for (std::string_view alias : field.aliases) {
      EXPECT_THAT(run_help.out, HasSubstr("--" + std::string(alias)));
    }
  }
}

std::string next_words(const std::vector<std::string>& typed) {
  std::string line = "loaderscope";
  for (const std::string& word : typed) line += "\n" + word;
  const Ended ended = run_binary({"completion", "words", line});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  return ended.out;
}

TEST(Usage, CompletesWordsForShells) {
  EXPECT_THAT(next_words({""}), HasSubstr("what-if\n"));
  EXPECT_EQ(next_words({"sw"}), "sweep\n");
  EXPECT_THAT(next_words({"data", ""}), HasSubstr("pack\n"));
  EXPECT_EQ(next_words({"run", "--num-w"}), "--num-workers\n");
  EXPECT_THAT(next_words({"run", "--engine", ""}), HasSubstr("model\n"));
  EXPECT_EQ(next_words({"run", "--data", ""}), "");  // a path: the shell's own
  EXPECT_EQ(next_words({"run", "--engine=mo"}), "--engine=model\n");
  EXPECT_EQ(next_words({"run", "--engine", "=", "mo"}), "model\n");  // bash splits the word at "="
  EXPECT_THAT(next_words({"run", "--engine", "="}), HasSubstr("model\n"));
  EXPECT_EQ(next_words({"what-if", "--set", "num-w"}), "num-workers=\n");
  EXPECT_EQ(next_words({"sweep", "-L", "num-w"}), "num-workers=\n");
  EXPECT_EQ(next_words({"run", "--require", "device.busy"}), "device.busy\ndevice.busy_s\n");
  EXPECT_EQ(next_words({"run", "--", "python", "--num-w"}), "");  // another program's
  EXPECT_EQ(next_words({"completion", "z"}), "zsh\n");
  EXPECT_THAT(next_words({"help", "g"}), HasSubstr("gate\n"));
  EXPECT_EQ(next_words({"list", "comparab"}), "comparability\n");
  EXPECT_EQ(next_words({"explain", "decode-b"}), "decode-bound\n");
  EXPECT_EQ(next_words({"explain", "requests.slow"}), "requests.slowed_by_others\n");
  EXPECT_EQ(next_words({"no-such", "x"}), "");
  for (const char* shell : {"bash", "zsh", "fish"})
    EXPECT_THAT(run_binary({"completion", shell}).out, HasSubstr("completion words "));
  expect_complaint({"completion", "csh"}, 64, "expected one of bash zsh fish");
}

TEST(Usage, ExplainsWords) {
  const std::string finding = run_binary({"explain", "decode-bound"}).out;
  EXPECT_THAT(finding, StartsWith("decode-bound (finding): "));
  for (const char* label : {"\nDo: ", "\nMeasured: ", "\nWrong when: "})
    EXPECT_THAT(finding, HasSubstr(label));
  EXPECT_THAT(run_binary({"explain", "read"}).out, StartsWith("read (cause): "));
  EXPECT_THAT(run_binary({"explain", "compute"}).out, StartsWith("compute (account): "));
  EXPECT_THAT(run_binary({"explain", "account.stall_s.read"}).out, HasSubstr("JSON of a run"));
  EXPECT_THAT(run_binary({"explain"}).out, HasSubstr("\nfinding:\n"));
  EXPECT_EQ(run_binary({"explain", "p99"}).out,
            "p99 (a word of answers): 99 % of the values are smaller.\n");
  for (const char* run_path :
       {"findings[].evidence", "first_batch.by_cause.decode", "queues.ready.get_wait_s"})
    EXPECT_THAT(run_binary({"explain", run_path}).out, HasSubstr("in the JSON of a run, "))
        << run_path;
  EXPECT_THAT(run_binary({"explain", "sizes"}).out, HasSubstr("in the JSON of 'plan', array"));
  EXPECT_THAT(run_binary({"explain", "sizes[].busy"}).out, HasSubstr("in the JSON of 'plan'"));
  EXPECT_THAT(run_binary({"explain", "queue-depth"}).out, HasSubstr("(a setting, --queue-depth)"));
  EXPECT_THAT(run_binary({"explain", "storage.bandwidth"}).out, HasSubstr("all readers share"));
  EXPECT_THAT(run_binary({"explain", "decode.speed"}).out, HasSubstr("how many times as fast"));
  expect_complaint({"explain", "decod.speed"}, 64, "decod.speed: is no row of");
  expect_complaint({"explain", "decode-bond"}, 64, "'decode-bound'");
  const std::string metric = run_binary({"explain", "requests.slowed_by_others"}).out;
  EXPECT_THAT(metric,
              StartsWith("requests.slowed_by_others (a metric): Fall of a request's rate "));
  EXPECT_THAT(metric, HasSubstr("\nWrong when: "));
}

TEST(Usage, AcceptsFlagsOfEarlierVersions) {
  const std::vector<std::string> run = {"run",    "--engine", "model",     "--cost", "decode=8ms",
                                        "--task", "sample",   "--workers", "2",      "--json",
                                        "-",      "--steps",  "20"};
  const auto config_with = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> words = run;
    words.insert(words.end(), flags.begin(), flags.end());
    const Ended ended = run_binary(words);
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    return nlohmann::json::parse(ended.out).at("config");
  };
  const auto config = config_with({"--window", "3", "--stall-after", "9s"});
  EXPECT_EQ(config.at("prefetch_depth"), 3);
  EXPECT_EQ(config.at("hang_after"), "9s");
  EXPECT_FALSE(config.contains("window"));
  EXPECT_EQ(config_with({"--prefetch-depth", "4", "--window", "3"}).at("prefetch_depth"), 4);
  for (const char* command : {"run", "sweep", "watch"}) {
    const std::string help = run_binary({command, "--help-all"}).out;
    EXPECT_THAT(help, HasSubstr("--hang-after"));
    EXPECT_THAT(help, Not(HasSubstr("--stall-after")));
    EXPECT_THAT(help, Not(HasSubstr("--window")));
  }
  EXPECT_EQ(next_words({"run", "--wind"}), "");
  expect_complaint({"watch", "--pid", "1", "--stall-after", "soon"}, 64, "--hang-after soon");
}

TEST(Usage, ExplainsWordsOfEarlierVersions) {
  EXPECT_THAT(run_binary({"explain", "serialisation-tax"}).out,
              StartsWith("serialisation-tax is now called slow-transport.\nslow-transport ("));
  EXPECT_THAT(run_binary({"explain", "gpu.held_share"}).out,
              StartsWith("gpu.held_share is now called gpu.throttled_share.\n"));
  EXPECT_THAT(run_binary({"explain", "config.stall_after"}).out,
              StartsWith("config.stall_after is now called config.hang_after.\n"));
  EXPECT_THAT(run_binary({"explain", "stall-after"}).out, StartsWith("hang-after (a setting"));
  EXPECT_THAT(run_binary({"explain", "trace"}).out, HasSubstr("import (engine"));
}

TEST(Usage, PrintsVersionInOneLine) {
  const Ended ended = run_binary({"--version"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_THAT(ended.out, HasSubstr("CUDA"));
  EXPECT_EQ(ended.out.find('\n'), ended.out.size() - 1);
}

TEST(Usage, NamesSchemasInVersionAsJson) {
  for (const Words& words : {Words{"--version", "--json"}, Words{"--json", "--version"}}) {
    const Ended ended = run_binary(words);
    ASSERT_EQ(ended.exit_code, 0) << ended.err;
    const auto version = nlohmann::json::parse(ended.out);
    EXPECT_EQ(version.at("name"), "loaderscope");
    EXPECT_THAT(version.at("schemas"), ::testing::Contains("loaderscope.run/1"));
  }
}

TEST(Usage, ShowsManualByTopicAndFlagsByCommand) {
  const Ended topics = run_binary({"help"});
  EXPECT_EQ(topics.exit_code, 0);
  EXPECT_EQ(topics.err, "");
  EXPECT_THAT(topics.out,
              HasSubstr("\nGuides\n  gpu-utilisation  Why is my GPU utilisation low?\n"));
  EXPECT_LT(topics.out.find("\nGuides\n"), topics.out.find("\nConcepts\n"));
  EXPECT_LT(topics.out.find("\nConcepts\n"), topics.out.find("\nReference\n"));
  const Ended topic = run_binary({"help", "workers"});
  EXPECT_EQ(topic.exit_code, 0);
  EXPECT_THAT(topic.out, StartsWith("# How many DataLoader workers do I need?\n\n"));
  EXPECT_EQ(run_binary({"help", "settings"}).out, topic.out);  // an old name
  EXPECT_EQ(run_binary({"help", "run"}).out, run_binary({"run", "--help"}).out);
  EXPECT_EQ(run_binary({"help", "data", "make"}).out, run_binary({"data", "make", "--help"}).out);
  expect_complaint({"help", "wrkers"}, 64, "; did you mean 'workers'?");
  expect_complaint({"help", "tnue"}, 64, "; did you mean 'tune'?");
  expect_complaint({"help", "data", "bake"}, 64, "data has no such command");
}

TEST(Usage, SuggestsCorrectionOfUnknownWords) {
  expect_complaint({"rn"}, 64, "rn: unknown command; did you mean 'run'?");
  expect_complaint({"bogus"}, 64, "bogus: unknown command; see loaderscope --help");
  expect_complaint({"bogus", "--help"}, 64, "bogus: unknown command; see loaderscope --help");
  expect_complaint({"gate", "--help"}, 64, "gate: unknown command; see loaderscope help gate");
  expect_complaint({"gate"}, 64, "gate: unknown command; see loaderscope help gate");
  expect_complaint({"run", "--prefetch-facto", "4"}, 64, "did you mean '--prefetch-factor'?");
  expect_complaint({"run", "--num_workers=4"}, 64, "did you mean '--num-workers'?");
  expect_complaint({"run", "--nope"}, 64, "see loaderscope run --help");
  expect_complaint({"--verson"}, 64, "did you mean '--version'?");
  expect_complaint({"run", "extra"}, 64, "extra: unexpected word");
  expect_complaint({"run", "run"}, 64, "run");
  expect_complaint({"list", "engin"}, 64, "did you mean 'engine'?");
}

TEST(Usage, NamesInvalidValues) {
  expect_complaint({"run", "--compute", "12"}, 64,
                   "--compute 12: expected a duration such as 12ms; did you forget the unit?");
  expect_complaint({"run", "--workers", "-4"}, 64, "--num-workers -4: expected a whole number");
  expect_complaint({"run", "--workers"}, 64, "a value is missing");
  expect_complaint({"run", "--workers="}, 64, "a value is missing");
  expect_complaint({"run", "--workers", ""}, 64, "expected a whole number");
  expect_complaint({"run", "--compute=nan"}, 64, "--compute nan");
  expect_complaint({"run", "--memory", "pined-slots"}, 64, "did you mean 'pinned-slots'?");
  expect_complaint({"run", "--shuffle=maybe"}, 64, "true false");
  expect_complaint({"run", "--cost", "deocde=8ms"}, 64, "did you mean 'decode'?");
  expect_complaint({"run", "--inject", "decode=8ms"}, 64, "--inject decode=8ms");
  expect_complaint({"run", "--compute", "1ms", "--require", "busy"}, 64, "--require busy");
  expect_complaint({"run", "--engine", "modle"}, 64, "did you mean 'model'?");
  expect_complaint({"run", "--compute", "1\nms"}, 64, "1\\x0ams");
  expect_complaint({"report"}, 64, "saved result is missing");
  expect_complaint({"report", "--schema", "sweeps"}, 64, "did you mean 'sweep'?");
  expect_complaint({"report", "x.json", "--schema", "sweep"}, 64, "leave out x.json");
  expect_complaint({"report", "x.json", "--format", "tabel"}, 64, "did you mean 'table'?");
}

TEST(Usage, NamesContradictions) {
  expect_complaint({"run"}, 64, "nothing takes any time; give --data, --cost or --compute");
  expect_complaint({"run", "--compute", "1ms", "--workers", "0", "--prefetch", "2"}, 64,
                   "prefetch-factor = 2");
  expect_complaint({"run", "--compute", "1ms", "--pin-memory", "--memory", "pageable"}, 64,
                   "pin-memory");
  expect_complaint({"run", "--compute", "1ms", "--steps", "5", "--duration", "1s"}, 64,
                   "steps = 5");
  expect_complaint({"run", "--compute", "1ms", "--batch-size", "0"}, 64,
                   "batch-size = 0: expected at least 1");
}

TEST(Usage, NamesFileAndLineOfScenarioErrors) {
  const TestFolder folder;
  const std::string path = folder.write("x.conf", "# comment\ncompute = 1ms\nprefetch-facto = 3\n");
  expect_complaint({"run", "--scenario", path}, 64,
                   path + ":3: prefetch-facto: unknown key; did you mean 'prefetch-factor'?");
  expect_complaint({"run", "--scenario", folder.path("none")}, 64, "No such file");
  expect_complaint({"run", "--scenario", folder.path(".")}, 64, "is a folder");
  expect_complaint({"run", "--scenario", binary()}, 64, binary());
}

TEST(List, ShowsEveryFamily) {
  const Ended ended = run_binary({"list"});
  EXPECT_EQ(ended.exit_code, 0);
  for (const char* word :
       {"engine (--engine)", "model", "pinned-slots", "read.decompress", "table", "synthetic"}) {
    EXPECT_THAT(ended.out, HasSubstr(word));
  }
  EXPECT_THAT(run_binary({"list", "--json", "memory"}).out, HasSubstr("\"pin-thread\""));
}

}  // namespace
}  // namespace loaderscope::testing_cli

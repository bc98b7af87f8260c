// Advice in the words of the framework that makes the loader.
#include "analysis/findings/frameworks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/findings/finding_input.h"
#include "unit/findings/users_code.h"

namespace loaderscope {
namespace {

using testing::HasSubstr;
using testing::Not;

using Packages = std::vector<std::string>;

RunRecord made_by(const Packages& packages) {
  RunRecord record;
  record.program = ProgramFacts{packages, {}, false, {}};
  return record;
}

struct FrameworkCase {
  const char* name;
  Packages made_by;
  std::string workers, order;
};

void PrintTo(const FrameworkCase& words, std::ostream* out) { *out << words.name; }

class FrameworkWords : public testing::TestWithParam<FrameworkCase> {};

TEST_P(FrameworkWords, NamesArgumentsOfFramework) {
  const RunRecord record = made_by(GetParam().made_by);
  EXPECT_EQ(loader_words(record, {"num_workers=8"}), GetParam().workers);
  EXPECT_EQ(loader_words(record, {"in_order=False"}), GetParam().order);
}

const FrameworkCase kWords[] = {
    {"plain", {"train"}, "DataLoader(..., num_workers=8)", "DataLoader(..., in_order=False)"},
    // Transformers lets accelerate prepare its loader.
    {"transformers",
     {"accelerate", "transformers"},
     "TrainingArguments(dataloader_num_workers=8)",
     "TrainingArguments(dataloader_in_order=False)"},
    {"lightning",
     {"train", "lightning"},
     "DataLoader(..., num_workers=8) in train_dataloader()",
     "DataLoader(..., in_order=False) in train_dataloader()"},
    {"lightning_by_its_older_name",
     {"train", "pytorch_lightning"},
     "DataLoader(..., num_workers=8) in train_dataloader()",
     "DataLoader(..., in_order=False) in train_dataloader()"},
    {"accelerate",
     {"accelerate", "train"},
     "DataLoader(..., num_workers=8), which prepare() is given",
     "DataLoader(..., in_order=False), which prepare() is given"},
    // The class that is called within train_dataloader().
    {"litdata",
     {"litdata", "train", "lightning"},
     "litdata.StreamingDataLoader(..., num_workers=8)",
     "litdata.StreamingDataLoader(..., in_order=False)"},
    {"timm",
     {"timm"},
     "create_loader(..., num_workers=8)",
     "a DataLoader of PyTorch: DataLoader(..., in_order=False)"},
    {"ultralytics",
     {"ultralytics"},
     "model.train(..., workers=8)",
     "in its build_dataloader() DataLoader(..., in_order=False)"},
};

INSTANTIATE_TEST_SUITE_P(Rows, FrameworkWords, testing::ValuesIn(kWords),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST(Frameworks, SeparatesArgumentsThatFrameworkLacks) {
  EXPECT_EQ(loader_words(made_by({"fastai"}), {"persistent_workers=True", "prefetch_factor=4"}),
            "dataloaders(..., persistent_workers=True); a DataLoader of PyTorch: "
            "DataLoader(..., prefetch_factor=4)");
}

TEST(Frameworks, NamesDataLoaderWithoutFramework) {
  EXPECT_EQ(loader_words(RunRecord(), {"num_workers={}"}), "DataLoader(..., num_workers={})");
}

TEST(Frameworks, WritesAdviceOfFindings) {
  RunRecord record =
      test::run("batch = 8\nsteps = 160\ncompute = 10ms\nworkers = 0\ncost = decode=4ms");
  record.program = ProgramFacts{{"accelerate", "transformers"}, {}, false, {}};
  Analysis analysis = analyse(record);
  add_findings(analysis, record);
  ASSERT_FALSE(analysis.findings.empty());
  EXPECT_THAT(analysis.findings.front().pytorch,
              testing::MatchesRegex("TrainingArguments\\(dataloader_num_workers=[0-9]+\\)"));
}

std::string advice_for_shards(std::int64_t workers, const Packages& data_packages) {
  RunRecord record =
      test::run("batch = 8\nsteps = 160\ncompute = 10ms\nworkers = " + std::to_string(workers) +
                "\ncost = decode=8ms");
  record.metrics.push_back({"data.shards", "1", "", 2});
  record.program = ProgramFacts{{}, data_packages, false, {}};
  const Analysis analysis = analyse(record);
  const std::optional<Candidate> seen = too_few_shards(FindingInput(record, analysis));
  return seen ? seen->evidence + "; " + seen->pytorch : "";
}

TEST(Frameworks, AdvisesShardsByLibraryOfDataSet) {
  EXPECT_THAT(advice_for_shards(4, {"datasets"}),
              AllOf(HasSubstr("has 2: 2 of 4 workers have none"),
                    HasSubstr("dataset.to_iterable_dataset(num_shards=4)")));
  EXPECT_THAT(advice_for_shards(2, {"datasets"}),
              AllOf(HasSubstr("more than 2 workers would have none"), HasSubstr("num_shards=4")));
  EXPECT_THAT(advice_for_shards(4, {"webdataset"}), HasSubstr("webdataset.ShardWriter"));
  EXPECT_THAT(advice_for_shards(4, {"train"}),
              AllOf(HasSubstr("more and smaller shards, 4 at least"), Not(HasSubstr("datasets"))));
  EXPECT_EQ(advice_for_shards(1, {"datasets"}), "");
}

}  // namespace
}  // namespace loaderscope

// The advice of a finding is the only difference to the run that it is about, and the printed
// command gives just that. The pipelines are drawn at random.
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <set>

#include "cli/config_flags.h"
#include "loaderscope/errors.h"
#include "loaderscope/predict.h"
#include "loaderscope/settings.h"
#include "predict/fitted_model.h"
#include "report/next_command.h"
#include "unit/account/random_pipelines.h"

namespace loaderscope {
namespace {

using NameSet = std::set<std::string_view>;

constexpr double kCores = 2;  // cores of the machine on which pipelines are drawn

// Settings for the length of a prediction, which no finding advises.
const NameSet kMeasurement = {"steps", "duration", "warmup", "epochs"};
const NameSet kDeclared = {"cost", "inject",          "compute",
                           "link", "storage-latency", "storage-bandwidth"};
// Settings that have no meaning without workers, or follow from their absence.
const NameSet kWorkerSettings = {"executor",        "task",       "prefetch-depth",
                                 "prefetch-factor", "mp-context", "persistent-workers"};

// Settings that a few pipelines leave to what they follow from.
Pipeline drawn(std::uint64_t seed) {
  PipelineLimits limits;
  limits.most_steps = 120;
  Pipeline pipeline = random_pipeline(seed, limits);
  Dice dice(seed);
  NameSet left_out;
  for (const char* key :
       {"num-workers", "prefetch-factor", "prefetch-depth", "batch-size", "in-flight"})
    if (dice.chance(3)) left_out.insert(key);
  auto settings = pipeline.settings;
  std::erase_if(settings, [&](const auto& each) { return left_out.contains(each.first); });
  const auto memory = std::find_if(settings.begin(), settings.end(),
                                   [](const auto& each) { return each.first == "memory"; });
  if (memory != settings.end() && memory->second == "pin-thread" && dice.chance(2))
    *memory = {"pin-memory", "true"};
  try {
    return resolve_pipeline(settings);
  } catch (const UsageError&) {
    return pipeline;  // the remaining settings conflict
  }
}

NameSet differing(const RunConfig& a, const RunConfig& b) {
  NameSet names;
  for (const Field& field : fields())
    if (field.texts(a) != field.texts(b)) names.insert(field.name);
  if (a.loader.task == TaskShape::sample && b.loader.task == TaskShape::sample)
    names.erase("prefetch-factor");
  return names;
}

NameSet named_by(const Changes& changes, const RunConfig& base, const RunConfig& changed) {
  NameSet names = kMeasurement;
  for (const Change& change : changes) {
    const Field* field = find_field(change.key);
    if (field == nullptr) {
      names.insert(kDeclared.begin(), kDeclared.end());
    } else {
      names.insert(field->name);
    }
  }
  if (names.contains("memory") || names.contains("pin-memory")) {
    names.insert("memory");
    names.insert("pin-memory");
  }
  // `prefetch-depth` of sample tasks replaces `prefetch-factor` of whole batches.
  if (names.contains("task")) names.insert("prefetch-factor");
  // Delays of a removed worker disappear with it.
  if (changed.loader.num_workers < base.loader.num_workers) names.insert("inject");
  const bool workers_come_or_go =
      (base.loader.num_workers == 0) != (changed.loader.num_workers == 0);
  if (workers_come_or_go) names.insert(kWorkerSettings.begin(), kWorkerSettings.end());
  return names;
}

std::string others(const NameSet& differing, const NameSet& named) {
  std::string text;
  for (const std::string_view name : differing)
    if (!named.contains(name)) text += std::string(name) + " ";
  return text;
}

// The settings that the words of a command give on the machine of the run.
struct Parsed {
  RunConfig config;
  Changes set;
};

Parsed parsed(const std::string& command) {
  CLI::App app;
  CLI::App& run = *app.add_subcommand("run");
  CLI::App& what_if = *app.add_subcommand("what-if");
  const ConfigFlags run_flags(run), what_if_flags(what_if);
  std::vector<std::string> set;
  what_if.add_option("--set", set)->take_all()->expected(1);
  app.parse(command, true);
  Parsed result;
  RunConfig given = run.parsed() ? run_flags.config() : what_if_flags.config();
  given.engine.set("model");
  std::vector<std::string> notes;
  result.config = resolve_to_predict(given, MachineLimits{kCores}, notes);
  for (const std::string& text : set) result.set.push_back(parse_change(text));
  return result;
}

void expect_only_what_is_advised(const RunRecord& record, const FittedModel& model,
                                 const Finding& finding) {
  SCOPED_TRACE(std::string(finding.id) + ": " + changes_to_text(finding.changes));
  const Prediction base = model.predict({}), changed = model.predict(finding.changes);
  EXPECT_EQ(others(differing(base.config, changed.config),
                   named_by(finding.changes, base.config, changed.config)),
            "");

  const std::string command = command_for(record.config, finding.to_run);
  SCOPED_TRACE(command);
  const Parsed words = parsed(command);
  if (words.set.empty()) {
    RunConfig advised = counterfactual(record.config, finding.to_run);
    advised.engine.set("model");
    std::vector<std::string> notes;
    advised = resolve_to_predict(advised, MachineLimits{record.config.declared.cores}, notes);
    EXPECT_EQ(others(differing(words.config, advised), {}), "");
    EXPECT_EQ(others(differing(words.config, record.config),
                     named_by(finding.to_run, record.config, words.config)),
              "");
  } else {
    EXPECT_EQ(words.set, finding.to_run);
    EXPECT_EQ(others(differing(words.config, record.config), {}), "");
  }
}

TEST(AdvisedSettings, ChangesOnlyWhatFindingAdvises) {
  std::int64_t looked_at = 0;
  for (std::int64_t seed = 1; seed <= times(150) && !HasFailure(); ++seed) {
    const Pipeline pipeline = drawn(static_cast<std::uint64_t>(seed));
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + pipeline.text());
    const RunRecord record = run_pipeline(pipeline.config);
    Analysis analysis = analyse(record);
    add_findings(analysis, record);
    if (analysis.findings.empty()) continue;
    const FittedModel model(record);
    for (const Finding& finding : analysis.findings) {
      if (finding.changes.empty()) continue;
      expect_only_what_is_advised(record, model, finding);
      ++looked_at;
    }
  }
  EXPECT_GT(looked_at, 0);
}

}  // namespace
}  // namespace loaderscope

// The advice contract. The gain of the fix equals the gain of its trial and of a what-if, to the
// digit, and is close to the gain of a run. No other single setting is much better without being
// named. If a setting gains, there is a fix. If nothing gains, nothing is advised. Declared and
// drawn pipelines run in virtual time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "analysis/findings/finding_input.h"
#include "engine/model/model_engine.h"
#include "experiment/prove.h"
#include "loaderscope/errors.h"
#include "loaderscope/predict.h"
#include "predict/fitted_model.h"
#include "property/declared_pipelines.h"
#include "property/drawn_pipeline.h"
#include "record/config_facts.h"
#include "report/findings_text.h"

namespace loaderscope::property {
namespace {

constexpr double kMuchBusier = 0.05;  // share of the window that another setting must add
constexpr double kGains = 1.05;       // times the rate: a setting that gives more is advised

// Changes of a single setting that a run can try.
std::vector<Changes> single_settings(const RunRecord& record) {
  const RunConfig& config = record.config;
  std::vector<Changes> settings = {{{"persistent-workers", "true"}},
                                   {{"in-order", "false"}},
                                   {{"copy", "stream"}},
                                   {{"in-flight", "2"}},
                                   {{"memory", "pin-thread"}},
                                   {{"memory", "pinned-slots"}},
                                   {{"memory", "pageable"}}};
  const std::int64_t workers = config.loader.num_workers;
  for (const std::int64_t n : {0L, 1L, 2L, workers + 1, 2 * workers, 4 * workers, 16L})
    settings.push_back({{"num-workers", std::to_string(n)}});
  for (const char* depth : {"1", "2", "4", "8"}) settings.push_back({{"prefetch-factor", depth}});
  return settings;
}

// The rate of a plain run of these settings, in samples per second.
double rate_of_run(const RunConfig& config) { return analyse(run(config)).samples_per_s.mean; }

class Advised {
 public:
  explicit Advised(const std::string& settings)
      : record_(run(parse_drawn_settings(settings))), analysis_(analyse(record_)), model_(record_) {
    add_findings(analysis_, record_);
    fix_ = advised_fix(analysis_);
  }

  void check() {
    SCOPED_TRACE(words());
    if (fix_ != nullptr && fix_->has_setting()) check_fix();
    check_others();
    check_that_there_is_a_fix();
    check_that_it_gains();
  }

  bool has_setting() const { return fix_ != nullptr && fix_->has_setting(); }

 private:
  std::string words() const {
    std::string text = analysis_.verdict.sentence + "\n" + fix_line(record_, analysis_);
    for (const Finding& finding : analysis_.findings)
      text += fmt::format("\n  {} {} {:+.3f}", finding.id, changes_to_text(finding.changes),
                          finding.gain());
    return text;
  }

  // The fix is tried, predicted and run; and each gives the same number.
  void check_fix() {
    const ScaledPrediction promise = scale_prediction(analysis_, model_.predict(fix_->changes));
    EXPECT_DOUBLE_EQ(promise.rate_after, fix_->rate_after);
    EXPECT_DOUBLE_EQ(promise.busy_after, fix_->busy_after);
    const std::atomic<int> stop_flag = 0;
    const Proof proof = prove(
        Prove::fix, record_, analysis_,
        [](const RunConfig& config, const Knockouts&) { return run(config); }, {}, stop_flag);
    ASSERT_EQ(proof.reason, "");
    const ProofCase& tried = proof.cases.at(0);
    ASSERT_EQ(tried.missing, "");
    EXPECT_EQ(tried.changes, fix_->changes);
    ASSERT_TRUE(tried.predicted);
    EXPECT_EQ(tried.runs.at(0), tried.predicted->after);
    EXPECT_EQ(proof.base.runs.at(0), tried.predicted->base);
    EXPECT_NEAR(tried.predicted->gain(), 1 + fix_->gain(), 1e-9);
    RunConfig changed = rerun_config(record_.config, fix_->changes);
    // Batches that were made before a short window would carry it.
    if (changed.measure.steps < 4 * batches_ahead(changed)) return;
    // The promise is about later steps than those that fill a larger window for the first time.
    WarmUp& warmup = changed.measure.warmup.value;
    warmup.steps = std::max(warmup.steps, batches_ahead(changed));
    EXPECT_NEAR(rate_of_run(changed) / fix_->rate_after, 1, 0.05);
  }

  bool is_named(const Changes& changes) const {
    return std::any_of(analysis_.findings.begin(), analysis_.findings.end(), [&](const Finding& f) {
      const bool has_key =
          std::any_of(f.changes.begin(), f.changes.end(),
                      [&](const Change& change) { return change.key == changes.front().key; });
      return has_key || f.evidence.find(changes_to_text(changes)) != f.evidence.npos;
    });
  }

  // Workers that always compute are never more than the cores. Others wait meanwhile.
  bool may_be_advised(const Changes& changes) const {
    if (changes.front().key != "num-workers") return true;
    if (FindingInput(record_, analysis_).need_of_core() < kAlwaysComputes) return true;
    return static_cast<double>(std::stoll(changes.front().value)) <= record_.config.declared.cores;
  }

  void check_others() {
    if (!analysis_.has_busy) return;
    const double busy =
        fix_ != nullptr && fix_->busy_after > 0 ? fix_->busy_after : analysis_.busy.mean;
    for (const Changes& changes : single_settings(record_)) {
      try {
        const ScaledPrediction other = scale_prediction(analysis_, model_.predict(changes));
        if (other.busy_after < busy + kMuchBusier || !may_be_advised(changes)) continue;
        EXPECT_TRUE(is_named(changes))
            << changes_to_text(changes)
            << fmt::format(": {:.3f} busy, the fix {:.3f}", other.busy_after, busy);
      } catch (const UsageError&) {  // conflicts with the other settings
      }
    }
  }

  void check_that_there_is_a_fix() {
    if (fix_ != nullptr || analysis_.verdict.withheld_reason) return;
    for (const Changes& changes : single_settings(record_)) {
      try {
        const Prediction other = model_.predict(changes);
        EXPECT_FALSE(other.is_known() && other.gain() >= kGains && may_be_advised(changes))
            << changes_to_text(changes)
            << fmt::format(" gives {:.3f} times the rate", other.gain());
      } catch (const UsageError&) {  // conflicts with the other settings
      }
    }
  }

  // A setting gives 5 % more, and what is rewritten 10 %.
  void check_that_it_gains() {
    if (fix_ == nullptr || !fix_->has_figures()) return;
    EXPECT_GE(fix_->gain(), fix_->has_setting() ? 0.05 : 0.1);
    EXPECT_GT(fix_->regained_s, 0);
  }

  RunRecord record_;
  Analysis analysis_;
  FittedModel model_;
  const Finding* fix_ = nullptr;
};

TEST(AdviceContract, HoldsForDeclaredPipelines) {
  int settings = 0;
  for (const char* pipeline : kDeclaredPipelines) {
    SCOPED_TRACE(pipeline);
    Advised advised(std::string(pipeline) + " warmup=12 steps=160");
    advised.check();
    settings += advised.has_setting() ? 1 : 0;
  }
  EXPECT_GE(settings, 20);
}

TEST(AdviceContract, HoldsForDrawnPipelines) {
  for_each_drawn(60, [](const std::string& settings) {
    SCOPED_TRACE(settings);
    Advised(settings).check();
  });
}

}  // namespace
}  // namespace loaderscope::property

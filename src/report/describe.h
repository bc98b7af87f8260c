// What stands in the result of a run, member by member, and what kinds of results share.
#pragma once

#include <string>
#include <string_view>

#include "loaderscope/analysis.h"
#include "report/form.h"

namespace loaderscope {

// `answer`: without ranks, steps, reservoir and exemplars.
enum class JsonScope : std::uint8_t { full, answer };

void describe_tool(Form& form, std::string& version);  // of every kind of result

// All of a run. What is computed from its record is shown and not read back, but its proof is.
void describe_run(Form& form, RunRecord& record, Analysis& analysis, JsonScope scope);
void describe_answer(Form& form, const RunConfig& config, Analysis& analysis);
void describe_fit_errors(Form& form, GoodnessOfFit& fit);
void describe_history(Form& form, PastPredictions& past);
void describe_waste(Form& form, Analysis& analysis);
void describe_proof(Form& form, Proof& proof);

struct KnownOfRank {
  bool has_busy = true;
  bool tells_order = true;  // what was ready when
};

void describe_machine(Form& form, MachineFacts& machine);  // the members
void describe_hosts(Form& form, RunRecord& record, const Analysis& analysis);

// `steps`: that were measured; the rows stand elsewhere.
void describe_rank(Form& form, RankRecord& rank, std::int64_t& steps, Account account,
                   KnownOfRank known);

// The arrays that are too long to be held: written and read piece by piece. A piece is shown with
// the number of its rank, whose first ask is the form's origin.
inline constexpr std::string_view kSteps = "steps", kReservoir = "reservoir",
                                  kExemplars = "exemplars";
void describe_pieces(Form& form, RunRecord& record);
void describe_step(Form& form, std::int64_t rank, StepRow& row);
void describe_sample(Form& form, std::int64_t rank, SampleRow& row);
void describe_exemplar(Form& form, std::int64_t rank, Exemplar& exemplar);

// `most`: the largest value.
void describe_buckets(Form& form, Histogram& histogram, std::int64_t most,
                      std::string_view sentence);

// `tells_order`: what was ready when is known.
void describe_account(Form& form, Account& account, bool tells_order);
void describe_stalls(Form& form, Account& account);  // its compute_s and stall_s
void describe_stage(Form& form, StageStats& stats);
void describe_work(Form& form, WorkCounts& work);
void describe_queues(Form& form, std::vector<QueueStats>& queues, std::string_view sentence);

// The stages that ran, by name; `members(name, stats)` shows those of one.
template <class Members>
void describe_stages(Form& form, PerStage<StageStats>& stages, std::string_view sentence,
                     const Members& members) {
  form.by_word<Stage>(
      "stages", stages, sentence, [](const StageStats& stats) { return stats.count > 0; },
      [&](std::string_view name, StageStats& stats) {
        form.object(name, "one stage", [&] { members(name, stats); });
      });
}

void describe_details(Form& form, std::vector<Detail>& details);
void describe_program(Form& form, std::optional<ProgramFacts>& known);
void describe_loaders(Form& form, std::vector<LoaderUse>& loaders);
void describe_metrics(Form& form, std::vector<Metric>& metrics);
void show_interval(Form& form, std::string_view name, const Estimate& of,
                   std::string_view sentence);
void describe_changes(Form& form, Changes& changes, std::string_view sentence);

// "memory.pinned_bytes" stands as `pinned_bytes` in the object `memory`.
struct MetricPlace {
  std::string_view group, name;

  bool ok() const;  // two parts, and no other member of the result is named as the first
};
MetricPlace place_of_metric(std::string_view metric);

}  // namespace loaderscope

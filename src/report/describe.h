// Members of the result of a run, and the parts that all kinds of results share.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "loaderscope/analysis.h"
#include "report/result_visitor.h"

namespace loaderscope {

// `answer`: without ranks, steps, reservoir and exemplars.
enum class JsonScope : std::uint8_t { full, answer };

void describe_tool(ResultVisitor& form, std::string& version);  // members of every kind of result

// Describes all of a run. Shows values that are computed from the record, and does not read them
// back. The proof and the comparison with an earlier run are read back.
void describe_run(ResultVisitor& form, RunRecord& record, Analysis& analysis, JsonScope scope);
void describe_answer(ResultVisitor& form, const RunConfig& config, Analysis& analysis);
void describe_fit_errors(ResultVisitor& form, GoodnessOfFit& fit);
void describe_history(ResultVisitor& form, PastPredictions& past);
// Member `memory` of a fix or of changes.
void describe_memory(ResultVisitor& form, std::optional<WorkerMemory>& memory,
                     std::string_view sentence);
void describe_waste(ResultVisitor& form, Analysis& analysis);
void describe_proof(ResultVisitor& form, Proof& proof);
void describe_against(ResultVisitor& form, AgainstRun& against);

struct KnownOfRank {
  bool has_busy = true;
  bool knows_order = true;  // the time at which batches were ready is known
};

void describe_machine(ResultVisitor& form, MachineFacts& machine);  // the members
void describe_hosts(ResultVisitor& form, RunRecord& record, const Analysis& analysis);

// Describes a rank. `steps` is the number of measured steps. The rows are in another array.
void describe_rank(ResultVisitor& form, RankRecord& rank, std::int64_t& steps, Account account,
                   KnownOfRank known);

// The arrays that are too long to be held: written and read piece by piece. A piece is shown with
// the number of its rank, whose first ask is the form's origin.
inline constexpr std::string_view kSteps = "steps", kReservoir = "reservoir",
                                  kExemplars = "exemplars";
void describe_pieces(ResultVisitor& form, RunRecord& record);
void describe_step(ResultVisitor& form, std::int64_t rank, StepRow& row);
void describe_sample(ResultVisitor& form, std::int64_t rank, SampleRow& row);
void describe_exemplar(ResultVisitor& form, std::int64_t rank, Exemplar& exemplar);

// `most`: the largest value.
void describe_buckets(ResultVisitor& form, Histogram& histogram, std::int64_t most,
                      std::string_view sentence);

// `knows_order`: what was ready when is known.
void describe_account(ResultVisitor& form, Account& account, bool knows_order);
// Members `on_device_s`, `lane_wait_s` and `shared_s`. Left out if nothing is made on a device.
void describe_production(ResultVisitor& form, DeviceProduction& device);
void describe_stalls(ResultVisitor& form, Account& account);  // members compute_s and stall_s
void describe_stage(ResultVisitor& form, StageStats& stats);
void describe_work(ResultVisitor& form, WorkCounts& work);
void describe_queues(ResultVisitor& form, std::vector<QueueStats>& queues,
                     std::string_view sentence);

// The stages that ran, by name; `members(name, stats)` shows those of one.
template <class Members>
void describe_stages(ResultVisitor& form, PerStage<StageStats>& stages, std::string_view sentence,
                     const Members& members) {
  form.each_word<Stage>(
      "stages", stages, sentence, [](const StageStats& stats) { return stats.count > 0; },
      [&](std::string_view name, StageStats& stats) {
        form.object(name, "one stage", [&] { members(name, stats); });
      });
}

void describe_details(ResultVisitor& form, std::vector<Detail>& details);
void describe_program(ResultVisitor& form, std::optional<ProgramFacts>& known);
void describe_loaders(ResultVisitor& form, std::vector<LoaderUse>& loaders);
void describe_metrics(ResultVisitor& form, std::vector<Metric>& metrics);
void format_interval(ResultVisitor& form, std::string_view name, const Estimate& estimate,
                     std::string_view sentence);
void describe_changes(ResultVisitor& form, Changes& changes, std::string_view sentence);

// Place of a metric: "memory.pinned_bytes" is `pinned_bytes` in the object `memory`.
struct MetricPlace {
  std::string_view group, name;

  bool ok() const;  // two parts, and no other member of the result is named as the first
};
MetricPlace place_of_metric(std::string_view metric);

}  // namespace loaderscope

// loaderscope plan
#include <CLI/CLI.hpp>

#include <memory>

#include "base/printable.h"
#include "cli/command.h"
#include "cli/command_flags.h"
#include "cli/output.h"
#include "cli/saved_result.h"
#include "experiment/prediction_history.h"
#include "job/interrupt.h"
#include "job/version_text.h"
#include "loaderscope/settings.h"
#include "predict/job_plan.h"
#include "record/environment_changes.h"
#include "report/results.h"
#include "source/cache_folder.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kMaxRanks = std::int64_t{1} << 20;

struct PlanFlags {
  std::string from = "last", ranks, hosts, storage, step, decode_hosts, gpu_price;
  std::vector<std::string> set;
  AnswerFiles answer;
  DetailFlags detail;
};

template <class Parse>
auto parsed(const char* flag, const std::string& text, const Parse& parse) {
  try {
    return parse(std::string_view(text));
  } catch (const ValueError& error) {
    throw add_place<UsageError>("--" + std::string(flag) + " " + shown_text(text) + ": ", error);
  }
}

std::int64_t count_from_one(std::string_view text) {
  const std::int64_t count = parse_count(text);
  if (count < 1 || count > kMaxRanks)
    throw ValueError("expected a number from 1 to " + std::to_string(kMaxRanks));
  return count;
}

SharedStorage parse_shared_storage(std::string_view text) {
  const auto parts = split(text, ':');
  if (parts.size() > 2) throw ValueError("expected RATE or RATE:LATENCY, such as 40GB/s:1ms");
  return {parse_byte_rate(parts[0]), parts.size() == 2 ? parse_duration(parts[1]) : 0};
}

DecodeHosts parse_decode_hosts(std::string_view text) {
  const auto parts = split(text, ':');
  if (parts.size() < 2 || parts.size() > 3)
    throw ValueError("expected HOSTS:CORES or HOSTS:CORES:RATE, such as 8:64:12GB/s");
  return {count_from_one(parts[0]), count_from_one(parts[1]),
          parts.size() == 3 ? parse_byte_rate(parts[2]) : 0};
}

// Throws UsageError for settings that have a flag of their own.
Change checked_change(const std::string& text) {
  const Change change = parse_change(text);
  for (const char* own : {"ranks", "compute", "gpu-price"}) {
    if (!change_setting({change}, own)) continue;
    throw UsageError(
        "--set " + shown_text(text) + ": this setting has a flag of its own",
        std::string("give it with --") + (std::string_view(own) == "compute" ? "step" : own));
  }
  return change;
}

PlanRequest plan_request(const PlanFlags& flags) {
  if (flags.ranks.empty())
    throw UsageError("--ranks: is missing", "say how many ranks the job will have, such as 1000");
  PlanRequest question;
  question.ranks = parsed("ranks", flags.ranks, count_from_one);
  if (!flags.hosts.empty()) question.hosts = parsed("hosts", flags.hosts, count_from_one);
  if (!flags.storage.empty())
    question.storage = parsed("storage", flags.storage, parse_shared_storage);
  if (!flags.decode_hosts.empty())
    question.decode = parsed("decode-hosts", flags.decode_hosts, parse_decode_hosts);
  for (const std::string& text : flags.set) question.changes.push_back(checked_change(text));
  if (!flags.step.empty()) {
    parsed("step", flags.step, parse_compute);
    question.changes.push_back({"compute", flags.step});
  }
  if (!flags.gpu_price.empty())
    question.gpu_price = parsed("gpu-price", flags.gpu_price, parse_real);
  return question;
}

// Replaces the model's message after a signal, which speaks of a run with a saved result.
JobPlan plan_unless_stopped(const RunRecord& record, const PlanRequest& question) {
  const std::atomic<int>& stop_signal = catch_stop_signals();
  try {
    return plan_job(record, question, &stop_signal);
  } catch (const RunError&) {
    if (stop_signal.load() == 0) throw;
    throw RunError("the plan was interrupted", "run the same command again");
  }
}

ExitCode make_plan(const PlanFlags& flags) {
  const PlanRequest question = plan_request(flags);
  const Places places = flags.answer.places();
  check_places(places, "plan", {flags.answer.force, {flags.from}});
  const RunRecord record = read_result(place_of_result(flags.from)).record;
  JobPlan plan = plan_unless_stopped(record, question);
  plan.history = PredictionHistory(source::user_cache_folder()).summary();
  write_answer(places, make_result(plan, version_number()), answer_style(flags.detail));
  return ExitCode::ok;
}

}  // namespace

Action declare_plan(CLI::App& app) {
  const auto flags = std::make_shared<PlanFlags>();
  const auto add = [&](const char* name, std::string& value, const char* type, const char* help) {
    app.add_option(name, value, help)->type_name(type)->take_last();
  };
  add("--from", flags->from, "RESULT",
      "A saved 'run --json' result of one host. Its settings apply to each rank. Default: last, "
      "the last run.");
  add("--ranks", flags->ranks, "N", "Number of ranks of the job, a GPU each.");
  add("--hosts", flags->hosts, "N",
      "Number of hosts. Default: as many ranks on each as were measured on one.");
  add("--storage", flags->storage, "RATE[:LATENCY]",
      "Storage that all hosts share, such as 40GB/s:1ms. Default: the run's, shared by all if its "
      "rate is known, else per host as measured.");
  add("--step", flags->step, "COMPUTE",
      "Time of a step on the GPU with its communication, such as 143ms. Default: as measured.");
  add("--decode-hosts", flags->decode_hosts, "HOSTS:CORES[:RATE]",
      "Decode for all ranks on other hosts, such as 8:64:12GB/s (hosts, cores and rate of each).");
  add("--gpu-price", flags->gpu_price, "X",
      "Price of a GPU per hour, for what an epoch costs. Default: that of the run.");
  app.add_option("--set", flags->set,
                 "Change a setting of each rank, such as num-workers=12 or decode.speed=2. Keys "
                 "are those of what-if. Repeatable.")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->expected(1);
  add_answer_files(app, flags->answer);
  add_detail(app, flags->detail);
  return [flags] { return make_plan(*flags); };
}

}  // namespace loaderscope

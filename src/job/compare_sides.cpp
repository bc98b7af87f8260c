#include "job/compare_sides.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "base/fd.h"
#include "base/sleep.h"
#include "base/thread_meter.h"
#include "experiment/case_run.h"
#include "experiment/compare/commits.h"
#include "loaderscope/errors.h"
#include "settings/flag_words.h"

namespace loaderscope {
namespace {

constexpr Nanos kAnswerTimeout = 10 * kSecond;  // with one run, beyond the whole budget

std::string command_text(const RunConfig& given) {
  std::string text = "loaderscope run";
  for (const std::string& word : flag_words(given)) text += " " + quoted(word);
  if (given.program.command.given) text += " --";
  for (const std::string& word : given.program.command.value) text += " " + quoted(word);
  return text;
}

FreshRun with_length(FreshRun run, const compare::RunLength& length, std::int64_t seed) {
  const auto add = [&](const char* flag, const std::string& value) {
    run.words.insert(run.words.end(), {flag, value});
  };
  if (length.steps > 0) add("--steps", std::to_string(length.steps));
  if (length.duration > 0) add("--duration", duration_to_text(length.duration));
  if (length.warmup > 0) add("--warmup", std::to_string(length.warmup));
  add("--seed", std::to_string(seed + length.block));
  run.words.emplace_back("--no-hook-cost");
  if (length.block > 0) run.variables.clear();  // only the first run is looked at
  return run;
}

// Both start, and neither makes its loader before both are there.
std::array<RunRecord, 2> run_together(const std::array<FreshRun, 2>& runs, const std::string& place,
                                      Nanos patience, const std::function<bool()>& stopped) {
  constexpr auto kWaits = StartedRun::Gate::waits;
  StartedRun first(runs[0], place + "/0", patience, stopped, kWaits);
  StartedRun second(runs[1], place + "/1", patience, stopped, kWaits);
  const Nanos until = monotonic_now() + patience;
  while (!(first.waits_or_has_ended() && second.waits_or_has_ended()) && !stopped() &&
         monotonic_now() < until)
    sleep_until(monotonic_now() + kMillisecond);
  std::array<RunRecord, 2> records;
  first.release();
  records[0] = first.record();
  second.release();
  records[1] = second.record();
  return records;
}

namespace fs = std::filesystem;

// "files:in1k/train?x=1" names in1k/train of the folder that we work in, if that is there.
std::string with_own_folder(const std::string& data) {
  if (data.find("://") != data.npos) return data;
  const std::size_t colon = data.find(':');
  const std::size_t begin = colon == std::string::npos ? 0 : colon + 1;
  const std::string path = data.substr(begin);
  const std::size_t end = std::min(path.find_first_of("{?"), path.size());
  const fs::path plain = path.substr(0, end);
  std::error_code error;
  const fs::path there = end < path.size() ? plain.parent_path() : plain;
  if (plain.is_absolute() || there.empty() || !fs::exists(there, error)) return data;
  return data.substr(0, begin) + fs::absolute(plain).string() + path.substr(end);
}

// The same bytes for both commits, whatever they have there themselves.
RunConfig with_own_data(RunConfig config) {
  if (!config.data.paths.given) return config;
  for (std::string& path : config.data.paths.value) path = with_own_folder(path);
  return config;
}

// Checks the settings before git runs.
RunConfig checked(const RunConfig& base) {
  if (!base.program.command.given && !base.program.loader.given)
    throw UsageError("--ref-a: nothing of a commit would be run",
                     "give --loader FILE.py:FUNCTION, or a program after --");
  return with_own_data(base);
}

}  // namespace

SideSetup plain_arm(const std::string& name, const RunConfig& base) {
  SideSetup made;
  made.arm.name = made.run.name = name;
  made.run.words = flag_words(base);
  made.run.program = base.program.command.value;
  return made;
}

compare::Comparison compare_pair(const SideSetup& a, const SideSetup& b, const PairContext& context,
                                 const PairProgress& progress) {
  const PrivateFolder place(std::filesystem::temp_directory_path().string(), "loaderscope-pair-");
  const std::array<const SideSetup*, 2> arms = {&a, &b};
  compare::Comparison comparison;
  comparison.options = context.options;
  comparison.arms = {a.arm, b.arm};
  comparison.command = command_text(context.base);
  const Nanos patience = context.options.budget + kAnswerTimeout;
  const auto fresh = [&](std::int64_t arm, const compare::RunLength& length) {
    return with_length(arms.at(static_cast<std::size_t>(arm))->run, length,
                       context.base.measure.seed);
  };
  for (const char* part : {"/0", "/1"}) std::filesystem::create_directory(place.path() + part);
  run_pairs(comparison,
            {.run =
                 [&](std::int64_t arm, const compare::RunLength& length) {
                   RunRecord record =
                       run_fresh(fresh(arm, length), place.path(), patience, context.stopped);
                   if (context.look) context.look(arm, record);
                   return record;
                 },
             .run_two =
                 [&](std::array<std::int64_t, 2> two, const compare::RunLength& length) {
                   std::array<RunRecord, 2> records =
                       run_together({fresh(two[0], length), fresh(two[1], length)}, place.path(),
                                    patience, context.stopped);
                   for (std::size_t i = 0; i < two.size() && context.look; ++i)
                     context.look(two.at(i), records.at(i));
                   return records;
                 },
             .now = monotonic_now,
             .stopped = context.stopped,
             .after_run =
                 [&](const compare::Comparison& so_far) {
                   const auto planned = static_cast<double>(2 * so_far.planned_pairs);
                   progress(std::ssize(so_far.runs),
                            static_cast<double>(so_far.runs.size()) / planned);
                 },
             .has_length = has_length(context.base),
             .same_by_construction = context.same_by_construction});
  return comparison;
}

CommitSides::CommitSides(const RunConfig& base, const std::string& build,
                         const std::function<bool()>& stopped)
    : base_(checked(base)),
      build_(build),
      stopped_(stopped),
      repository_(compare::find_repository()),
      place_(fs::temp_directory_path().string(), compare::kWorkTreesPrefix) {}

SideSetup CommitSides::add(const std::string& name, const std::string& ref) {
  const std::string path = place_.path() + "/" + std::to_string(trees_.size());
  trees_.push_back(std::make_unique<compare::WorkTree>(repository_, ref, path, stopped_));
  const compare::WorkTree& tree = *trees_.back();
  if (!build_.empty()) tree.build(build_, stopped_);
  SideSetup made = plain_arm(name, base_);
  made.arm.what = ref;
  made.arm.commit = tree.commit();
  made.run.folder = tree.folder();
  return made;
}

SideSetup CommitSides::add_watched(const std::string& name, const std::string& ref) {
  SideSetup made = add(name, ref);
  if (!build_.empty()) return made;
  made.run.variables = {
      {"LOADERSCOPE_TOUCHED", touched_file()},
      {"LOADERSCOPE_TOUCHED_BELOW", fs::canonical(trees_.back()->root()).string()}};
  return made;
}

std::string CommitSides::why_unaffected(const std::string& from, const std::string& to) const {
  if (!build_.empty()) return "";
  return compare::why_unaffected(compare::read_changes(changes_between(repository_, from, to)),
                                 compare::parse_file_trace(readable_text(touched_file())));
}

}  // namespace loaderscope

// loaderscope merge
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <future>
#include <memory>
#include <set>
#include <thread>

#include "base/printable.h"
#include "cli/analyse_run.h"
#include "cli/command.h"
#include "cli/command_flags.h"
#include "cli/output.h"
#include "cli/requirements.h"
#include "cli/saved_result.h"
#include "job/job_records.h"
#include "loaderscope/report.h"
#include "record/merge_records.h"
#include "report/results.h"
#include "settings/join_settings.h"

namespace loaderscope {
namespace {

struct MergeFlags {
  std::vector<std::string> results, require;
  AnswerFiles answer;
  DetailFlags detail;
};

void refuse_same_files(const std::vector<std::string>& results) {
  std::set<std::filesystem::path> seen;
  for (const std::string& result : results) {
    std::error_code error;
    const std::filesystem::path file = std::filesystem::weakly_canonical(result, error);
    if (!seen.insert(error ? std::filesystem::path(result) : file).second)
      throw UsageError(fmt::format("merge: {} is given twice", shown_text(result)),
                       "give each host's record once");
  }
}

// While one is added to the job, the next few are read.
RunRecord merged(const std::vector<std::string>& results) {
  constexpr std::size_t kMaxAhead = 8;
  const std::size_t ahead =
      std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMaxAhead);
  RecordMerge merge(join_settings);
  std::deque<std::future<RunRecord>> reading;
  std::size_t next = 0;
  for (const std::string& path : results) {
    for (; next < results.size() && reading.size() < ahead; ++next)
      reading.push_back(std::async(std::launch::async,
                                   [file = results[next]] { return read_result(file).record; }));
    merge.add(reading.front().get(), path);
    reading.pop_front();
  }
  RunRecord job = merge.take();
  book_waits_of_programs(job);
  return job;
}

ExitCode merge(const MergeFlags& flags) {
  if (flags.results.size() < 2)
    throw UsageError(std::string("merge: ") + (flags.results.empty()
                                                   ? "no record is given"
                                                   : "there is nothing to merge with one record"),
                     "give those of all hosts of a job, in the order of their ranks: loaderscope "
                     "merge node*.json");
  check_requirements(flags.require);
  const Places places = flags.answer.places();
  check_places(places, "run", {flags.answer.force, flags.results});
  refuse_same_files(flags.results);
  RunRecord record = merged(flags.results);
  record.config.answer.json.value = flags.answer.json;
  record.config.answer.html.value = flags.answer.html;
  record.config.answer.require.value = flags.require;
  const Analysis analysis = analysed(record);
  const AnyResult result = make_result(record, analysis);
  keep_last_result(record, result);
  return judge_and_answer(flags.require, record, analysis,
                          [&] { write_answer(places, result, answer_style(flags.detail)); });
}

}  // namespace

Action declare_merge(CLI::App& app) {
  const auto flags = std::make_shared<MergeFlags>();
  app.add_option("RESULT", flags->results,
                 "Files that 'run --json FILE' saved on each host of a job, in rank order. Merged "
                 "files are allowed.");
  add_answer_files(app, flags->answer);
  add_detail(app, flags->detail);
  add_requirements(app, flags->require);
  return [flags] { return merge(*flags); };
}

}  // namespace loaderscope

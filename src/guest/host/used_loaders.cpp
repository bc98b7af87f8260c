// Choice of the measured loader of a program, and the uses of its other loaders.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "guest/host/job_record.h"

namespace loaderscope::guest {
namespace {

// Returns the time from the first request to the last batch.
Nanos span_of(const std::vector<const LoaderHistory*>& loaders) {
  Nanos begin = kNever, end = 0;
  for (const LoaderHistory* loader : loaders) {
    begin = std::min(begin, loader->first_ask());
    end = std::max(end, loader->last_taken());
  }
  return std::max<Nanos>(end - begin, 1);
}

// "Photos (train.py:12)"
std::string loader_to_text(const LoaderFacts& loader) {
  const auto folder = loader.place.rfind('/');
  return fmt::format("{} ({})", loader.dataset,
                     folder == loader.place.npos ? loader.place : loader.place.substr(folder + 1));
}

LoaderUse use_of(const LoaderHistory& history, Nanos span) {
  const auto share = [&](Nanos part) {
    return std::clamp(static_cast<double>(part) / static_cast<double>(span), 0.0, 1.0);
  };
  LoaderUse use;
  use.dataset = history.loader().dataset;
  use.place = history.loader().place;
  use.with_gradients = history.with_gradients();
  use.iterations = history.iterations();
  use.batches = history.taken();
  use.waited = share(history.time().waited());
  use.looped = share(history.time().looped());
  return use;
}

// Names the loaders that the trainer waits for between a batch and its compute.
void name_others(RunRecord& record, const LoaderHistory& measured,
                 const std::vector<const LoaderHistory*>& used) {
  double all = 0;
  for (const auto& [number, waited] : measured.waited_for_others())
    all += static_cast<double>(waited);
  std::vector<Detail> details;
  for (const LoaderHistory* one : used) {
    const auto waited = measured.waited_for_others().find(one->loader().number);
    if (waited == measured.waited_for_others().end()) continue;
    details.push_back({std::string(name_of(Stage::launch)), loader_to_text(one->loader()),
                       static_cast<double>(waited->second) / all});
  }
  std::stable_sort(details.begin(), details.end(),
                   [](const Detail& a, const Detail& b) { return a.share > b.share; });
  move_to(record.details, std::move(details));
}

}  // namespace

void note_measured_loader(RunRecord& record, const TrainingProcesses& training) {
  const LoaderHistory* history = training.first_measured();
  if (history == nullptr) return;
  const LoaderFacts& loader = history->loader();
  record.notes.push_back(loader.is_opaque
                             ? fmt::format("measured is the {} of {}", loader.dataset, loader.place)
                             : fmt::format("measured is the DataLoader of {}, made at {}",
                                           loader.dataset, loader.place));
  const auto used = training.used_beside_first();
  if (used.size() < 2) return;
  const Nanos span = span_of(used);
  for (const LoaderHistory* one : used) {
    record.loaders.push_back(use_of(*one, span));
    record.loaders.back().measured = one == history;
  }
  name_others(record, *history, used);
}

}  // namespace loaderscope::guest

// Findings about how a program's data set makes one sample after another.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/findings/finding_input.h"
#include "analysis/wording.h"
#include "loaderscope/run_config.h"

namespace loaderscope {
namespace {

constexpr double kMuchOfStage = 0.25;  // share of the time of its stage
constexpr double kLeft = 0.05;         // share left if the work is done once for many samples

// Returns the share of a stage's time in functions whose names contain `word`.
double share_of_named(const FindingInput& facts, Stage stage, std::string_view word) {
  double share = 0;
  for (const Detail& detail : facts.record.details)
    if (detail.about == name_of(stage) && detail.text.find(word) != std::string::npos)
      share += detail.share;
  return std::min(share, 1.0);
}

// "read.speed=3.6": without nearly all of that part.
Changes without_part(Stage stage, double part) {
  const double times = std::round(10 / (1 - (1 - kLeft) * part)) / 10;
  return {{std::string(name_of(stage)) + ".speed", real_to_text(times)}};
}

std::string taken_words(const FindingInput& facts, Stage stage, Cause cause, double part) {
  return fmt::format("{} of {}, {}, for which the trainer waits {} of the time",
                     format_percent(part), name_of(stage), mean_words(facts.stages[stage]),
                     format_percent(facts.share(cause)));
}

}  // namespace

double waited_for_single_samples(const FindingInput& facts) {
  return facts.share(Cause::opaque) + facts.share(Cause::collate);
}

// Samples in memory are so cheap that the calls for each of them, and stacking them, are the work.
std::optional<Candidate> batched_indexing(const FindingInput& facts) {
  constexpr std::int64_t kMinCount = 16;  // samples of a batch
  if (facts.metric(metric::data_cheap_samples) <= 0 || facts.config.loader.batch_size < kMinCount ||
      waited_for_single_samples(facts) < kMinReportedShare)
    return std::nullopt;
  Candidate candidate;
  candidate.evidence = fmt::format(
      "the data set gives the {} of a batch one by one, each in less than 50 us, and then they are "
      "stacked: {} of the time",
      plural(facts.config.loader.batch_size, "sample"),
      format_percent(waited_for_single_samples(facts)));
  // A TensorDataset took a tenth of the time or less, with 256 samples per batch on two cores.
  Changes& faster = candidate.options.emplace_back();
  for (const Stage stage : {Stage::opaque, Stage::collate})
    if (facts.stages[stage].count > 0)
      faster.push_back({std::string(name_of(stage)) + ".speed", "10"});
  candidate.pytorch =
      "index a whole batch at once: DataLoader(ds, sampler=BatchSampler(RandomSampler(ds), "
      "batch_size, drop_last=False), batch_size=None) where ds[list] works, as of a TensorDataset; "
      "else a method __getitems__(self, indices), and a collate_fn that takes what it gives";
  return candidate;
}

double waited_for_frames(const FindingInput& facts) {
  return facts.share(Cause::decode) * share_of_named(facts, Stage::decode, kDataFrames);
}

std::optional<Candidate> rows_of_data_frames(const FindingInput& facts) {
  const double part = share_of_named(facts, Stage::decode, kDataFrames);
  if (part < kMuchOfStage || waited_for_frames(facts) < kMinReportedShare) return std::nullopt;
  Candidate candidate;
  candidate.evidence = fmt::format("taking rows of a pandas DataFrame one by one is {}",
                                   taken_words(facts, Stage::decode, Cause::decode, part));
  candidate.options = {without_part(Stage::decode, part)};
  candidate.pytorch =
      "take the columns out once, in __init__: self.values = df[names].to_numpy(), and index "
      "self.values[i] in __getitem__; a row of a DataFrame is a new object each time";
  return candidate;
}

double waited_for_opens(const FindingInput& facts) {
  return facts.share(Cause::read) * share_of_named(facts, Stage::read, kOpens);
}

std::optional<Candidate> opened_per_sample(const FindingInput& facts) {
  constexpr double kMostly = 0.5;  // share of the opens
  const double part = share_of_named(facts, Stage::read, kOpens);
  const double again = facts.metric(metric::read_opened_again);
  if (part < kMuchOfStage || again < kMostly || waited_for_opens(facts) < kMinReportedShare)
    return std::nullopt;
  Candidate candidate;
  candidate.evidence = fmt::format(
      "files are opened for each sample, {} of them again ({}); that is {}", format_percent(again),
      facts.named(name_of(Stage::read)), taken_words(facts, Stage::read, Cause::read, part));
  candidate.options = {without_part(Stage::read, part)};
  candidate.pytorch =
      "open it once in each worker: self.file = self.file or h5py.File(path) in __getitem__, not "
      "in "
      "__init__, whose file handle workers would share";
  return candidate;
}

double waited_for_decoders(const FindingInput& facts) {
  return facts.share(Cause::decode) * share_of_named(facts, Stage::decode, kOpensVideos);
}

// Decoders of videos, which a worker builds for each sample, or drops too early.
std::optional<Candidate> decoder_per_sample(const FindingInput& facts) {
  constexpr double kMostly = 0.5;  // share of the opens
  constexpr double kEnoughOfStage = 0.1;
  constexpr double kMaxKept = 512;  // decoders of a worker, of some MB and a file each
  const double part = share_of_named(facts, Stage::decode, kOpensVideos);
  const double files = facts.metric(metric::video_files);
  const double again = facts.metric(metric::video_opened_again);
  if (part < kEnoughOfStage || again < kMostly || files < 1 ||
      waited_for_decoders(facts) < kMinReportedShare)
    return std::nullopt;
  const auto kept = static_cast<std::int64_t>(std::min(std::ceil(files), kMaxKept));
  Candidate candidate;
  candidate.evidence = fmt::format(
      "a process opens {} for its samples, and {} of its opens are repeats; opening is {}",
      plural(std::llround(files), "video file"), format_percent(again),
      taken_words(facts, Stage::decode, Cause::decode, part));
  candidate.options = {
      without_part(Stage::decode, part * again * std::min(1.0, static_cast<double>(kept) / files))};
  const std::string named = facts.named(name_of(Stage::decode));
  const auto names = [&](const char* name) { return named.find(name) != std::string::npos; };
  const std::string keep =
      fmt::format("keep the {} of a worker open: ", plural(kept, "video decoder"));
  if (names("lerobot.") && names("decode_video_frames_pyav"))
    candidate.pytorch = keep + "LeRobotDataset(..., video_backend=\"torchcodec\")";
  else if (names("lerobot."))
    candidate.pytorch = keep + fmt::format("LEROBOT_VIDEO_DECODER_CACHE_SIZE={}", kept);
  else
    candidate.pytorch =
        keep + fmt::format("@functools.lru_cache({}) at a function that opens one", kept);
  return candidate;
}

// Chunks of HDF5, which are read and unpacked as a whole.
std::optional<Candidate> chunk_amplification(const FindingInput& facts) {
  constexpr double kMuchLarger = 2;
  const double times = facts.metric(metric::read_chunks_per_used);
  if (times < kMuchLarger || facts.share(Cause::read) < kMinReportedShare) return std::nullopt;
  Candidate candidate;
  candidate.evidence = fmt::format(
      "samples lie in chunks that hold {:.3g} times what is used of them, and each is read and "
      "unpacked as a whole, {}: {} of the time",
      times, mean_words(facts.stages[Stage::read]), format_percent(facts.share(Cause::read)));
  candidate.options = {{{"read.speed", "2"}}};
  candidate.pytorch =
      "store it in chunks of about a sample (h5py: create_dataset(..., chunks=(1, ...))), or read "
      "the samples of a chunk one after another; lzf or no compression is unpacked faster than "
      "gzip";
  return candidate;
}

}  // namespace loaderscope

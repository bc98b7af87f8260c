#include "report/answer/cause_phrases.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "analysis/contention.h"
#include "analysis/devices.h"
#include "analysis/totals.h"
#include "loaderscope/run_config.h"
#include "record/family_traits.h"

namespace loaderscope {
namespace {

struct CausePhrase {
  Cause cause;
  std::string_view loader_phrase;   // phrase for the built-in loader; {} is the kind of its samples
  std::string_view program_phrase;  // phrase for a measured program
  std::string_view noun;
};

constexpr CausePhrase kPhrases[] = {
    {Cause::read, "reading {} is too slow", "reading {} is too slow", "reading"},
    {Cause::decode, "decoding {} is too slow", "decoding {} is too slow", "decoding"},
    {Cause::augment, "augmenting {} is too slow", "its transforms are too slow", "augmenting"},
    {Cause::collate, "putting batches together is too slow", "its collate function is too slow",
     "putting batches together"},
    {Cause::opaque, "its loader is too slow", "the code of its data set is too slow",
     "the code of the data set"},
    {Cause::transport, "handing over batches is too slow", "handing over batches is too slow",
     "handing over batches"},
    {Cause::pin, "copying into page-locked memory is too slow",
     "copying into page-locked memory is too slow", "copying into page-locked memory"},
    {Cause::h2d, "copying batches to the GPU is too slow", "copying batches to the GPU is too slow",
     "copying to the GPU"},
    {Cause::launch, "the trainer is slow between batches", "its loop is slow between batches",
     "the trainer"},
    {Cause::contention, "there are more threads than cores", "there are more threads than cores",
     "waiting for a core"},
    {Cause::prefetch, "too few batches are made ahead", "too few batches are made ahead",
     "making batches ahead"},
    {Cause::startup, "workers take long to start", "workers take long to start",
     "starting workers"},
    {Cause::other, "for no known reason", "for no known reason", "no known cause"},
};

const CausePhrase& phrase_row(Cause cause) {
  return *std::find_if(std::begin(kPhrases), std::end(kPhrases),
                       [&](const CausePhrase& row) { return row.cause == cause; });
}

struct FindingPhrase {
  std::string_view finding, phrase;
};

constexpr FindingPhrase kFindingPhrases[] = {
    {"no-workers", "it makes every batch itself"},
    {"workers-restarted", "workers restart at every epoch"},
    {"epoch-refill", "each epoch starts without finished batches"},
    {"prefetch-too-shallow", "too few batches are made ahead"},
    {"device-prefetch-too-shallow", "the GPU makes too few batches ahead"},
    {"whole-batch-tasks", "one worker makes each batch alone"},
    {"order-stall", "finished batches wait for a late one"},
    {"other-programs", "other programs take its cores"},
    {"cpu-quota", "a CPU quota takes its cores"},
    {"nested-thread-pools", "libraries start too many threads"},
    {"too-many-workers", "there are more workers than cores"},
    {"straggler-worker", "one worker is slower than the others"},
    {"shared-storage", "the storage of all hosts is too slow"},
    {"other-loader", "another loader of the program is too slow"},
    {"slow-sampler", "choosing the samples is too slow"},
    {"per-batch-overhead", "each batch costs too much, whatever its size"},
    {"too-few-shards", "some workers have no shard to read"},
    {"interpreter-lock", "Python threads wait for each other"},
    {"garbage-collection", "Python collects garbage too often"},
    {"loader-not-seen", "its loader is too slow"},
};

bool is_program(const RunRecord& record) {
  return is_guest_engine(record.engine) || is_trace_engine(record.engine);
}

// The samples that a program decodes, by the frames that were counted.
std::string_view kind_of_decoded(const RunRecord& program) {
  return value_of(program.metrics, metric::video_frames_decoded).value_or(0) > 0 ? "video"
                                                                                 : "images";
}

}  // namespace

std::string_view kind_of_samples(const RunRecord& record) {
  if (is_program(record)) return "samples";
  if (!record.config.has_data()) return "images";
  const std::string& name = record.config.data.source.value;
  if (name.starts_with("video")) return "video";
  if (name == "tokens") return "tokens";
  if (source_traits(name).form == SampleForm::array) return "rows";
  return "images";
}

std::string cause_phrase(Cause cause, const RunRecord& record, const Account& account) {
  if (cause == Cause::launch && waits_for_notifications(record, account))
    return "notifications from other hosts arrive late";
  if (cause == Cause::launch && waits_for_other_loaders(record, account))
    return "another loader of the program is too slow";
  if (cause == Cause::launch && waits_for_sampler(record, account))
    return "choosing the samples is too slow";
  if (cause == Cause::contention && others_matter(record)) return "other programs take its cores";
  const CausePhrase& row = phrase_row(cause);
  std::string_view kind = kind_of_samples(record);
  if (cause == Cause::read && (kind == "images" || kind == "samples")) kind = "files";
  if (cause == Cause::decode && is_program(record)) kind = kind_of_decoded(record);
  if (device_share(cause, account) > 0.5)
    return fmt::format("{} {} on the GPU is too slow", row.noun, kind);
  const std::string_view text = is_program(record) ? row.program_phrase : row.loader_phrase;
  return fmt::format(fmt::runtime(text), kind);
}

std::string_view cause_noun(Cause cause) { return phrase_row(cause).noun; }

std::string_view finding_phrase(std::string_view finding, const RunRecord& record) {
  if (finding == "no-workers" && !is_program(record)) return "the trainer makes every batch itself";
  const auto found = std::find_if(std::begin(kFindingPhrases), std::end(kFindingPhrases),
                                  [&](const FindingPhrase& row) { return row.finding == finding; });
  return found == std::end(kFindingPhrases) ? std::string_view() : found->phrase;
}

std::optional<Cause> cause_of_finding(std::string_view finding) {
  constexpr std::pair<std::string_view, Cause> kStageFindings[] = {
      {"decode-bound", Cause::decode},    {"decode-on-gpu", Cause::decode},
      {"augment-on-gpu", Cause::augment}, {"augment-bound", Cause::augment},
      {"collate-bound", Cause::collate},  {"own-code", Cause::opaque}};
  for (const auto& [id, cause] : kStageFindings)
    if (id == finding) return cause;
  return std::nullopt;
}

void shorten_phrase(std::string& headline) {
  constexpr std::pair<std::string_view, std::string_view> kShorter[] = {
      {"copying batches to the GPU is too slow", "copies to it are too slow"},
      {"copying into page-locked memory is too slow", "pinning batches is too slow"},
      {"putting batches together is too slow", "collating is too slow"},
      {"the trainer makes every batch itself", "it makes every batch itself"},
      {"finished batches wait for a late one", "a late batch holds up others"},
      {"each batch costs too much, whatever its size", "each batch costs too much"},
  };
  for (const auto& [full, shorter] : kShorter)
    if (const std::size_t at = headline.find(full); at != headline.npos)
      headline.replace(at, full.size(), shorter);
}

std::string who_waits(const RunRecord& record) {
  if (device_kind(record.config.trainer.device.value) == DeviceKind::program) return "Training";
  return count_gpus(record) > 1 ? "GPUs" : "GPU";
}

}  // namespace loaderscope

#include "base/old_words.h"

#include "loaderscope/vocabulary.h"

namespace loaderscope {
namespace {

constexpr OldWord kOldWords[] = {
    {WordKind::setting, "window", "prefetch-depth"},
    {WordKind::setting, "stall-after", "hang-after"},
    {WordKind::parameter, "window", "length"},
    {WordKind::engine, "trace", "import"},
    {WordKind::metric, "meeting.late_word_s", metric::rendezvous_notification_delay_s},
    {WordKind::metric, "meeting.missing_processes", metric::rendezvous_missing_processes},
    {WordKind::metric, "gpu.held_share", metric::gpu_throttled_share},
    {WordKind::metric, "gpu.held_by_power_share", metric::gpu_throttled_by_power_share},
    {WordKind::metric, "gpu.held_by_heat_share", metric::gpu_throttled_by_heat_share},
    {WordKind::metric, "gpu.held_by_hardware_share", metric::gpu_throttled_by_hardware_share},
    {WordKind::metric, "gpu.held_by_setting_share", metric::gpu_throttled_by_setting_share},
    {WordKind::finding, "frames-in-vain", "frames-discarded"},
    {WordKind::finding, "workers-draw-alike", "workers-share-random-numbers"},
    {WordKind::finding, "epochs-draw-alike", "epochs-repeat-random-numbers"},
    {WordKind::finding, "workers-keep-old-state", "workers-have-stale-state"},
    {WordKind::finding, "much-pickled", "large-pickled-data-set"},
    {WordKind::finding, "clocks-held-down", "gpu-clocks-throttled"},
    {WordKind::finding, "read-on-cpu", "cpu-bound-reads"},
    {WordKind::finding, "small-batches", "per-batch-overhead"},
    {WordKind::finding, "pinning-costs-more", "pinning-not-worth-it"},
    {WordKind::finding, "serialisation-tax", "slow-transport"},
    {WordKind::limit, "standing", "hang"},
};

}  // namespace

std::span<const OldWord> old_words() { return kOldWords; }

std::string_view current_word(WordKind kind, std::string_view word) {
  for (const OldWord& each : kOldWords)
    if (each.kind == kind && each.old_name == word) return each.name;
  return word;
}

std::string_view old_word(WordKind kind, std::string_view name) {
  for (const OldWord& each : kOldWords)
    if (each.kind == kind && each.name == name) return each.old_name;
  return "";
}

}  // namespace loaderscope

// Text of a comparison.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/compare/compare.h"

namespace loaderscope::compare {

// "SLOWER: augment +11.8 % (+10.1 to +13.6) per sample: RandomErasing is new; ..."
std::string answer_line(const Comparison& comparison, const ComparisonResult& judgement);

// "since v2.3 (3f2c1a9): cpu per sample +7.9 % (+7.0 to +8.8), limit 10 %"
std::string anchor_line(const Anchor& anchor);

// Each a line, or "".
std::string matters_line(const ComparisonResult& judgement);
std::string undecided_line(
    const ComparisonResult& judgement);  // quantities that are the same or uncertain
std::string arms_line(const Comparison& comparison, const ComparisonResult& judgement);
std::string noise_line(const ComparisonResult& judgement);
std::string counts_line(const ComparisonResult& judgement);
std::string memory_line(const ComparisonResult& judgement);  // memory that B needs in addition
std::string settings_line(const Comparison& comparison);     // settings that differ between results
// Returns one line per reason why a slowdown fails nothing, or fails although it was accepted.
std::vector<std::string> acceptance_lines(const Comparison& comparison,
                                          const ComparisonResult& judgement);

std::string arm_text(const Arm& arm);  // "A: origin/main (3f2c1a9)"
std::string verdict_word(const Difference& one);
std::string_view outcome_word(Outcome outcome);  // "cannot_tell", as in JSON
std::string change_line(const Difference& one);  // "decode +10.0 % (9.1 to 10.9) per sample"
// A row of the table of what was looked at.
inline const std::vector<std::string> kCellNames = {"", "A", "B", "change", "95 %", "verdict"};
std::vector<std::string> difference_cells(const Difference& one);
// Rows for two results, without a verdict: busy, waits, stages of one run of each.
inline const std::vector<std::string> kCellNamesOfResults = {"", "A", "B", "change"};
std::vector<std::vector<std::string>> cells_of_results(const Comparison& comparison);
// The wait that changed most towards the change of the rate, in shares of the window. Nothing if no
// wait changed so by 1 % of the window.
struct WaitChange {
  Cause cause;
  double a = 0, b = 0;
};
std::optional<WaitChange> largest_wait_change(const Comparison& comparison, bool is_faster);
// The wait that changed most towards the change of the rate: "waiting for decode 63 % -> 20 %".
std::string changed_wait(const Comparison& comparison, bool is_faster);

// Marker by which a script finds the comment that it made before.
inline constexpr std::string_view kCommentMarker = "<!-- loaderscope-gate -->";
inline constexpr std::size_t kMaxComment = 64 << 10;  // limit of GitHub, in bytes

std::string spoken(std::string_view name);  // "wait for decode" of wait-for-decode
std::string joined(const std::vector<std::string>& words);
std::string format_value(const Difference& one, double value);  // text with its unit

}  // namespace loaderscope::compare

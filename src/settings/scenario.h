// Scenario files: their lines, and their combination with flags.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loaderscope/settings.h"

namespace loaderscope {

// Files of lines "key = value", with comments on lines of their own.
struct KeyLine {
  std::string place;  // "x.conf:3"
  std::string_view key, value;
};

// Parses the lines. Throws UsageError that names the line. The returned views are valid as long as
// `text`. Comments are passed without their #.
std::vector<KeyLine> key_lines(std::string_view text, const std::string& path,
                               const std::function<void(std::string_view)>& take_comment);

// Returns the text of such a file. Throws UsageError if it is missing, no regular file, or too
// large.
std::string read_key_file(const std::string& path);

// --- Precedence of two places that give settings.

// Returns true if `flags` override `field` = `value` of a scenario or of a base case: they give the
// same field, or a field that contradicts it.
bool flag_wins(const RunConfig& flags, const Field& field, std::string_view value);

// --- Keys of a scenario that are flags of one command and no settings of a run.

struct OtherKeys {
  std::vector<std::string_view> names;                     // keys that the command has
  std::vector<std::pair<std::string, std::string>> found;  // key and value, as written in the file
};

// Sets the values of `lines` in `config`, leaving alone what is already given there. Keys of the
// command go to `others`. Throws UsageError that names the line.
void merge_lines(std::vector<KeyLine> lines, RunConfig& config, OtherKeys& others);

// Reads a scenario as read_scenario() does without `others`. Keys of the command are returned
// instead of refused.
Scenario read_scenario(const std::string& path, RunConfig& config, OtherKeys& others);

}  // namespace loaderscope

#include "job/commit_sides.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/fd.h"
#include "experiment/compare/commits.h"
#include "loaderscope/errors.h"
#include "settings/flag_words.h"

namespace loaderscope {
namespace {

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

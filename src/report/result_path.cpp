#include "report/result_path.h"

#include <algorithm>
#include <iterator>

#include "base/secret.h"
#include "report/describe.h"

namespace loaderscope {
namespace {

std::string_view type_name(FlatValue::Type type) {
  if (type == FlatValue::Type::text) return "string";
  if (type == FlatValue::Type::flag) return "boolean";
  return type == FlatValue::Type::whole ? "integer" : "number";
}

class PathForm : public FlatWalk {
 public:
  PathForm() : FlatWalk(VisitMode::explain) {}

  std::vector<ResultPath> take() { return std::move(paths_); }

 protected:
  void visit(const FlatValue& value) override {
    if (!is_in_list())
      add(value_path(value.name), or_null(type_name(value.type), value.may_be_null),
          value.sentence);
  }

  void opened() override {
    const Level& level = levels().back();
    const bool is_element = level.name.empty() && path().ends_with(']');
    const std::string_view type = level.is_list() ? "array" : "object";
    if (!is_element) add(path(), or_null(type, level.may_be_null), level.sentence);
    open_.push_back({paths_.size(), {}});
  }

  void keys(const std::vector<std::string_view>& words) override { open_.back().words = words; }

  // Repeats the paths of an entry for each key, if the keys are known.
  void closed() override {
    const Open level = std::move(open_.back());
    open_.pop_back();
    if (level.words.empty()) return;
    const auto first = paths_.begin() + static_cast<std::ptrdiff_t>(level.first);
    const std::vector<ResultPath> entry(std::make_move_iterator(first),
                                        std::make_move_iterator(paths_.end()));
    paths_.erase(first, paths_.end());
    for (const std::string_view word : level.words) {
      for (ResultPath one : entry) {
        one.path.replace(path().size() + 1, 1, word);
        paths_.push_back(std::move(one));
      }
    }
  }

 private:
  void add(std::string path, std::string_view type, std::string_view sentence) {
    paths_.push_back({std::move(path), std::string(type), std::string(sentence)});
  }

  struct Open {
    std::size_t first;  // index of the first path in it
    std::vector<std::string_view> words;
  };

  static std::string or_null(std::string_view type, bool may_be_null) {
    return std::string(type) + (may_be_null ? " or null" : "");
  }

  std::vector<ResultPath> paths_;
  std::vector<Open> open_;
};

std::vector<ResultPath> kind_paths(const ResultKind& kind) {
  PathForm form;
  std::string schema, version;
  form.text("schema", schema, "");
  describe_tool(form, version);
  kind.explain(form);
  return form.take();
}

const std::vector<ResultPath>& all_paths_of_run() {
  static const std::vector<ResultPath> paths = kind_paths(find_row("run", result_kinds()));
  return paths;
}

class ValueFinder : public FlatWalk {
 public:
  explicit ValueFinder(std::string_view path) : FlatWalk(VisitMode::write), path_(path) {}

  std::optional<ResultValue> take() { return std::move(found_); }

 protected:
  void visit(const FlatValue& value) override {
    const bool is_element = std::any_of(levels().begin(), levels().end(),
                                        [](const Level& level) { return level.is_list(); });
    if (!is_element && value_path(value.name) == path_)
      found_ = ResultValue{value.type, without_secrets(value.text), value.number};
  }

 private:
  std::string_view path_;
  std::optional<ResultValue> found_;
};

std::string without_brackets(std::string path) {
  for (auto at = path.find('['); at != path.npos; at = path.find('[', at))
    path.erase(at, std::min(path.find(']', at), path.size() - 1) - at + 1);
  return path;
}

// Each "*" stands for a name without a dot.
bool matches(std::string_view pattern, std::string_view path) {
  const auto star = pattern.find('*');
  if (star == pattern.npos) return pattern == path;
  if (!path.starts_with(pattern.substr(0, star))) return false;
  path.remove_prefix(star);
  const auto end = std::min(path.find('.'), path.size());
  return end > 0 && matches(pattern.substr(star + 1), path.substr(end));
}

}  // namespace

std::optional<ResultPath> described_at(const ResultKind& kind, std::string_view path) {
  const std::string wanted = without_brackets(std::string(path));
  for (ResultPath& one : kind_paths(kind)) {
    if (matches(without_brackets(one.path), wanted)) return std::move(one);
  }
  return std::nullopt;
}

const ResultPath* find_path_of_run(std::string_view path) {
  const std::vector<ResultPath>& paths = all_paths_of_run();
  const auto found = std::find_if(paths.begin(), paths.end(), [&](const ResultPath& one) {
    return one.is_fixed() && one.path == path;
  });
  return found == paths.end() ? nullptr : &*found;
}

std::vector<std::string_view> members_of_run() {
  std::vector<std::string_view> members;
  for (const ResultPath& one : all_paths_of_run()) {
    if (one.path.find('.') == one.path.npos) members.push_back(one.path);
  }
  return members;
}

std::vector<std::string> paths_of_run() {
  std::vector<std::string> paths;
  for (const ResultPath& one : all_paths_of_run()) {
    if (one.is_fixed() && one.is_single_value()) paths.push_back(one.path);
  }
  return paths;
}

std::optional<ResultValue> value_at(const AnyResult& result, std::string_view path) {
  ValueFinder finder(path);
  std::string schema = schema_name(result.kind), version = result.tool_version;
  finder.text("schema", schema, "");
  describe_tool(finder, version);
  result.describe(finder);
  return finder.take();
}

}  // namespace loaderscope

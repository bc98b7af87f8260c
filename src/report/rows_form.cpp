#include "report/rows_form.h"

#include <fmt/format.h>

#include "report/json_stream.h"
#include "report/result_visitor.h"

namespace loaderscope {
namespace {

class RowsForm : public ResultVisitor {
 public:
  explicit RowsForm(std::string_view list) : ResultVisitor(VisitMode::write), list_(list) {}

  void text(Name name, std::string& value, Sentence) override { add(name, value, true); }
  void word(Name name, std::string& value, const std::vector<std::string_view>&,
            Sentence) override {
    add(name, value, true);
  }
  void flag(Name name, bool& value, Sentence) override { add(name, value ? "true" : "false"); }
  void whole(Name name, std::int64_t& value, Sentence, IntegerRange) override {
    add(name, std::to_string(value));
  }
  void real(Name name, double& value, Sentence, RealRange) override {
    add(name, fmt::format("{}", value));
  }
  void seconds(Name name, Nanos& value, Sentence, IntegerRange) override {
    add(name, seconds_text(value));
  }
  void settings(RunConfig&) override {}
  using ResultVisitor::whole;
  using ResultVisitor::word;

  std::vector<ResultRow> take() { return std::move(rows_); }

 protected:
  void enter(Name name, Shape shape, Sentence, Lines) override {
    if (is_element() && shape == Shape::object) rows_.emplace_back();
    if (Level* list = inner_list(); list != nullptr) ++list->items;
    const std::string path = levels_.empty() ? std::string(name) : path_of(name);
    levels_.push_back({path, shape});
  }
  void leave() override {
    const Level level = std::move(levels_.back());
    levels_.pop_back();
    if (level.shape != Shape::list || levels_.size() < kElement) return;
    if (inner_list() == nullptr) put(level.path, level.words(), false);
  }
  bool begins(Name, bool there, AbsentValue) override { return there; }

 private:
  static constexpr std::size_t kElement = 2;  // levels: the list, and an element

  struct Level {
    std::string path;
    Shape shape;
    std::size_t items = 0, places = 0;
    std::string texts{};

    std::string words() const { return texts.empty() ? std::to_string(items) : texts; }
  };

  bool is_element() const { return levels_.size() == 1 && levels_.front().path == list_; }
  bool is_in_row() const {
    return levels_.size() >= kElement && levels_.front().path == list_ &&
           levels_.front().shape == Shape::list;
  }
  // The outermost list within the element; null: none is open.
  Level* inner_list() {
    for (std::size_t i = kElement; i < levels_.size(); ++i)
      if (levels_[i].shape == Shape::list) return &levels_[i];
    return nullptr;
  }

  std::string path_of(Name name) {
    if (levels_.size() == 1) return "";  // an element has no name
    Level& level = levels_.back();
    const std::string last =
        level.shape == Shape::row ? std::to_string(level.places++) : std::string(name);
    return level.path.empty() ? last : level.path + "." + last;
  }

  void add(Name name, const std::string& value, bool is_text = false) {
    if (!is_in_row()) return;
    if (Level* list = inner_list(); list != nullptr) {
      if (list != &levels_.back()) return;
      ++list->items;
      list->texts += (list->texts.empty() ? "" : " ") + value;
      return;
    }
    put(path_of(name), value, is_text);
  }

  void put(std::string path, std::string value, bool is_text) {
    if (is_in_row()) rows_.back().push_back({std::move(path), std::move(value), is_text});
  }

  std::string_view list_;
  std::vector<Level> levels_;
  std::vector<ResultRow> rows_;
};

}  // namespace

std::vector<ResultRow> rows_of(const AnyResult& result, std::string_view name) {
  RowsForm form(name);
  result.describe(form);
  return form.take();
}

}  // namespace loaderscope

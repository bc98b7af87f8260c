// One line per step, warm-up included. Times are seconds since the first ask of the rank.
#include <fmt/format.h>

#include <algorithm>

#include "report/describe.h"
#include "report/flat_walk.h"
#include "report/json_stream.h"
#include "report/writers.h"

namespace loaderscope {
namespace {

// The members of one object as the cells of a line, or their names. What JSON leaves out is 0.
class CsvForm : public FlatWalk {
 public:
  enum class Line : std::uint8_t { names, values };

  explicit CsvForm(Line line) : FlatWalk(VisitMode::write), line_(line) {}

  void column(Name name, Nanos value) override { add(name, seconds_text(value)); }

  void end(std::ostream& out) {
    line_text_.push_back('\n');
    out.write(line_text_.data(), static_cast<std::streamsize>(line_text_.size()));
    line_text_.clear();
  }

 protected:
  void visit(const FlatValue& value) override {
    if (is_in_entries()) {
      const auto word = std::find(words_.begin(), words_.end(), value.name);
      values_.at(static_cast<std::size_t>(word - words_.begin())) = value.text;
    } else if (value.type == Type::flag) {
      add(value.name, value.is_nothing() ? "0" : "1");
    } else {
      add(value.name, value.text);
    }
  }
  // The keys of entries become columns.
  void keys(const std::vector<std::string_view>& words) override {
    words_ = words;
    values_.assign(words.size(), seconds_text(0));
  }
  void closed() override {
    if (!is_in_entries()) return;
    std::string_view prefix = levels().back().name;
    prefix.remove_suffix(std::string_view("_s").size());
    for (std::size_t i = 0; i < words_.size(); ++i)
      add(fmt::format("{}_{}_s", prefix, words_[i]), values_[i]);
  }
  bool begins(Name, bool, AbsentValue) override { return true; }

 private:
  bool is_in_entries() const { return levels().back().shape == Shape::entries; }

  void add(std::string_view name, std::string_view value) {
    if (line_text_.size() > 0) line_text_.push_back(',');
    line_text_.append(line_ == Line::names ? name : value);
  }

  Line line_;
  fmt::memory_buffer line_text_;
  std::vector<std::string_view> words_;  // keys of the entries
  std::vector<std::string> values_;      // a value for each
};

}  // namespace

void write_csv(std::ostream& out, const AnyResult& result) {
  CsvForm names(CsvForm::Line::names), values(CsvForm::Line::values);
  StepRow none;
  describe_step(names, 0, none);
  names.end(out);
  const RunRecord& record = *result.record;
  for (std::size_t r = 0; r < record.ranks.size(); ++r) {
    const RankRecord& rank = record.ranks[r];
    values.origin = rank.first_ask;
    rank.rows.for_each([&](StepRow row) {
      describe_step(values, static_cast<std::int64_t>(r), row);
      values.end(out);
    });
  }
}

}  // namespace loaderscope

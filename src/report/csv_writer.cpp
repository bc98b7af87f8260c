// One line per step, warm-up included. Times are seconds since the first ask of the rank.
#include <algorithm>

#include "report/describe.h"
#include "report/json_stream.h"
#include "report/writers.h"

namespace loaderscope {
namespace {

// The members of one object as the cells of a line, or their names. What JSON leaves out is 0.
class CsvForm : public ResultVisitor {
 public:
  enum class Line : std::uint8_t { names, values };

  explicit CsvForm(Line line) : ResultVisitor(VisitMode::write), line_(line) {}

  void text(Name name, std::string& value, Sentence) override { add(name, value); }
  void word(Name name, std::string& value, const std::vector<std::string_view>&,
            Sentence) override {
    add(name, value);
  }
  void flag(Name name, bool& value, Sentence) override { add(name, value ? "1" : "0"); }
  void whole(Name name, std::int64_t& value, Sentence, IntegerRange) override {
    add(name, std::to_string(value));
  }
  void real(Name name, double& value, Sentence, RealRange) override {
    add(name, fmt::format("{}", value));
  }
  void seconds(Name name, Nanos& value, Sentence, IntegerRange) override {
    if (entries_.empty()) return add(name, seconds_text(value));
    const auto word = std::find(words_.begin(), words_.end(), name);
    values_.at(static_cast<std::size_t>(word - words_.begin())) = value;
  }
  void settings(RunConfig&) override {}
  void column(Name name, Nanos value) override { add(name, seconds_text(value)); }
  using ResultVisitor::whole;
  using ResultVisitor::word;

  void end(std::ostream& out) {
    line_text_.push_back('\n');
    out.write(line_text_.data(), static_cast<std::streamsize>(line_text_.size()));
    line_text_.clear();
  }

 protected:
  void enter(Name name, Shape shape, Sentence, Lines) override {
    if (shape == Shape::entries) entries_ = name;
  }
  void keys(const std::vector<std::string_view>& words) override {
    words_ = words;
    values_.assign(words.size(), 0);
  }
  void leave() override {
    if (entries_.empty()) return;
    const std::string of = entries_.substr(0, entries_.size() - std::string_view("_s").size());
    for (std::size_t i = 0; i < words_.size(); ++i)
      add(fmt::format("{}_{}_s", of, words_[i]), seconds_text(values_[i]));
    entries_.clear();
  }
  bool begins(Name, bool, AbsentValue) override { return true; }

 private:
  void add(std::string_view name, std::string_view value) {
    if (line_text_.size() > 0) line_text_.push_back(',');
    line_text_.append(line_ == Line::names ? name : value);
  }

  Line line_;
  fmt::memory_buffer line_text_;
  std::string entries_;  // entries whose keys become columns; "" outside of them
  std::vector<std::string_view> words_;
  std::vector<Nanos> values_;
};

}  // namespace

void write_csv(std::ostream& out, const RunRecord& record) {
  CsvForm names(CsvForm::Line::names), values(CsvForm::Line::values);
  StepRow none;
  describe_step(names, 0, none);
  names.end(out);
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

// One line per fact, KEY=VALUE, for logs and for who reads without eyes. A key is the path of the
// JSON, as --require takes it. What is 0, null or nothing has no line; of a list the first few.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "report/json_stream.h"
#include "report/results.h"
#include "report/schemas.h"
#include "report/writers.h"

namespace loaderscope {
namespace {

constexpr std::size_t kMaxElements = 3;  // limit for a list of objects

// Long members that are seldom needed. The JSON has them.
constexpr std::array<std::string_view, 8> kLeftOut = {"machine", "metrics", "ranks", "process",
                                                      "host",    "base",    "cases", "runs"};
constexpr std::array<std::string_view, 3> kOfStage = {"count", "mean_s", "p99_s"};

class BriefForm : public ResultVisitor {
 public:
  explicit BriefForm(std::ostream& out) : ResultVisitor(VisitMode::write), out_(out) {}

  void text(Name name, std::string& value, Sentence) override {
    if (!value.empty()) add(name, quoted_if_needed(value));
  }
  void word(Name name, std::string& value, const std::vector<std::string_view>&,
            Sentence sentence) override {
    text(name, value, sentence);
  }
  void flag(Name name, bool& value, Sentence) override {
    if (value) add(name, "true");
  }
  void whole(Name name, std::int64_t& value, Sentence, IntegerRange) override {
    if (value != 0 || is_in_row()) add(name, std::to_string(value));
  }
  void real(Name name, double& value, Sentence, RealRange) override {
    if (value != 0 || is_in_row()) add(name, spelled(value));
  }
  void seconds(Name name, Nanos& value, Sentence, IntegerRange) override {
    if (value != 0 || is_in_row()) add(name, seconds_text(value));
  }
  void settings(RunConfig&) override {}
  using ResultVisitor::whole;
  using ResultVisitor::word;

 protected:
  void enter(Name name, Shape shape, Sentence, Lines) override {
    levels_.push_back({path_of(name), shape, is_hidden(name), 0, {}});
  }

  void leave() override {
    const Level level = std::move(levels_.back());
    levels_.pop_back();
    if (level.hidden) return;
    const bool has_value = level.values.find_first_not_of("0,") != std::string::npos;
    if (has_value) out_ << level.path << '=' << level.values << '\n';
    if (level.shape == Shape::list && level.values.empty() && level.elements > kMaxElements)
      out_ << level.path << ".more=" << level.elements - kMaxElements << '\n';
  }

  bool begins(Name, bool there, AbsentValue) override { return there; }

 private:
  struct Level {
    std::string path;
    Shape shape;
    bool hidden;
    std::size_t elements;
    std::string values;  // joined values of a list or a row
  };

  static std::string quoted_if_needed(const std::string& value) {
    constexpr std::string_view kSpecial = " \t\r\n\"=\\";
    if (value.find_first_of(kSpecial) == value.npos) return printable(value);
    return nlohmann::json(printable(value))
        .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  static std::string spelled(double value) {
    constexpr double kWhole = 1e6;
    return std::abs(value) >= kWhole && std::abs(value) < 1e18 ? fmt::format("{:.0f}", value)
                                                               : fmt::format("{:.6g}", value);
  }

  bool is_in_row() const {
    return !levels_.empty() &&
           (levels_.back().shape == Shape::row || levels_.back().shape == Shape::list);
  }

  std::string path_of(Name name) {
    if (levels_.empty()) return std::string(name);
    Level& above = levels_.back();
    const std::string last = name.empty() ? std::to_string(above.elements++) : std::string(name);
    return above.path.empty() ? last : above.path + "." + last;
  }

  bool is_hidden(Name name) const {
    if (levels_.empty()) return std::find(kLeftOut.begin(), kLeftOut.end(), name) != kLeftOut.end();
    const Level& above = levels_.back();
    return above.hidden || (above.shape == Shape::list && above.elements > kMaxElements);
  }

  bool is_of_stage() const { return levels_.size() == 2 && levels_[0].path == "stages"; }

  void add(Name name, const std::string& value) {
    if (is_in_row()) {
      std::string& values = levels_.back().values;
      values += (values.empty() ? "" : ",") + value;
      return;
    }
    if (!levels_.empty() && levels_.back().hidden) return;
    if (is_of_stage() && std::find(kOfStage.begin(), kOfStage.end(), name) == kOfStage.end())
      return;
    out_ << path_of(name) << '=' << value << '\n';
  }

  std::ostream& out_;
  std::vector<Level> levels_;
};

}  // namespace

void write_brief(std::ostream& out, const AnyResult& result) {
  out << "schema=" << schema_name(result.kind) << '\n';
  BriefForm form(out);
  if (result.record)
    answer_of(*result.record, *result.analysis).describe(form);
  else
    result.describe(form);
}

}  // namespace loaderscope

// One line per fact, KEY=VALUE, for logs and for who reads without eyes. A key is the path of the
// JSON, as --require takes it. What is 0, null or nothing has no line; of a list the first few.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "report/flat_walk.h"
#include "report/results.h"
#include "report/schemas.h"
#include "report/writers.h"

namespace loaderscope {
namespace {

constexpr std::size_t kMaxElements = 3;  // limit for a list of objects

// Long members that are seldom needed. The JSON has them.
constexpr std::array<std::string_view, 10> kLeftOut = {
    "config",  "config_given", "machine", "metrics", "ranks",
    "process", "host",         "base",    "cases",   "runs"};
constexpr std::array<std::string_view, 3> kStageMembers = {"count", "mean_s", "p99_s"};

class BriefForm : public FlatWalk {
 public:
  explicit BriefForm(std::ostream& out) : FlatWalk(VisitMode::write), out_(out) {}

 protected:
  void visit(const FlatValue& value) override {
    if (value.is_nothing() && !(is_in_list() && value.is_number())) return;
    if (is_in_list())
      values_ += (values_.empty() ? "" : ",") + spelled(value);
    else if (hidden_level_ == 0 && !is_left_out_of_stage(value.name))
      out_ << value_path(value.name) << '=' << spelled(value) << '\n';
  }

  void opened() override {
    values_.clear();
    if (hidden_level_ == 0 && is_left_out()) hidden_level_ = levels().size();
  }

  void closed() override {
    const Level& level = levels().back();
    if (hidden_level_ == 0) {
      const bool has_value = values_.find_first_not_of("0,") != std::string::npos;
      if (has_value) out_ << path() << '=' << values_ << '\n';
      if (level.shape == Shape::list && values_.empty() && level.elements > kMaxElements)
        out_ << path() << ".more=" << level.elements - kMaxElements << '\n';
    }
    values_.clear();
    if (hidden_level_ == levels().size()) hidden_level_ = 0;
  }

 private:
  static std::string quoted_if_needed(std::string_view value) {
    constexpr std::string_view kSpecial = " \t\r\n\"=\\";
    if (value.find_first_of(kSpecial) == value.npos) return printable(value);
    return nlohmann::json(printable(value))
        .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  static std::string spelled(const FlatValue& value) {
    if (value.type == Type::text) return quoted_if_needed(value.text);
    if (value.type != Type::real) return std::string(value.text);
    constexpr double kWhole = 1e6;
    const double size = std::abs(value.number);
    return size >= kWhole && size < 1e18 ? fmt::format("{:.0f}", value.number)
                                         : fmt::format("{:.6g}", value.number);
  }

  // Returns true for a level that has just begun, and has no lines.
  bool is_left_out() const {
    const std::size_t depth = levels().size();
    if (depth == 1) return std::find(kLeftOut.begin(), kLeftOut.end(), path()) != kLeftOut.end();
    const Level& above = levels()[depth - 2];
    return above.shape == Shape::list && above.elements > kMaxElements;
  }

  bool is_left_out_of_stage(Name name) const {
    return levels().size() == 2 && levels().front().name == "stages" &&
           std::find(kStageMembers.begin(), kStageMembers.end(), name) == kStageMembers.end();
  }

  std::ostream& out_;
  std::string values_;            // joined values of the innermost list or row
  std::size_t hidden_level_ = 0;  // number of the outermost level without lines; 0: none
};

}  // namespace

void write_brief(std::ostream& out, const AnyResult& result) {
  out << "schema=" << schema_name(result.kind) << '\n';
  BriefForm form(out);
  default_answer(result).describe(form);
}

}  // namespace loaderscope

// Reads back what was described. Throws RunError naming the place of what is not there, of another
// kind or out of its range.
#pragma once

#include <deque>

#include "report/json_cursor.h"
#include "report/result_visitor.h"

namespace loaderscope {

class JsonReader : public ResultVisitor {
 public:
  // Form of the root: its members, or one value.
  enum class Root : std::uint8_t { members, value };

  // `most` limits every whole number and time, so that no sum of them overflows.
  explicit JsonReader(const JsonCursor& root, std::int64_t most = IntegerRange::kMax,
                      Root root_form = Root::members)
      : ResultVisitor(VisitMode::read), most_(most), root_(root_form) {
    open_.push_back({root, Shape::object});
  }

  void text(Name name, std::string& value, Sentence) override;
  void word(Name name, std::string& value, const std::vector<std::string_view>& words,
            Sentence) override;
  void flag(Name name, bool& value, Sentence) override;
  void whole(Name name, std::int64_t& value, Sentence, IntegerRange within) override;
  void real(Name name, double& value, Sentence, RealRange within) override;
  void seconds(Name name, Nanos& value, Sentence, IntegerRange within) override;
  void settings(RunConfig& config) override;
  using ResultVisitor::whole;
  using ResultVisitor::word;

  [[noreturn]] void refuse(std::string_view what) const override { open_.back().json.fail(what); }

 protected:
  void enter(Name name, Shape shape, Sentence, Lines) override;
  void leave() override { open_.pop_back(); }
  bool begins(Name name, bool there, AbsentValue missing) override;
  bool more() override;
  std::string next_key() override;
  void keys(const std::vector<std::string_view>& words) override { open_.back().words = words; }

 private:
  struct Level {
    JsonCursor json;
    Shape shape;
    std::size_t next = 0;  // in a list, row or entries
    std::vector<std::string_view> words{};
  };
  JsonCursor take(Name name);

  std::int64_t most_;
  Root root_;
  std::deque<Level> open_;  // a deque moves no element, and each element refers to the one before
};

}  // namespace loaderscope

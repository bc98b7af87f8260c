// A walk over the single values of a result and their paths. Brief, CSV, JUnit, --require and
// explain use it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/result_visitor.h"

namespace loaderscope {

struct Field;  // include/loaderscope/settings.h

struct FlatValue {
  enum class Type : std::uint8_t { null, text, flag, whole, real, seconds };
  Type type;
  std::string_view name;      // last part of its path; "" for an element of a list or a row
  std::string_view sentence;  // description
  std::string_view text{};    // text in JSON, without quotes
  double number = 0;          // value of a number; its name ends with the unit
  bool may_be_null = false;   // only of a walk that explains

  bool is_number() const { return type >= Type::whole; }
  bool is_nothing() const;  // 0, false, "" or null
};

// A walk that writes numbers the elements: findings.0.id. A walk that explains visits one element
// of each list, findings[].id, and one entry of each object whose keys are data, changes.*.
class FlatWalk : public ResultVisitor {
 public:
  void text(Name name, std::string& value, Sentence sentence) final {
    show({Type::text, name, sentence, value});
  }
  void word(Name name, std::string& value, const std::vector<std::string_view>&,
            Sentence sentence) final {
    show({Type::text, name, sentence, value});
  }
  void flag(Name name, bool& value, Sentence sentence) final {
    show({Type::flag, name, sentence, value ? "true" : "false"});
  }
  void whole(Name name, std::int64_t& value, Sentence sentence, IntegerRange) final;
  void real(Name name, double& value, Sentence sentence, RealRange) final;
  void seconds(Name name, Nanos& value, Sentence sentence, IntegerRange) final;
  void settings(RunConfig& config) final;
  using ResultVisitor::whole;
  using ResultVisitor::word;

 protected:
  using Type = FlatValue::Type;
  struct Level {
    Shape shape;
    std::string_view name;      // "" for an element
    std::string_view sentence;  // description
    bool may_be_null;           // only of a walk that explains
    std::size_t parent_length;  // length of the path of the level around it
    std::size_t elements = 0;   // number of elements so far

    bool is_list() const { return shape == Shape::list || shape == Shape::row; }
  };

  explicit FlatWalk(VisitMode mode) : ResultVisitor(mode) {}

  virtual void visit(const FlatValue& value) = 0;
  virtual void opened() {}  // levels().back() begins
  virtual void closed() {}  // levels().back() ends

  const std::vector<Level>& levels() const { return levels_; }
  bool is_in_list() const { return !levels_.empty() && levels_.back().is_list(); }
  const std::string& path() const { return path_; }  // path of the innermost level
  std::string value_path(Name name) const;           // path of a value in the innermost level

  void enter(Name name, Shape shape, Sentence sentence, Lines) final;
  void leave() final;
  bool begins(Name name, bool there, AbsentValue missing) override;

 private:
  void show(FlatValue value);
  void visit_setting(const Field& field, RunConfig& config);
  void append_name(std::string& path, Name name) const;

  std::vector<Level> levels_;
  std::string path_;
  bool may_be_null_ = false;  // state of the next value
};

}  // namespace loaderscope

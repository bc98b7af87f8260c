// Writer of the JSON Schema of a result.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <memory>

#include "report/result_visitor.h"

namespace loaderscope {

class SchemaWriter : public ResultVisitor {
 public:
  SchemaWriter();
  ~SchemaWriter() override;

  void text(Name name, std::string& value, Sentence sentence) override;
  void word(Name name, std::string& value, const std::vector<std::string_view>& words,
            Sentence sentence) override;
  void flag(Name name, bool& value, Sentence sentence) override;
  void whole(Name name, std::int64_t& value, Sentence sentence, IntegerRange within) override;
  void real(Name name, double& value, Sentence sentence, RealRange within) override;
  void seconds(Name name, Nanos& value, Sentence sentence, IntegerRange within) override;
  void settings(RunConfig& config) override;
  using ResultVisitor::whole;
  using ResultVisitor::word;

  // Returns the schema of the described object. Groups of metrics may be next to its members.
  nlohmann::ordered_json take();

 protected:
  void enter(Name name, Shape shape, Sentence sentence, Lines) override;
  void leave() override;
  bool begins(Name name, bool there, AbsentValue missing) override;
  void keys(const std::vector<std::string_view>& words) override;
  void may_be_empty() override;

 private:
  struct Level;
  void add(Name name, nlohmann::ordered_json node, std::optional<AbsentValue> missing);
  void add(Name name, const char* type, Sentence sentence, nlohmann::ordered_json more);

  std::vector<Level> open_;
  std::optional<AbsentValue> missing_;  // form of the next value if it is absent
};

}  // namespace loaderscope

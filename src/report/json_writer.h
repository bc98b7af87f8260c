// Writes what is described as JSON.
#pragma once

#include "report/json_stream.h"
#include "report/result_visitor.h"

namespace loaderscope {

class JsonWriter : public ResultVisitor {
 public:
  explicit JsonWriter(JsonStream& json) : ResultVisitor(VisitMode::write), json_(json) {}

  void text(Name name, std::string& value, Sentence) override {
    json_.member(name, std::string_view(value));
  }
  void word(Name name, std::string& value, const std::vector<std::string_view>&,
            Sentence) override {
    json_.member(name, std::string_view(value));
  }
  void flag(Name name, bool& value, Sentence) override { json_.member(name, value); }
  void whole(Name name, std::int64_t& value, Sentence, IntegerRange) override {
    json_.member(name, value);
  }
  void real(Name name, double& value, Sentence, RealRange) override { json_.member(name, value); }
  void seconds(Name name, Nanos& value, Sentence, IntegerRange) override {
    json_.member(name, Seconds{value});
  }
  void settings(RunConfig& config) override;
  using ResultVisitor::whole;
  using ResultVisitor::word;

 protected:
  void enter(Name name, Shape shape, Sentence, Lines lines) override;
  void leave() override;
  bool begins(Name name, bool there, AbsentValue missing) override;

 private:
  JsonStream& json_;
  std::vector<Shape> open_;
};

}  // namespace loaderscope

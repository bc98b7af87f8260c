// Writes what is described as JSON.
#pragma once

#include "report/form.h"
#include "report/json_stream.h"

namespace loaderscope {

class JsonForm : public Form {
 public:
  explicit JsonForm(JsonStream& json) : Form(Does::write), json_(json) {}

  void text(Name name, std::string& value, Sentence) override {
    json_.member(name, std::string_view(value));
  }
  void word(Name name, std::string& value, const std::vector<std::string_view>&,
            Sentence) override {
    json_.member(name, std::string_view(value));
  }
  void flag(Name name, bool& value, Sentence) override { json_.member(name, value); }
  void whole(Name name, std::int64_t& value, Sentence, Whole) override {
    json_.member(name, value);
  }
  void real(Name name, double& value, Sentence, Real) override { json_.member(name, value); }
  void seconds(Name name, Nanos& value, Sentence, Whole) override {
    json_.member(name, Seconds{value});
  }
  void settings(RunConfig& config) override;
  using Form::whole;
  using Form::word;

 protected:
  void enter(Name name, Shape shape, Sentence, Lines lines) override;
  void leave() override;
  bool begins(Name name, bool there, Missing missing) override;

 private:
  JsonStream& json_;
  std::vector<Shape> open_;
};

}  // namespace loaderscope

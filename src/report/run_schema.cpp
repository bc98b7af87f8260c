#include "report/run_schema.h"

#include <nlohmann/json.hpp>

#include "report/describe.h"
#include "report/schema_form.h"

namespace loaderscope {

const nlohmann::ordered_json& schema_of_run() {
  static const nlohmann::ordered_json schema = [] {
    SchemaForm form;
    RunRecord record;
    Analysis analysis;
    std::string version;
    form.object("tool", "what measured",
                [&] { form.text("version", version, "version of loaderscope"); });
    describe_run(form, record, analysis, JsonScope::full);
    nlohmann::ordered_json run = form.take();
    run["additionalProperties"] = {
        {"type", "object"},
        {"description", "a group of numbers described in metrics, such as memory"},
        {"additionalProperties",
         {{"type", {"number", "null"}}, {"description", "in the unit that metrics names"}}}};
    return run;
  }();
  return schema;
}

}  // namespace loaderscope

#include "report/json_writer.h"

#include "report/json_form.h"
#include "report/keys.h"

namespace loaderscope {

void write_json(std::ostream& out, const RunRecord& record, const Analysis& analysis,
                JsonScope scope) {
  JsonStream json(out);
  JsonForm form(json);
  form.object("", "", [&] {
    form.shown("schema", std::string(keys::kSchema), "");
    form.object("tool", "", [&] { form.shown("version", record.tool_version, ""); });
    // Who writes changes nothing of what is described to him.
    describe_run(form, const_cast<RunRecord&>(record), const_cast<Analysis&>(analysis), scope);
  });
}

}  // namespace loaderscope

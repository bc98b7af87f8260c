// The only file that includes the generated version.h, so that a new commit compiles one file.
#include "job/version_text.h"

#include "report/json_stream.h"
#include "report/schemas.h"
#include "version.h"

namespace loaderscope {

std::string version_number() { return std::string(version::number) + "+" + version::commit; }

std::string version_text() {
  return std::string("loaderscope ") + version::number + " (commit " + version::commit + ", " +
         version::compiler + ", " + version::build_type + ", with " + version::libraries +
         ", CUDA " + version::cuda + ")";
}

void write_version_json(std::ostream& out) {
  JsonStream json(out);
  json.begin_object();
  json.member("name", "loaderscope");
  json.member("version", version::number);
  json.member("commit", version::commit);
  json.member("compiler", version::compiler);
  json.member("build_type", version::build_type);
  json.member("libraries", version::libraries);
  json.member("cuda", version::cuda);
  json.begin_array("schemas", kCompact);
  for (const ResultKind& kind : result_kinds())
    json.element(std::string_view(schema_name(kind.row.name)));
  json.end_array();
  json.end_object();
}

}  // namespace loaderscope

// The decoders of the images, if a GPU was to decode them.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "analysis/decoded_images.h"
#include "analysis/wording.h"
#include "report/table_parts.h"

namespace loaderscope {
std::string decoding_line(const RunRecord& record) {
  const DecodedImages images = decoded_images(record);
  if (images.all() <= 0) return "";
  const auto share = [&](double part) { return format_percent(part / images.all()); };
  std::vector<std::string> parts;
  if (images.engines > 0)
    parts.push_back((record.simulated ? "simulated GPU " : "JPEG engines ") +
                    share(images.engines));
  if (images.cuda > 0) parts.push_back("CUDA kernels " + share(images.cuda));
  if (images.cpu > 0) parts.push_back("CPU " + share(images.cpu));
  if (!images.refused.empty()) parts.back() += fmt::format(" ({})", images.refusal_words());
  // A simulated GPU decodes nothing.
  const char* const verb = record.simulated ? "given to" : "decoded by";
  return fmt::format("Images {}: {}", verb, fmt::join(parts, ", "));
}

}  // namespace loaderscope

#include "source/store.h"

#include <algorithm>
#include <array>
#include <span>

#include "loaderscope/errors.h"

namespace loaderscope::source {
namespace {

constexpr std::array<std::string_view, 5> kSchemes = {"https://", "http://", "s3://", "s3+https://",
                                                      "s3+http://"};
constexpr std::string_view kS3 = "s3://";

}  // namespace

bool is_remote(std::string_view path) {
  return std::any_of(kSchemes.begin(), kSchemes.end(),
                     [&](std::string_view scheme) { return path.starts_with(scheme); });
}

std::string at_endpoint(std::string_view path, std::string_view endpoint) {
  while (endpoint.ends_with('/')) endpoint.remove_suffix(1);
  const bool is_server = endpoint.starts_with("http://") || endpoint.starts_with("https://");
  if (!path.starts_with(kS3) || !is_server)
    throw ValueError("endpoint: expected s3://BUCKET/KEY?endpoint=http://HOST:PORT");
  return "s3+" + std::string(endpoint) + "//" + std::string(path.substr(kS3.size()));
}

const ObjectStore& store_of(std::string_view path) {
  return is_remote(path) ? remote_store() : local_store();
}

std::string text_of_object(const std::string& path, Bytes most) {
  const auto object = store_of(path).open(path);
  if (object->size() > most)
    throw ValueError("has more than the " + format_size(static_cast<double>(most)) +
                     " that are read of it");
  std::string text(static_cast<std::size_t>(object->size()), '\0');
  text.resize(object->read(0, std::as_writable_bytes(std::span(text))));
  return text;
}

}  // namespace loaderscope::source

#include "source/remote/location.h"

#include "loaderscope/errors.h"
#include "source/remote/signature.h"

namespace loaderscope::source {
namespace {

constexpr std::string_view kS3 = "s3://", kS3Elsewhere = "s3+";

// Encodes characters that a server would refuse, or that would end the request's first line.
std::string without_gaps(std::string_view text) {
  std::string clean;
  for (const char byte : text) {
    const auto code = static_cast<unsigned char>(byte);
    if (code <= ' ' || code >= 0x7f || byte == '"' || byte == '<' || byte == '>' || byte == '#')
      clean += percent_encoded({&byte, 1}, false);
    else
      clean += byte;
  }
  return clean;
}

void split(std::string_view url, Location& to) {
  const auto scheme = url.find("://") + 3;
  const auto slash = std::min(url.find('/', scheme), url.size());
  to.base = url.substr(0, slash);
  to.host = url.substr(scheme, slash - scheme);
  to.path = slash < url.size() ? url.substr(slash) : "/";
  if (to.host.find('@') != to.host.npos)
    throw ValueError(
        "its URL holds a user or a password, which results would show",
        "leave them out: keys come from the environment or ~/.aws, passwords from ~/.netrc");
  constexpr std::string_view kHostCharacters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:[]";
  if (to.host.empty() || to.host.find_first_not_of(kHostCharacters) != to.host.npos)
    throw ValueError("names no server", "give https://HOST/PATH");
  // A default port is not in the header that is signed.
  for (const std::string_view port : {":80", ":443"}) {
    if (to.host.ends_with(port) && (port == ":443") == to.base.starts_with("https"))
      to.host.resize(to.host.size() - port.size());
  }
}

// Leaves "BUCKET/KEY".
std::string take_endpoint(std::string_view& path) {
  if (path.starts_with(kS3)) {
    path.remove_prefix(kS3.size());
    return aws_settings().endpoint;
  }
  path.remove_prefix(kS3Elsewhere.size());
  const auto host = path.find("://");
  const auto end = host == path.npos ? host : path.find("//", host + 3);
  const std::string endpoint(path.substr(0, end));
  path = end == path.npos ? "" : path.substr(end + 2);
  return endpoint;
}

}  // namespace

bool is_of_s3(std::string_view path) {
  return path.starts_with(kS3) || path.starts_with(kS3Elsewhere);
}

Location locate(std::string_view path) {
  Location to;
  if (!is_of_s3(path)) {
    split(path, to);
    const auto question = to.path.find('?');
    if (question != to.path.npos) {
      to.query = without_gaps(std::string_view(to.path).substr(question + 1));
      to.path.resize(question);
    }
    to.path = without_gaps(to.path);
    return to;
  }
  std::string endpoint = take_endpoint(path);
  if (!endpoint.starts_with("http://") && !endpoint.starts_with("https://"))
    throw ValueError("AWS_ENDPOINT_URL names no server", "set it to https://HOST");
  split(endpoint, to);
  to.is_s3 = true;
  to.endpoint = std::move(endpoint);
  to.bucket = path.substr(0, path.find('/'));
  to.key = path.substr(std::min(to.bucket.size() + 1, path.size()));
  if (to.bucket.empty()) throw ValueError("names no bucket", "give s3://BUCKET/KEY");
  if (to.path == "/") to.path.clear();
  to.path += "/" + percent_encoded(to.bucket, false);
  if (!to.key.empty()) to.path += "/" + percent_encoded(to.key, true);
  return to;
}

}  // namespace loaderscope::source

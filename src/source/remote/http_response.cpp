#include "source/remote/http_response.h"

#include <curl/curl.h>
#include <expat.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <limits>
#include <memory>

#include "base/hash.h"
#include "source/remote/signature.h"

namespace loaderscope::source {
namespace {

using Kind = SampleError::Kind;

constexpr std::size_t kMaxCode = 64;

char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

bool is_named(std::string_view header, std::string_view name) {
  return std::equal(header.begin(), header.end(), name.begin(), name.end(),
                    [](char a, char b) { return lower(a) == b; });
}

std::string_view without_spaces(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

std::optional<Bytes> number(std::string_view text) {
  Bytes value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = error == std::errc() && end == text.data() + text.size() && value >= 0;
  return is_number ? std::optional(value) : std::nullopt;
}

// "bytes 0-99/1000", "bytes 0-99/*", "bytes */1000".
void take_range(std::string_view text, HttpResponse& answer) {
  if (!text.starts_with("bytes ")) return;
  text = without_spaces(text.substr(6));
  const auto slash = text.find('/'), dash = text.find('-');
  if (slash == text.npos) return;
  answer.object_bytes = number(text.substr(slash + 1));
  if (dash > slash) return;
  const auto first = number(text.substr(0, dash));
  const auto last = number(text.substr(dash + 1, slash - dash - 1));
  if (!first || !last || *last < *first || *last == std::numeric_limits<Bytes>::max()) return;
  answer.range_begin = first;
  answer.range_end = *last + 1;
}

// Parses a number of seconds, or a date.
std::optional<double> pause(std::string_view text) {
  if (const auto seconds = number(text)) return static_cast<double>(*seconds);
  const std::time_t date = ::curl_getdate(std::string(text).c_str(), nullptr);
  if (date < 0) return std::nullopt;
  return std::max(0.0, std::difftime(date, std::time(nullptr)));
}

std::string key_words() {
  const AwsSettings& settings = aws_settings();
  return settings.key_id.empty()
             ? "no key was found in the environment or in ~/.aws; set AWS_ACCESS_KEY_ID and "
               "AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
             : "the key is from " + settings.origin + "; check it, its session and its rights";
}

}  // namespace

void HttpResponse::take_header(std::string_view line) {
  line = without_spaces(line);
  if (line.starts_with("HTTP/")) {
    *this = {};
    const std::string_view rest =
        without_spaces(line.substr(std::min(line.find(' '), line.size())));
    status = static_cast<int>(number(rest.substr(0, 3)).value_or(0));
    return;
  }
  const auto colon = line.find(':');
  if (colon == line.npos) return;
  const std::string_view name = line.substr(0, colon),
                         value = without_spaces(line.substr(colon + 1));
  if (is_named(name, "content-length")) length = number(value);
  if (is_named(name, "content-range")) take_range(value, *this);
  if (is_named(name, "retry-after")) retry_after = pause(value);
  if (is_named(name, "etag")) tag = value;
  if (is_named(name, "last-modified")) changed = value;
}

void HttpResponse::take_reason(std::string_view body) {
  const auto begin = body.find("<Code>"), end = body.find("</Code>");
  if (begin == body.npos || end == body.npos || end < begin + 6) return;
  const std::string_view text = body.substr(begin + 6, end - begin - 6);
  const bool is_word = text.size() <= kMaxCode && std::all_of(text.begin(), text.end(), [](char c) {
                         return lower(c) >= 'a' && lower(c) <= 'z';
                       });
  if (is_word) code = text;
}

// A server without tags and dates is trusted by the size.
FolderStamp HttpResponse::stamp() const {
  const Bytes size = object_bytes.value_or(length.value_or(0));
  const std::time_t date = changed.empty() ? -1 : ::curl_getdate(changed.c_str(), nullptr);
  const std::uint64_t inode = hash_text(fmt::format("{} {} {}", tag, changed, size));
  constexpr std::time_t kLatest = std::numeric_limits<Nanos>::max() / kSecond;  // the year 2262
  return {inode != 0 ? inode : 1, std::clamp<std::time_t>(date, 0, kLatest) * kSecond};
}

std::string HttpResponse::unless_same() const {
  const auto is_plain = [](const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  };
  if (!tag.empty() && is_plain(tag)) return "If-None-Match: " + tag;
  return changed.empty() || !is_plain(changed) ? "" : "If-Modified-Since: " + changed;
}

Trouble trouble_of_status(const HttpResponse& answer, bool is_s3) {
  const int status = answer.status;
  const std::string said =
      fmt::format("the server answers {}{}{}", status, answer.code.empty() ? "" : " ", answer.code);
  if (status == 404 || status == 410) return {Kind::unreadable, said + ": is not there"};
  if (status == 401 || status == 403 || answer.code == "ExpiredToken" ||
      answer.code == "InvalidAccessKeyId") {
    return {Kind::not_allowed, said + ": not allowed" + (is_s3 ? ", " + key_words() : "")};
  }
  if (status == 416) return {Kind::truncated, said + ": ends before what is asked for"};
  if (status == 429 || answer.code == "SlowDown" || status == 503)
    return {Kind::throttled, said + ": asked too often", true};
  if (status == 408 || answer.code == "RequestTimeout" || status == 504)
    return {Kind::timed_out, said, true};
  if (status >= 500) return {Kind::unreadable, said, true};
  if (status == 301 || status == 307 || status == 308 || answer.code == "PermanentRedirect")
    return {Kind::unreadable, said + ": the bucket is elsewhere; set AWS_REGION to its region"};
  return {Kind::unreadable, said};
}

namespace {

constexpr std::size_t kMaxText = 4096;  // a key has 1024 bytes at most

class Parser {
 public:
  S3Listing parse(std::string_view xml) {
    const std::unique_ptr<XML_ParserStruct, decltype(&::XML_ParserFree)> parser(
        ::XML_ParserCreate(nullptr), &::XML_ParserFree);
    if (!parser) throw ValueError("there is no memory for its listing");
    ::XML_SetUserData(parser.get(), this);
    ::XML_SetElementHandler(parser.get(), &Parser::begin, &Parser::end);
    ::XML_SetCharacterDataHandler(parser.get(), &Parser::text);
    const auto size = static_cast<int>(xml.size());
    if (::XML_Parse(parser.get(), xml.data(), size, XML_TRUE) != XML_STATUS_OK || !is_listing_)
      throw ValueError("the server's answer is no listing of objects");
    if (too_long_) throw ValueError("the server lists a name of more than 4096 bytes");
    return std::move(listing_);
  }

 private:
  static Parser& self(void* user) { return *static_cast<Parser*>(user); }

  static void begin(void* user, const char* name, const char**) {
    Parser& parser = self(user);
    const std::string_view element = name;
    if (parser.path_.empty()) parser.is_listing_ = element == "ListBucketResult";
    parser.path_ += '/';
    parser.path_ += element;
    parser.text_.clear();
    if (parser.path_.size() > kMaxText) {
      parser.too_long_ = true;
      parser.path_.resize(kMaxText);
    }
  }

  static void text(void* user, const char* bytes, int size) {
    Parser& parser = self(user);
    parser.text_.append(bytes, static_cast<std::size_t>(size));
    if (parser.text_.size() > kMaxText) {
      parser.too_long_ = true;
      parser.text_.resize(kMaxText);
    }
  }

  static void end(void* user, const char*) {
    Parser& parser = self(user);
    S3Listing& listing = parser.listing_;
    const std::string_view path = parser.path_;
    if (path == "/ListBucketResult/Contents/Key") listing.keys.push_back(parser.text_);
    if (path == "/ListBucketResult/CommonPrefixes/Prefix") listing.prefixes.push_back(parser.text_);
    if (path == "/ListBucketResult/NextContinuationToken") listing.continuation = parser.text_;
    parser.path_.resize(std::min(parser.path_.rfind('/'), parser.path_.size()));
    parser.text_.clear();
  }

  S3Listing listing_;
  std::string path_, text_;
  bool is_listing_ = false, too_long_ = false;
};

}  // namespace

S3Listing parse_s3_listing(std::string_view xml) {
  if (xml.size() > (std::size_t{64} << 20)) throw ValueError("the server's listing is too long");
  return Parser().parse(xml);
}

}  // namespace loaderscope::source
